"""The client that a producer, a consumer or an admin is opened with: one that is open already, or settings of one of its own."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

from rocketwire.client.arguments import wrong_type
from rocketwire.client.config import ClientConfig
from rocketwire.client.instance.instance import ClientInstance, open_client
from rocketwire.client.trio_only import require_trio

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

Client: TypeAlias = "ClientInstance | ClientConfig | str"
"""An open client, the settings of a new one, or name servers as ``host:port;host:port``."""


@asynccontextmanager
async def client_of(client: Client, *, own_instance: bool = True) -> AsyncGenerator[ClientInstance]:
    """An open client for the length of the block.

    Args:
        client: one that is open already, and stays open; or settings or name servers of a new one, which is closed at the end.
        own_instance: as of ``open_client``.

    Raises:
        IllegalTypeError: it is something else.
        NotInTrioError: the caller does not run in trio.
        LocalProtocolError: a configured address is not ``host:port``.
    """
    require_trio()
    if isinstance(client, ClientInstance):
        yield client
    elif isinstance(client, (ClientConfig, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
        async with open_client(client, own_instance=own_instance) as opened:
            yield opened
    else:
        expected = "an open client, a ClientConfig or name servers as 'host:port;host:port'"
        raise wrong_type("client", expected, client)
