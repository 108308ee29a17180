"""The kustomize base: what it names exists in the image and in the settings, and kustomize renders it."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocketwire.serving.java_properties import load_properties
from rocketwire_namesrv.admin_http.address_list import list_for, read_lists
from rocketwire_namesrv.config.config import OBSERVE_PORT, Config
from rocketwire_namesrv.config.settings import Owner
from rocketwire_tools.exporter.command_line import PORT, build_parser

BASE = Path(__file__).parents[3] / "docs" / "deploy" / "kustomize"
KUSTOMIZE = next(
    (
        command
        for command in (("kustomize", "build"), ("kubectl", "kustomize"))
        if shutil.which(command[0])
    ),
    (),
)
LISTS = read_lists((BASE / "addresses.properties").read_bytes())


def documents() -> list[dict[str, Any]]:
    names = yaml.safe_load((BASE / "kustomization.yaml").read_text("utf-8"))["resources"]
    return [
        document
        for name in names
        for document in yaml.safe_load_all((BASE / name).read_text("utf-8"))
    ]


def one(object_kind: str, name: str) -> dict[str, Any]:
    (match,) = (
        document
        for document in documents()
        if (document["kind"], document["metadata"]["name"]) == (object_kind, name)
    )
    return match


def container(object_kind: str, name: str) -> dict[str, Any]:
    pod: dict[str, Any] = one(object_kind, name)["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    return dict(container)


def ports(container: dict[str, Any]) -> dict[str, int]:
    return {port["name"]: port["containerPort"] for port in container["ports"]}


def test_the_settings_exist_and_are_taken() -> None:
    entries = load_properties((BASE / "namesrv.properties").read_bytes())
    config = Config.load(entries, home=".")
    names = {name for name, _ in Config().items(*Owner)}

    assert set(entries) <= names
    grace = one("StatefulSet", "namesrv")["spec"]["template"]["spec"]
    assert grace["terminationGracePeriodSeconds"] > config.shutdown_wait_time_seconds
    mounted = {mount["mountPath"] for mount in container("StatefulSet", "namesrv")["volumeMounts"]}
    for path in (config.address_server_file, config.known_brokers_path):
        assert str(Path(path).parent) in mounted


def test_ports_are_those_of_the_programs_and_services_and_probes_name_them() -> None:
    server, exporter = (
        container("StatefulSet", "namesrv"),
        container("Deployment", "rocketmq-exporter"),
    )

    assert ports(server) == {"namesrv": Config().listen_port, "http": OBSERVE_PORT}
    assert ports(exporter) == {"metrics": PORT}
    for document in (server, exporter):
        for probe in ("readinessProbe", "livenessProbe"):
            if probe in document:
                assert document[probe]["httpGet"]["port"] in ports(document)
    for service in (document for document in documents() if document["kind"] == "Service"):
        owner = exporter if "exporter" in service["metadata"]["name"] else server
        for port in service["spec"]["ports"]:
            assert port["port"] == ports(owner)[port["targetPort"]]


def test_selectors_select_the_pods() -> None:
    pods = [
        document["spec"]["template"]["metadata"]["labels"]
        for document in documents()
        if "template" in document["spec"]
    ]
    for document in documents():
        selector = document["spec"]["selector"]
        labels = selector.get("matchLabels", selector)
        assert any(labels.items() <= pod.items() for pod in pods), document["metadata"]


def test_the_lists_and_the_exporter_name_every_pod_of_the_name_servers() -> None:
    spec = one("StatefulSet", "namesrv")["spec"]
    port = Config().listen_port
    addresses = ";".join(
        f"namesrv-{number}.{spec['serviceName']}:{port}" for number in range(spec["replicas"])
    )

    assert list_for(LISTS, "/rocketmq/nsaddr") == addresses
    environment = container("Deployment", "rocketmq-exporter")["env"]
    assert {variable["name"]: variable["value"] for variable in environment} == {
        "NAMESRV_ADDR": addresses
    }


def test_the_exporter_has_the_options_that_it_is_started_with() -> None:
    program, *arguments = container("Deployment", "rocketmq-exporter")["args"]

    assert program == "rocketwire-exporter"
    assert build_parser().parse_args(arguments).listen == ("0.0.0.0", PORT)


@pytest.mark.parametrize("release", ["1.28", "1.37"])
@pytest.mark.parametrize("document", documents(), ids=lambda document: document["kind"])
def test_kubernetes_knows_every_field(document: dict[str, Any], release: str) -> None:
    validator = pytest.importorskip("kubernetes_validate")

    assert validator.validate(document, release, strict=True) is not None


@pytest.mark.process
@pytest.mark.skipif(not KUSTOMIZE, reason="neither kustomize nor kubectl is installed")
def test_kustomize_renders_the_base() -> None:
    rendered = subprocess.run([*KUSTOMIZE, str(BASE)], capture_output=True, text=True, check=True)
    objects = list(yaml.safe_load_all(rendered.stdout))

    kinds = sorted(document["kind"] for document in objects)
    assert kinds == sorted([*(document["kind"] for document in documents()), "ConfigMap"])
    (config,) = (document for document in objects if document["kind"] == "ConfigMap")
    assert set(config["data"]) == {"namesrv.properties", "addresses.properties"}
    assert config["metadata"]["name"] == "namesrv"
