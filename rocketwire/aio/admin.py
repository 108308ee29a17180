"""``Admin`` and ``NameServers``: requests of operators for asyncio."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rocketwire.aio.opening import FacadeClient, Part
from rocketwire.client.admin import admin as trio
from rocketwire.client.admin.fanout import ADMIN_TIMEOUT
from rocketwire.client.net.nameservers import NameServers as TrioNameServers
from rocketwire.portal import admin as shared
from rocketwire.portal.methods import ClientUser, opens
from rocketwire.portal.settings import apply_client_settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.portal.settings import ClientSettings
    from rocketwire.wire.message.stored import StoredMessage


class Clusters(shared.Clusters, Part): ...


class Topics(shared.Topics, Part): ...


class Groups(shared.Groups, Part): ...


class Offsets(shared.Offsets, Part): ...


class Consumers(shared.Consumers, Part): ...


class Messages(shared.Messages, Part):
    async def walk(
        self,
        topic: str,
        *,
        begin: int | None = None,
        end: int | None = None,
        expression: str | None = None,
        queue: MessageQueue | None = None,
        by: str | None = None,
    ) -> AsyncGenerator[StoredMessage]:
        walk = shared.Walk(
            lambda messages: messages.walk(
                topic, begin=begin, end=end, expression=expression, queue=queue, by=by
            )
        )
        try:
            while chunk := await self._call(walk.next_chunk):
                for message in chunk:
                    yield message
        finally:
            await self._call(walk.close)


class Brokers(shared.Brokers, Part): ...


class Stores(shared.Stores, Part): ...


class Exports(shared.Exports, Part): ...


class NameServerUpkeep(shared.NameServerUpkeep, Part): ...


class StaticTopics(shared.StaticTopics, Part): ...


class Users(shared.Users, Part): ...


class Acls(shared.Acls, Part): ...


class LiteTopics(shared.LiteTopics, Part): ...


class Controllers(shared.Controllers, Part): ...


class Admin(ClientUser, FacadeClient[trio.Admin]):
    """Calls of operators by subject; see ``rocketwire.client.admin.Admin``."""

    def __init__(
        self,
        client: ClientLike = None,
        *,
        within: float = ADMIN_TIMEOUT,
        **settings: Unpack[ClientSettings],
    ) -> None:
        """Open nothing yet; for arguments and errors see ``open_admin``."""
        self.clusters: Final = Clusters(self, lambda admin: admin.clusters)
        self.topics: Final = Topics(self, lambda admin: admin.topics)
        self.groups: Final = Groups(self, lambda admin: admin.groups)
        self.offsets: Final = Offsets(self, lambda admin: admin.offsets)
        self.consumers: Final = Consumers(self, lambda admin: admin.consumers)
        self.messages: Final = Messages(self, lambda admin: admin.messages)
        self.brokers: Final = Brokers(self, lambda admin: admin.brokers)
        self.stores: Final = Stores(self, lambda admin: admin.stores)
        self.exports: Final = Exports(self, lambda admin: admin.exports)
        self.name_servers: Final = NameServerUpkeep(self, lambda admin: admin.name_servers)
        self.static_topics: Final = StaticTopics(self, lambda admin: admin.static_topics)
        self.users: Final = Users(self, lambda admin: admin.users)
        self.acls: Final = Acls(self, lambda admin: admin.acls)
        self.lite: Final = LiteTopics(self, lambda admin: admin.lite)
        self.controllers: Final = Controllers(self, lambda admin: admin.controllers)
        self._use_client(
            apply_client_settings(client, settings), partial(trio.open_admin, within=within)
        )


@opens(Admin)
def open_admin(*_: Any, **__: Any) -> Any:
    """Open an ``Admin`` with ``async with`` or ``await``; the block's end or ``close`` ends it.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one; or
            None for settings from the environment.
        within: timeout of a request in seconds; queries by key have three times as much, cleanup
            six times.
        settings: single settings of a new client.

    Raises:
        IllegalTypeError: ``client`` has another type, or a setting is unknown.
        LocalProtocolError: a configured address is not ``host:port``.
    """


class SingleNameServer(shared.SingleNameServer, Part):
    """Requests to one name server.

    Attributes:
        address: its address.
    """


class NameServers(shared.NameServers, FacadeClient[TrioNameServers]):
    """The name servers of a client; a request that fails is repeated at the next one."""

    def __init__(self, client: ClientLike = None, **settings: Unpack[ClientSettings]) -> None:
        """Open a client if necessary; for arguments and errors see ``open_name_servers``."""
        self._use_client(apply_client_settings(client, settings), shared.open_name_servers)

    def each(self) -> tuple[SingleNameServer, ...]:
        return tuple(SingleNameServer(self, address) for address in self.addresses)


@opens(NameServers)
def open_name_servers(*_: Any, **__: Any) -> Any:
    """Open a client for requests to name servers; the block's end or ``close`` closes it.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one; or
            None for settings from the environment.
        settings: single settings of a new client.

    Raises:
        IllegalTypeError: ``client`` has another type, or a setting is unknown.
        LocalProtocolError: a configured address is not ``host:port``.
    """
