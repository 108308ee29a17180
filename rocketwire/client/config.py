"""``ClientConfig``: what all clients of one instance share; Java's names in Python spelling, times in seconds.

Java: ``ClientConfig``, ``NettyClientConfig``, ``MixAll``.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.addresses import parse_name_servers
from rocketwire.client.arguments import (
    FLAG,
    MAYBE_TEXT,
    SOME_SECONDS,
    TEXT,
    check_settings,
    instance_of,
    optional,
    shown,
    whole,
    wrong_type,
)
from rocketwire.codes import CURRENT_VERSION, LanguageCode, SerializeType
from rocketwire.errors import IllegalTypeError
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence

    from rocketwire.client.arguments import Rule

DEFAULT_INSTANCE_NAME: Final = "DEFAULT"
"""Instance name of whoever sets none (Java: ``ClientConfig.instanceName``)."""

NAMESRV_ADDR_ENV: Final = "NAMESRV_ADDR"
"""Environment variable with the name servers of whoever configures none."""

_set: Final = object.__setattr__

ZONE_ENV: Final = "ROCKETMQ_ZONE"
ZONE_MODE_ENV: Final = "ROCKETMQ_ZONE_MODE"


@dataclass(frozen=True, slots=True, init=False)
class Credentials:
    """Who signs requests (Java: ``SessionCredentials``).

    Attributes:
        access_key: who; the user name where a broker of 5.x authenticates.
        secret_key: never sent.
        security_token: of temporary credentials.
    """

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)

    def __init__(self, access_key: str, secret_key: str, security_token: str | None = None) -> None:
        """What a dataclass would write, and a check of the types.

        Raises:
            IllegalTypeError: a value is not a text.
        """
        for name, value in (("access_key", access_key), ("secret_key", secret_key)):
            _check_secret(name, value)
        if security_token is not None:
            _check_secret("security_token", security_token)
        _set(self, "access_key", access_key)
        _set(self, "secret_key", secret_key)
        _set(self, "security_token", security_token)


def _check_secret(name: str, value: object) -> None:
    """Checks a part of credentials, which no error shows."""
    if not isinstance(value, str):
        given = type(value).__name__
        raise IllegalTypeError(f"Credentials.{name}: expected a text (str), got a value of type {given}")  # fmt: skip


def _check_name_servers(name: str, value: Any) -> None:
    """Checks the types of ``namesrv_addr``; the addresses themselves are parsed by ``name_servers``."""
    if isinstance(value, str):
        return
    if isinstance(value, (bytes, bytearray)) or not hasattr(value, "__iter__"):
        raise wrong_type(name, "'host:port;host:port' or a list of such texts", value)
    for address in value:
        if not isinstance(address, str):
            raise wrong_type(name, f"texts in {shown(value)}", address)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """Settings of one client instance; a value of the wrong type or out of bounds is refused when the config is created.

    Attributes:
        namesrv_addr: name servers, as ``host:port;host:port`` or one text each; None for those of the environment variable
            ``NAMESRV_ADDR``, and without it those that the address server tells; an empty list for none at all.
        credentials: with which every request is signed.
        tls: context of TLS connections to everybody; None for plain ones.
        tls_server_hostname: the name that every certificate has to have, if not the host that is connected to.
        client_ip: part of the client id; None for an address of this machine.
        instance_name: part of the client id; ``DEFAULT`` is replaced where the id has to be unique.
        unit_name: part of the client id, and asked for at the address server.
        unit_mode: whether topics are created as topics of a unit.
        namespace: of the first kind, which is written into the names of topics and groups.
        namespace_v2: of the second kind, which travels in fields of its own.
        zone_name: routes of this zone are wanted; None for the environment variable ``ROCKETMQ_ZONE``.
        zone_mode: ``true`` where the name server shall filter by zone.
        enable_stream_request_type: whether requests are marked as a stream client's.
        vip_channel_enabled: whether sends and queries go to a broker's port - 2.
        use_heartbeat_v2: whether brokers that can are sent heartbeats without subscriptions while nothing changes.
        serialize_type: form of request headers; codes beyond int16 are sent as JSON in any case.
        language: what the client says it is written in.
        version: protocol version that the client says it speaks.  From 401 on routes are standard JSON, from 476 on brokers
            that shut down say so (``GO_AWAY``).
        poll_name_server_interval: seconds between two refreshes of the routes.
        heartbeat_broker_interval: seconds between two heartbeats.
        persist_consumer_offset_interval: seconds between two commits of consumer offsets.
        fetch_name_server_interval: seconds between two questions to the address server, and to DNS.
        probe_name_server_interval: seconds between two attempts to connect to name servers that were away.
        mq_client_api_timeout: seconds for a call that names no limit of its own.
        connect_timeout: seconds for a connection to be made, TLS included.
        channel_idle_timeout: seconds of silence after which a connection is closed; None for never.
        reconnect_for_go_away: whether a request that is answered ``GO_AWAY`` is sent again over a new connection, once.
        address_server_domain: host of the address server, with a port if not 8080.
        address_server_subgroup: what to ask the address server for.

    Raises:
        IllegalTypeError, IllegalValueError: the text names the setting, what is expected and what was given.
    """

    namesrv_addr: str | Sequence[str] | None = None
    credentials: Credentials | None = None
    tls: ssl.SSLContext | None = None
    tls_server_hostname: str | None = None
    client_ip: str | None = None
    instance_name: str = DEFAULT_INSTANCE_NAME
    unit_name: str | None = None
    unit_mode: bool = False
    namespace: str = ""
    namespace_v2: str = ""
    zone_name: str | None = None
    zone_mode: str | None = None
    enable_stream_request_type: bool = False
    vip_channel_enabled: bool = False
    use_heartbeat_v2: bool = False
    serialize_type: SerializeType = SerializeType.JSON
    language: LanguageCode = LanguageCode.PYTHON
    version: int = CURRENT_VERSION
    poll_name_server_interval: float = 30.0
    heartbeat_broker_interval: float = 30.0
    persist_consumer_offset_interval: float = 5.0
    fetch_name_server_interval: float = 120.0
    probe_name_server_interval: float = 3.0
    mq_client_api_timeout: float = 3.0
    connect_timeout: float = 3.0
    channel_idle_timeout: float | None = 120.0
    reconnect_for_go_away: bool = True
    address_server_domain: str = "jmenv.tbsite.net"
    address_server_subgroup: str = "nsaddr"

    def __post_init__(self) -> None:
        """Check types and bounds."""
        check_settings(self, _RULES)

    def name_servers(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """The name servers that are configured, here or in the environment.

        Raises:
            LocalProtocolError: one of them is not ``host:port``.
        """
        configured = self.namesrv_addr
        if configured is None:
            configured = environment.get(NAMESRV_ADDR_ENV, "")
        return parse_name_servers(configured)

    def with_own_instance(self, pid: int, nanos: int) -> ClientConfig:
        """The config with an instance name that no other client has, unless one is set already.

        Java: ``ClientConfig.changeInstanceNameToPID``, for producers and for consumers that share their group's messages.
        Broadcasting consumers keep ``DEFAULT``, so that they find the offsets on their disk again.

        Args:
            pid: of this process.
            nanos: of any clock that never tells the same twice.
        """
        if self.instance_name != DEFAULT_INSTANCE_NAME:
            return self
        return replace(self, instance_name=f"{pid}#{nanos}")

    def client_id(self, own_ip: str) -> str:
        """The name under which brokers know the client: ``ip@instance[@unit][@STREAM]``.

        Java: ``ClientConfig.buildMQClientId``.

        Args:
            own_ip: an address of this machine, for where ``client_ip`` is not set.
        """
        parts = [self.client_ip or own_ip, self.instance_name]
        if self.unit_name and not self.unit_name.isspace():
            parts.append(self.unit_name)
        if self.enable_stream_request_type:
            parts.append("STREAM")
        return "@".join(parts)

    def common_fields(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Ext fields that every request carries: namespace, zone, kind of client.

        Java: ``NamespaceRpcHook``, ``StreamTypeRPCHook``, ``DynamicalExtFieldRPCHook``.
        """
        fields: dict[str, str] = {}
        if self.namespace_v2:
            fields |= {"nsd": "true", "ns": self.namespace_v2}
        if self.enable_stream_request_type:
            fields["ReqT"] = "STREAM"
        zone = environment.get(ZONE_ENV) if self.zone_name is None else self.zone_name
        mode = environment.get(ZONE_MODE_ENV) if self.zone_mode is None else self.zone_mode
        if zone:
            fields["__ZONE_NAME"] = zone
        if mode:
            fields["__ZONE_MODE"] = mode
        return fields


