"""Cases T01 to T15 of transport: our client and real Java servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.client import ClientConfig, open_client

if TYPE_CHECKING:
    from tests.support.javacluster import JavaCluster

pytestmark = [pytest.mark.java, pytest.mark.slow]


async def test_t01_a_route_asked_for_at_a_present_version_is_standard_json(
    java_cluster: JavaCluster,
) -> None:
    async with open_client(ClientConfig(namesrv_addr=java_cluster.address)) as client:
        route = await client.route("TBW102")
        addresses = [broker.broker_addrs for broker in route.broker_datas or ()]

        assert addresses == [{0: java_cluster.master.address}]
        assert await client.master("broker-a") == java_cluster.master.address
