"""The largest things that brokers, clients and tools send to a name server pass its default limits.

What is beyond a limit is in ``tests/integration/namesrv/security/test_limits.py``, for both
drivers.  ``docs/limits.md`` names both tests of each limit.
"""

from __future__ import annotations

import json
import socket
import zlib
from typing import TYPE_CHECKING

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from rocketwire.codes import RequestCode
from rocketwire.connection.guards import Holdings
from rocketwire.serving.limits import LimitExceeded
from rocketwire.serving.tls.contexts import TlsContexts
from rocketwire.wire.command import CommandDecoder, RemotingCommand
from rocketwire.wire.layouts.fused import build_register_body_with_mappings
from rocketwire_namesrv.admin_http.event_history import Observer
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.events import GroupRemoved
from rocketwire_namesrv.protocol.state import State
from rocketwire_namesrv.server.notifier import Notifier
from tests.integration.namesrv.test_observing import connect as connect_to_operators
from tests.integration.namesrv.test_observing import running as observed
from tests.support.fakes.sansio_server import Server, identity, registration_body, topic
from tests.support.fakes.sansio_server import request as with_body
from tests.support.running_server import CLUSTER_INFO, request, running, settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trio.testing import MockClock

    from rocketwire.serving.events import Event
    from tests.support.fakes.sansio_server import Reply

LARGE = 60_000
"""Topics of a broker, five times those of the largest that is heard of."""

DEFAULTS = Config()
CONTENT = "broker-{:03}:8"
"""A broker in the order configuration of a topic."""


def names(count: int, length: int = 40) -> list[str]:
    return [f"topic-{number:06}-".ljust(length, "x") for number in range(count)]


def packed(topics: Sequence[str], mappings: Sequence[bytes] = ()) -> bytes:
    """The body of a broker with ``compressedRegister=true``."""
    version = b'{"counter":1,"stateVersion":0,"timestamp":1700000000000}'
    rows = [b"%b 8 8 6 SINGLE_TAG {}" % name.encode() for name in topics]
    return zlib.compress(build_register_body_with_mappings(version, rows, b"[]", mappings))


def register(server: Server, body: bytes, **fields: str) -> Reply:
    return server.ask(RequestCode.REGISTER_BROKER, {**identity(), **fields}, body)


def put(server: Server, value: str, key: str = "k", namespace: str = "n") -> Reply:
    fields = {"namespace": namespace, "key": key, "value": value}
    return server.ask(RequestCode.PUT_KV_CONFIG, fields)


def answers_the_next_request(server: Server) -> bool:
    return server.ask(RequestCode.GET_BROKER_CLUSTER_INFO).code == 0


# ------------------------------------------------------------------ registrations


@pytest.mark.parametrize("as_it_is", [True, False], ids=["plain", "packed"])
def test_all_topics_of_the_largest_broker_are_taken_in_one_frame(as_it_is: bool) -> None:
    server = Server()
    every = names(LARGE, 20 if as_it_is else 100)
    body = registration_body({name: topic(name) for name in every}) if as_it_is else packed(every)
    assert len(body) < DEFAULTS.frame_max_length

    reply = register(server, body, compressed=str(not as_it_is).lower())

    assert reply.code == 0
    assert len(server.state.table.topics.entries) == LARGE
    assert answers_the_next_request(server)


def test_names_of_the_greatest_length_that_brokers_allow_are_taken() -> None:
    group = "g" * 255
    longest = ["t" * 127, f"%RETRY%{group}", f"%DLQ%{group}", f"%RETRY%{group}_{'t' * 127}"]
    server = Server()

    assert server.register(topics=tuple(longest), name="b" * 255, cluster="c" * 255).code == 0
    assert set(server.state.table.topics.entries) == set(longest)


@pytest.mark.parametrize("queues", [16, 1024, 65_536])
def test_topics_of_any_number_of_queues_that_operators_create_are_taken(queues: int) -> None:
    server = Server()

    assert (
        server.register(topics={name: topic(name, queues=queues) for name in ("T", "U")}).code == 0
    )
    assert server.route("T")["queueDatas"][0]["readQueueNums"] == queues


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


