"""The settings of a name server: Java's properties, their defaults, and how a text becomes a value.

Rules of this file: pure (environment, home directory and file contents are arguments); the fields
are in the order of Java's classes, which ``-p`` shows; the wire name is the field's name in camel
case unless the field has another one.
Sources: ``NamesrvConfig``, ``NettyServerConfig``, ``NettyClientConfig``, ``NettySystemConfig`` and
``MixAll`` of 5.5.0.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Final, Self

from rocketwire.codes import SerializeType
from rocketwire.connection.guards import Guard
from rocketwire.controls import is_secret_name
from rocketwire.errors import RocketWireError
from rocketwire.serving.events import format_value
from rocketwire.serving.java_properties import (
    PropertiesFile,
    file_text,
    flat_text,
    system_properties,
)
from rocketwire.serving.tls.settings import TlsSettings
from rocketwire_namesrv.config.limits import Limit
from rocketwire_namesrv.config.settings import JAVA_BLANKS, Owner, Property

_MEGABYTE: Final = 1024 * 1024

SPLIT_REGISTRATION_SIZE: Final = 800
"""Topics in a part of a registration; the default of ``splitRegistrationSize`` of Java's
brokers."""

OBSERVE_PORT: Final = 5558
"""The operators' port, next to 5557 of Java's exporter and of its brokers' metrics."""
NO_PORT: Final = -1

_DENIED: Final = ("configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome")
_KINDS: Final[Mapping[str, type]] = {"str": str, "str | None": str, "int": int, "bool": bool}
_WORD: Final = re.compile(r"""(?:[^\s"']|"[^"]*"?|'[^']*'?)+""")
_QUOTED: Final = re.compile(r""""([^"]*)"?|'([^']*)'?""")


class ConfigError(RocketWireError):
    """Settings with which the server cannot start."""

    def __init__(self, *refusals: str) -> None:
        super().__init__("; ".join(refusals))
        self.refusals = refusals  #: one line for each invalid setting, with its line and the reason


def _property(
    default: Any,
    name: str = "",
    *,
    owner: Owner,
    wide: bool = False,
    key: str = "",
    system: str = "",
    started: str = "",
) -> Any:
    """Declare a property.

    Args:
        default: value without configuration; its type is the property's type.
        name: name as shown, if it is not the camel case of the field's name.
        owner: the Java class.
        wide: whether an integer is a Java long.
        key: key in the file, if it differs from the shown name.
        system: Java system property that gives the default.
        started: value of a server without configuration, if it differs.
    """
    metadata = {"owner": owner, "wide": wide, "name": name, "key": key, "system": system}
    return field(default=default, metadata={**metadata, "started": started or _text(default)})


_namesrv: Final = partial(_property, owner=Owner.NAMESRV)
_server: Final = partial(_property, owner=Owner.SERVER)
_client: Final = partial(_property, owner=Owner.CLIENT)
_ours: Final = partial(_property, owner=Owner.OURS)


