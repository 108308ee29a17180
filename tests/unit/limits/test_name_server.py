"""The largest requests of brokers, clients and tools pass the default limits of a name server.

``tests/integration/namesrv/security/test_limits.py`` tests requests beyond them, for both drivers.
``docs/limits.md`` names both tests of each limit.
"""

import json
import zlib
from collections.abc import Sequence

import pytest

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.wire.layouts.fused import build_register_body_with_mappings
from rocketwire_namesrv.admin_http.event_history import Observer
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import GroupRemoved
from tests.integration.namesrv.test_observing import connect as connect_to_operators
from tests.integration.namesrv.test_observing import running as observed
from tests.support.fakes.sansio_server import Reply, Server, identity, registration_body
from tests.support.running_server import request, running, settings

LARGE = 60_000
"""Topics of a broker, five times those of the largest known one."""

DEFAULTS = Config()
CONTENT = "broker-{:03}:8"
"""A broker in the order configuration of a topic."""


def names(count: int, length: int = 40) -> list[str]:
    return [f"topic-{number:06}-".ljust(length, "x") for number in range(count)]


def pack_body(topics: Sequence[str]) -> bytes:
    """The body of a broker with ``compressedRegister=true``."""
    version = b'{"counter":1,"stateVersion":0,"timestamp":1700000000000}'
    rows = [b"%b 8 8 6 SINGLE_TAG {}" % name.encode() for name in topics]
    return zlib.compress(build_register_body_with_mappings(version, rows, b"[]", ()))


def register_packed(server: Server, body: bytes) -> Reply:
    return server.ask(RequestCode.REGISTER_BROKER, identity(compressed="true"), body)


def answers_the_next_request(server: Server) -> bool:
    return server.ask(RequestCode.GET_BROKER_CLUSTER_INFO).code == 0


NEEDED = {
    "max_queues_per_topic": 65_536,
    "max_brokers": 3_000,
    "max_filter_servers": 100,
    "max_kv_namespaces": 1_000,
    "max_kv_entries": 11_000,
    "max_kv_length": 10_000 * 50 * len(CONTENT),
    "max_connections": 10_000,
    "max_notifications": 1_000,
    "max_all_unsent_bytes": 64 * DEFAULTS.frame_max_length,
    "max_buffered_bytes": 600 * 1_400_000,  # 600 brokers that register 10,000 topics at once
}
"""Setting of a limit -> what one of the largest clusters needs."""


@pytest.mark.parametrize("name", NEEDED)
def test_defaults_are_large_enough_for_large_clusters(name: str) -> None:
    assert getattr(DEFAULTS, name) >= NEEDED[name]
    assert DEFAULTS.max_connections_per_address == 0


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "packed"])
def test_all_topics_of_the_largest_broker_are_taken_in_one_frame(is_packed: bool) -> None:
    server = Server()
    body = pack_body(names(LARGE, 100)) if is_packed else registration_body(tuple(names(LARGE, 20)))
    assert len(body) < DEFAULTS.frame_max_length

    fields = identity(compressed=str(is_packed).lower())
    assert server.ask(RequestCode.REGISTER_BROKER, fields, body).code == 0
    assert len(server.state.table.topics.entries) == LARGE
    assert answers_the_next_request(server)


def test_names_of_the_greatest_length_that_brokers_allow_are_taken() -> None:
    group = "g" * 255
    longest = ["t" * 127, f"%RETRY%{group}", f"%DLQ%{group}", f"%RETRY%{group}_{'t' * 127}"]
    server = Server()

    assert server.register(topics=tuple(longest), name="b" * 255, cluster="c" * 255).code == 0
    assert set(server.state.table.topics.entries) == set(longest)


def test_static_topics_of_a_large_cluster_are_taken() -> None:
    server = Server()
    every = names(500)
    mappings = {
        name: {
            "bname": "b1",
            "currIdMap": {str(number): number for number in range(256)},
            "epoch": 1_700_000_000_000,
            "topic": name,
            "totalQueues": 256,
        }
        for name in every
    }

    assert server.register(topics=tuple(every), mappings=mappings).code == 0
    assert answers_the_next_request(server)


def test_the_route_of_a_topic_at_ten_thousand_brokers_is_taken() -> None:
    common = {"readQueueNums": 8, "writeQueueNums": 8, "perm": 6, "topicSysFlag": 0}
    queues = [{"brokerName": f"b{number}", **common} for number in range(10_000)]
    body = json.dumps({"queueDatas": queues, "brokerDatas": []}).encode()
    assert 900_000 < len(body) < DEFAULTS.body_max_length
    server = Server()

    reply = server.ask(RequestCode.REGISTER_TOPIC_IN_NAMESRV, {"topic": "T"}, body)

    assert reply.code == 0
    assert answers_the_next_request(server)


