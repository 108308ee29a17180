"""``Client``: a client that the producers and consumers of a program share."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from rocketwire.aio.opening import FacadeClient
from rocketwire.client.instance.instance import ClientInstance
from rocketwire.client.instance.instance import open_client as open_trio_client
from rocketwire.portal.settings import apply_client_settings, reopens

if TYPE_CHECKING:
    from typing import Unpack

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.instance.opening import Client as TrioClient
    from rocketwire.portal.settings import ClientSettings


class Client(FacadeClient[ClientInstance]):
    """An open client; ``open_client`` opens it."""

    def __init__(
        self, config: ClientConfig | str | None = None, **settings: Unpack[ClientSettings]
    ) -> None:
        """Open nothing yet; for arguments and errors see ``open_client``."""
        resolved = apply_client_settings(config, settings)
        self.reopens_after_fork: bool = reopens(resolved)
        super().__init__(
            partial(open_trio_client, cast("ClientConfig | str", resolved)),
            reopens=self.reopens_after_fork,
        )

    @property
    def client_id(self) -> str:
        """The client id."""
        return self._thing.client_id

    @property
    def config(self) -> ClientConfig:
        """The settings."""
        return self._thing.config

    @property
    def instance(self) -> ClientInstance:
        """The trio client."""
        return self._thing


ClientLike: TypeAlias = "Client | ClientConfig | str | None"
"""An open client, settings of a new one, its name servers (``host:port;host:port``), or None for
settings from the environment (``ClientConfig.from_env``)."""


def trio_client(client: object) -> TrioClient:
    """Return the trio client of an open client, or settings."""
    return client.instance if isinstance(client, Client) else cast("TrioClient", client)


def open_client(
    config: ClientConfig | str | None = None, **settings: Unpack[ClientSettings]
) -> Client:
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
    return Client(config, **settings)
