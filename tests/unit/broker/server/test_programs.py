"""A name server and brokers in this process, and registration."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import trio

from rocketwire.client import ConsumeConcurrentlyContext, Message, open_producer, open_push_consumer
from rocketwire.client.admin import open_admin
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_broker.config import Config
from rocketwire_broker.server.programs import open_broker, open_name_server
from rocketwire_broker.server.server import BrokerServer
from rocketwire_broker.tables.topics import new_topic
from tests.peers.processes import free_ports


@asynccontextmanager
async def running() -> AsyncGenerator[tuple[str, BrokerServer]]:
    async with open_name_server(0, "127.0.0.1") as address:
        config = Config(listen_port=0, namesrv_addr=address)
        async with open_broker(config, [new_topic("orders", 2)]) as server:
            yield address, server


async def test_a_message_is_sent_and_consumed() -> None:
    consumed, end = list[bytes | None](), trio.Event()

    async def handle(messages: Sequence[StoredMessage], _: ConsumeConcurrentlyContext) -> None:
        consumed.extend(message.body for message in messages)
        end.set()

    async with running() as (address, _):
        async with open_producer(address, "producers") as producer:
            await producer.send(Message("orders", b"paid"))
        async with open_push_consumer(address, "readers", {"orders": "*"}, handle):
            with trio.fail_after(60):
                await end.wait()

    assert consumed == [b"paid"]


async def test_a_topic_has_its_route_before_the_answer_to_its_first_send() -> None:
    async with running() as (address, server), open_producer(address, "producers") as producer:
        await producer.send(Message("created", b"x"))
        async with open_admin(address) as admin:
            route = await admin.clusters.route("created")

    assert [queue.broker_name for queue in route.queue_datas or ()] == ["broker-a"]
    assert server.broker.topics.changed == {}


async def test_moved_time_delivers_due_messages() -> None:
    due = trio.Event()
    async with running() as (_, server):
        server.broker.schedule.at(server.clock.now() + 7_200_000, lambda _now: due.set())
        await server.advance(7_200_000)
        with trio.fail_after(60):
            await due.wait()


async def test_a_broker_is_ready_when_a_name_server_knows_it() -> None:
    port = free_ports()
    config = Config(listen_port=0, namesrv_addr=f"127.0.0.1:{port}")
    ready = trio.Event()

    async def run() -> None:
        async with open_broker(config):
            ready.set()
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await trio.testing.wait_all_tasks_blocked(0.1)
        assert not ready.is_set()
        async with open_name_server(port, "127.0.0.1") as address:
            with trio.fail_after(60):
                await ready.wait()
            async with open_admin(address) as admin:
                cluster = await admin.clusters.info()
            nursery.cancel_scope.cancel()

    assert set(cluster.broker_addr_table or {}) == {"broker-a"}


async def test_a_broker_assigns_the_queues_of_all_brokers() -> None:
    config = Config(listen_port=0)
    topics = [new_topic("orders", 1)]
    async with (
        open_name_server(0, "127.0.0.1") as address,
        open_broker(replace(config, namesrv_addr=address), topics) as server,
        open_broker(replace(config, namesrv_addr=address, broker_name="broker-b"), topics),
    ):
        arrival = trio.Event()
        routes = server.broker.routes
        assert not routes.is_fresh("orders", server.clock.now())
        routes.ask("orders", lambda now: arrival.set())
        with trio.fail_after(60):
            await arrival.wait()

    assert {queue.broker_name for queue in routes.queues("orders")} == {"broker-a", "broker-b"}
    assert routes.on_asked is None