def test_a_thousand_groups_of_three_brokers_are_taken() -> None:
    server = Server()
    session = server.session
    for number in range(3000):
        if number % 100 == 0:
            session = server.connect()
        group, place = divmod(number, 3)
        address = f"10.0.{group >> 8}.{group & 255}:{10911 + place}"
        reply = server.register(address, place, name=f"b{group}", session=session)
        assert reply.code == 0

    assert len(server.cluster_info()["brokerAddrTable"]) == 1000


def test_filter_servers_of_a_4x_broker_are_taken() -> None:
    servers = [f"10.0.0.1:{20_000 + number}" for number in range(100)]
    server = Server()

    assert server.register(filter_servers=servers).code == 0
    assert answers_the_next_request(server)


def test_the_route_of_a_topic_at_ten_thousand_brokers_is_taken() -> None:
    queues = [
        {
            "brokerName": f"b{n}",
            "readQueueNums": 8,
            "writeQueueNums": 8,
            "perm": 6,
            "topicSysFlag": 0,
        }
        for n in range(10_000)
    ]
    body = json.dumps({"queueDatas": queues, "brokerDatas": []}).encode()
    assert 900_000 < len(body) < DEFAULTS.body_max_length
    server = Server()

    reply = server.ask(RequestCode.REGISTER_TOPIC_IN_NAMESRV, {"topic": "T"}, body)

    assert reply.code == 0
    assert answers_the_next_request(server)


# ------------------------------------------------------------------ key-value configuration


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
    server = Server()

    assert put(server, value).code == 0
    assert server.ask(RequestCode.GET_KV_CONFIG, {"namespace": "n", "key": "k"}).ext == {
        "value": value
    }


def test_order_configurations_of_ten_thousand_topics_are_kept_and_listed() -> None:
    value = ";".join(map(CONTENT.format, range(50)))
    server = Server()
    for name in names(10_000):
        assert put(server, value, name, "ORDER_TOPIC_CONFIG").code == 0
    for number in range(1000):
        assert put(server, "v", namespace=f"n{number}").code == 0

    reply = server.ask(RequestCode.GET_KVLIST_BY_NAMESPACE, {"namespace": "ORDER_TOPIC_CONFIG"})
    assert len(json.loads(reply.body)["table"]) == 10_000


@pytest.mark.parametrize("count", [40, 2000])
def test_a_whole_configuration_is_taken_in_one_update(count: int) -> None:
    text = (
        "".join(f"unknownKey{number}=value\n" for number in range(count))
        + "waitSecondsForService=44\n"
    )
    server = Server(allow_config_update=True)

    assert server.ask(RequestCode.UPDATE_NAMESRV_CONFIG, body=text.encode()).code == 0
    assert server.state.config.wait_seconds_for_service == 44


# ------------------------------------------------------------------ connections and time


async def test_a_fleet_of_clients_behind_one_address_is_served() -> None:
    async with running(settings()) as site:
        fleet = [site.connect() for _ in range(500)]
        for client in fleet:
            assert (await client.ask(CLUSTER_INFO)).code == 0


async def test_a_client_that_asks_every_two_minutes_less_a_second_stays_connected(
    autojump_clock: MockClock,
) -> None:
    async with running(settings()) as site:
        client = site.connect()
        for _ in range(3):
            await trio.sleep(119)
            assert (await client.ask(CLUSTER_INFO)).code == 0


async def test_a_frame_may_take_a_minute(autojump_clock: MockClock) -> None:
    async with running(settings()) as site:
        client = site.connect()
        await client.send(CLUSTER_INFO[:10])
        await trio.sleep(59)
        assert (await client.ask(CLUSTER_INFO[10:])).code == 0


async def test_answers_may_be_taken_within_a_minute(autojump_clock: MockClock) -> None:
    listing = request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    async with running(settings(server_socket_snd_buf_size=4096)) as site:
        body = registration_body({name: topic(name) for name in names(3000)})
        broker = site.connect()
        await broker.send(with_body(RequestCode.REGISTER_BROKER, identity(), body))
        assert (await broker.reply()).code == 0
        with socket.socket() as ours:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            ours.connect(tuple(site.server.listening))
            ours.setblocking(False)
            ours.send(listing * 20)
            while len(site.server.connections) < 2:
                await wait_all_tasks_blocked()
            await trio.sleep(50)
            stream = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
            decoder, answers = CommandDecoder(), 0
            while answers < 20:
                decoder.feed(await stream.receive_some())
                while decoder.next_command() is not None:
                    answers += 1


