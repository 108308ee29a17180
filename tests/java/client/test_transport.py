"""Cases T01 to T15: our connections and real Java servers, mostly of 5.5.0."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from rocketwire.client import open_client, open_pool
from rocketwire.client.net.rpc import make_request
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import SerializeType
from rocketwire.messages import decode_body
from rocketwire.messages.route import GetRouteInfoRequestHeader, TopicRouteData
from tests.peers.client_settings import patient
from tests.peers.messages import eventually
from tests.peers.peers import BINARY_HEADERS

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaBroker


TOPIC = "TBW102"
OLD = 317
"""What the client in Go says it speaks."""


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


async def test_T02_a_route_for_an_old_version_has_integer_keys_and_is_read_all_the_same(
    java_cluster: JavaCluster,
) -> None:
    answer = await route_answer(java_cluster.address, OLD, standard=None)

    assert b"{0:" in (answer.body or b"")
    route = decode_body(TopicRouteData, answer.body)
    assert route is not None
    masters = [(broker.broker_addrs or {}).get(0) for broker in route.broker_datas or ()]
    assert java_cluster.master.address in masters


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
