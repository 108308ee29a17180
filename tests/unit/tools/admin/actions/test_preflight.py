"""Requests of ``consume`` before it begins, some of which the broker refuses."""

from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from rocketwire.client import ClientConfig, ClientInstance, Credentials, open_client
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ConnectFailedError
from rocketwire.messages.offsets import QueryConsumerOffsetResponseHeader
from rocketwire.testing import ScriptedPeer, open_network, reply
from rocketwire.wire.command import RemotingCommand
from rocketwire_tools.admin.commands.consume import check_permissions, connect_to_any
from tests.support.fakes.producer_fakes import NS, A, route

DENIED = reply(code=ResponseCode.NO_PERMISSION, remark="no matched policies")
DENIED_BY_4X = reply(code=1, remark="org.apache.rocketmq.acl.common.AclException: No permission")
NO_SUCH_QUEUE = reply(code=1, remark="queueId[-1] is illegal")
UNKNOWN = reply(code=ResponseCode.QUERY_NOT_FOUND)
KNOWN = reply(QueryConsumerOffsetResponseHeader(offset=7))


@asynccontextmanager
async def broker(*, signs: bool = True) -> AsyncGenerator[tuple[ClientInstance, ScriptedPeer]]:
    """A broker without an offset of the group; all else is permitted."""
    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("a")))
        peer = network.peer(A)
        peer.on(Code.QUERY_CONSUMER_OFFSET, UNKNOWN)
        peer.on(Code.PULL_MESSAGE, NO_SUCH_QUEUE)
        config = ClientConfig(namesrv_addr=NS, credentials=Credentials("a", "s") if signs else None)
        async with open_client(config, environment={}, connect=network.connect) as client:
            yield client, peer


def consume_arguments(start: str | None = "first", **modes: bool) -> Namespace:
    options = {"pop": False, "broadcast": False} | modes
    return Namespace(topic="T", group="g", start=start, **options)


async def test_a_broker_that_can_be_reached_is_found() -> None:
    async with broker() as (client, _):
        assert await connect_to_any(client, await client.route("T")) == ("a", A)


async def test_brokers_that_cannot_be_reached_are_an_error() -> None:
    async with open_network() as network:
        network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, reply(body=route("b")))
        config = ClientConfig(namesrv_addr=NS)
        async with open_client(config, environment={}, connect=network.connect) as client:
            with pytest.raises(ConnectFailedError):
                await connect_to_any(client, await client.route("T"))


@pytest.mark.parametrize(
    ("code", "answer", "start"),
    [
        (Code.QUERY_CONSUMER_OFFSET, DENIED, "first"),
        (Code.QUERY_CONSUMER_OFFSET, DENIED_BY_4X, "first"),
        (Code.PULL_MESSAGE, DENIED_BY_4X, "first"),
        (Code.GET_MAX_OFFSET, DENIED, None),
        (Code.GET_MAX_OFFSET, DENIED, "last"),
        (Code.SEARCH_OFFSET_BY_TIMESTAMP, DENIED, "1000"),
    ],
)
async def test_missing_permission(code: Code, answer: RemotingCommand, start: str | None) -> None:
    async with broker() as (client, peer):
        peer.on(code, answer)
        with pytest.raises(BrokerError) as caught:
            await check_permissions(client, consume_arguments(start), "a", A)

    assert caught.value.code == answer.code


async def test_a_group_that_has_an_offset_or_keeps_none_there_asks_for_no_end() -> None:
    async with broker() as (client, peer):
        peer.on(Code.GET_MAX_OFFSET, DENIED)
        for mode in ("pop", "broadcast"):
            await check_permissions(client, consume_arguments("last", **{mode: True}), "a", A)
        peer.on(Code.QUERY_CONSUMER_OFFSET, KNOWN)
        await check_permissions(client, consume_arguments("last"), "a", A)


async def test_client_without_credentials_pulls_nothing() -> None:
    async with broker(signs=False) as (client, peer):
        await check_permissions(client, consume_arguments("last"), "a", A)

        assert [request.code for request in peer.requests] == [Code.QUERY_CONSUMER_OFFSET]


async def test_other_failures_are_left_to_the_consumer() -> None:
    async with broker() as (client, peer):
        peer.on(Code.QUERY_CONSUMER_OFFSET, reply(code=1, remark="busy"))
        await check_permissions(client, consume_arguments(), "a", A)
        await check_permissions(client, consume_arguments(), "b", "127.0.0.1:1")
