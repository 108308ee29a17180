"""Cases T11, T13 and T14: connections and servers that go away, and what our client makes of it."""

from dataclasses import replace
from pathlib import Path

import pytest
import trio

from rocketwire.client import BrokerIdentity, open_client, open_pool, open_registration
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError
from rocketwire.messages.pull import PullMessageRequestHeader
from rocketwire.messages.registration import TopicConfig
from rocketwire.messages.route import TopicRouteData
from rocketwire.wire.command import RemotingCommand
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, until
from tests.peers.peers import JavaNameServer
from tests.support.fakes.member_fakes import Producer

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


class RouteWatcher(Producer):
    queues: tuple[int, ...] = ()

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        self.queues = tuple(queue.write_queue_nums for queue in route.queue_datas or ())


@pytest.mark.full
async def test_T11_a_server_that_closes_idle_connections_is_connected_to_anew(
    tmp_path: Path,
) -> None:
    request = RemotingCommand(code=Code.GET_BROKER_CLUSTER_INFO)
    with JavaNameServer(tmp_path, {"serverChannelMaxIdleTimeSeconds": 5}) as server:
        async with open_pool(patient()) as pool:
            assert (await pool.request(server.address, request)).code == 0
            await until(lambda: server.address not in pool.addresses)
            assert (await pool.request(server.address, request)).code == 0


@pytest.mark.full
async def test_T13_routes_stay_while_the_name_server_is_away(tmp_path: Path) -> None:
    who = BrokerIdentity(cluster_name="C", broker_name="b", broker_addr="127.0.0.1:10911")
    topics = [TopicConfig(topic_name=name, write_queue_nums=1) for name in ("T13", "T13-second")]
    server = JavaNameServer(tmp_path)
    config = patient(namesrv_addr=server.address)
    polling = patient(namesrv_addr=server.address, poll_name_server_interval=0.2)
    with server:
        async with open_registration(who, topics, config) as broker, open_client(polling) as client:
            await client.route("T13")
            watcher = RouteWatcher("P_T13", ("T13",))
            client.add_producer(watcher)
            server.kill()
            with pytest.raises(ChannelError):
                await client.refresh_route("T13")
            assert client.routes.master("b") == "127.0.0.1:10911"

            server.start()
            await broker.update_topics([TopicConfig(topic_name="T13", write_queue_nums=7)])
            await broker.register()
            await until(lambda: watcher.queues == (7,))
            assert client.routes.master("b") == "127.0.0.1:10911"


async def test_T14_a_broker_that_ends_wakes_its_pulls(java_cluster: JavaCluster) -> None:
    ending = java_cluster.broker("broker-ending")
    config = patient(namesrv_addr=java_cluster.address, poll_name_server_interval=0.5)
    outcomes: list[Exception | int] = []
    async with open_client(config) as client:
        for broker in (ending, java_cluster.master):
            await create_topic(client, "T14", queues=1, broker=broker.name, address=broker.address)
        client.add_producer(RouteWatcher("P_T14", ("T14",)))
        await until(lambda: set(client.routes.brokers) >= {"broker-a", "broker-ending"})

        async def pull(address: str, seconds: int = 60) -> int:
            answer = await client.brokers.call(
                address,
                Code.PULL_MESSAGE,
                replace(PULL, suspend_timeout_millis=1000 * seconds),
                within=PATIENCE,
                accepted=(
                    ResponseCode.SUCCESS,
                    ResponseCode.PULL_NOT_FOUND,
                    ResponseCode.PULL_RETRY_IMMEDIATELY,
                    ResponseCode.PULL_OFFSET_MOVED,
                    ResponseCode.GO_AWAY,
                ),
            )
            return answer.command.code

        async def pull_until_the_end() -> None:
            try:
                outcomes.append(await pull(ending.address))
            except (ChannelError, BrokerError) as error:
                outcomes.append(error)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(pull_until_the_end)
            await until(lambda: client.pool.in_flight >= 3)
            await trio.to_thread.run_sync(ending.stop)
        await until(lambda: "broker-ending" not in client.routes.brokers)

        for outcome in outcomes:
            assert isinstance(outcome, ChannelError) or outcome == ResponseCode.GO_AWAY
        assert await client.any_broker("T14") == java_cluster.master.address
        assert await pull(await client.any_broker("T14"), 1) == ResponseCode.PULL_NOT_FOUND