def config_of(given: ClientConfig | str) -> ClientConfig:
    """The config that was given, or one with these name servers.

    Raises:
        IllegalTypeError: it is something else.
    """
    if isinstance(given, str):
        return ClientConfig(namesrv_addr=given)
    if not isinstance(given, ClientConfig):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("config", "a ClientConfig or name servers as 'host:port;host:port'", given)
    return given


def _check_tls(name: str, value: object) -> None:
    """Checks for an ``ssl.SSLContext`` without importing ``ssl``."""
    if not hasattr(value, "wrap_bio"):
        raise wrong_type(name, "an ssl.SSLContext", value)


_RULES: Final[Mapping[str, Rule]] = {
    "namesrv_addr": optional(_check_name_servers),
    "credentials": optional(instance_of(Credentials, expected="Credentials(access_key, secret_key)")),
    "tls": optional(_check_tls),
    "tls_server_hostname": MAYBE_TEXT,
    "client_ip": MAYBE_TEXT,
    "instance_name": TEXT,
    "unit_name": MAYBE_TEXT,
    "unit_mode": FLAG,
    "namespace": TEXT,
    "namespace_v2": TEXT,
    "zone_name": MAYBE_TEXT,
    "zone_mode": MAYBE_TEXT,
    "enable_stream_request_type": FLAG,
    "vip_channel_enabled": FLAG,
    "use_heartbeat_v2": FLAG,
    "serialize_type": instance_of(SerializeType, expected="a SerializeType"),
    "language": instance_of(LanguageCode, expected="a LanguageCode"),
    "version": whole(least=0),
    "poll_name_server_interval": SOME_SECONDS,
    "heartbeat_broker_interval": SOME_SECONDS,
    "persist_consumer_offset_interval": SOME_SECONDS,
    "fetch_name_server_interval": SOME_SECONDS,
    "probe_name_server_interval": SOME_SECONDS,
    "mq_client_api_timeout": SOME_SECONDS,
    "connect_timeout": SOME_SECONDS,
    "channel_idle_timeout": optional(SOME_SECONDS),
    "reconnect_for_go_away": FLAG,
    "address_server_domain": TEXT,
    "address_server_subgroup": TEXT,
}  # fmt: skip
"""What each setting may be."""
