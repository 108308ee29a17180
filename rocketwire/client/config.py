"""``ClientConfig``: settings of a client instance.

The names are Java's in Python spelling, times in seconds.

Java: ``ClientConfig``, ``NettyClientConfig``, ``MixAll``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire.client.addresses import build_remap, namespace_of_endpoint, parse_name_servers
from rocketwire.client.arguments import (
    Settings,
    check_settings,
    instance_of,
    integer_in,
    optional,
    shown,
    type_error,
)
from rocketwire.codes import CURRENT_VERSION, LanguageCode, SerializeType
from rocketwire.errors import IllegalTypeError
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    import ssl

    from rocketwire.client.addresses import AddressRemap
    from rocketwire.client.arguments import Rule

# Default of the instance name (Java: ``ClientConfig.instanceName``)
DEFAULT_INSTANCE_NAME: Final = "DEFAULT"
NAMESRV_ADDR_ENV: Final = "NAMESRV_ADDR"  # environment variable with the default name servers
# Environment variable with the default of ``address_remap``
ADDRESS_MAP_ENV: Final = "ROCKETWIRE_ADDRESS_MAP"

_set: Final = object.__setattr__

ZONE_ENV: Final = "ROCKETMQ_ZONE"
ZONE_MODE_ENV: Final = "ROCKETMQ_ZONE_MODE"


class AccessChannel(Enum):
    """Where the brokers are (Java: ``AccessChannel``)."""

    LOCAL = "LOCAL"
    CLOUD = "CLOUD"


@dataclass(frozen=True, slots=True, init=False)
class Credentials:
    """Credentials that sign requests (Java: ``SessionCredentials``)."""

    access_key: str  #: access key; for brokers of 5.x, the user name
    secret_key: str = field(repr=False)  #: secret key, which is never sent
    security_token: str | None = field(default=None, repr=False)  #: token of temporary credentials

    def __init__(self, access_key: str, secret_key: str, security_token: str | None = None) -> None:
        """Check the types.

        Raises:
            IllegalTypeError: a value is not a ``str``.
        """
        for name, value in (("access_key", access_key), ("secret_key", secret_key)):
            _check_secret(name, value)
        if security_token is not None:
            _check_secret("security_token", security_token)
        _set(self, "access_key", access_key)
        _set(self, "secret_key", secret_key)
        _set(self, "security_token", security_token)


def _check_secret(name: str, value: object) -> None:
    if not isinstance(value, str):
        type_name = type(value).__name__
        raise IllegalTypeError(
            f"Credentials.{name}: expected a text (str), got a value of type {type_name}"
        )


def _check_name_servers(name: str, value: Any) -> None:
    if isinstance(value, str):
        return
    if isinstance(value, (bytes, bytearray)) or not hasattr(value, "__iter__"):
        raise type_error(name, "'host:port;host:port' or a list of such texts", value)
    for address in value:
        if not isinstance(address, str):
            raise type_error(name, f"texts in {shown(value)}", address)


class Hook:
    """Base class of ``ClientHook``, without its imports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig(Settings):
    """Settings of a client instance.

    A value with a wrong type or out of range is rejected when the config is created.

    Attributes:
        namesrv_addr: name servers, as ``host:port;host:port`` or a list of addresses; None for the
            environment variable ``NAMESRV_ADDR``, or without it the address server; an empty list
            for no name server.
        address_remap: addresses to connect to, in place of those that name servers, brokers and
            message ids contain: ``from=to;from=to``, a mapping of ``host[:port]`` to
            ``host[:port]`` or a function of ``host:port``. ``*`` in ``from`` stands for any
            characters, and the first pair that fits is used. None for the environment variable
            ``ROCKETWIRE_ADDRESS_MAP``.
        credentials: credentials that sign every request.
        tls: context of all TLS connections; None for plain connections.
        tls_server_hostname: host name in every certificate; None for the host of the connection.
        client_ip: part of the client id; None for an address of this machine.
        instance_name: part of the client id; ``DEFAULT`` is replaced if the id must be unique.
        unit_name: part of the client id, and of requests to the address server.
        unit_mode: create topics as topics of a unit; groups of consumers belong to it.
        namespace: namespace of the first kind, a part of topic and group names; empty for that of
            an endpoint ``MQ_INST_x_y.host:port`` of ``namesrv_addr``.
        namespace_v2: namespace of the second kind, an ext field.
        zone_name: zone of the routes; None for the environment variable ``ROCKETMQ_ZONE``.
        zone_mode: ``true`` to let the name server filter by zone.
        enable_stream_request_type: mark requests as those of a stream client.
        access_channel: with ``CLOUD``, message traces go to the topic of the broker's region, as
            managed clouds want them.
        vip_channel_enabled: use a broker's second port (port - 2) for sends and queries.
        use_heartbeat_v2: send heartbeats without subscriptions to brokers that support them.
        serialize_type: format of request headers; codes beyond int16 are always sent as JSON.
        language: language code of the client.
        version: protocol version of the client. From 401 on routes are standard JSON, from 476 on
            brokers respond ``GO_AWAY`` when they shut down.
        poll_name_server_interval: seconds between two refreshes of the routes.
        heartbeat_broker_interval: seconds between two heartbeats.
        persist_consumer_offset_interval: seconds between two commits of consumer offsets.
        fetch_name_server_interval: seconds between two requests to the address server, and to DNS.
        probe_name_server_interval: seconds between two attempts to connect to failed name servers.
        mq_client_api_timeout: default timeout of a request in seconds.
        connect_timeout: timeout of a connection in seconds, TLS included.
        channel_idle_timeout: seconds of silence after which a connection is closed; None for never.
        reconnect_for_go_away: repeat a request with the response ``GO_AWAY`` over a new connection,
            once.
        address_server_domain: host of the address server, with a port if not 8080; None for no
            address server.
        address_server_subgroup: path of the request to the address server.
        hooks: hooks that see sends and handler calls, for example ``OpenTelemetryHook()``.
        reopen_after_fork: for ``rocketwire.sync`` and ``rocketwire.aio``: a client that is used in
            a fork of its process opens itself again there, instead of raising
            ``ClientForkedError``.

    Raises:
        IllegalTypeError, IllegalValueError: the text has the setting, the expected and the actual
            value.
    """

    namesrv_addr: str | Sequence[str] | None = None
    address_remap: AddressRemap | None = None
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
    access_channel: AccessChannel = AccessChannel.LOCAL
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
    address_server_domain: str | None = None
    address_server_subgroup: str = "nsaddr"
    hooks: Sequence[Hook] = ()
    reopen_after_fork: bool = False

    def __post_init__(self) -> None:
        check_settings(self, _RULES)

    @classmethod
    def from_env(cls, environment: Mapping[str, str] | None = None) -> ClientConfig:
        """Return settings from environment variables.

        ``NAMESRV_ADDR``, ``ROCKETMQ_ZONE`` and ``ROCKETMQ_ZONE_MODE`` are Java's; with them, and
        with ``ROCKETWIRE_ADDRESS_MAP``, also other configs fill what is not set. Any other setting
        that is a text, a number or a flag is read from ``ROCKETWIRE_`` and its name in capitals:
        ``ROCKETWIRE_MQ_CLIENT_API_TIMEOUT=5``, ``ROCKETWIRE_VIP_CHANNEL_ENABLED=true``. Credentials
        are ``ROCKETWIRE_ACCESS_KEY``, ``ROCKETWIRE_SECRET_KEY`` and ``ROCKETWIRE_SECURITY_TOKEN``.

        Args:
            environment: environment variables; None for ``os.environ``.

        Raises:
            IllegalValueError: a variable has an invalid value; the text has its name.
        """
        from rocketwire.client.environment import read_credentials, read_settings

        variables = os.environ if environment is None else environment
        settings = read_settings(cls, variables)
        keys = read_credentials(variables)
        if keys is not None:
            settings["credentials"] = Credentials(**keys)
        return cls(**settings)

    def name_servers(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Return the configured name servers, from this config or the environment.

        Raises:
            LocalProtocolError: an address is not ``host:port``.
        """
        configured = self.namesrv_addr
        if configured is None:
            configured = environment.get(NAMESRV_ADDR_ENV, "")
        return parse_name_servers(configured)

    def with_namespace(self, environment: Mapping[str, str]) -> ClientConfig:
        """Return the config with the namespace of its endpoints, unless one is set.

        Java: ``ClientConfig.getNamespace``.
        """
        configured = self.namesrv_addr
        if configured is None:
            configured = environment.get(NAMESRV_ADDR_ENV, "")
        namespace = self.namespace or namespace_of_endpoint(configured)
        return self if namespace == self.namespace else replace(self, namespace=namespace)

    def address_map(self, environment: Mapping[str, str]) -> Callable[[str], str]:
        """Return the function of ``address_remap``, from this config or the environment.

        Raises:
            IllegalValueError: the environment variable is invalid.
        """
        if self.address_remap is None:
            return build_remap(ADDRESS_MAP_ENV, environment.get(ADDRESS_MAP_ENV, ""))
        return build_remap("ClientConfig.address_remap", self.address_remap)

    def with_own_instance(self, pid: int, nanos: int) -> ClientConfig:
        """Return the config with a unique instance name, unless one is set.

        Java: ``ClientConfig.changeInstanceNameToPID``, for producers and clustering consumers.
        Broadcasting consumers keep ``DEFAULT``, so that they find their offsets on disk again.

        Args:
            pid: id of this process.
            nanos: time of a clock whose values do not repeat.
        """
        if self.instance_name != DEFAULT_INSTANCE_NAME:
            return self
        return replace(self, instance_name=f"{pid}#{nanos}")

    def client_id(self, own_ip: str) -> str:
        """Return the client id: ``ip@instance[@unit][@STREAM]``.

        Java: ``ClientConfig.buildMQClientId``.

        Args:
            own_ip: address of this machine, if ``client_ip`` is not set.
        """
        parts = [self.client_ip or own_ip, self.instance_name]
        if self.unit_name and not self.unit_name.isspace():
            parts.append(self.unit_name)
        if self.enable_stream_request_type:
            parts.append("STREAM")
        return "@".join(parts)

    def common_fields(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the ext fields of every request: namespace, zone, type of the client.

        Java: ``NamespaceRpcHook``, ``StreamTypeRPCHook``, ``DynamicalExtFieldRPCHook``.
        """
        fields: dict[str, str] = {}
        if self.namespace_v2:
            fields |= {"nsd": "true", "ns": self.namespace_v2}
        if self.enable_stream_request_type:
            fields["ReqT"] = "0"  # the number of STREAM
        zone = environment.get(ZONE_ENV) if self.zone_name is None else self.zone_name
        mode = environment.get(ZONE_MODE_ENV) if self.zone_mode is None else self.zone_mode
        if zone:
            fields["__ZONE_NAME"] = zone
        if mode:
            fields["__ZONE_MODE"] = mode
        return fields


def to_config(config: ClientConfig | str) -> ClientConfig:
    if isinstance(config, str):
        return ClientConfig(namesrv_addr=config)
    if not isinstance(config, ClientConfig):  # pyright: ignore[reportUnnecessaryIsInstance] - of callers without types
        raise type_error(
            "config", "a ClientConfig or name servers as 'host:port;host:port'", config
        )
    return config


def _check_tls(name: str, value: object) -> None:
    # check for an ssl.SSLContext without importing ssl
    if not hasattr(value, "wrap_bio"):
        raise type_error(name, "an ssl.SSLContext", value)


def _check_hooks(name: str, value: Any) -> None:
    hooks = cast("Sequence[Any]", value if type(value) in (tuple, list) else (None,))
    if not all(isinstance(hook, Hook) for hook in hooks):
        raise type_error(name, "a tuple of hooks, for example (OpenTelemetryHook(),)", value)


# The checks of settings that are not those of their type
_RULES: Final[Mapping[str, Rule]] = {
    "namesrv_addr": optional(_check_name_servers),
    "address_remap": optional(build_remap),
    "credentials": optional(
        instance_of(Credentials, expected="Credentials(access_key, secret_key)")
    ),
    "tls": optional(_check_tls),
    "access_channel": instance_of(AccessChannel, expected="an AccessChannel"),
    "serialize_type": instance_of(SerializeType, expected="a SerializeType"),
    "language": instance_of(LanguageCode, expected="a LanguageCode"),
    "version": integer_in(minimum=0),
    "hooks": _check_hooks,
}  # fmt: skip
