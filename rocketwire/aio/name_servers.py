"""``NameServers``: requests to name servers for asyncio; ``open_name_servers`` opens it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire.aio.client import trio_client
from rocketwire.aio.opening import Opened, Part, awaitable
from rocketwire.client.instance.opening import open_or_reuse_client
from rocketwire.client.net.nameserver_api import NameServerCalls
from rocketwire.client.net.nameservers import NameServers as TrioNameServers
from rocketwire.client.net.nameservers import SingleNameServer as TrioSingleNameServer
from rocketwire.errors import LocalProtocolError
from rocketwire.portal.likeness import like
from rocketwire.portal.settings import apply_client_settings, reopens

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.client.instance.opening import Client as TrioClient
    from rocketwire.portal.typed_settings import ClientSettings


@asynccontextmanager
async def _open(client: TrioClient) -> AsyncGenerator[TrioNameServers]:
    async with open_or_reuse_client(client) as instance:
        yield instance.name_servers


class _Calls:
    """The requests that one name server serves, or any."""

    route: Final = awaitable(NameServerCalls.route)
    cluster_info: Final = awaitable(NameServerCalls.cluster_info)
    member_group: Final = awaitable(NameServerCalls.member_group)
    all_topics: Final = awaitable(NameServerCalls.all_topics)
    topics_of_cluster: Final = awaitable(NameServerCalls.topics_of_cluster)
    system_topics: Final = awaitable(NameServerCalls.system_topics)
    unit_topics: Final = awaitable(NameServerCalls.unit_topics)
    unit_subscribed_topics: Final = awaitable(NameServerCalls.unit_subscribed_topics)
    unit_subscribed_other_topics: Final = awaitable(NameServerCalls.unit_subscribed_other_topics)
    register_topic: Final = awaitable(NameServerCalls.register_topic)
    delete_topic: Final = awaitable(NameServerCalls.delete_topic)
    wipe_write_perm: Final = awaitable(NameServerCalls.wipe_write_perm)
    add_write_perm: Final = awaitable(NameServerCalls.add_write_perm)
    kv_value: Final = awaitable(NameServerCalls.kv_value)
    kv_namespace: Final = awaitable(NameServerCalls.kv_namespace)
    put_kv: Final = awaitable(NameServerCalls.put_kv)
    delete_kv: Final = awaitable(NameServerCalls.delete_kv)
    configuration: Final = awaitable(NameServerCalls.configuration)
    update_configuration: Final = awaitable(NameServerCalls.update_configuration)


def _single(address: str, servers: TrioNameServers) -> TrioSingleNameServer:
    for server in servers.each():
        if server.address == address:
            return server
    raise LocalProtocolError(f"{address} is not a name server of the client any more")


@like(TrioSingleNameServer)
class SingleNameServer(_Calls, Part[TrioNameServers, TrioSingleNameServer]):
    """Requests to one name server.

    Attributes:
        address: its address.
    """

    def __init__(self, servers: NameServers, address: str) -> None:
        """Send nothing yet."""
        super().__init__(servers, partial(_single, address))
        self.address = address

    call: Final = awaitable(TrioSingleNameServer.call)


@like(TrioNameServers)
class NameServers(_Calls, Opened[TrioNameServers]):
    """The name servers of a client; a request that fails is repeated at the next one."""

    def __init__(self, client: ClientLike = None, **settings: Unpack[ClientSettings]) -> None:
        """Open a client if necessary; for arguments and errors see ``open_name_servers``."""
        resolved = apply_client_settings(client, settings)
        super().__init__(lambda: _open(trio_client(resolved)), reopens=lambda: reopens(resolved))

    @property
    def addresses(self) -> tuple[str, ...]:
        return self._thing.addresses

    @property
    def chosen(self) -> str | None:
        return self._thing.chosen

    def each(self) -> tuple[SingleNameServer, ...]:
        return tuple(SingleNameServer(self, address) for address in self.addresses)

    call: Final = awaitable(TrioNameServers.call)


def open_name_servers(client: ClientLike = None, **settings: Unpack[ClientSettings]) -> NameServers:
    """Open a client for requests to name servers; the block's end or ``close`` closes it.

    Args:
        client: an open client; settings or name servers (``host:port;host:port``) of a new one; or
            None for settings from the environment.
        settings: single settings of a new client.

    Raises:
        IllegalTypeError: ``client`` has another type, or a setting is unknown.
        LocalProtocolError: a configured address is not ``host:port``.
    """
    return NameServers(client, **settings)
