"""The alert rules and the board: every expression is PromQL, and every metric in it exists."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import promql_parser
import pytest
import trio
import yaml
from prometheus_client.parser import text_string_to_metric_families

from rocketwire.serving.tls.settings import TlsSettings
from rocketwire_namesrv.routes.peer_views import PeerView
from rocketwire_tools.exporter.exposition import AGE, COLLECTIONS
from rocketwire_tools.exporter.families import FAMILIES
from tests.support.builders.certificates import authority
from tests.support.running_server import running, settings

DEPLOY = Path(__file__).parents[3] / "docs" / "deploy"
RULES = DEPLOY / "prometheus" / "rules.yaml"
BOARD = DEPLOY / "grafana" / "rocketmq.json"
BUILT_IN = {"up": {"job", "instance"}}
"""Metrics of Prometheus itself, with their labels."""
TARGET = {"job", "instance"}
"""Labels that Prometheus adds."""


async def name_server_metrics(folder: Path) -> dict[str, set[str]]:
    certificate, key = authority().issue("server").write(folder, "server")
    tls = TlsSettings(test_mode=False, cert_path=str(certificate), key_path=str(key))
    async with running(settings(observe_port=0, tls=tls)) as site:
        server = site.server
        server.state.peers.views["127.0.0.1:1"] = PeerView(reached=True)
        port = server.observation.listening.port
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            await stream.send_all(request)
            answer = b"".join([part async for part in stream])
    names: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(answer.decode().partition("\r\n\r\n")[2]):
        suffix = "_total" if family.type == "counter" else ""
        names.setdefault(f"{family.name}{suffix}", set())
        if family.type == "histogram":
            names[f"{family.name}_bucket"] = {"le"}
        for sample in family.samples:
            names.setdefault(sample.name, set()).update(sample.labels)
    return names


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    exporter = {name: set(family.labels) for name, family in FAMILIES.items()}
    exporter_series: dict[str, set[str]] = {AGE: set(), f"{COLLECTIONS}_total": {"result"}}
    return {
        **trio.run(name_server_metrics, tmp_path_factory.mktemp("tls")),
        **exporter,
        **exporter_series,
        **BUILT_IN,
    }


class Selector(NamedTuple):
    """A selector of an expression: a metric, and the labels that select its series."""

    name: str
    labels: set[str]


def selectors(expression: str) -> list[Selector]:
    # All selectors of an expression; raises ``ValueError`` if it is no PromQL.
    matches: list[Selector] = []

    def visit(node: Any) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            labels = {matcher.name for matcher in node.matchers.matchers}
            matches.append(Selector(node.name or "", labels))
        for name in ("lhs", "rhs", "expr", "param", "vector_selector", "vs"):
            child: Any = getattr(node, name, None)
            if child is not None and not isinstance(child, str):
                visit(child)
        arguments: list[Any] = getattr(node, "args", None) or []
        for argument in arguments:
            visit(argument)

    visit(promql_parser.parse(expression))
    assert matches, expression
    return matches


def check(expression: str, metrics: dict[str, set[str]]) -> None:
    # Fail unless each metric exists, and has the labels that it is selected by.
    for name, labels in selectors(expression):
        assert name in metrics, (name, expression)
        # A counter without an event has no series yet.
        assert not metrics[name] or labels - TARGET <= metrics[name], (name, labels)


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    board: list[dict[str, Any]] = json.loads(BOARD.read_text("utf-8"))["panels"]
    return board


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_alert_uses_metrics_that_exist(
    rule: dict[str, Any], metrics: dict[str, set[str]]
) -> None:
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["annotations"]["summary"].endswith(".")
    check(rule["expr"], metrics)


@pytest.mark.process
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_has_no_finding() -> None:
    command = ["promtool", "check", "rules", "--lint=all", "--lint-fatal", str(RULES)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout + run.stderr


def test_the_labels_in_the_texts_of_an_alert_are_those_of_its_metrics(
    metrics: dict[str, set[str]],
) -> None:
    for rule in rules():
        used = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"]))) - TARGET
        present: set[str] = set()
        for selector in selectors(rule["expr"]):
            present |= metrics[selector.name]
        assert not present or used <= present, rule["alert"]


@pytest.mark.parametrize(
    "target", [target["expr"] for panel in panels() for target in panel.get("targets", ())]
)
def test_a_panel_uses_metrics_that_exist(target: str, metrics: dict[str, set[str]]) -> None:
    check(re.sub(r"\$__rate_interval", "5m", target), metrics)


def test_variables_of_the_board_are_labels_of_metrics_that_exist(
    metrics: dict[str, set[str]],
) -> None:
    variables = json.loads(BOARD.read_text("utf-8"))["templating"]["list"]
    queries = [selector["definition"] for selector in variables if selector["type"] == "query"]

    assert queries
    for query in queries:
        match = re.fullmatch(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", query)
        assert match is not None
        assert match[2] in metrics[match[1]]