async def test_a_thousand_requests_at_once_are_answered_in_their_order() -> None:
    async with running(settings()) as site:
        client = site.connect()
        code = RequestCode.GET_BROKER_CLUSTER_INFO
        await client.send(b"".join(request(code, number) for number in range(1000)))

        assert [(await client.reply()).opaque for _ in range(1000)] == [*range(1000)]


def test_an_answer_of_many_megabytes_is_sent() -> None:
    server = Server()
    register(server, packed(names(LARGE, 100)), compressed="true")

    reply = server.ask(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)

    assert len(reply.body) > 5 * DEFAULTS.max_unsent_bytes
    assert len(json.loads(reply.body)["topicList"]) == LARGE


@pytest.mark.parametrize(
    ("count", "size", "limit"),
    [
        (64, DEFAULTS.frame_max_length, DEFAULTS.max_all_unsent_bytes),
        (
            600,
            len(registration_body(tuple(names(10_000, 30)))) * 8 // 10,
            DEFAULTS.max_buffered_bytes,
        ),
    ],
    ids=["64 of the largest answers", "600 brokers of 10,000 topics"],
)
def test_what_all_connections_hold_at_the_start_of_a_large_cluster_closes_none(
    count: int, size: int, limit: int
) -> None:
    holdings = Holdings()
    for number in range(count):
        holdings.note(number, size)

    assert list(holdings.remove_largest(limit)) == []


async def test_all_brokers_of_a_large_cluster_are_told_of_a_new_master() -> None:
    happened: list[Event] = []

    def note(events: Iterable[Event], _: str | None) -> None:
        happened.extend(events)

    state = State(DEFAULTS)
    notifier = Notifier(state, TlsContexts(state.config.tls), note)
    async with trio.open_nursery() as nursery:
        notifier.tasks = nursery
        notifier.send([("nowhere", RemotingCommand(code=905))] * 1000)

    assert not any(isinstance(one, LimitExceeded) for one in happened)


# ------------------------------------------------------------------ numbers that are no settings


def test_a_broker_with_a_hundred_thousand_topics_registers_in_parts() -> None:
    """``enableSplitRegistration`` of Java's brokers: parts of 800 topics."""
    server, every = Server(), names(100_100)
    for first in range(0, len(every), 800):
        server.now += 1
        assert not server.state.table.topics.entries
        assert register(server, packed(every[first : first + 800]), compressed="true").code == 0

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
    register(server, packed(every), compressed="true")

    for _ in range(2):
        for name in every:
            data = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, topic=name)
            assert b'"code":0' in server.receive(data).send


# ------------------------------------------------------------------ what is beyond


async def test_a_connection_that_is_silent_is_closed_and_others_are_served(
    autojump_clock: MockClock,
) -> None:
    async with running(settings()) as site:
        silent, other = site.connect(), site.connect()
        for _ in range(5):
            await trio.sleep(30)
            assert (await other.ask(CLUSTER_INFO)).code == 0

        assert await silent.is_closed()
        assert (await other.ask(CLUSTER_INFO)).code == 0


def test_an_update_that_is_too_long_is_refused_and_the_next_one_is_taken() -> None:
    server = Server(allow_config_update=True)

    refused = server.ask(RequestCode.UPDATE_NAMESRV_CONFIG, body=b"a=" + b"x" * (1 << 20))
    taken = server.ask(RequestCode.UPDATE_NAMESRV_CONFIG, body=b"waitSecondsForService=44\n")

    assert (refused.code, taken.code) == (16, 0)
    assert "more than 1048576 bytes" in (refused.remark or "")
    assert server.state.config.wait_seconds_for_service == 44


def test_a_packed_registration_beyond_its_ratio_is_refused_and_the_next_one_is_taken() -> None:
    server = Server()

    refused = register(server, zlib.compress(bytes(40 << 20), 9), compressed="true")
    taken = register(server, packed(names(1000)), compressed="true")

    assert (refused.code, taken.code) == (1, 0)
