"""Gives a producer, consumer or admin its client: an open one, or a new one from settings."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

from rocketwire.client.arguments import type_error
from rocketwire.client.config import ClientConfig, to_config
from rocketwire.client.instance.instance import ClientInstance, open_client
from rocketwire.client.trio_only import require_trio

Client: TypeAlias = "ClientInstance | ClientConfig | str"
"""An open client, settings of a new client, or name servers as ``host:port;host:port``."""


@asynccontextmanager
async def open_or_reuse_client(
    client: Client, *, own_instance: bool = True, is_stream: bool = False
) -> AsyncGenerator[ClientInstance]:
    """Yield an open client until the end of the block, which closes one that it has opened.

    Args:
        own_instance: see ``open_client``.
        is_stream: set ``enable_stream_request_type`` of a new client.

    Raises:
        IllegalTypeError: ``client`` has another type.
        LocalProtocolError: a configured address is not ``host:port``.
    """
    require_trio()
    if isinstance(client, ClientInstance):
        yield client
    elif isinstance(client, (ClientConfig, str)):  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
        if is_stream:
            client = replace(to_config(client), enable_stream_request_type=True)
        async with open_client(client, own_instance=own_instance) as instance:
            yield instance
    else:
        expected = "an open client, a ClientConfig or name servers as 'host:port;host:port'"
        raise type_error("client", expected, client)
