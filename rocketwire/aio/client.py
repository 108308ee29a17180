"""``Client``: a client that the producers and consumers of a program share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rocketwire.aio.opening import FacadeClient
from rocketwire.client.instance.instance import ClientInstance
from rocketwire.portal.methods import ClientMethods, opens

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig


class Client(ClientMethods, FacadeClient[ClientInstance]):
    """An open client; ``open_client`` opens it."""


ClientLike: TypeAlias = "Client | ClientConfig | str | None"
"""An open client, settings of a new one, its name servers (``host:port;host:port``), or None for
settings from the environment (``ClientConfig.from_env``)."""


@opens(Client)
def open_client(*_: Any, **__: Any) -> Any:
    """Open a client with ``async with`` or ``await``; the end of the block or ``close`` ends it.

    It connects to a name server, and to brokers on first use.

    Args:
        config: settings of the client, or its name servers as ``host:port;host:port``; None for
            settings from the environment (``ClientConfig.from_env``).
        settings: single settings, instead of those of ``config``.

    Raises:
        IllegalTypeError: ``config`` has another type, or a setting is unknown.
        LocalProtocolError: a configured address is not ``host:port``.
    """
