"""Limits of the development broker: what a client may do, and what beyond it costs no other client.

Clients talk to it over loopback.  The clock stands still until a test moves it, or until nothing has happened for seconds.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import trio
import trio.testing

from rocketwire.messages import decode_body
from rocketwire.messages.allocation import LockBatchRequestBody, LockBatchResponseBody
from rocketwire.messages.groups import DeleteSubscriptionGroupListRequestBody
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData, SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topics import DeleteTopicListRequestBody
from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from rocketwire_broker.config import Config
from rocketwire_broker.handlers.members import MAX_HEARTBEAT
from rocketwire_broker.handlers.names import MAX_DELETED
from rocketwire_broker.server.programs import open_broker
from tests.support.broker import BrokerAtHand
from tests.support.broker import Client as AtHand
from tests.support.broker_wire import encode_pull, encode_send

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from trio.testing import MockClock

    from rocketwire_broker.server.server import BrokerServer

GET_CONFIG = encode(RemotingCommand(code=26, opaque=1))
LARGE = 4 << 20
"""The largest body that clients send by default."""


@pytest.fixture(autouse=True)
def clock(mock_clock: MockClock) -> MockClock:
    mock_clock.autojump_threshold = 1
    return mock_clock


@asynccontextmanager
async def running(**settings: Any) -> AsyncGenerator[BrokerServer]:
    async with open_broker(Config(listen_port=0, **settings)) as server:
        yield server


class Client:
    """A connection to a broker."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._decoder = CommandDecoder()

    async def send(self, *requests: bytes) -> None:
        await self.stream.send_all(b"".join(requests))

    async def answer(self) -> RemotingCommand:
        with trio.fail_after(30):
            while (command := self._decoder.next_command()) is None:
                data = await self.stream.receive_some()
                assert data, "closed"
                self._decoder.feed(data)
        return command

    async def call(self, request: bytes = GET_CONFIG) -> RemotingCommand:
        await self.send(request)
        return await self.answer()

    async def wait_closed(self) -> None:
        """Wait for its end; responses are not read."""
        with trio.fail_after(30), suppress(trio.BrokenResourceError):
            while await self.stream.receive_some():
                pass


@asynccontextmanager
async def open_clients(server: BrokerServer, count: int = 1) -> AsyncGenerator[list[Client]]:
    """Open connections that the broker has accepted."""
    accepted = len(server.broker.peers) + count
    port = server.broker.config.listen_port
    clients = [Client(await trio.open_tcp_stream("127.0.0.1", port)) for _ in range(count)]
    await wait_for(lambda: len(server.broker.peers) == accepted)
    try:
        yield clients
    finally:
        for client in clients:
            await trio.aclose_forcefully(client.stream)


async def wait_for(is_true: Callable[[], bool]) -> None:
    with trio.fail_after(30):
        while not is_true():
            await trio.lowlevel.checkpoint()


async def advance(clock: MockClock, seconds: float) -> None:
    """Let time pass, and what is due happen."""
    await trio.testing.wait_all_tasks_blocked()
    clock.jump(seconds)
    await trio.testing.wait_all_tasks_blocked()


# ---------------------------------------------------------------------------- time


async def test_a_connection_that_is_silent_for_two_minutes_is_closed(clock: MockClock) -> None:
    async with running() as server, open_clients(server, 2) as [silent, other]:
        for _ in range(2):
            await advance(clock, 118)
            for client in (silent, other):
                assert (await client.call()).code == 0
            await advance(clock, 1)
        await advance(clock, 60)
        await other.call()
        await advance(clock, 60)

        await silent.wait_closed()
        assert (await other.call()).code == 0


async def test_a_request_that_is_held_keeps_its_connection(clock: MockClock) -> None:
    async with running() as server, open_clients(server) as [client]:
        await client.call(encode_send())
        for _ in range(6):
            await client.send(encode_pull(offset=1, hold=25_000))
            await wait_for(lambda: len(server.broker.waits) == 1)
            await advance(clock, 25)
            assert (await client.answer()).code == 19


async def test_a_frame_has_to_be_whole_within_a_minute(clock: MockClock) -> None:
    request = encode_send(bytes(1000))
    async with running() as server, open_clients(server, 3) as [late, silent, half]:
        await late.send(request[:500])
        await silent.send(request[:1])
        await half.send(request[:500])
        await wait_for(lambda: server.broker.buffered.total == 1001)
        await advance(clock, 59)
        assert (await late.call(request[500:])).code == 0
        await advance(clock, 1)

        await silent.wait_closed()
        await half.wait_closed()
        assert (await late.call()).code == 0


