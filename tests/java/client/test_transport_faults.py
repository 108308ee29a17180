"""Cases T11, T13 and T14: connections and servers that go away, and what our client makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import (
    BrokerIdentity,
    open_client,
    open_pool,
    open_registration,
)
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import BrokerError, ChannelError
from rocketwire.messages.pull import PullMessageRequestHeader
from rocketwire.messages.registration import TopicConfig
from rocketwire.messages.topics import CreateTopicRequestHeader
from rocketwire.wire.command import RemotingCommand
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.peers import JavaNameServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.peers.cluster import JavaCluster


SECONDS = 120.0
"""Within these a busy machine does what is waited for."""


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(SECONDS):
        while not condition():
            await trio.sleep(0.05)


@pytest.mark.full
async def test_T11_a_server_that_closes_idle_connections_is_connected_to_anew(
    java_cluster: JavaCluster, tmp_path: Path
) -> None:
    ask = RemotingCommand(code=Code.GET_BROKER_CLUSTER_INFO)
    with JavaNameServer(tmp_path, {"serverChannelMaxIdleTimeSeconds": 5}) as server:
        async with open_pool(patient()) as pool:
            assert (await pool.request(server.address, ask)).code == 0
            await until(lambda: server.address not in pool.addresses)
            assert (await pool.request(server.address, ask)).code == 0


@pytest.mark.full
async def test_T13_routes_are_kept_while_the_name_server_is_away_and_polled_when_it_is_back(
    java_cluster: JavaCluster, tmp_path: Path
) -> None:
    who = BrokerIdentity(cluster_name="C", broker_name="b", broker_addr="127.0.0.1:10911")
    topics = [TopicConfig(topic_name=name, write_queue_nums=1) for name in ("T13", "T13-other")]
    server = JavaNameServer(tmp_path)
    config = patient(namesrv_addr=server.address)
    polling = patient(namesrv_addr=server.address, poll_name_server_interval=0.2)
    with server:
        async with open_registration(who, topics, config) as broker, open_client(polling) as client:
            await client.route("T13")
            wanted = _Wanted("T13")
            client.add_producer(wanted)
            server.kill()
            with pytest.raises(ChannelError):
                await client.refresh_route("T13")
            assert client.routes.master("b") == "127.0.0.1:10911"

            server.start()
            await broker.update_topics([TopicConfig(topic_name="T13", write_queue_nums=7)])
            await broker.register()
            await until(lambda: wanted.queues == [7])
            assert client.routes.master("b") == "127.0.0.1:10911"


async def test_T14_a_broker_that_ends_wakes_its_pulls_and_the_client_goes_elsewhere(
    java_cluster: JavaCluster,
) -> None:
    ending = java_cluster.broker("broker-ending")
    config = patient(namesrv_addr=java_cluster.address, poll_name_server_interval=0.5)
    outcomes: list[Exception | int] = []
    async with open_client(config) as client:
        for address in (ending.address, java_cluster.master.address):
            await client.brokers.call(address, Code.UPDATE_AND_CREATE_TOPIC, TOPIC)
        client.add_producer(_Wanted("T14"))
        await until(lambda: set(client.routes.brokers) >= {"broker-a", "broker-ending"})

        async def pull(address: str, seconds: int = 60) -> int:
            answer = await client.brokers.call(
                address,
                Code.PULL_MESSAGE,
                replace(PULL, suspend_timeout_millis=1000 * seconds),
                within=PATIENCE,
                accepted=(0, 19, 20, 21, 1500),
            )
            return answer.command.code

        async def pull_from_the_one_that_ends() -> None:
            try:
                outcomes.append(await pull(ending.address))
            except (ChannelError, BrokerError) as error:
                outcomes.append(error)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(pull_from_the_one_that_ends)
            await until(lambda: client.pool.in_flight >= 3)
            await trio.to_thread.run_sync(ending.stop)
        await until(lambda: "broker-ending" not in client.routes.brokers)

        assert all(isinstance(one, ChannelError) or one == 1500 for one in outcomes), outcomes
        assert await client.any_broker("T14") == java_cluster.master.address
        assert await pull(await client.any_broker("T14"), 1) == 19


TOPIC = CreateTopicRequestHeader(
    topic="T14",
    default_topic="TBW102",
    read_queue_nums=1,
    write_queue_nums=1,
    perm=6,
    topic_filter_type="SINGLE_TAG",
)
PULL = PullMessageRequestHeader(
    consumer_group="CID_T14",
    topic="T14",
    queue_id=0,
    queue_offset=0,
    max_msg_nums=1,
    sys_flag=2 | 4,  # wait for messages; the subscription is in the request
    commit_offset=0,
    suspend_timeout_millis=0,
    subscription="*",
    sub_version=0,
    expression_type="TAG",
)


class _Wanted:
    """A producer that wants one topic and remembers how many queues it had."""

    def __init__(self, topic: str) -> None:
        self.group = f"P_{topic}"
        self.queues: list[int] = []
        self._topic = topic

    def topics(self) -> tuple[str, ...]:
        return (self._topic,)

    def route_changed(self, topic: str, route: object) -> None:
        self.queues = [queue.write_queue_nums for queue in getattr(route, "queue_datas", ())]

    async def check_transaction(self, address: str, header: object, message: object) -> None:
        raise AssertionError(address, header, message)

    def reply_received(self, header: object, body: bytes) -> bool:
        raise AssertionError(header, body)
