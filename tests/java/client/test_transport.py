"""Cases T01 to T15: our connections and real Java servers, mostly of 5.5.0."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import open_client, open_pool
from rocketwire.client.net.rpc import make_request
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import SerializeType
from rocketwire.errors import BrokerError, EncodeError
from rocketwire.messages import decode_body
from rocketwire.messages.pop import PopMessageRequestHeader
from rocketwire.messages.route import GetRouteInfoRequestHeader, TopicRouteData
from rocketwire.transport.dial import connect_stream
from rocketwire.versions import MQVersion
from rocketwire.wire.command import RemotingCommand
from tests.peers.client_settings import patient
from tests.peers.messages import eventually
from tests.peers.peers import BINARY_HEADERS
from tests.peers.processes import free_ports

if TYPE_CHECKING:
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaBroker


TOPIC = "TBW102"
OLD = 317
"""What the client in Go says it speaks."""
MAX_FRAME = 16 * 1024 * 1024


@pytest.fixture(scope="module")
def binary_broker(java_cluster: JavaCluster) -> JavaBroker:
    """A broker that writes binary headers whatever it is asked with."""
    return java_cluster.broker("broker-binary", jvm=[BINARY_HEADERS])


async def route_answer(address: str, version: int, *, standard: bool | None) -> RemotingCommand:
    header = GetRouteInfoRequestHeader(topic=TOPIC, accept_standard_json_only=standard)
    config = patient(version=version)
    async with open_pool(config) as pool:
        return await pool.request(
            address, make_request(config, Code.GET_ROUTEINFO_BY_TOPIC, header)
        )


@pytest.mark.parametrize(
    ("version", "standard"),
    [
        pytest.param(MQVersion.V5_3_3, None, id="T01-version-479"),
        pytest.param(MQVersion.V5_5_0, None, id="T01-version-513"),
        pytest.param(OLD, True, id="T03-version-317-asks-for-it"),
    ],
)
async def test_a_route_is_standard_json(
    java_cluster: JavaCluster, version: int, standard: bool | None
) -> None:
    answer = await route_answer(java_cluster.address, version, standard=standard)
    body = answer.body or b""

    read = json.loads(body)
    masters = [broker["brokerAddrs"].get("0") for broker in read["brokerDatas"]]
    assert java_cluster.master.address in masters


async def test_T02_a_route_for_an_old_version_has_integer_keys_and_is_read_all_the_same(
    java_cluster: JavaCluster,
) -> None:
    answer = await route_answer(java_cluster.address, OLD, standard=None)

    assert b"{0:" in (answer.body or b"")
    route = decode_body(TopicRouteData, answer.body)
    assert route is not None
    masters = [(broker.broker_addrs or {}).get(0) for broker in route.broker_datas or ()]
    assert java_cluster.master.address in masters


async def test_T04_a_binary_request_is_answered_in_json_under_its_number(
    java_cluster: JavaCluster,
) -> None:
    config = patient(serialize_type=SerializeType.ROCKETMQ)
    command = make_request(
        config, Code.GET_ROUTEINFO_BY_TOPIC, GetRouteInfoRequestHeader(topic=TOPIC)
    )
    async with open_pool(config) as pool:
        answer = await pool.request(java_cluster.address, command)

    assert command.serialize_type == SerializeType.ROCKETMQ
    assert answer.serialize_type == SerializeType.JSON
    assert answer.code == 0


async def test_T05_a_broker_that_writes_binary_headers_is_understood(
    binary_broker: JavaBroker,
) -> None:
    found: list[tuple[SerializeType | int | None, str | None]] = []
    async with open_client(patient(namesrv_addr=[])) as client:

        async def is_answered() -> (
            bool
        ):  # in its first second a broker has no statistics, and fails
            answer = await client.brokers.call(binary_broker.address, Code.GET_BROKER_RUNTIME_INFO)
            version = answer.body.table["brokerVersionDesc"]
            found.append((answer.command.serialize_type, version))
            return True

        await eventually(is_answered)

    assert found == [(SerializeType.ROCKETMQ, "V5_5_0")]


async def test_T06_pop_needs_json_headers_because_its_code_does_not_fit_binary_ones(
    binary_broker: JavaBroker,
) -> None:
    header = PopMessageRequestHeader(
        consumer_group="CID_T06", topic=TOPIC, queue_id=-1, max_msg_nums=1, invisible_time=10_000,
        poll_time=0, born_time=0, init_mode=0,
    )  # fmt: skip
    config = patient(namesrv_addr=[], serialize_type=SerializeType.ROCKETMQ)
    async with open_client(config) as client:
        with pytest.raises(BrokerError) as caught:  # the request was understood, and refused
            await client.brokers.call(binary_broker.address, Code.POP_MESSAGE, header)
        binary = replace(
            make_request(config, Code.POP_MESSAGE, header), serialize_type=SerializeType.ROCKETMQ
        )
        with pytest.raises(EncodeError):
            await client.pool.request(binary_broker.address, binary)
        cut = replace(binary, code=Code.POP_MESSAGE & 0xFFFF)  # what Java would have sent
        answer = await client.pool.request(binary_broker.address, cut)

    assert caught.value.code != 3
    assert answer.code == 3


async def test_T07_two_hundred_requests_at_once_each_get_their_own_answer(
    java_cluster: JavaCluster,
) -> None:
    wrong: list[str] = []
    async with (
        open_client(patient(namesrv_addr=java_cluster.address)) as client,
        trio.open_nursery() as nursery,
    ):
        name_server = client.name_servers.each()[0]
        broker = java_cluster.master.address

        async def ask_broker(number: int) -> None:
            fields = {"topic": f"T07-{number}", "queueId": "0"}
            try:
                await client.brokers.call(broker, Code.GET_MAX_OFFSET, fields)
            except BrokerError as error:
                if f"T07-{number}" not in error.remark:
                    wrong.append(error.remark)

        async def ask_name_server(number: int) -> None:
            await name_server.put_kv("T07", str(number), f"value of {number}")
            if await name_server.kv_value("T07", str(number)) != f"value of {number}":
                wrong.append(str(number))

        for number in range(100):
            nursery.start_soon(ask_broker, number)
            nursery.start_soon(ask_name_server, number)

    assert wrong == []


async def test_T08_a_frame_that_is_too_long_costs_its_connection_and_the_next_request_a_new_one(
    java_cluster: JavaCluster,
) -> None:
    made: list[trio.SocketStream] = []

    async def connect(host: str, port: int) -> trio.abc.Stream:
        made.append(await trio.open_tcp_stream(host, port))
        return made[-1]

    ask = RemotingCommand(code=Code.GET_BROKER_CLUSTER_INFO)
    async with open_pool(patient(), connect=connect) as pool:
        with pytest.raises(EncodeError):
            await pool.request(java_cluster.address, replace(ask, body=bytes(MAX_FRAME)))
        assert (await pool.request(java_cluster.address, ask)).code == 0
        await made[0].send_all((MAX_FRAME + 1).to_bytes(4, "big") + bytes(64))
        with trio.fail_after(120):
            while java_cluster.address in pool.addresses:
                await trio.sleep(0.02)
        assert (await pool.request(java_cluster.address, ask)).code == 0

    assert len(made) == 2


async def test_T12_a_dead_name_server_costs_one_attempt_and_the_other_one_stays(
    java_cluster: JavaCluster,
) -> None:
    dead = f"127.0.0.1:{free_ports()}"
    attempts: list[int] = []

    async def counted(host: str, port: int) -> trio.abc.Stream:
        attempts.append(port)
        return await connect_stream(host, port)

    for _ in range(3):  # whoever is asked first by chance
        attempts.clear()
        config = patient(namesrv_addr=[dead, java_cluster.address], probe_name_server_interval=1000)
        async with open_client(config, connect=counted) as client:
            for _ in range(4):
                await client.name_servers.route(TOPIC)
            assert client.name_servers.chosen == java_cluster.address
        assert len(attempts) <= 2


async def test_T15_clusters_with_a_slave_are_read_from_integer_keys(
    java_cluster: JavaCluster,
) -> None:
    slave = java_cluster.slave()
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        answer = await client.name_servers.call(Code.GET_BROKER_CLUSTER_INFO)
        info = await client.name_servers.cluster_info()
        route = await client.route(TOPIC)
        replica = await client.replica("broker-a", 1)
    raw = answer.command.body or b""

    with pytest.raises(ValueError, match="Expecting property name"):
        json.loads(raw)
    group = (info.broker_addr_table or {})["broker-a"]
    assert group.broker_addrs == {0: java_cluster.master.address, 1: slave.address}
    assert replica.address == slave.address
    assert "broker-a" in [broker.broker_name for broker in route.broker_datas or ()]
