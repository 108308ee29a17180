"""``NameServers``: requests to name servers for asyncio; ``open_name_servers`` opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocketwire.aio.opening import FacadeClient, Part
from rocketwire.client.net.nameservers import NameServers as TrioNameServers
from rocketwire.portal import name_servers as shared
from rocketwire.portal.methods import opens
from rocketwire.portal.settings import apply_client_settings

if TYPE_CHECKING:
    from typing import Unpack

    from rocketwire.aio.client import ClientLike
    from rocketwire.portal.settings import ClientSettings


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
