"""Limits of the development broker: clients reach none of them in ordinary use, and one beyond costs no other client.

Clients talk to it over loopback.  The clock stands still until a test moves it, or until no task has run for a second.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import decode_body
from rocketwire.messages.allocation import LockBatchRequestBody, LockBatchResponseBody
from rocketwire.messages.groups import DeleteSubscriptionGroupListRequestBody
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData, SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topics import DeleteTopicListRequestBody
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.config import Config
from rocketwire_broker.handlers.members import MAX_HEARTBEAT
from rocketwire_broker.handlers.requests import MAX_DELETED
from rocketwire_broker.server.programs import open_broker
from rocketwire_broker.server.server import BrokerServer
from tests.support.broker import BrokerAtHand, Client
from tests.support.broker_wire import encode_pull, encode_send
from tests.support.values import require
from tests.unit.broker.stream_client import GET_CONFIG, connect, open_clients, wait_for

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


async def advance(clock: MockClock, seconds: float) -> None:
    await trio.testing.wait_all_tasks_blocked()
    clock.jump(seconds)
    await trio.testing.wait_all_tasks_blocked()


async def test_a_connection_that_is_silent_for_two_minutes_is_closed(clock: MockClock) -> None:
    async with running() as server, open_clients(server, 2) as [silent, busy]:
        for _ in range(2):
            await advance(clock, 118)
            for client in (silent, busy):
                assert (await client.call()).code == 0
            await advance(clock, 1)
        await advance(clock, 60)
        await busy.call()
        await advance(clock, 60)

        await silent.wait_until_closed()
        assert (await busy.call()).code == 0


async def test_a_request_that_is_held_keeps_its_connection(clock: MockClock) -> None:
    async with running() as server, open_clients(server) as [client]:
        await client.call(encode_send())
        for _ in range(6):
            await client.send(encode_pull(offset=1, hold=25_000))
            await wait_for(lambda: len(server.broker.waits) == 1)
            await advance(clock, 25)
            assert (await client.read_answer()).code == ResponseCode.PULL_NOT_FOUND


async def test_a_frame_has_to_be_whole_within_a_minute(clock: MockClock) -> None:
    request = encode_send(bytes(1000))
    async with running() as server, open_clients(server, 3) as [slow, silent, half]:
        await slow.send(request[:500])
        await silent.send(request[:1])
        await half.send(request[:500])
        await wait_for(lambda: server.broker.buffered.total == 1001)
        await advance(clock, 59)
        assert (await slow.call(request[500:])).code == 0
        await advance(clock, 1)

        await silent.wait_until_closed()
        await half.wait_until_closed()
        assert (await slow.call()).code == 0


async def test_a_connection_has_to_begin_in_time_if_asked_for(clock: MockClock) -> None:
    async with (
        running(first_frame_deadline_seconds=5) as server,
        open_clients(server, 2) as [silent, busy],
    ):
        await advance(clock, 1)
        await busy.call()
        await advance(clock, 4)

        await silent.wait_until_closed()
        assert (await busy.call()).code == 0


async def test_responses_have_to_be_read_within_a_minute(clock: MockClock) -> None:
    async with running() as server, open_clients(server, 2) as [reader, slow]:
        await reader.call(encode_send(bytes(LARGE - 1000)))
        for client in (reader, slow):
            await client.send(*(encode_pull() for _ in range(4)))
        await wait_for(lambda: sum(peer.unsent > 0 for peer in server.broker.peers.values()) == 2)
        await advance(clock, 59)
        for _ in range(4):
            assert len((await reader.read_answer()).body or b"") > LARGE - 1000
        await advance(clock, 2)

        await slow.wait_until_closed()
        assert (await reader.call()).code == 0


async def test_two_hundred_clients_of_one_address_are_served() -> None:
    async with running() as server, open_clients(server, 200) as clients:
        for client in clients:
            assert (await client.call()).code == 0


async def test_a_connection_too_many_waits_and_is_warned_of_once_a_minute(
    clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(max_connections=1) as server:
        async with open_clients(server) as [first]:
            await first.call()
            waiting = await connect(server)
            await waiting.send(GET_CONFIG)
            await wait_for(lambda: "rocketwire.maxConnections=1 exceeded" in caplog.text)
        assert (await waiting.read_answer()).code == 0
        await waiting.stream.aclose()

        third = await connect(server)
        assert (await third.call()).code == 0
        await third.stream.aclose()
    assert caplog.text.count("rocketwire.maxConnections=1 exceeded") == 1


async def test_connections_of_one_address_have_a_limit_if_asked_for() -> None:
    async with running(max_connections_per_address=2) as server, open_clients(server, 2) as clients:
        third = await connect(server)

        await third.wait_until_closed()
        await third.stream.aclose()
        for client in clients:
            assert (await client.call()).code == 0


async def test_a_thousand_pipelined_requests_are_answered_in_order() -> None:
    async with running() as server, open_clients(server) as [client]:
        await client.call(encode_send(bytes(10_000)))
        await client.send(*(encode_pull(opaque=number) for number in range(1000)))

        assert [(await client.read_answer()).opaque for _ in range(1000)] == list(range(1000))


async def test_pipelined_pulls_of_a_large_message_take_bounded_memory() -> None:
    async with running(max_unsent_bytes=100_000) as server, open_clients(server) as [client]:
        await client.call(encode_send(bytes(400_000)))
        await client.send(*(encode_pull(opaque=number) for number in range(200)))
        sizes: list[int] = []

        for number in range(200):
            assert (await client.read_answer()).opaque == number
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
            numbers.append((await reader.read_answer()).opaque)
            await advance(clock, 0.1)

    assert max(sizes) < 100_000 + 401_000
    assert sorted(numbers) == list(range(20))


async def test_readers_that_do_not_read_hold_bounded_bytes_in_all(
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = {"max_all_unsent_bytes": 2 * LARGE, "server_socket_snd_buf_size": 65_536}
    async with running(**settings) as server, open_clients(server, 25) as [*slow, writer]:
        await writer.call(encode_send(bytes(LARGE - 1000)))
        for client in slow:
            await client.send(*(encode_pull() for _ in range(8)))
        await wait_for(lambda: len(server.broker.peers) < 20)

        assert server.broker.unsent.total <= 2 * LARGE
        assert (await writer.call()).code == 0
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
        await hoarder.wait_until_closed()

        for victim in victims:
            assert (await victim.call(half[20_000:])).code == 0
    assert "limit rocketwire.maxBufferedBytes=200000 exceeded" in caplog.text


async def test_a_whole_frame_closes_no_connection(caplog: pytest.LogCaptureFixture) -> None:
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
            third = await connect(server)
            await third.wait_until_closed()
            await third.stream.aclose()
            await hoarder.send(bytes([0, 1, 0, 0]), bytes(60_000))
            await hoarder.wait_until_closed()
            await client.call(encode_send(bytes(1000)))
            await client.send(encode_pull(), encode_pull())
            for _ in range(2):
                await client.read_answer()
            await client.send(bytes([127, 0, 0, 0]))
            await client.wait_until_closed()
        await wait_for(lambda: not server.broker.peers)
        async with open_clients(server, 2) as [silent, slow]:
            await slow.send(b"\0")
            await wait_for(lambda: server.broker.buffered.total == 1)
            await advance(clock, 61)
            await slow.wait_until_closed()
            await advance(clock, 60)
            await silent.wait_until_closed()

    assert hits == {
        "rocketwire.maxConnectionsPerAddress": 1,
        "rocketwire.maxBufferedBytes": 1,
        "rocketwire.maxUnsentBytes": 1,
        "rocketwire.frameMaxLength": 1,
        "serverChannelMaxIdleTimeSeconds": 1,
        "rocketwire.frameDeadlineSeconds": 1,
    }


def send_heartbeat(client: Client, client_id: str, topics: int, tags: str = "*") -> RemotingCommand:
    subscriptions = tuple(
        SubscriptionData(topic=f"topic-{number}", sub_string=tags) for number in range(topics)
    )
    consumer = ConsumerData(group_name="readers", subscription_data_set=subscriptions)
    body = HeartbeatData(client_id=client_id, consumer_data_set=(consumer,))
    return client.call(Code.HEART_BEAT, {}, body)


def list_members(home: BrokerAtHand) -> list[str]:
    return require(home.broker.members.online("readers")).client_ids()


def lock_queues(client: Client, group: str, count: int) -> int:
    queues = tuple(
        MessageQueue(topic="orders", broker_name="broker-a", queue_id=number)
        for number in range(count)
    )
    body = LockBatchRequestBody(consumer_group=group, client_id="a", mq_set=queues)
    granted = decode_body(LockBatchResponseBody, client.call(Code.LOCK_BATCH_MQ, {}, body).body)
    return len(require(granted).lock_ok_mq_set or ())


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
    client, neighbour = home.connect(), home.connect()
    client.send("orders")
    client.pull_now(0, "orders", consumerGroup="readers")
    refused = client.pull_now(0, "orders", consumerGroup="auditors")

    assert client.send("payments").code == ResponseCode.TOPIC_NOT_EXIST
    assert refused.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    assert neighbour.send("orders").code == 0
    assert neighbour.pull_now(0, "orders", consumerGroup="readers").code == 0


def test_a_consumer_of_five_thousand_topics_is_kept() -> None:
    assert send_heartbeat(BrokerAtHand().connect(), "member", topics=5_000).code == 0


def test_a_heartbeat_that_is_too_long_is_refused_and_other_members_stay() -> None:
    home = BrokerAtHand()
    send_heartbeat(home.connect(), "member", topics=20)
    answer = send_heartbeat(home.connect(), "hoarder", topics=20_000)

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert f"this broker reads {MAX_HEARTBEAT}" in (answer.remark or "")
    assert list_members(home) == ["member"]


def delete_names(count: int) -> tuple[list[RemotingCommand], bool]:
    home = BrokerAtHand()
    client = home.connect()
    client.send("orders")
    names = ("orders", *(f"name{number}" for number in range(count - 1)))
    topics = DeleteTopicListRequestBody(topic_list=names)
    groups = DeleteSubscriptionGroupListRequestBody(group_name_list=names)
    requests = (
        (Code.DELETE_TOPIC_IN_BROKER_LIST, topics),
        (Code.DELETE_SUBSCRIPTION_GROUP_LIST, groups),
    )
    answers = [client.call(code, {}, body) for code, body in requests]
    return answers, "orders" in home.broker.topics


def test_hundreds_of_topics_and_groups_are_deleted_at_once() -> None:
    answers, remains = delete_names(MAX_DELETED)

    assert ([answer.code for answer in answers], remains) == ([0, 0], False)


def test_more_topics_and_groups_than_one_request_deletes_are_refused() -> None:
    answers, remains = delete_names(MAX_DELETED + 1)

    assert {answer.code for answer in answers} == {ResponseCode.INVALID_PARAMETER}
    assert remains
    assert all(f"deletes {MAX_DELETED} at once" in (answer.remark or "") for answer in answers)


def test_subscriptions_too_much_are_refused_and_other_members_stay() -> None:
    home = BrokerAtHand(max_subscription_bytes=100_000)
    member = home.connect()
    send_heartbeat(member, "member", topics=20)
    answer = send_heartbeat(home.connect(), "hoarder", topics=20, tags="t" * 10_000)

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "rocketwire.maxSubscriptionBytes is 100000" in (answer.remark or "")
    assert send_heartbeat(member, "member", topics=20).code == 0
    assert list_members(home) == ["member"]


def test_waiting_requests_with_long_expressions_are_counted_and_end() -> None:
    home = BrokerAtHand()
    client, neighbour = home.connect(), home.connect()
    client.send()
    home.broker.configure(replace(home.broker.config, max_buffered_bytes=1_000_000), home.now)
    for number in range(2):
        text = f"a = {number}{' ' * 5_000}"
        client.pull(1, hold=15_000, expressionType="SQL92", subscription=text)

    assert list(home.broker.closing) == [client.peer.number]
    client.close()
    assert home.broker.buffered.total == 0
    assert neighbour.send().code == 0


def test_a_lock_too_many_is_not_given_and_others_stay() -> None:
    home = BrokerAtHand(max_locks=3)
    client, neighbour = home.connect(), home.connect()

    assert lock_queues(client, "readers", 2) == 2
    assert lock_queues(neighbour, "auditors", 2) == 1
    assert lock_queues(client, "readers", 2) == 2