@pytest.mark.parametrize(
    "value",
    [
        ";".join(map(CONTENT.format, range(10_000))),
        ",{[" * 47_000,
        json.dumps({"rules": [{"from": "a,b", "to": [1, 2]}] * 5000}),
        "\u6f22" * 1_000_000,
    ],
    ids=["order of queues at 10,000 brokers", "commas and brackets", "JSON", "a million letters"],
)
def test_any_value_that_operators_set_is_kept(value: str) -> None:
    server, item = Server(), {"namespace": "n", "key": "k"}

    assert server.ask(RequestCode.PUT_KV_CONFIG, {**item, "value": value}).code == 0
    assert server.ask(RequestCode.GET_KV_CONFIG, item).ext == {"value": value}


@pytest.mark.parametrize("count", [40, 2000])
def test_a_whole_configuration_is_taken_in_one_update(count: int) -> None:
    lines = [*(f"unknownKey{number}=value" for number in range(count)), "waitSecondsForService=44"]
    server = Server(allow_config_update=True)

    body = "\n".join(lines).encode()
    assert server.ask(RequestCode.UPDATE_NAMESRV_CONFIG, body=body).code == 0
    assert server.state.config.wait_seconds_for_service == 44


async def test_a_thousand_requests_at_once_are_answered_in_their_order() -> None:
    async with running(settings()) as site:
        client = site.connect()
        code = RequestCode.GET_BROKER_CLUSTER_INFO
        await client.send(b"".join(request(code, number) for number in range(1000)))

        assert [(await client.reply()).opaque for _ in range(1000)] == [*range(1000)]


def test_an_answer_of_many_megabytes_is_sent() -> None:
    server = Server()
    register_packed(server, pack_body(names(LARGE, 100)))

    reply = server.ask(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    assert len(reply.body) > 5 * DEFAULTS.max_unsent_bytes
    assert len(json.loads(reply.body)["topicList"]) == LARGE


def test_a_broker_with_a_hundred_thousand_topics_registers_in_parts() -> None:
    """``enableSplitRegistration`` of Java's brokers: parts of 800 topics."""
    server, every = Server(), names(100_100)
    for first in range(0, len(every), 800):
        server.now += 1
        assert not server.state.table.topics.entries
        assert register_packed(server, pack_body(every[first : first + 800])).code == 0

    assert len(server.state.table.topics.entries) == len(every)


async def test_thirty_programs_look_at_the_port_for_operators_at_once() -> None:
    async with observed() as server:
        streams = [await connect_to_operators(server) for _ in range(30)]
        for stream in streams:
            await stream.send_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for stream in streams:
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
            await stream.aclose()


def test_events_of_a_cluster_that_starts_are_all_shown() -> None:
    observer = Observer(lambda: 17.0)
    for number in range(200):
        observer.record_event(GroupRemoved(broker_name=f"b{number}" * 20, topics=2), None)

    assert len(observer.news) == 200
    assert all(f"b{number}" in event.text for number, event in enumerate(observer.news))


def test_routes_of_twenty_thousand_topics_are_answered_again_and_again() -> None:
    server, every = Server(), names(20_000)
    register_packed(server, pack_body(every))

    for _ in range(2):
        for name in every:
            data = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, topic=name)
            assert b'"code":0' in server.receive(data).send


def test_an_update_that_is_too_long_is_refused_and_the_next_one_is_taken() -> None:
    server = Server(allow_config_update=True)

    refused = server.ask(RequestCode.UPDATE_NAMESRV_CONFIG, body=b"a=" + b"x" * (1 << 20))
    taken = server.ask(RequestCode.UPDATE_NAMESRV_CONFIG, body=b"waitSecondsForService=44\n")

    assert (refused.code, taken.code) == (ResponseCode.NO_PERMISSION, 0)
    assert "more than 1048576 bytes" in (refused.remark or "")
    assert server.state.config.wait_seconds_for_service == 44


def test_a_packed_registration_beyond_its_ratio_is_refused_and_the_next_one_is_taken() -> None:
    server = Server()

    refused = register_packed(server, zlib.compress(bytes(40 << 20), 9))
    taken = register_packed(server, pack_body(names(1000)))

    assert (refused.code, taken.code) == (ResponseCode.SYSTEM_ERROR, 0)
