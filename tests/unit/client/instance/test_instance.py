"""``ClientInstance`` in memory: routes, heartbeats, members, closing."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import trio
import trio.testing

from rocketwire.client import ClientConfig, ClientInstance, open_client
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import BrokerNotFoundError, LocalProtocolError, TopicRouteNotFoundError
from rocketwire.messages import decode_body
from rocketwire.messages.heartbeat import HeartbeatData
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.testing import ScriptedPeer, open_network, reply
from rocketwire.wire.command import RemotingCommand
from tests.support.fakes.member_fakes import Consumer, Producer

NS, MASTER, SLAVE = "10.0.0.1:9876", "10.0.0.3:10911", "10.0.0.4:10911"
ROUTE = TopicRouteData(
    broker_datas=(BrokerData(broker_name="b", cluster="c", broker_addrs={0: MASTER, 1: SLAVE}),),
    queue_datas=(QueueData(broker_name="b", perm=6, read_queue_nums=4, write_queue_nums=4),),
)
GONE = reply(code=17, remark="no route")
SETTINGS: dict[str, Any] = {"namesrv_addr": NS, "client_ip": "1.1.1.1", "instance_name": "i"}


class World:
    """A client and whom it talks to."""

    def __init__(self, client: ClientInstance, peers: dict[str, ScriptedPeer]) -> None:
        self.client = client
        self.name_server = peers[NS]
        self.master = peers[MASTER]
        self.slave = peers[SLAVE]

    def heartbeats(self, peer: ScriptedPeer) -> list[HeartbeatData | None]:
        return [
            decode_body(HeartbeatData, request.body)
            for request in peer.requests
            if request.code == Code.HEART_BEAT
        ]


@asynccontextmanager
async def world(**settings: Any) -> AsyncGenerator[World]:
    async with open_network() as network:
        peers = {address: network.peer(address) for address in (NS, MASTER, SLAVE)}
        peers[NS].on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=ROUTE))
        for address in (MASTER, SLAVE):
            peers[address].on(Code.HEART_BEAT, reply(version=479))
            peers[address].on(Code.UNREGISTER_CLIENT, reply())
        config = ClientConfig(**{**SETTINGS, **settings})
        async with open_client(config, environment={}, connect=network.connect) as client:
            yield World(client, peers)


@pytest.fixture
async def cluster() -> AsyncGenerator[World]:
    async with world() as it:
        yield it


async def test_concurrent_callers_share_one_route_request(cluster: World) -> None:
    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(cluster.client.route, "T")
    assert await cluster.client.route("T") == ROUTE
    assert len(cluster.name_server.requests) == 1
    assert cluster.client.client_id == "1.1.1.1@i"


async def test_a_missing_route_is_an_error_but_a_cached_one_stays(cluster: World) -> None:
    cluster.name_server.on(Code.GET_ROUTEINFO_BY_TOPIC, GONE)
    with pytest.raises(TopicRouteNotFoundError):
        await cluster.client.route("T")
    with pytest.raises(TopicRouteNotFoundError):
        await cluster.client.any_broker("T")
    cluster.client.set_route("T", ROUTE)
    cluster.client.add_producer(Producer())
    await cluster.client.refresh_routes()
    assert await cluster.client.route("T") == ROUTE
    with pytest.raises(TopicRouteNotFoundError, match=r"its broker .* left the name server"):
        await cluster.client.refresh_route("T")


async def test_routes_are_refreshed_regularly(cluster: World, autojump_clock: object) -> None:
    producer, consumer, second_consumer = Producer(), Consumer(), Consumer("h", ("U",))
    cluster.client.add_producer(producer)
    cluster.client.add_consumer(consumer)
    cluster.client.add_consumer(second_consumer)
    await trio.sleep(31)
    cluster.name_server.on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=replace(ROUTE, broker_datas=())))
    await trio.sleep(30)

    assert producer.heard == [("T", 1), ("T", 0)]
    assert consumer.heard == [("T", 1), ("T", 0)]
    assert second_consumer.heard == [("U", 1), ("U", 0)]
    assert cluster.client.routes.brokers == {}


async def test_cached_routes_outlast_name_servers(cluster: World, autojump_clock: object) -> None:
    cluster.client.add_producer(Producer())
    await cluster.client.route("T")
    await cluster.name_server.go_down()
    await trio.sleep(95)
    assert await cluster.client.route("T") == ROUTE
    cluster.name_server.is_up = True
    cluster.name_server.on(
        Code.GET_ROUTEINFO_BY_TOPIC, reply(body=replace(ROUTE, order_topic_conf="b:1"))
    )
    await trio.sleep(30)
    assert (await cluster.client.route("T")).order_topic_conf == "b:1"


async def test_an_unknown_broker_causes_one_more_lookup(cluster: World) -> None:
    with pytest.raises(BrokerNotFoundError) as caught:
        await cluster.client.master("b")
    assert caught.value.broker_name == "b"
    assert await cluster.client.master("b", "T") == MASTER
    assert (await cluster.client.replica("b", 1)).address == SLAVE
    with pytest.raises(BrokerNotFoundError):
        await cluster.client.master("x", "T")
    with pytest.raises(BrokerNotFoundError):
        await cluster.client.replica("x", topic="T")
    assert await cluster.client.any_broker("T") == MASTER
    cluster.name_server.on(Code.GET_ROUTEINFO_BY_TOPIC, GONE)
    with pytest.raises(BrokerNotFoundError):
        await cluster.client.replica("x", topic="V")


async def test_members_and_slaves_have_heartbeats(cluster: World, autojump_clock: object) -> None:
    await cluster.client.route("T")
    await trio.sleep(60)
    assert cluster.heartbeats(cluster.master) == []
    cluster.client.add_producer(Producer())
    await trio.sleep(31)
    beats = cluster.heartbeats(cluster.master)
    assert beats[0] == beats[-1]
    assert beats[0] is not None
    assert beats[0].client_id == "1.1.1.1@i"
    assert [group.group_name for group in beats[0].producer_data_set or ()] == ["p"]
    assert cluster.heartbeats(cluster.slave) == []
    assert cluster.client.broker_version(MASTER) == 479
    cluster.client.add_consumer(Consumer())
    await trio.sleep(1)
    (first, *_) = cluster.heartbeats(cluster.slave)
    assert first is not None
    assert [group.group_name for group in first.consumer_data_set or ()] == ["g"]


async def test_a_new_connection_gets_a_heartbeat(cluster: World, autojump_clock: object) -> None:
    await cluster.client.route("T")
    cluster.client.add_producer(Producer())
    await cluster.master.asked(Code.HEART_BEAT)
    await trio.sleep(1)
    count = len(cluster.heartbeats(cluster.master))
    await cluster.master.disconnect()
    cluster.master.on(Code.GET_MAX_OFFSET, reply(ext_fields={"offset": "1"}))
    await cluster.client.brokers.call(MASTER, Code.GET_MAX_OFFSET)
    await trio.sleep(1)

    assert len(cluster.heartbeats(cluster.master)) == count + 1


async def test_failed_heartbeats_are_repeated(cluster: World, autojump_clock: object) -> None:
    await cluster.client.route("T")
    cluster.master.is_up = False
    cluster.client.add_producer(Producer())
    await trio.sleep(10)
    assert cluster.client.broker_version(MASTER) is None
    cluster.master.is_up = True
    await trio.sleep(31)
    assert cluster.client.broker_version(MASTER) == 479


async def test_brokers_that_can_get_short_heartbeats(autojump_clock: object) -> None:
    async with world(use_heartbeat_v2=True) as cluster:
        cluster.master.on(Code.HEART_BEAT, reply(ext_fields={"IS_SUPPORT_HEART_BEAT_V2": "true"}))
        await cluster.client.route("T")
        cluster.client.add_consumer(Consumer())
        await trio.sleep(65)

        forms = [beat.is_without_sub for beat in cluster.heartbeats(cluster.master) if beat]
        assert forms[0] is False
        assert forms[-1] is True
        assert all(beat and not beat.is_without_sub for beat in cluster.heartbeats(cluster.slave))


async def test_a_group_has_one_member_of_each_kind_in_an_instance(cluster: World) -> None:
    cluster.client.add_producer(Producer())
    cluster.client.add_consumer(Consumer())
    with pytest.raises(LocalProtocolError):
        cluster.client.add_producer(Producer())
    with pytest.raises(LocalProtocolError):
        cluster.client.add_consumer(Consumer())


async def test_leaving_members_are_unregistered(autojump_clock: object) -> None:
    async with world() as cluster:
        await cluster.client.route("T")
        producer, consumer = Producer(), Consumer()
        cluster.client.add_producer(producer)
        cluster.client.add_consumer(consumer)
        await cluster.slave.asked(Code.HEART_BEAT)
        await trio.sleep(1)
        cluster.slave.on(Code.UNREGISTER_CLIENT, reply(code=1))
        await cluster.client.remove_consumer(consumer)
        await cluster.client.remove_consumer(consumer)
        unregistrations = [
            dict(request.ext_fields or {})
            for request in cluster.master.requests
            if request.code == 35
        ]

        assert unregistrations == [{"clientID": "1.1.1.1@i", "consumerGroup": "g"}]
    assert [request.ext_fields for request in cluster.master.requests if request.code == 35][
        1:
    ] == [{"clientID": "1.1.1.1@i", "producerGroup": "p"}]


async def test_a_refused_member_can_be_removed(cluster: World, autojump_clock: object) -> None:
    await cluster.client.route("T")
    producer, consumer = Producer(), Consumer()
    cluster.client.add_producer(producer)
    cluster.client.add_consumer(consumer)
    await cluster.slave.asked(Code.HEART_BEAT)
    await cluster.client.remove_producer(Producer())
    await cluster.client.remove_consumer(Consumer())

    assert cluster.client.producers == {"p": producer}
    assert cluster.client.consumers == {"g": consumer}
    assert [
        request for request in cluster.master.requests if request.code == Code.UNREGISTER_CLIENT
    ] == []


async def test_a_heartbeat_does_not_restore_a_leaving_member(autojump_clock: object) -> None:
    handled: list[tuple[Code, list[str | None]]] = []

    async def heartbeat(request: RemotingCommand) -> RemotingCommand:
        await trio.sleep(0.5)  # in another thread of the broker, which is late
        data = decode_body(HeartbeatData, request.body) or HeartbeatData()
        groups = [group.group_name for group in data.consumer_data_set or ()]
        handled.append((Code.HEART_BEAT, groups))
        return reply()

    def leave(request: RemotingCommand) -> RemotingCommand:
        handled.append((Code.UNREGISTER_CLIENT, [(request.ext_fields or {}).get("consumerGroup")]))
        return reply()

    async with world() as cluster:
        cluster.master.on(Code.HEART_BEAT, heartbeat)
        cluster.master.on(Code.UNREGISTER_CLIENT, leave)
        await cluster.client.route("T")
        consumer = Consumer()
        cluster.client.add_consumer(Consumer("h"))
        cluster.client.add_consumer(consumer)
        async with trio.open_nursery() as nursery:
            await cluster.master.asked(Code.HEART_BEAT)
            await trio.sleep(0.1)
            nursery.start_soon(cluster.client.send_heartbeats)
            await trio.sleep(0.1)
            await cluster.client.remove_consumer(consumer)

        departure = handled.index((Code.UNREGISTER_CLIENT, ["g"]))
        assert (Code.HEART_BEAT, ["h", "g"]) in handled[:departure]
        assert [groups for _, groups in handled[departure:] if "g" in groups] == [["g"]]
        assert (Code.HEART_BEAT, ["h"]) in handled


async def test_closing_takes_no_longer_than_its_limit_and_leaves_no_connection(
    autojump_clock: object,
) -> None:
    async with world() as cluster:
        await cluster.client.route("T")
        cluster.client.add_consumer(Consumer())
        cluster.client.add_producer(Producer())
        await cluster.master.asked(Code.HEART_BEAT)
        cluster.master.on(Code.UNREGISTER_CLIENT, None)
        cluster.slave.on(Code.UNREGISTER_CLIENT, None)
        started = trio.current_time()
    assert trio.current_time() - started == pytest.approx(3, abs=0.1)
    await trio.testing.wait_all_tasks_blocked()
    assert cluster.master.channels == []
    assert cluster.name_server.channels == []


async def test_a_name_server_is_connected_before_the_first_request(cluster: World) -> None:
    await trio.testing.wait_all_tasks_blocked()
    assert cluster.client.pool.addresses == (NS,)
    assert not cluster.name_server.requests
    await cluster.client.route("T")
    assert cluster.name_server.connections == 1


async def test_a_name_server_absent_at_the_start_is_used_when_it_is_back() -> None:
    async with open_network() as network:
        peer = network.peer(NS)
        peer.on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=ROUTE))
        peer.is_up = False
        config = ClientConfig(**SETTINGS)
        async with open_client(config, environment={}, connect=network.connect) as client:
            await trio.testing.wait_all_tasks_blocked()
            assert client.pool.addresses == ()

            peer.is_up = True
            assert await client.route("T") == ROUTE


async def test_own_instances_have_different_client_ids() -> None:
    config = ClientConfig(namesrv_addr=NS)
    async with (
        open_network() as network,
        open_client(config, connect=network.connect) as first,
        open_client(config, connect=network.connect) as second,
        open_client(config, own_instance=False, connect=network.connect) as shared,
    ):
        assert first.client_id != second.client_id
        assert shared.client_id.endswith("@DEFAULT")