async def test_a_connection_has_to_begin_in_time_if_asked_for(clock: MockClock) -> None:
    async with (
        running(first_frame_deadline_seconds=5) as server,
        open_clients(server, 2) as [late, other],
    ):
        await advance(clock, 1)
        await other.call()
        await advance(clock, 4)

        await late.wait_closed()
        assert (await other.call()).code == 0


async def test_responses_have_to_be_read_within_a_minute(clock: MockClock) -> None:
    async with running() as server, open_clients(server, 2) as [reader, slow]:
        await reader.call(encode_send(bytes(LARGE - 1000)))
        for client in (reader, slow):
            await client.send(*(encode_pull() for _ in range(4)))
        await wait_for(lambda: sum(peer.unsent > 0 for peer in server.broker.peers.values()) == 2)
        await advance(clock, 59)
        for _ in range(4):
            assert len((await reader.answer()).body or b"") > LARGE - 1000
        await advance(clock, 2)

        await slow.wait_closed()
        assert (await reader.call()).code == 0


# ---------------------------------------------------------------------------- connections


async def test_two_hundred_clients_of_one_address_are_served() -> None:
    async with running() as server, open_clients(server, 200) as clients:
        for client in clients:
            assert (await client.call()).code == 0


async def test_a_connection_too_many_waits_and_is_warned_of_once_a_minute(
    clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(max_connections=1) as server:
        port = server.broker.config.listen_port
        async with open_clients(server) as [first]:
            await first.call()
            waiting = Client(await trio.open_tcp_stream("127.0.0.1", port))
            await waiting.send(GET_CONFIG)
            await wait_for(lambda: "rocketwire.maxConnections=1 exceeded" in caplog.text)
        assert (await waiting.answer()).code == 0
        await waiting.stream.aclose()

        third = Client(await trio.open_tcp_stream("127.0.0.1", port))
        assert (await third.call()).code == 0
        await third.stream.aclose()
    assert caplog.text.count("rocketwire.maxConnections=1 exceeded") == 1


async def test_connections_of_one_address_have_a_limit_if_asked_for() -> None:
    async with running(max_connections_per_address=2) as server, open_clients(server, 2) as clients:
        port = server.broker.config.listen_port
        third = Client(await trio.open_tcp_stream("127.0.0.1", port))

        await third.wait_closed()
        await third.stream.aclose()
        for client in clients:
            assert (await client.call()).code == 0


# ---------------------------------------------------------------------------- memory


async def test_a_thousand_pipelined_requests_are_answered_in_order() -> None:
    async with running() as server, open_clients(server) as [client]:
        await client.call(encode_send(bytes(10_000)))
        await client.send(*(encode_pull(opaque=number) for number in range(1000)))

        assert [(await client.answer()).opaque for _ in range(1000)] == list(range(1000))


async def test_pipelined_pulls_of_a_large_message_take_bounded_memory() -> None:
    async with running(max_unsent_bytes=100_000) as server, open_clients(server) as [client]:
        await client.call(encode_send(bytes(400_000)))
        await client.send(*(encode_pull(opaque=number) for number in range(200)))
        sizes: list[int] = []

        for number in range(200):
            assert (await client.answer()).opaque == number
            sizes.append(sum(peer.unsent for peer in server.broker.peers.values()))

        assert max(sizes) < 100_000 + 401_000


async def test_held_pulls_that_a_large_message_wakes_take_bounded_memory(clock: MockClock) -> None:
    async with (
        running(max_unsent_bytes=100_000) as server,
        open_clients(server, 2) as [reader, producer],
    ):
        await producer.call(encode_send())
        await reader.send(
            *(encode_pull(offset=1, hold=20_000, opaque=number) for number in range(20))
        )
        await wait_for(lambda: len(server.broker.waits) == 20)
        await producer.call(encode_send(bytes(400_000)))
        sizes, numbers = list[int](), list[int]()
        while len(numbers) < 20:
            sizes.append(sum(peer.unsent for peer in server.broker.peers.values()))
            numbers.append((await reader.answer()).opaque)
            await advance(clock, 0.1)

    assert max(sizes) < 100_000 + 401_000
    assert sorted(numbers) == list(range(20))


async def test_readers_that_do_not_read_hold_bounded_bytes_in_all(
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = {"max_all_unsent_bytes": 2 * LARGE, "server_socket_snd_buf_size": 65_536}
    async with running(**settings) as server, open_clients(server, 25) as [*slow, other]:
        await other.call(encode_send(bytes(LARGE - 1000)))
        for client in slow:
            await client.send(*(encode_pull() for _ in range(8)))
        await wait_for(lambda: len(server.broker.peers) < 20)

        assert server.broker.unsent.total <= 2 * LARGE
        assert (await other.call()).code == 0
    assert f"limit rocketwire.maxAllUnsentBytes={2 * LARGE} exceeded" in caplog.text


async def test_what_a_hundred_clients_send_at_once_closes_none() -> None:
    request = encode_send(bytes(100_000))
    async with running() as server, open_clients(server, 100) as clients:
        for client in clients:
            await client.send(request[:90_000])
        for client in clients:
            assert (await client.call(request[90_000:])).code == 0


async def test_a_hoarder_is_closed_and_its_victims_are_served(
    caplog: pytest.LogCaptureFixture,
) -> None:
    half = encode_send(bytes(100_000))
    async with (
        running(max_buffered_bytes=200_000) as server,
        open_clients(server, 4) as [hoarder, *victims],
    ):
        await hoarder.send(encode_send(bytes(1_000_000))[:199_000])
        await wait_for(lambda: server.broker.buffered.total == 199_000)
        for victim in victims:
            await victim.send(half[:20_000])
        await hoarder.wait_closed()

        for victim in victims:
            assert (await victim.call(half[20_000:])).code == 0
    assert "limit rocketwire.maxBufferedBytes=200000 exceeded" in caplog.text


async def test_a_running_broker_closes_nothing_that_is_whole(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        async with running() as server, open_clients(server) as [client]:
            assert (await client.call(encode_send(bytes(LARGE - 1000)))).code == 0

            assert server.broker.buffered.total == 0
    assert "closed" not in caplog.text


async def test_limits_of_connections_that_are_hit_are_counted(clock: MockClock) -> None:
    settings = {"max_connections": 3, "max_connections_per_address": 2, "max_unsent_bytes": 1000}
    async with running(max_buffered_bytes=50_000, **settings) as server:
        hits = server.broker.statistics.limit_hits
        async with open_clients(server, 2) as [client, hoarder]:
            port = server.broker.config.listen_port
            async with await trio.open_tcp_stream("127.0.0.1", port) as third:
                await Client(third).wait_closed()
            await hoarder.send(bytes([0, 1, 0, 0]), bytes(60_000))
            await hoarder.wait_closed()
            await client.call(encode_send(bytes(1000)))
            await client.send(encode_pull(), encode_pull())
            for _ in range(2):
                await client.answer()
            await client.send(bytes([127, 0, 0, 0]))
            await client.wait_closed()
        await wait_for(lambda: not server.broker.peers)
        async with open_clients(server, 2) as [silent, slow]:
            await slow.send(b"\0")
            await wait_for(lambda: server.broker.buffered.total == 1)
            await advance(clock, 61)
            await slow.wait_closed()
            await advance(clock, 60)
            await silent.wait_closed()

    assert hits == dict.fromkeys(
        (
            "rocketwire.maxConnectionsPerAddress",
            "rocketwire.maxBufferedBytes",
            "rocketwire.maxUnsentBytes",
            "rocketwire.frameMaxLength",
            "serverChannelMaxIdleTimeSeconds",
            "rocketwire.frameDeadlineSeconds",
        ),
        1,
    )


# ---------------------------------------------------------------------------- tables


def heartbeat(client_id: str, topics: int, tags: str = "*") -> HeartbeatData:
    subscriptions = tuple(
        SubscriptionData(topic=f"topic-{number}", sub_string=tags) for number in range(topics)
    )
    consumer = ConsumerData(group_name="readers", subscription_data_set=subscriptions)
    return HeartbeatData(client_id=client_id, consumer_data_set=(consumer,))


def lock_queues(client: AtHand, group: str, count: int) -> int:
    """Return the number of queues that a client gets."""
    queues = tuple(
        MessageQueue(topic="orders", broker_name="broker-a", queue_id=number)
        for number in range(count)
    )
    body = LockBatchRequestBody(consumer_group=group, client_id="a", mq_set=queues)
    granted = decode_body(LockBatchResponseBody, client.call(41, {}, body).body or b"")
    return len((granted and granted.lock_ok_mq_set) or ())


NEEDED = {
    "max_topics": 2_000,
    "max_groups": 2_000,
    "max_lmqs": 2_000,
    "max_lite_subscriptions": 2_000,
    "max_cold_read_limits": 5_000,
    "max_locks": 10_000,
    "max_held_per_peer": 4_096,
    "max_hidden_messages": 1_024,
    "max_relayed_requests": 500,
    "max_subscription_bytes": 1 << 20,  # 100 members that subscribe to 100 topics each
}
"""Setting of a limit -> what one of the largest clusters needs."""


@pytest.mark.parametrize("name", NEEDED)
def test_defaults_are_large_enough_for_large_clusters(name: str) -> None:
    assert getattr(Config(), name) >= NEEDED[name]


def test_a_topic_and_a_group_too_many_are_refused_and_others_work() -> None:
    empty = BrokerAtHand().broker
    home = BrokerAtHand(max_topics=len(empty.topics) + 1, max_groups=len(empty.groups) + 1)
    client, other = home.connect(), home.connect()
    client.send("orders")
    client.pull_now(0, "orders", consumerGroup="readers")

    assert client.send("payments").code == 17
    assert client.pull_now(0, "orders", consumerGroup="auditors").code == 26
    assert other.send("orders").code == 0
    assert other.pull_now(0, "orders", consumerGroup="readers").code == 0


def test_a_consumer_of_five_thousand_topics_is_kept() -> None:
    assert BrokerAtHand().connect().call(34, {}, heartbeat("member", topics=5_000)).code == 0


def test_a_heartbeat_that_is_too_long_is_refused_and_other_members_stay() -> None:
    home = BrokerAtHand()
    member, other = home.connect(), home.connect()
    member.call(34, {}, heartbeat("member", topics=20))
    answer = other.call(34, {}, heartbeat("other", topics=20_000))

    assert answer.code == 1
    assert f"this broker reads {MAX_HEARTBEAT}" in (answer.remark or "")
    group = home.broker.members.online("readers")
    assert group is not None
    assert group.client_ids() == ["member"]


def delete_names(count: int) -> tuple[list[RemotingCommand], bool]:
    """Delete so many topics and groups; return the answers, and whether ``orders`` remains."""
    home = BrokerAtHand()
    client = home.connect()
    client.send("orders")
    names = ("orders", *(f"name{number}" for number in range(count - 1)))
    topics = DeleteTopicListRequestBody(topic_list=names)
    groups = DeleteSubscriptionGroupListRequestBody(group_name_list=names)
    answers = [client.call(5002, {}, topics), client.call(5003, {}, groups)]
    return answers, "orders" in home.broker.topics


def test_hundreds_of_topics_and_groups_are_deleted_at_once() -> None:
    answers, remains = delete_names(MAX_DELETED)

    assert ([answer.code for answer in answers], remains) == ([0, 0], False)


def test_more_topics_and_groups_than_one_request_deletes_are_refused() -> None:
    answers, remains = delete_names(MAX_DELETED + 1)

    assert ([answer.code for answer in answers], remains) == ([29, 29], True)
    assert all(f"deletes {MAX_DELETED} at once" in (answer.remark or "") for answer in answers)


def test_subscriptions_too_much_are_refused_and_other_members_stay() -> None:
    home = BrokerAtHand(max_subscription_bytes=100_000)
    member, hoarder = home.connect(), home.connect()
    member.call(34, {}, heartbeat("member", topics=20))
    answer = hoarder.call(34, {}, heartbeat("hoarder", topics=20, tags="t" * 10_000))

    assert answer.code == 1
    assert "rocketwire.maxSubscriptionBytes is 100000" in (answer.remark or "")
    assert member.call(34, {}, heartbeat("member", topics=20)).code == 0
    group = home.broker.members.online("readers")
    assert group is not None
    assert group.client_ids() == ["member"]


def test_waiting_requests_with_long_expressions_are_counted_and_end() -> None:
    home = BrokerAtHand()
    client, other = home.connect(), home.connect()
    client.send()
    home.broker.configure(replace(home.broker.config, max_buffered_bytes=1_000_000), home.now)
    for number in range(2):
        text = f"a = {number}{' ' * 5_000}"
        client.pull(1, hold=15_000, expressionType="SQL92", subscription=text)

    assert list(home.broker.closing) == [client.peer.number]
    client.close()
    assert home.broker.buffered.total == 0
    assert other.send().code == 0


def test_a_lock_too_many_is_not_given_and_others_stay() -> None:
    home = BrokerAtHand(max_locks=3)
    client, other = home.connect(), home.connect()

    assert lock_queues(client, "readers", 2) == 2
    assert lock_queues(other, "auditors", 2) == 1
    assert lock_queues(client, "readers", 2) == 2


def test_names_of_a_thousand_topics_are_remembered() -> None:
    client = BrokerAtHand().connect()
    for _ in range(2):
        assert {client.send(f"topic-{number}").code for number in range(1_000)} == {0}
