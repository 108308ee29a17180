"""Who may ask what: lists of addresses for readers, brokers and administrators.

Rules of this file: pure.  The protocol has no authentication that a name server could use, so all
that can be told apart is where a connection comes from.  Without lists everybody may do everything,
as in Java, and nothing is spent on asking.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from rocketwire.codes import RequestCode
from rocketwire_namesrv.config.config import ConfigError
from rocketwire_namesrv.config.settings import networks_of
from rocketwire_namesrv.config.tls_settings import ClientAuth, TlsMode
from rocketwire_namesrv.events import Event, Level

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from rocketwire_namesrv.config.config import Config
    from rocketwire_namesrv.config.settings import Networks

    Address = IPv4Address | IPv6Address

__all__ = ["Access", "AccessRefused", "Denied", "Exposed", "Role", "exposed", "is_loopback"]


class Role(Enum):
    """What a request is for; the values are the settings with those who may."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRefused(Event):
    """A request came from where such requests must not come from."""

    level = Level.WARNING
    client: str
    code: RequestCode
    setting: str
    template = "request {code} of {client} refused: its address is not in {setting}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed(Event):
    """The server can be reached from other machines, and everybody may do everything."""

    level = Level.WARNING
    address: str
    template = (
        "any host that reaches {address} can register brokers and change topics; set"
        " rocketwire.brokerAddresses and rocketwire.adminAddresses, or require certificates (TLS)"
    )


class Denied(NamedTuple):
    """What a peer must not do."""

    roles: frozenset[Role]

    def role_of(self, code: int) -> Role | None:
        """The role that a request would need and the peer has not; None where it may."""
        role = _ROLES.get(code, Role.READ)
        return role if role in self.roles else None


class Access:
    """The lists.

    Attributes:
        restricted: whether there are any.
    """

    def __init__(self, lists: dict[Role, Networks | None]) -> None:
        self._lists = {role: each for role, each in lists.items() if each is not None}
        self.restricted = bool(self._lists)

    @classmethod
    def of(cls, config: Config) -> Self:
        """Those of the settings.

        Raises:
            ConfigError: one of them is no list of addresses and networks.
        """
        return cls(
            {
                Role.READ: _networks(config.read_addresses, Role.READ),
                Role.BROKER: _networks(config.broker_addresses, Role.BROKER),
                Role.ADMIN: _networks(config.admin_addresses, Role.ADMIN),
            }
        )

    def denied_to(self, address: str) -> Denied | None:
        """What must not be done by the peer at ``address`` (``host:port``, with brackets if IPv6);
        None where it may do everything."""
        if not self.restricted:
            return None
        host = _host(address)
        roles = frozenset(
            role for role, networks in self._lists.items() if not _within(host, networks)
        )
        return Denied(roles) if roles else None


def exposed(config: Config, address: str) -> tuple[Exposed, ...]:
    """Whether nothing stands between other machines and everything that can be asked.

    Args:
        config: with ``bind_address`` as it is shown, which may be the name of a host.
        address: the IP address that the server listens on.
    """
    lists = config.broker_addresses and config.admin_addresses
    tls = config.tls
    certificates = tls.mode is TlsMode.ENFORCING and tls.client_auth is ClientAuth.REQUIRE
    if lists or certificates or is_loopback(address):
        return ()
    return (Exposed(address=f"{config.bind_address}:{config.listen_port}"),)


def is_loopback(address: str) -> bool:
    """Whether an IP address is one that only this machine reaches."""
    host = _host(f"{address}:0")
    return host is not None and host.is_loopback


def _networks(text: str, role: Role) -> Networks | None:
    try:
        return networks_of(text)
    except ValueError as error:
        raise ConfigError(f"{role.value}: {error}") from error


def _host(address: str) -> Address | None:
    text = address.rpartition(":")[0].strip("[]")
    try:
        host = ip_address(text)
    except ValueError:
        return None
    mapped = None if host.version == 4 else host.ipv4_mapped
    return host if mapped is None else mapped


def _within(host: Address | None, networks: Networks) -> bool:
    return host is not None and any(
        host in network for network in networks if network.version == host.version
    )
