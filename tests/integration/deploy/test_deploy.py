"""The files of docs/deploy, as far as they can be checked without Docker and a running systemd."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio
import yaml

from rocketwire.serving.java_properties import load_properties, system_properties
from rocketwire_namesrv.command_line import USAGE, parse
from rocketwire_namesrv.config.config import OBSERVE_PORT, Config
from rocketwire_namesrv.config.settings import Owner
from rocketwire_tools.exporter.command_line import PORT, build_parser
from tests.support.running_server import running, settings

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "docs" / "deploy"
NAMES = {name for name, _ in Config().items(*Owner)}
PORTS = {Config().listen_port, OBSERVE_PORT}


def instructions() -> list[tuple[str, str]]:
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    return [
        (name, words.strip()) for name, _, words in (line.partition(" ") for line in lines) if name
    ]


def argument(name: str) -> str:
    return [words for instruction, words in instructions() if instruction == name][-1]


def environment() -> dict[str, str]:
    pairs = (word.partition("=") for word in shlex.split(argument("ENV")))
    return {name: value for name, _, value in pairs}


def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return content


def unit() -> dict[str, list[str]]:
    settings: dict[str, list[str]] = {}
    for line in (DEPLOY / "rocketwire-namesrv.service").read_text("utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            settings.setdefault(name, []).append(value)
    return settings


def options(words: list[str]) -> dict[str, str]:
    variables = parse(words)
    assert set(variables) <= set(re.findall(r"^ -(\w)", USAGE, re.MULTILINE))
    return variables


# ---- settings


def test_every_setting_of_the_sample_exists_and_is_taken() -> None:
    entries = load_properties((DEPLOY / "namesrv.properties").read_bytes())
    config = Config.load(entries, home=".")

    assert set(entries) <= NAMES
    assert {name: text for name, text in config.items(*Owner) if name in entries} == entries


# ---- container


def test_the_container_exposes_the_ports_that_the_server_has() -> None:
    assert {int(port) for port in argument("EXPOSE").split()} == PORTS


def test_the_containers_environment_is_understood() -> None:
    settings = environment()
    config = Config.load(home=".", environment=settings)

    assert set(system_properties(settings)) <= NAMES
    assert (config.observe_port, config.observe_asked) == (OBSERVE_PORT, True)
    assert config.observe_address == "0.0.0.0"
    assert settings["ROCKETWIRE_LOG"] == "stderr"


def test_the_container_is_made_of_files_that_exist() -> None:
    sources = [
        path
        for name, arguments in instructions()
        if name == "COPY" and not arguments.startswith("--from")
        for path in arguments.split()[:-1]
    ]

    assert sources
    assert [path for path in sources if not (ROOT / path).exists()] == []


def test_the_container_starts_the_installed_program() -> None:
    assert json.loads(argument("CMD")) == ["sh", "mqnamesrv"]
    script = next(arguments for _, arguments in instructions() if "bin/mqnamesrv" in arguments)
    assert 'exec rocketwire-namesrv "$@"' in script
    assert 'rocketwire-namesrv = "' in (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.mark.process
@pytest.mark.parametrize(("stops", "status"), [(False, 0), (True, 1)])
async def test_the_health_check_fails_while_routes_are_withheld(stops: bool, status: int) -> None:
    _, _, command = argument("HEALTHCHECK").partition("CMD ")
    program, *words = json.loads(command)
    assert program == "python"
    assert str(OBSERVE_PORT) in words[-1]
    with trio.fail_after(120):
        async with running(settings(observe_port=0)) as site:
            site.server.state.shutting_down = stops
            port = site.server.observation.listening.port
            words[-1] = words[-1].replace(str(OBSERVE_PORT), str(port))
            check = await trio.run_process([sys.executable, *words], check=False)

    assert check.returncode == status


# ---- compose


def test_compose_publishes_existing_ports_and_operators_locally() -> None:
    published = [port.rsplit(":", 2) for port in compose()["services"]["namesrv"]["ports"]]

    assert published == [["9876", "9876"], ["127.0.0.1", "5558", "5558"]]
    assert {int(port[-1]) for port in published} == PORTS


def test_compose_builds_this_image_and_mounts_files_that_exist() -> None:
    services = compose()["services"]
    build = services["namesrv"]["build"]
    mounts = [
        volume.split(":") for service in services.values() for volume in service.get("volumes", ())
    ]

    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).samefile(DEPLOY / "Containerfile")
    for source, *_ in mounts:
        assert (
            (DEPLOY / source).exists() if source.startswith(".") else source in compose()["volumes"]
        )


def test_compose_starts_the_server_with_the_settings_that_it_mounts() -> None:
    service = compose()["services"]["namesrv"]
    shell, script, *words = service["command"]

    assert [shell, script] == json.loads(argument("CMD"))
    assert options(words)["c"] in {volume.split(":")[1] for volume in service["volumes"]}


def test_composes_exporter_is_that_of_the_image_and_asks_the_name_server() -> None:
    services = compose()["services"]
    exporter = services["exporter"]
    program, *words = exporter["command"]

    assert exporter["build"] == services["namesrv"]["build"]
    assert program == "rocketwire-exporter"
    assert build_parser().parse_args(words).listen == ("0.0.0.0", PORT)
    assert exporter["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert exporter["environment"] == {"NAMESRV_ADDR": "namesrv:9876"}


# ---- systemd


def test_the_unit_starts_the_server_with_options_that_it_has() -> None:
    program, *words = unit()["ExecStart"][0].split()

    assert Path(program).name == "rocketwire-namesrv"
    assert set(options(words)) == {"c"}


@pytest.mark.process
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "rocketwire-namesrv.service").read_text("utf-8")
    program = unit()["ExecStart"][0].split()[0]
    path = tmp_path / "rocketwire-namesrv.service"
    path.write_text(text.replace(program, sys.executable))

    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stdout + run.stderr) == (0, "")
