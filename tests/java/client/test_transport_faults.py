"""Case T14: a broker that goes away, and what our client makes of it."""

from dataclasses import replace

import trio

from rocketwire.client import open_client
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError
from rocketwire.messages.pull import PullMessageRequestHeader
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, until
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


async def test_T14_a_broker_that_ends_wakes_its_pulls(java_cluster: JavaCluster) -> None:
    ending = java_cluster.broker("broker-ending")
    config = patient(namesrv_addr=java_cluster.address, poll_name_server_interval=0.5)
    outcomes: list[Exception | int] = []
    async with open_client(config) as client:
        for broker in (ending, java_cluster.master):
            await create_topic(client, "T14", queues=1, broker=broker.name, address=broker.address)
        client.add_producer(Producer("P_T14", ("T14",)))
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