def _text(value: str | int | bool | None) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every property of a name server, and the raw pairs of its configuration file.

    Properties without a comment are accepted, shown and kept, and have the same meaning as in Java
    or no effect: most of them size Java's thread pools.
    """

    rocketmq_home: str | None = _namesrv(None)  # shown only: nothing of an installation is needed
    kv_config_path: str = _namesrv("")  # empty: the KV configuration is not kept
    config_store_path: str = _namesrv("")  # empty: updates are not kept
    product_env_name: str = _namesrv("center")
    cluster_test: bool = _namesrv(False)
    order_message_enable: bool = _namesrv(False)  # orderTopicConf in route answers
    return_order_topic_config_to_broker: bool = _namesrv(True)
    client_request_thread_pool_nums: int = _namesrv(8)
    default_thread_pool_nums: int = _namesrv(16)
    client_request_thread_pool_queue_capacity: int = _namesrv(50_000)
    default_thread_pool_queue_capacity: int = _namesrv(10_000)
    scan_not_active_broker_interval: int = _namesrv(
        5_000, wide=True
    )  # milliseconds between expiry scans
    un_register_broker_queue_capacity: int = _namesrv(3_000)
    support_acting_master: bool = _namesrv(False)
    enable_all_topic_list: bool = _namesrv(True)
    enable_topic_list: bool = _namesrv(True)
    notify_min_broker_id_changed: bool = _namesrv(False)
    enable_controller_in_namesrv: bool = _namesrv(False)
    need_wait_for_service: bool = _namesrv(False)
    wait_seconds_for_service: int = _namesrv(45)
    delete_topic_with_broker_registration: bool = _namesrv(False)
    config_black_list: str = _namesrv("configBlackList;configStorePath;kvConfigPath")

    bind_address: str = _server("0.0.0.0")  # noqa: S104 - Java's default
    listen_port: int = _server(9876)  # 0: any free port
    server_worker_threads: int = _server(8)
    server_callback_executor_threads: int = _server(0)
    server_selector_threads: int = _server(3)
    server_oneway_semaphore_value: int = _server(256)
    server_async_semaphore_value: int = _server(64)
    server_channel_max_idle_time_seconds: int = _server(
        120
    )  # of connections accepted from now on; 0: never
    server_socket_snd_buf_size: int = _server(0, system="com.rocketmq.remoting.socket.sndbuf.size")
    server_socket_rcv_buf_size: int = _server(0, system="com.rocketmq.remoting.socket.rcvbuf.size")
    write_buffer_high_water_mark: int = _server(
        0, system="com.rocketmq.remoting.write.buffer.high.water.mark"
    )
    write_buffer_low_water_mark: int = _server(
        0, system="com.rocketmq.remoting.write.buffer.low.water.mark"
    )
    server_socket_backlog: int = _server(1024, system="com.rocketmq.remoting.socket.backlog")
    server_netty_worker_group_enable: bool = _server(True)
    server_pooled_byte_buf_allocator_enable: bool = _server(True)
    enable_shutdown_gracefully: bool = _server(False)  # answer GO_AWAY for a while before stopping
    shutdown_wait_time_seconds: int = _server(30)  # length of that while
    use_epoll_native_selector: bool = _server(False)

    client_worker_threads: int = _client(4, system="com.rocketmq.remoting.client.worker.size")
    client_callback_executor_threads: int = _client(1)
    client_oneway_semaphore_value: int = _client(
        65_535, system="com.rocketmq.remoting.clientOnewaySemaphoreValue"
    )
    client_async_semaphore_value: int = _client(
        65_535, system="com.rocketmq.remoting.clientAsyncSemaphoreValue"
    )
    connect_timeout_millis: int = _client(
        3_000, system="com.rocketmq.remoting.client.connect.timeout"
    )
    channel_not_active_interval: int = _client(60_000, wide=True)
    is_scan_available_name_srv: bool = _client(True, key="scanAvailableNameSrv")
    client_channel_max_idle_time_seconds: int = _client(
        120, system="com.rocketmq.remoting.client.channel.maxIdleTimeSeconds"
    )
    client_socket_snd_buf_size: int = _client(0, system="com.rocketmq.remoting.socket.sndbuf.size")
    client_socket_rcv_buf_size: int = _client(0, system="com.rocketmq.remoting.socket.rcvbuf.size")
    client_pooled_byte_buf_allocator_enable: bool = _client(False)
    client_close_socket_if_timeout: bool = _client(
        True, system="com.rocketmq.remoting.client.closeSocketIfTimeout"
    )
    use_tls: bool = _client(False, name="useTLS", system="tls.enable")
    socks_proxy_config: str = _client("{}")
    client_write_buffer_high_water_mark: int = _client(
        0,
        name="writeBufferHighWaterMark",
        system="com.rocketmq.remoting.write.buffer.high.water.mark",
    )
    client_write_buffer_low_water_mark: int = _client(
        0,
        name="writeBufferLowWaterMark",
        system="com.rocketmq.remoting.write.buffer.low.water.mark",
    )
    disable_callback_executor: bool = _client(False)
    disable_netty_worker_group: bool = _client(False)
    max_reconnect_interval_time_seconds: int = _client(60, wide=True)
    enable_reconnect_for_go_away: bool = _client(True)

    serialize_type: SerializeType = SerializeType.JSON
    """Header form of everything the server sends."""
    # Limits: 0 means none, except for ``max_connections`` and ``frame_max_length``.
    # ``settings.BOUNDS`` has the valid numbers, ``docs/limits.md`` explains each default.
    frame_max_length: int = _ours(
        16 * _MEGABYTE, Guard.FRAME_LENGTH, system="com.rocketmq.remoting.frameMaxLength"
    )  # bytes of a whole frame
    header_max_length: int = _ours(4 * _MEGABYTE, Guard.HEADER_LENGTH)
    body_max_length: int = _ours(4 * _MEGABYTE, Limit.BODY_LENGTH)  # but for registrations
    inflated_max_length: int = _ours(64 * _MEGABYTE, Limit.INFLATED_LENGTH)
    max_name_length: int = _ours(1024, Limit.NAME_LENGTH)  # characters
    max_topics_per_registration: int = _ours(500_000, Limit.TOPICS_PER_REGISTRATION)
    max_topics_per_broker: int = _ours(500_000, Limit.TOPICS_PER_BROKER)
    max_topics: int = _ours(1_000_000, Limit.TOPICS)
    max_queues_per_topic: int = _ours(65_536, Limit.QUEUES)  # for reading, for writing
    max_mapped_queues: int = _ours(2_000_000, Limit.MAPPED_QUEUES)  # of static topics
    max_brokers: int = _ours(10_000, Limit.BROKERS)
    max_filter_servers: int = _ours(1_000, Limit.FILTER_SERVERS)  # of one broker
    max_kv_namespaces: int = _ours(10_000, Limit.KV_NAMESPACES)
    max_kv_entries: int = _ours(100_000, Limit.KV_ENTRIES)
    max_kv_value_length: int = _ours(_MEGABYTE, Limit.KV_VALUE_LENGTH)  # characters
    max_kv_length: int = _ours(64 * _MEGABYTE, Limit.KV_LENGTH)  # keys, values, namespaces
    max_connections: int = _ours(65_536, Guard.CONNECTIONS)
    max_connections_per_address: int = _ours(0, Guard.CONNECTIONS_PER_ADDRESS)
    frame_deadline_seconds: int = _ours(60, Guard.FRAME_DEADLINE)  # first byte to last
    first_frame_deadline_seconds: int = _ours(0, Guard.FIRST_FRAME_DEADLINE)
    send_deadline_seconds: int = _ours(60, Guard.SEND_DEADLINE)  # for answers to be taken
    max_requests_in_flight: int = _ours(256, Limit.REQUESTS_IN_FLIGHT)
    max_unsent_bytes: int = _ours(_MEGABYTE, Guard.UNSENT_BYTES)
    max_all_unsent_bytes: int = _ours(1024 * _MEGABYTE, Guard.ALL_UNSENT_BYTES)
    max_buffered_bytes: int = _ours(1024 * _MEGABYTE, Guard.BUFFERED_BYTES)
    max_notifications: int = _ours(1_000, Limit.NOTIFICATIONS)  # waiting to be sent
    allow_config_update: bool = _ours(False, "rocketwire.allowConfigUpdate")  # 318; Java: always
    read_addresses: str = _ours("", "rocketwire.readAddresses")  # allowed addresses; empty: all
    broker_addresses: str = _ours("", "rocketwire.brokerAddresses")
    admin_addresses: str = _ours("", "rocketwire.adminAddresses")
    driver: str = _ours("auto", "rocketwire.driver")  # one of ``DRIVERS``
    split_registration_size: int = _ours(
        SPLIT_REGISTRATION_SIZE, "rocketwire.splitRegistrationSize"
    )  # topics in a part; 0: each is registered as it comes, as in Java
    warm_start_seconds: int = _ours(0, "rocketwire.warmStartSeconds")  # 0: brokers are forgotten
    known_brokers_path: str = _ours("", "rocketwire.knownBrokersPath")  # where they are remembered
    observe_port: int = _ours(
        NO_PORT, "rocketwire.observePort", started=str(OBSERVE_PORT)
    )  # 0: any free port; -1: none
    observe_address: str = _ours("127.0.0.1", "rocketwire.observeAddress")
    peers: str = _ours("", "rocketwire.peers")  # second ports of other name servers
    address_server_file: str = _ours("", "rocketwire.addressServerFile")  # lists for clients
    observe_asked: bool = False
    """Whether the operators' port is configured, so that the server must not run without
    it."""
    tls: TlsSettings = field(default_factory=TlsSettings)
    """Certificates, and whether connections may begin with TLS; not changed by requests."""
    home: str = ""
    """The user's home directory, below which the log is."""
    file_entries: Mapping[str, str] = field(default_factory=dict[str, str])
    """All pairs of the configuration file, known or not, as written there."""

    @classmethod
    def load(
        cls,
        entries: Mapping[str, str] | None = None,
        *,
        home: str,
        config_path: str | None = None,
        environment: Mapping[str, str] | None = None,
        processors: int = 1,
        refusals: list[str] | None = None,
    ) -> Self:
        """Load a configuration in Java's order: defaults, environment, file.

        Args:
            entries: pairs of the configuration file; errors name the line if it is a
                ``PropertiesFile``.
            home: the user's home directory, which contains the default paths.
            config_path: that file's path as the user gave it; updates are then stored there.
            environment: environment variables, with JVM options as ``system_properties`` reads
                them; a system property overrides the variable of the same setting.
            processors: number of CPUs.
            refusals: takes the refusals instead of an exception; each refused setting then keeps
                its default.

        Raises:
            ConfigError: the serialize type is neither JSON nor ROCKETMQ, or a value is invalid
                (``Property.refusal``).
        """
        refused: list[str] = [] if refusals is None else refusals
        environment = environment or {}
        system = system_properties(environment)
        home = system.get("user.home", home)
        defaults = cls(
            home=home,
            rocketmq_home=system.get("rocketmq.home.dir", environment.get("ROCKETMQ_HOME")),
            kv_config_path=f"{home}/namesrv/kvConfig.json",
            config_store_path=f"{home}/namesrv/namesrv.properties",
            known_brokers_path=f"{home}/namesrv/knownBrokers.json",
            client_callback_executor_threads=processors,
            use_tls=system.get("tls.server.mode") == "enforcing",
            serialize_type=_serialize_type(system, environment, refused),
            tls=TlsSettings.load(system, entries),
        )
        config = defaults._with_texts(
            {
                prop.attribute: text
                for prop, key, text in _by_system(system)
                if not _add_refusal(
                    refused, f"-D{key}={format_value(text)}", prop.refusal(text, system=True)
                )
            }
        )
        if entries is not None:
            taken = {
                key: text
                for key, text in entries.items()
                if not any(
                    _add_refusal(refused, describe_setting(entries, key), prop.refusal(text))
                    for prop in BY_KEY.get(key, ())
                )
            }
            config = replace(config._with_entries(taken, tuple(Owner)), file_entries=dict(entries))
        config = config._with_observation({*(entries or ()), *system})
        if config_path is not None:
            config = replace(config, config_store_path=config_path.strip(JAVA_BLANKS))
        if refused and refusals is None:
            raise ConfigError(*refused)
        return config

    def check(self) -> None:
        """Check the values of a configuration that was not read from a file.

        Raises:
            ConfigError: the server cannot start with at least one value.
        """
        refused: list[str] = []
        for prop in PROPERTIES:
            text = _text(getattr(self, prop.attribute))
            if text is not None:
                _add_refusal(refused, f"{prop.attribute}={format_value(text)}", prop.refusal(text))
        if refused:
            raise ConfigError(*refused)

    def _with_observation(self, keys: Container[str]) -> Self:
        # An unconfigured port is optional. If the server's port is any free one, so is this one.
        require = {"rocketwire.observeAddress", "rocketwire.addressServerFile"}
        is_required = any(key in keys for key in require)
        if "rocketwire.observePort" in keys:
            return replace(self, observe_asked=self.observe_port >= 0)
        port = OBSERVE_PORT if self.listen_port else 0
        return replace(self, observe_port=port, observe_asked=is_required)

    @property
    def denied_keys(self) -> frozenset[str]:
        """Keys that no update may change; a request with one of them is refused."""
        return frozenset((*_DENIED, *self.config_black_list.split(";")))

    def update(self, entries: Mapping[str, str]) -> Self:
        """Apply an update request; the caller has refused ``denied_keys`` before.

        Unknown keys are ignored, and so are values that do not fit (``Configuration.update``).
        Whether a change has an effect before the next start depends on the property.
        """
        file_changes = {
            key: text
            for key, text in entries.items()
            if key in self.file_entries and not key.startswith("tls.")
        }
        config = self._with_entries(entries, (Owner.NAMESRV, Owner.SERVER))
        return replace(config, file_entries={**self.file_entries, **file_changes})

    def flat(self) -> dict[str, str]:
        """Return what 319 shows and an update stores: the file's pairs, overridden by all
        properties."""
        shown = self.items(Owner.NAMESRV, Owner.SERVER)
        return {**self.file_entries, **{name: text for name, text in shown if text is not None}}

    def text(self) -> str:
        """Return the body of the response to GET_NAMESRV_CONFIG (319). Unlike Java's it has no keys
        that look like secrets."""
        return flat_text(
            {key: text for key, text in self.flat().items() if not is_secret_name(key)}
        )

    def to_properties(self) -> bytes:
        """Return the content for the file at ``config_store_path``; it reads back as this
        configuration."""
        return file_text(self.flat())

    def items(self, *owners: Owner) -> list[tuple[str, str | None]]:
        """Return names and values as texts, in declaration order; None for Java's null."""
        return [
            (prop.name, _text(getattr(self, prop.attribute)))
            for prop in PROPERTIES
            if prop.owner in owners
        ]

    def _with_entries(self, entries: Mapping[str, str], owners: tuple[Owner, ...]) -> Self:
        # one key may set several properties
        texts = {
            prop.attribute: entries[prop.key]
            for prop in PROPERTIES
            if prop.owner in owners and prop.key in entries
        }
        return self._with_texts(texts)

    def _with_texts(self, texts: Mapping[str, str]) -> Self:
        values = {
            prop.attribute: prop.value_of(texts[prop.attribute])
            for prop in PROPERTIES
            if prop.attribute in texts
        }
        changes: dict[str, Any] = {name: to for name, to in values.items() if to is not None}
        return replace(self, **changes)


