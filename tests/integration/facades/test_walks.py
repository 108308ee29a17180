"""Messages of a topic, read in chunks, and each name server by itself, at the development broker."""

import asyncio
from contextlib import aclosing, closing

import pytest

from rocketwire import aio, sync
from rocketwire.errors import LocalProtocolError, RocketWireError
from rocketwire.portal.admin import MAX_CHUNK
from rocketwire.sync.admin import SingleNameServer
from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from tests.peers.processes import wait_until
from tests.support.fakes.facade_clients import threads

COUNT = MAX_CHUNK + 10


@pytest.fixture
def topic(rocketmq: RocketMQ) -> str:
    name = rocketmq.topic(1)
    rocketmq.produce(name, *(b"%d" % number for number in range(COUNT)))
    return name


def test_threads_read_the_messages_of_a_topic(rocketmq: RocketMQ, topic: str) -> None:
    with sync.open_admin(rocketmq.address) as admin:
        bodies = [message.body for message in admin.messages.walk(topic)]
        with closing(admin.messages.walk(topic)) as messages:
            first = next(messages).body
        with pytest.raises(RocketWireError):
            next(admin.messages.walk("missing-topic"))

    assert bodies == [b"%d" % number for number in range(COUNT)]
    assert first == b"0"
    wait_until(lambda: threads() == ["rocketwire backstage"], "no thread of a client")


def test_tasks_read_the_messages_of_a_topic(rocketmq: RocketMQ, topic: str) -> None:
    async def main() -> None:
        async with aio.open_admin(rocketmq.address) as admin:
            bodies = [message.body async for message in admin.messages.walk(topic)]
            async with aclosing(admin.messages.walk(topic)) as messages:
                first = (await anext(messages)).body
            with pytest.raises(RocketWireError):
                await anext(admin.messages.walk("missing-topic"))
        assert bodies == [b"%d" % number for number in range(COUNT)]
        assert first == b"0"

    asyncio.run(main())
    wait_until(lambda: threads() == ["rocketwire backstage"], "no thread of a client")


def test_each_name_server_is_asked(rocketmq: RocketMQ) -> None:
    with sync.open_name_servers(rocketmq.address) as servers:
        (server,) = servers.each()
        assert server.address == rocketmq.address
        assert server.cluster_info() == servers.cluster_info()
        stranger = SingleNameServer(servers, "127.0.0.1:1")
        with pytest.raises(LocalProtocolError, match="not a name server"):
            stranger.cluster_info()

    async def main() -> None:
        async with aio.open_name_servers(rocketmq.address) as servers:
            (server,) = servers.each()
            assert await server.cluster_info() == await servers.cluster_info()

    asyncio.run(main())
