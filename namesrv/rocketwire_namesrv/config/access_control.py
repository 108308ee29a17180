"""Access control: lists of addresses for readers, brokers and administrators.

Rules of this file: pure.  The protocol has no authentication that a name server could use, so only
the address of a connection counts. Without lists every request is allowed, as in Java, at no cost.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from rocketwire.codes import RequestCode
from rocketwire.serving.addresses import ip_of, is_loopback
from rocketwire.serving.events import Event, Level
from rocketwire_namesrv.config.config import ConfigError
from rocketwire_namesrv.config.settings import networks_of

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from rocketwire_namesrv.config.config import Config
    from rocketwire_namesrv.config.settings import Networks

    Address = IPv4Address | IPv6Address


class Role(Enum):
    """The purpose of a request; the values are the settings with the allowed addresses."""

    READ = "rocketwire.readAddresses"
    BROKER = "rocketwire.brokerAddresses"
    ADMIN = "rocketwire.adminAddresses"


_ROLES: Final[dict[int, Role]] = {
    **dict.fromkeys(
        (
            RequestCode.REGISTER_BROKER,
            RequestCode.UNREGISTER_BROKER,
            RequestCode.BROKER_HEARTBEAT,
            RequestCode.QUERY_DATA_VERSION,
            RequestCode.REGISTER_TOPIC_IN_NAMESRV,
        ),
        Role.BROKER,
    ),
    **dict.fromkeys(
        (
            RequestCode.PUT_KV_CONFIG,
            RequestCode.DELETE_KV_CONFIG,
            RequestCode.WIPE_WRITE_PERM_OF_BROKER,
            RequestCode.ADD_WRITE_PERM_OF_BROKER,
            RequestCode.DELETE_TOPIC_IN_NAMESRV,
            RequestCode.UPDATE_NAMESRV_CONFIG,
            RequestCode.GET_NAMESRV_CONFIG,
        ),
        Role.ADMIN,
    ),
}


class AccessRefused(Event):
    """A request came from an address that may not send it."""

    level = Level.WARNING
    client: str
    code: RequestCode
    setting: str
    template = "request {code} of {client} refused: its address is not in {setting}"


class Exposed(Event):
    """The server can be reached from other machines, and accepts all requests from them."""

    level = Level.WARNING
    address: str
    template = (
        "any host that reaches {address} can register brokers and change topics; set"
        " rocketwire.brokerAddresses and rocketwire.adminAddresses, or require certificates (TLS)"
    )


class Denied(NamedTuple):
    roles: frozenset[Role]

    def role_of(self, code: int) -> Role | None:
        """Return the missing role for a request; None if it is allowed."""
        role = _ROLES.get(code, Role.READ)
        return role if role in self.roles else None


class Access:
    def __init__(self, lists: dict[Role, Networks | None]) -> None:
        self._lists = {role: networks for role, networks in lists.items() if networks is not None}
        self.restricted = bool(self._lists)  #: whether there is at least one list

    @classmethod
    def of(cls, config: Config) -> Self:
        """Return the lists of the settings."""
        return cls(
            {
                Role.READ: _networks(config.read_addresses, Role.READ),
                Role.BROKER: _networks(config.broker_addresses, Role.BROKER),
                Role.ADMIN: _networks(config.admin_addresses, Role.ADMIN),
            }
        )

    def missing_roles(self, address: str) -> Denied | None:
        """Return the roles that the peer at ``address`` (``host:port``, with brackets if IPv6) does
        not have; None if it has all."""
        if not self.restricted:
            return None
        host = ip_of(address)
        roles = frozenset(
            role for role, networks in self._lists.items() if not _within(host, networks)
        )
        return Denied(roles) if roles else None


def find_exposure(config: Config, address: str) -> tuple[Exposed, ...]:
    """Return an event if other machines can send every request."""
    lists = config.broker_addresses and config.admin_addresses
    if lists or config.tls.requires_certificates or is_loopback(address):
        return ()
    return (Exposed(address=f"{config.bind_address}:{config.listen_port}"),)


def _networks(text: str, role: Role) -> Networks | None:
    try:
        return networks_of(text)
    except ValueError as error:
        raise ConfigError(f"{role.value}: {error}") from error


def _within(host: Address | None, networks: Networks) -> bool:
    return host is not None and any(
        host in network for network in networks if network.version == host.version
    )
