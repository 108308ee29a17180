"""Clients of the largest clusters reach none of their own limits; data beyond a limit harms nothing else."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import pytest
import trio
import trio.testing

from rocketwire.client import ClientConfig, ClientInstance, open_client
from rocketwire.client.consumer.queues import get_queues
from rocketwire.client.instance.instance import CLOSE_SECONDS, MAX_HEARTBEATS_AT_ONCE
from rocketwire.client.net.address_server import MAX_RESPONSE_SIZE, fetch_name_servers
from rocketwire.client.net.pool import MAX_CHANNELS, open_pool
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import ClientError, DecodeError, LocalProtocolError
from rocketwire.messages.heartbeat import ProducerData
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.policy.routing import MAX_QUEUES
from rocketwire.testing import MemoryNetwork, open_network, reply
from rocketwire.wire.command import RemotingCommand

NS = "10.0.0.1:9876"
CONFIG = ClientConfig(namesrv_addr=NS, client_ip="1.1.1.1", instance_name="i")


def address(number: int) -> str:
    return f"10.1.{number >> 8}.{number & 255}:10911"


def route(brokers: int, queues: int = 4) -> RemotingCommand:
    addresses = {f"b{number}": {0: address(number)} for number in range(brokers)}
    broker_datas = [
        BrokerData(broker_name=name, cluster="c", broker_addrs=by_id)
        for name, by_id in addresses.items()
    ]
    queue_datas = [
        QueueData(broker_name=name, perm=6, read_queue_nums=queues, write_queue_nums=queues)
        for name in addresses
    ]
    body = TopicRouteData(broker_datas=tuple(broker_datas), queue_datas=tuple(queue_datas))
    return reply(body=body)


@asynccontextmanager
async def open_cluster_client(brokers: int) -> AsyncGenerator[tuple[MemoryNetwork, ClientInstance]]:
    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, route(brokers))
        for number in range(brokers):
            for code in (Code.HEART_BEAT, Code.UNREGISTER_CLIENT):
                network.peer(address(number)).on(code, reply())
        async with open_client(CONFIG, environment={}, connect=network.connect) as client:
            await client.route("T")
            yield network, client


def codes_at(network: MemoryNetwork, number: int) -> set[int]:
    return {request.code for request in network.peer(address(number)).requests}


class Producer:
    """A member of the client, so that it sends heartbeats."""

    group = "p"

    def topics(self) -> tuple[str, ...]:
        return ("T",)

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """Of no interest."""

    def heartbeat(self) -> ProducerData:
        return ProducerData(group_name=self.group)


async def test_brokers_that_answer_no_heartbeat_keep_none_from_the_others(
    autojump_clock: trio.testing.MockClock,
) -> None:
    count = 2 * MAX_HEARTBEATS_AT_ONCE
    async with open_cluster_client(count) as (network, client):
        for hanging in range(MAX_HEARTBEATS_AT_ONCE):
            network.peer(address(hanging)).on(Code.HEART_BEAT, None)
            network.peer(address(hanging)).on(Code.UNREGISTER_CLIENT, None)
        client.add_producer(cast("Any", Producer()))
        await trio.sleep(40)

        for number in range(MAX_HEARTBEATS_AT_ONCE, count):
            assert Code.HEART_BEAT in codes_at(network, number)


async def test_all_brokers_of_a_large_cluster_hear_that_a_client_leaves(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_cluster_client(200) as (network, client):
        client.add_producer(cast("Any", Producer()))
        await trio.sleep(1)
        started = trio.current_time()

    assert trio.current_time() - started < CLOSE_SECONDS
    assert all(Code.UNREGISTER_CLIENT in codes_at(network, number) for number in range(200))


async def test_an_address_too_many_is_refused_and_the_others_are_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = RemotingCommand(code=Code.GET_MAX_OFFSET)
    assert MAX_CHANNELS > 1000
    monkeypatch.setattr("rocketwire.client.net.pool.MAX_CHANNELS", 2)
    async with open_network() as network:
        for number in range(3):
            network.peer(address(number)).on(Code.GET_MAX_OFFSET, reply())
        async with open_pool(CONFIG, environment={}, connect=network.connect) as pool:
            for number in (0, 1):
                await pool.request(address(number), ask)
            with pytest.raises(LocalProtocolError):
                await pool.request(address(2), ask)
            for number in (0, 1):
                assert (await pool.request(address(number), ask)).code == 0


@pytest.mark.parametrize(("brokers", "queues"), [(1, 30_000), (100, 64), (1000, 64)])
async def test_all_queues_of_a_topic_are_known(brokers: int, queues: int) -> None:
    assert brokers * queues <= MAX_QUEUES
    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, route(brokers, queues))
        async with open_client(CONFIG, environment={}, connect=network.connect) as client:
            assert len(await get_queues(client, "T")) == brokers * queues


async def test_a_route_of_too_many_queues_is_refused_and_the_next_one_is_taken() -> None:
    routes = {"T": route(2, 2**31 - 1), "U": route(1)}

    def respond(request: RemotingCommand) -> RemotingCommand:
        return routes[(request.ext_fields or {})["topic"]]

    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, respond)
        async with open_client(CONFIG, environment={}, connect=network.connect) as client:
            with pytest.raises(DecodeError):
                await get_queues(client, "T")
            assert len(await get_queues(client, "U")) == 4


@asynccontextmanager
async def address_server(body: bytes) -> AsyncGenerator[str]:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)

    async def handle(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        with suppress(trio.BrokenResourceError):  # it is closed once it is too much
            await stream.send_all(head + body)
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, handle, listeners)
        yield f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/rocketmq/nsaddr"
        nursery.cancel_scope.cancel()


async def test_an_address_server_may_name_hundreds_of_name_servers() -> None:
    addresses = [f"name-server-{number}.some-zone.example.com:9876" for number in range(500)]
    async with address_server(";".join(addresses).encode() + b"\n") as url:
        assert list(await fetch_name_servers(url)) == addresses


async def test_a_long_answer_of_an_address_server_is_refused_and_the_next_taken() -> None:
    async with address_server(b"a:1;" * MAX_RESPONSE_SIZE) as url:
        with pytest.raises(ClientError):
            await fetch_name_servers(url)
    async with address_server(b"a:1\n") as url:
        assert await fetch_name_servers(url) == ("a:1",)