def describe_setting(entries: Mapping[str, str], key: str) -> str:
    """Return the line and the text of a setting, as the beginning of a message."""
    if isinstance(entries, PropertiesFile):
        entry = entries.entry(key)
        return f"{entries.path}, line {entry.line}: {format_value(entry.text)}"
    return f"{key}={format_value(entries[key])}"


def _by_system(system: Mapping[str, str]) -> Iterator[tuple[Property, str, str]]:
    for prop in PROPERTIES:
        if prop.system in system:
            yield prop, prop.system, system[prop.system]
        if prop.owner is Owner.OURS and prop.key in system:
            yield prop, prop.key, system[prop.key]


def _add_refusal(refused: list[str], setting: str, reason: str | None) -> bool:
    # one key may set several properties, and is refused once
    if reason is not None and not any(line.startswith(f"{setting}: ") for line in refused):
        refused.append(f"{setting}: {reason}")
    return reason is not None


def _camel(name: str) -> str:
    head, *words = name.split("_")
    return head + "".join(word.capitalize() for word in words)


def _list_properties() -> tuple[Property, ...]:
    properties: list[Property] = []
    for field_ in fields(Config):
        if field_.metadata:
            data = field_.metadata
            name = data["name"] or _camel(field_.name)
            properties.append(
                Property(
                    attribute=field_.name,
                    name=name,
                    key=data["key"] or name,
                    owner=data["owner"],
                    system=data["system"],
                    value_type=_KINDS[str(field_.type)],
                    bits=63 if data["wide"] else 31,
                    default=data["started"] or "",
                )
            )
    return tuple(properties)


def _serialize_type(
    system: Mapping[str, str], environment: Mapping[str, str], refused: list[str]
) -> SerializeType:
    text = system.get("rocketmq.serialize.type", environment.get("ROCKETMQ_SERIALIZE_TYPE", ""))
    if text.strip() and text not in SerializeType.__members__:
        refused.append(f"rocketmq.serialize.type must be JSON or ROCKETMQ, not {text!r}")
        text = ""
    return SerializeType[text] if text.strip() else SerializeType.JSON


PROPERTIES: Final = _list_properties()
"""All settings, in the order of declaration."""
BY_KEY: Final = {
    key: tuple(prop for prop in PROPERTIES if prop.key == key)
    for key in (prop.key for prop in PROPERTIES)
}
"""Key -> properties that it sets."""
