"""Lists of addresses on both drivers: peers that are not on them are refused, and others are not disturbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.codes import RequestCode, ResponseCode
from tests.support.running_server import (
    CLUSTER_INFO,
    Client,
    registration,
    request,
    running,
    settings,
)

if TYPE_CHECKING:
    from rocketwire_namesrv.config.config import Config

pytestmark = pytest.mark.usefixtures("driver_name")

ROUTE = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, topic="TA")
PUT = request(RequestCode.PUT_KV_CONFIG, namespace="n", key="k", value="v")
PROXY = b"PROXY TCP4 10.0.0.5 5.6.7.8 99 9876\r\n"


async def codes(config: Config, opening: bytes = b"") -> list[int]:
    """The response to each kind of request from this machine."""
    found: list[int] = []
    with trio.fail_after(60):
        async with running(config) as site:
            for data in (registration(), ROUTE, ROUTE, PUT, CLUSTER_INFO):
                async with await trio.open_tcp_stream(*site.server.listening) as stream:
                    client = Client(stream)
                    await client.send(opening)
                    found.append((await client.ask(data)).code)
    return found


NO = ResponseCode.NO_PERMISSION
NO_TOPIC = ResponseCode.TOPIC_NOT_EXIST


async def test_without_lists_everybody_may_do_everything() -> None:
    found = await codes(settings())
    assert (found[0], found[3:]) == (0, [0, 0])
    assert NO not in found  # the broker leaves with its connection, sooner or later


async def test_who_is_not_among_the_brokers_does_not_register() -> None:
    config = settings(broker_addresses="10.0.0.0/8")
    assert await codes(config) == [NO, NO_TOPIC, NO_TOPIC, 0, 0]


async def test_who_is_not_among_the_administrators_changes_nothing() -> None:
    assert (await codes(settings(admin_addresses="none")))[3:] == [NO, 0]


async def test_who_is_not_among_the_readers_reads_nothing() -> None:
    config = settings(read_addresses="10.0.0.0/8")
    assert await codes(config) == [0, NO, NO, 0, NO]


async def test_behind_a_load_balancer_the_clients_own_address_counts() -> None:
    config = settings(read_addresses="10.0.0.0/8", broker_addresses="none")
    assert await codes(config, PROXY) == [NO, NO_TOPIC, NO_TOPIC, 0, 0]
