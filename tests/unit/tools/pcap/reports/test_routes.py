"""``routes``: what Java's brokers registered, out of recorded captures, and what made-up ones would have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.messages import encode_header
from rocketwire.messages.registration import (
    RegisterBrokerBody,
    RegisterBrokerRequestHeader,
    encode_register_broker_body,
)
from rocketwire.messages.topic_config import TopicConfig, TopicConfigAndMappingSerializeWrapper
from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.reports.routes import Event, RouteWatch
from tests.support import manifest

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = manifest.FIXTURES / "captures"
Events = list[dict[str, Any]]


@pytest.fixture
def routes(capfd: pytest.CaptureFixture[str]) -> Callable[..., Events]:
    """Runs ``routes`` on a recorded capture; gives its objects."""

    def run(name: str, *options: str) -> Events:
        path = str(FOLDER / f"{name}.pcap.gz")
        assert main(["routes", path, "--format", "jsonl", *options]) == 0
        return [json.loads(line) for line in capfd.readouterr().out.splitlines()]

    return run


@pytest.mark.parametrize("name", ["java-5.5.0", "java-5.5.0-binary", "java-4.9.4"])
def test_a_broker_of_java_comes_gets_topics_and_goes(
    name: str, routes: Callable[..., Events]
) -> None:
    *events, broker = routes(name)
    mine = [event for event in events if event.get("broker") == "broker-a"]
    assert ["registered", "unregistered"] == [mine[0]["what"], mine[-1]["what"]]
    assert mine[0]["topics"] == len(mine[0]["added"])
    assert "TBW102" in mine[0]["added"]
    assert any("orders" in event.get("added", {}) for event in mine[1:-1])
    assert all(event["what"] == "changed" for event in mine[1:-1])
    assert ("broker", "unregistered", "DefaultCluster") == (
        broker["what"],
        broker["state"],
        broker["cluster"],
    )


def test_lookups_show_each_answer_that_differs_from_the_one_before(
    routes: Callable[..., Events],
) -> None:
    found = [
        event
        for event in routes("java-5.5.0", "--lookups")
        if event["what"] in ("route", "no route")
    ]
    orders = [event for event in found if event["topic"] == "orders"]
    assert orders[-1]["brokers"] == {"broker-a": {"read_queues": 4, "write_queues": 4, "perm": 6}}
    missing = [event for event in found if event["topic"] == "NoSuchTopic"]
    assert [("no route", "TOPIC_NOT_EXIST")] == [(one["what"], one["answer"]) for one in missing]


def test_registrations_that_say_nothing_new_come_only_if_asked_for(
    routes: Callable[..., Events],
) -> None:
    assert not any(event["what"] == "again" for event in routes("java-4.9.4"))
    assert any(event["what"] == "again" for event in routes("java-4.9.4", "--all"))


def test_text_names_topics_with_queues_and_permission(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["routes", str(FOLDER / "java-5.5.0.pcap.gz")]) == 0
    text = capfd.readouterr().out
    assert "of DefaultCluster registered with 15 topics after" in text
    assert "      + orders 4/4 rw\n" in text
    assert "\nBROKERS\n" in text


def said(opaque: int, code: int, *, response: bool = False, **more: object) -> dict[str, Any]:
    """A row of the engine."""
    row: dict[str, Any] = dict.fromkeys(("request_code", "latency_ns", "ext_fields"))
    row |= {
        "time_ns": opaque,
        "connection": "c",
        "src": "10.0.0.1",
        "src_port": 1,
        "dst": "10.0.0.2",
    }
    row |= {"dst_port": 9876, "kind": "response" if response else "request", "code": code}
    return row | {"opaque": opaque, "version": 513, "body_ok": True, "raw_body": b""} | more


def registration(opaque: int, topics: dict[str, int]) -> dict[str, Any]:
    """A broker registers topics with so many queues."""
    header = RegisterBrokerRequestHeader(
        broker_name="b",
        broker_addr="10.0.0.1:10911",
        cluster_name="c",
        ha_server_addr="",
        broker_id=0,
    )
    table = {
        name: TopicConfig(topic_name=name, read_queue_nums=count) for name, count in topics.items()
    }
    body = encode_register_broker_body(
        RegisterBrokerBody(
            topic_config_serialize_wrapper=TopicConfigAndMappingSerializeWrapper(
                topic_config_table=table
            )
        ),
        compressed=False,
    )
    fields = json.dumps(encode_header(header))
    return said(opaque, RequestCode.REGISTER_BROKER, ext_fields=fields, raw_body=body)


def events_of(rows: list[dict[str, Any]]) -> list[Event]:
    watch = RouteWatch()
    found = [event for row in rows for event in watch.take(row)]
    return [*found, *watch.finish()]


def answer(opaque: int, code: int = 0) -> dict[str, Any]:
    return said(opaque, code, response=True, request_code=RequestCode.REGISTER_BROKER, latency_ns=5)


def test_a_refused_registration_changes_nothing() -> None:
    rows = [
        registration(1, {"x": 4}),
        answer(1, ResponseCode.SYSTEM_ERROR),
        registration(2, {"x": 4}),
        answer(2),
    ]
    refused, accepted = events_of(rows)
    assert (refused.accepted, refused.answer) == (False, "SYSTEM_ERROR")
    assert (accepted.what, list(accepted.added)) == ("registered", ["x"])


def test_other_queues_of_a_known_topic_are_a_change() -> None:
    rows = [
        registration(1, {"x": 4, "y": 4}),
        answer(1),
        registration(2, {"x": 8, "y": 4}),
        answer(2),
    ]
    _, changed = events_of(rows)
    assert (changed.what, changed.added, changed.changed) == ("changed", {}, {"x": (8, 16, 6)})


def test_what_was_never_answered_comes_at_the_end() -> None:
    (event,) = events_of([registration(1, {"x": 4})])
    assert (event.what, event.answer, event.accepted) == ("registered", None, True)


@pytest.mark.parametrize("broken", [{"body_ok": False}, {"raw_body": b"{nonsense"}])
def test_a_body_that_cannot_be_read_is_said(broken: dict[str, object]) -> None:
    (event,) = events_of([registration(1, {"x": 4}) | broken])
    assert event.problem is not None
    assert event.topics is None
