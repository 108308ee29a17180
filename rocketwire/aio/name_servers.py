"""``NameServers``: requests to name servers for asyncio; ``open_name_servers`` opens it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from rocketwire.aio.client import trio_client
from rocketwire.aio.opening import Opened, awaitable
from rocketwire.client.instance.opening import open_or_reuse_client
from rocketwire.client.net.nameservers import NameServers as TrioNameServers
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


@like(TrioNameServers)
class NameServers(Opened[TrioNameServers]):
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

    call = awaitable(TrioNameServers.call)
    route = awaitable(TrioNameServers.route)
    cluster_info = awaitable(TrioNameServers.cluster_info)
    member_group = awaitable(TrioNameServers.member_group)
    all_topics = awaitable(TrioNameServers.all_topics)
    topics_of_cluster = awaitable(TrioNameServers.topics_of_cluster)
    system_topics = awaitable(TrioNameServers.system_topics)
    unit_topics = awaitable(TrioNameServers.unit_topics)
    unit_subscribed_topics = awaitable(TrioNameServers.unit_subscribed_topics)
    unit_subscribed_other_topics = awaitable(TrioNameServers.unit_subscribed_other_topics)
    register_topic = awaitable(TrioNameServers.register_topic)
    delete_topic = awaitable(TrioNameServers.delete_topic)
    wipe_write_perm = awaitable(TrioNameServers.wipe_write_perm)
    add_write_perm = awaitable(TrioNameServers.add_write_perm)
    kv_value = awaitable(TrioNameServers.kv_value)
    kv_namespace = awaitable(TrioNameServers.kv_namespace)
    put_kv = awaitable(TrioNameServers.put_kv)
    delete_kv = awaitable(TrioNameServers.delete_kv)
    configuration = awaitable(TrioNameServers.configuration)
    update_configuration = awaitable(TrioNameServers.update_configuration)


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
