"""Modes of the whole name server, compared with Java's: the same bytes to both, the same responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peers import raw_call
from tests.peers.peers import JavaBroker
from tests.peers.processes import wait_until
from tests.support.name_servers import name_server, start_all

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


Question = tuple[int, dict[str, str] | None]


def answers_of_both(
    folder: Path, options: Mapping[str, object], questions: list[Question]
) -> dict[str, list[raw_call.Answer]]:
    """Responses of Java's name server and ours to the same requests."""
    both = {kind: name_server(kind, folder / kind, options) for kind in ("java", "ours")}
    with start_all(*both.values()):
        return {
            kind: [raw_call.ask(server.port, code, fields) for code, fields in questions]
            for kind, server in both.items()
        }


def test_a_young_name_server_that_waits_refuses_routes_as_javas_does(
    java: None, tmp_path: Path
) -> None:
    options = {"needWaitForService": "true", "waitSecondsForService": 600}
    questions: list[Question] = [(105, {"topic": "T"}), (105, None), (106, None), (206, None)]

    said = answers_of_both(tmp_path, options, questions)

    assert said["ours"] == said["java"]
    assert said["ours"][0].header["remark"] == "name server not ready"


def test_after_a_restart_no_route_is_denied_before_the_broker_is_back(
    java: None, tmp_path: Path
) -> None:
    options = {"rocketwire.warmStartSeconds": 600}
    known = tmp_path / "namesrv" / "namesrv" / "knownBrokers.json"
    often = {"registerNameServerPeriod": 10_000}
    codes: list[object] = []

    with name_server("ours", tmp_path / "namesrv", options) as server:

        def is_answered() -> bool:
            codes.append(raw_call.ask(server.port, 105, {"topic": "TBW102"}).header["code"])
            return codes[-1] == 0

        with JavaBroker(tmp_path / "broker", [server.address], often) as broker:
            broker.wait_registered(server.port)
            wait_until(lambda: b"broker-a" in known.read_bytes(), "the broker is remembered")
            broker.freeze()  # or it might be back before the next request
            server.kill()
            server.start()
            assert not is_answered()
            broker.thaw()
            wait_until(is_answered, "the broker is back")

    assert set(codes) == {1, 0}


def test_in_cluster_test_mode_every_code_asks_for_a_route_as_in_java(
    java: None, tmp_path: Path
) -> None:
    codes = (105, 106, 103, 319, 9999)
    questions: list[Question] = [(code, {"topic": "Nope"}) for code in codes]
    questions += [(106, None), (105, {"topic": ""})]

    said = answers_of_both(tmp_path, {"clusterTest": "true"}, questions)

    assert said["ours"] == said["java"]
    assert {each.header["code"] for each in said["ours"]} == {17}


def test_101_finds_what_an_operator_has_put_under_a_clients_address(
    java: None, tmp_path: Path
) -> None:
    """A client looks its group up by its own address, which is a key like any other: the server ignores the request's source
    address."""
    item = {"namespace": "PROJECT_CONFIG", "key": "127.0.0.1"}
    questions: list[Question] = [
        (100, {**item, "value": "project-a"}),
        (101, item),
        (101, {"namespace": "PROJECT_CONFIG"}),
        (101, {"namespace": "PROJECT_CONFIG", "key": ""}),
        (219, {"namespace": "PROJECT_CONFIG"}),
        (102, item),
        (101, item),
    ]

    said = answers_of_both(tmp_path, {"kvConfigPath": "kvConfig.json"}, questions)

    assert said["ours"] == said["java"]
    assert said["ours"][1].header["extFields"] == {"value": "project-a"}
