"""A Java broker with small files, whose store is wanted, and a client at it."""

import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import trio

from rocketwire.client import ClientConfig, ClientInstance, open_client
from rocketwire.client.admin import Admin, open_admin
from rocketwire.errors import BrokerError
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.topic_config import TopicConfig
from tests.peers.peers import CURRENT, JavaBroker, JavaNameServer
from tests.peers.processes import PeerFailedError

BROKER_NAME: Final = "broker-a"
PATIENCE: Final = 120.0
"""Seconds for a call on a busy machine."""

STOP_SECONDS: Final = 180.0

SMALL: Final[Mapping[str, object]] = {
    "mappedFileSizeCommitLog": 256 * 1024,
    "mappedFileSizeConsumeQueue": 400,  # 20 entries
    "maxHashSlotNum": 100,
    "maxIndexNum": 400,
    "maxMessageSize": 200_000,
    "maxMsgsNumBatch": 5000,  # or an answer to a query by key stops at 64 messages
    "timerWheelEnable": "false",  # the wheel takes 37 MB
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "enablePropertyFilter": "true",
}
"""Files that roll after some dozens of messages."""


@dataclass(frozen=True, slots=True)
class Session:
    client: ClientInstance
    admin: Admin
    address: str

    async def call(self, code: int, header: object = None, body: bytes | None = None) -> Any:
        return await self.client.brokers.call(self.address, code, header, body, within=PATIENCE)

    async def create_topic(self, topic: str, queues: int) -> None:
        config = TopicConfig(topic_name=topic, read_queue_nums=queues, write_queue_nums=queues)
        await self.admin.topics.create_or_update(config, broker=self.address)
        await self.client.refresh_route(topic)

    async def wait_until_dispatched(self) -> None:
        """Wait until every stored message is in its queue; Java fills queues after it answers a send."""
        missing_bytes = None
        with trio.fail_after(PATIENCE):
            while missing_bytes != "0":
                with suppress(BrokerError):  # Java has no figures in its first second
                    info = await self.admin.brokers.runtime_info(self.address)
                    missing_bytes = info["dispatchBehindBytes"]
                await trio.sleep(0.05)

    async def create_group(self, group: str, **settings: Any) -> None:
        config = SubscriptionGroupConfig(group_name=group, **settings)
        await self.admin.groups.create_or_update(config, broker=self.address)


class StoreCluster:
    """A name server and a broker whose store is ``store``.

    Args:
        folder: for the homes of both; a store that lies there already is opened.
        options: of the broker, beyond ``SMALL``.
        name_server: one that runs already; None for one of its own.
    """

    def __init__(
        self,
        folder: Path,
        release: str,
        options: Mapping[str, object] | None = None,
        *,
        name_server: JavaNameServer | None = None,
    ) -> None:
        self._running = ExitStack()
        self._own_name_server = name_server is None
        self.name_server = name_server or JavaNameServer(folder / "namesrv", version=CURRENT)
        self.settings = {**SMALL, **(options or {})}
        self.broker = JavaBroker(
            folder / f"home-{BROKER_NAME}",
            [self.name_server.address],
            self.settings,
            name=BROKER_NAME,
            version=release,
            jvm=["-XX:MaxDirectMemorySize=512m"],
        )
        self.store = self.broker.folder / "store"

    def __enter__(self) -> Self:
        if self._own_name_server:
            self._running.enter_context(self.name_server)
        self._running.enter_context(self.broker)
        self.broker.wait_registered(self.name_server.port)
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def stop(self) -> None:
        """End the broker as an operator would.

        Raises:
            PeerFailedError: it did not end, or it reports an unclean end of its store.
        """
        self.broker.stop(STOP_SECONDS)
        if (self.store / "abort").exists():
            raise PeerFailedError(f"{self.broker.name} did not end cleanly: abort is still there")

    @asynccontextmanager
    async def session(self, **settings: Any) -> AsyncGenerator[Session]:
        config = ClientConfig(
            namesrv_addr=self.name_server.address,
            mq_client_api_timeout=PATIENCE,
            connect_timeout=PATIENCE,
            **settings,
        )
        async with open_client(config) as client, open_admin(client, within=PATIENCE) as admin:
            yield Session(client, admin, self.broker.address)


def copy_store(source: Path, target: Path) -> Path:
    """Copy a store; holes in its files stay holes, and times stay as they are."""
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ("cp", "-a", "--sparse=always", str(source), str(target)), check=True, capture_output=True
    )
    return target
