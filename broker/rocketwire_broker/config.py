"""The settings of a broker, with Java's names and defaults.

A setting is one row of ``Config``: its default, its name in ``broker.conf``, its check, and what it
means. Times are in milliseconds, because the protocol has them so.

Java: ``BrokerConfig``, ``MessageStoreConfig``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, NamedTuple, TypeVar

from rocketwire.connection.guards import Guard
from rocketwire.errors import IllegalValueError
from rocketwire.serving.tls.settings import KEYS as TLS_KEYS
from rocketwire.serving.tls.settings import TlsSettings

T = TypeVar("T")

DELAY_LEVELS: Final = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
"""Delay of each level, from 1 on (Java: ``messageDelayLevel``)."""

STATUS_PORT: Final = 5559  # default port of the status page of the programs
NO_STATUS_PORT: Final = -1
ANY_STATUS_PORT: Final = -2  # ``STATUS_PORT``, or a free port if it is in use

_UNITS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_MAX_INT: Final = 2**31 - 1


# ---------------------------------------------------------------------------- texts


class Setting(NamedTuple):
    field: str  # its attribute of ``Config``
    read: Callable[[str], Any] = str  # raises ValueError
    write: Callable[[Any], str] = str
    is_fixed: bool = False  # whether a running broker cannot change it


def _read_boolean(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError("must be true or false")
    return text.lower() == "true"


def _write_boolean(value: object) -> str:
    return "true" if value else "false"


def _read_integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("must be a whole number") from None


def _read_limit(text: str, minimum: int = 0) -> int:
    number = _read_integer(text)
    if not minimum <= number <= _MAX_INT:
        zero = "" if minimum else ", or 0 (no limit)"
        raise ValueError(f"must be a whole number from 1 to {_MAX_INT}{zero}")
    return number


def _read_positive(text: str) -> int:
    return _read_limit(text, minimum=1)


def _read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("must be a number") from None


def _read_seconds(text: str) -> int:
    return _read_integer(text) * 1000


def _write_seconds(milliseconds: int) -> str:
    return str(milliseconds // 1000)


_READERS: Final[Mapping[type, Callable[[str], Any]]] = {
    bool: _read_boolean,
    int: _read_integer,
    float: _read_number,
    str: str,
}
_WRITERS: Final[Mapping[type, Callable[[Any], str]]] = {bool: _write_boolean, float: "{:g}".format}


def _setting(
    default: T,
    name: str,
    *,
    is_fixed: bool = False,
    read: Callable[[str], T] | None = None,
    write: Callable[[T], str] | None = None,
) -> T:
    """Declare a setting; its type is that of its default, its name Java's or ``rocketwire.*``."""
    kind = type(default)
    setting = Setting(
        name, read or _READERS[kind], write or _WRITERS.get(kind, str), is_fixed=is_fixed
    )
    return field(default=default, metadata={"setting": setting})


def _constant(default: T, name: str) -> T:
    return _setting(default, name, is_fixed=True)


def _limit(default: int, name: str) -> int:
    # 0 disables it
    return _setting(default, name, read=_read_limit)


# ---------------------------------------------------------------------------- the settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    cluster_name: str = _constant("DefaultCluster", "brokerClusterName")
    broker_name: str = _constant("broker-a", "brokerName")
    broker_id: int = _constant(0, "brokerId")  # 0, the master; others are only registered
    bind_address: str = _constant("127.0.0.1", "bindAddress")
    broker_ip: str = _constant("127.0.0.1", "brokerIP1")  # for clients: in routes and message ids
    listen_port: int = _constant(10911, "listenPort")  # 0: a free one
    advertised_port: int = _constant(0, "rocketwire.advertisedPort")  # for clients; 0: the same
    namesrv_addr: str = _constant("", "namesrvAddr")  # host:port;host:port
    # limited to 10 to 60 s as in Java
    register_period_ms: int = _constant(30_000, "registerNameServerPeriod")

    auto_create_topics: bool = _setting(True, "autoCreateTopicEnable")  # by a send
    auto_create_groups: bool = _setting(True, "autoCreateSubscriptionGroup")  # by a consumer
    default_topic_queues: int = _constant(8, "defaultTopicQueueNums")  # of TBW102, the template
    property_filter: bool = _setting(True, "enablePropertyFilter")  # SQL92
    trace_topic: bool = _constant(True, "traceTopicEnable")  # whether it exists
    max_message_size: int = _setting(4 << 20, "maxMessageSize")  # bytes of a body
    max_pull_messages: int = _setting(32, "maxTransferCountOnMessageInMemory")
    # bytes of a pull, unless it has one message
    max_pull_bytes: int = _setting(256 << 10, "maxTransferBytesOnMessageInMemory")
    max_filtered: int = 800  # records that a pull with a filter reads
    unique_key_hits: int = _setting(32, "defaultQueryMaxNum")  # of a query by a unique key
    retain_bytes: int = _setting(256 << 20, "retainBytes")  # of messages in memory
    retain_hours: float = _setting(72.0, "fileReservedTime")
    store_path: str = _constant("", "storePathRootDir")  # empty: messages and tables are in memory
    # Files of the store are deleted, the oldest first, while the others hold more bytes than this;
    # 0 deletes none because of their size.
    store_retain_bytes: int = 0
    # SYNC_FLUSH: each response waits until its message is on the disk. Otherwise it is in the
    # files, and lost only if the machine goes down.
    flush_disk_type: str = _constant("ASYNC_FLUSH", "flushDiskType")
    log_file_size: int = _constant(1 << 30, "mappedFileSizeCommitLog")  # of new files
    queue_file_size: int = _constant(6_000_000, "mappedFileSizeConsumeQueue")
    timer_log_file_size: int = _constant(100 << 20, "mappedFileSizeTimerLog")

    delay_levels: str = _setting(DELAY_LEVELS, "messageDelayLevel")
    timer_enabled: bool = _constant(True, "timerWheelEnable")  # allows times of delivery
    timer_max_delay_ms: int = _setting(
        3 * 86_400_000, "timerMaxDelaySec", read=_read_seconds, write=_write_seconds
    )
    recall_enabled: bool = _setting(True, "recallMessageEnable")
    store_replies: bool = _setting(True, "storeReplyMessageEnable")  # of request-reply
    # whether the broker resets offsets itself, and does not push them to clients (220)
    server_side_reset: bool = _setting(True, "useServerSideResetOffset")
    reject_transactions: bool = _setting(False, "rejectTransactionMessage")
    transaction_timeout_ms: int = _setting(6_000, "transactionTimeOut")  # age at the first check
    transaction_check_ms: int = _setting(30_000, "transactionCheckInterval")
    transaction_check_max: int = _setting(15, "transactionCheckMax")
    client_expiry_ms: int = 120_000  # without a heartbeat
    lock_expiry_ms: int = 60_000  # without renewal of a queue's lock

    # further ones wait
    max_connections: int = _setting(10_000, Guard.CONNECTIONS, read=_read_positive, is_fixed=True)
    max_connections_per_address: int = _limit(0, Guard.CONNECTIONS_PER_ADDRESS)
    server_channel_max_idle_time_seconds: int = _limit(120, Guard.IDLE_TIME)
    frame_deadline_seconds: int = _limit(60, Guard.FRAME_DEADLINE)  # first byte to last
    first_frame_deadline_seconds: int = _limit(0, Guard.FIRST_FRAME_DEADLINE)
    send_deadline_seconds: int = _limit(60, Guard.SEND_DEADLINE)  # to read responses
    server_socket_snd_buf_size: int = _limit(0, "serverSocketSndBufSize")  # 0: the kernel's
    server_socket_rcv_buf_size: int = _limit(0, "serverSocketRcvBufSize")
    # Bytes that wait for a slow reader; beyond it its requests wait. One response may be longer.
    max_unsent_bytes: int = _limit(1 << 20, Guard.UNSENT_BYTES)
    # of all connections; the one with most is closed
    max_all_unsent_bytes: int = _limit(256 << 20, Guard.ALL_UNSENT_BYTES)
    # of incomplete and waiting requests of all connections; the one with most is closed
    max_buffered_bytes: int = _limit(256 << 20, Guard.BUFFERED_BYTES)
    max_held: int = _limit(20_000, "rocketwire.maxHeldRequests")
    max_held_per_peer: int = _limit(4_096, "rocketwire.maxHeldRequestsPerConnection")
    max_polls: int = _setting(1_024, "popPollingSize")  # pops that wait for a queue, by group
    max_hidden_messages: int = _limit(200_000, "rocketwire.maxUnacknowledgedMessages")
    max_topics: int = _limit(20_000, "rocketwire.maxTopics")
    max_groups: int = _limit(20_000, "rocketwire.maxGroups")  # and connected producer groups
    max_subscription_bytes: int = _limit(64 << 20, "rocketwire.maxSubscriptionBytes")  # and members
    max_locks: int = _limit(100_000, "rocketwire.maxLocks")  # of queues
    max_cold_read_limits: int = _limit(20_000, "rocketwire.maxColdReadLimits")  # of groups
    max_relayed_requests: int = _limit(20_000, "rocketwire.maxRelayedRequests")  # to clients
    relay_timeout_ms: int = 10_000  # for the response of a client

    # Whether messages of lite topics are put into LMQs; otherwise nobody can read them.
    enable_lmq: bool = _setting(True, "enableLmq")
    max_lmqs: int = _setting(20_000, "maxLmqConsumeQueueNum")
    max_lite_subscriptions: int = _setting(100_000, "maxLiteSubscriptionCount")  # and subscribers
    max_lite_events: int = _setting(100, "maxClientEventCount")  # if a group does not set it
    # time between two searches for clients that do not pop their events
    lite_event_check_ms: int = _constant(10_000, "liteEventCheckInterval")
    # time after which a client with too many events gets further ones
    lite_full_dispatch_ms: int = _setting(10_000, "liteEventFullDispatchDelayTime")
    lite_client_check_ms: int = _constant(120_000, "liteSubscriptionCheckInterval")
    lite_client_expiry_ms: int = _setting(180_000, "liteSubscriptionCheckTimeoutMills")
    lite_expiry_check_ms: int = _constant(120_000, "liteTtlCheckInterval")
    lite_min_ttl_ms: int = _setting(900_000, "minLiteTTl")  # after the last message

    accounts_file: str = _constant("", "rocketwire.accountsFile")  # empty: all requests are allowed
    initial_user: str = field(default="", repr=False)  # {"username":"u","password":"p"}
    access_required: bool = False  # whether Java's settings ask for accounts
    binary: bool = False  # whether sent frames have binary headers
    tls: TlsSettings = field(default_factory=TlsSettings)
    use_tls: bool = False  # to name servers
    observe_address: str = _constant("127.0.0.1", "rocketwire.observeAddress")
    observe_port: int = _constant(NO_STATUS_PORT, "rocketwire.observePort")  # 0: a free one

    def delays_ms(self) -> tuple[int, ...]:
        """Return the delay of each level, from 1 on, in milliseconds."""
        return tuple(map(_delay_ms, self.delay_levels.split()))


def _delay_ms(text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if not number.isdecimal() or unit not in _UNITS:
        raise IllegalValueError(f"messageDelayLevel: {text!r} is not a number with s, m, h or d")
    return int(number) * _UNITS[unit]


def _collect_settings() -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    for item in fields(Config):
        declared: Setting | None = item.metadata.get("setting")
        if declared is not None:
            settings[declared.field] = declared._replace(field=item.name)
    return settings


SETTINGS: Final[Mapping[str, Setting]] = _collect_settings()
"""Settings by their names in ``broker.conf``: Java's, ``retainBytes`` and ``rocketwire.*``."""

_ACCESS: Final[Mapping[str, Setting]] = {
    "aclEnable": Setting("access_required", _read_boolean),
    "authenticationEnabled": Setting("access_required", _read_boolean),
    "initAuthenticationUser": Setting("initial_user"),
}
"""Settings of access control; code 26 does not list them."""

_IGNORED: Final = frozenset(
    {
        "authenticationProvider",
        "authenticationMetadataProvider",
        "authorizationEnabled",
        "authorizationProvider",
        "authorizationMetadataProvider",
        "innerClientAuthenticationCredentials",
    }
)
"""Further settings of access control, which has one way here."""

FIXED: Final[Mapping[str, str]] = {
    "brokerRole": "ASYNC_MASTER",
    "deleteWhen": "04",
    "enableLiteEventMode": "true",
    "enableLmqQuota": "true",
    "enableMultiDispatch": "true",
}
"""Settings that have one value here; a file may have them with any value."""

_HEADER_FORM: Final = "rocketmq.serialize.type"
TLS_MODE: Final = "tls.server.mode"
_TLS_FILE: Final = "tls.config.file"
_TLS_ENABLE: Final = "tls.enable"


def read_settings(config: Config, texts: Mapping[str, str]) -> tuple[Config, list[str]]:
    """Apply settings of a properties file; return also the names without effect here."""
    changes: dict[str, Any] = {}
    unknown: list[str] = []
    for name, text in texts.items():
        setting = SETTINGS.get(name) or _ACCESS.get(name)
        if setting is None:
            if not _has_meaning(name):
                unknown.append(name)
            continue
        try:
            changes[setting.field] = setting.read(text.strip())
        except ValueError as error:
            raise IllegalValueError(f"{name}={text}: {error}") from error
    config = with_system(replace(config, **changes), texts)
    config.delays_ms()
    return config, unknown


def is_fixed(name: str) -> bool:
    setting = SETTINGS.get(name)
    if setting is not None:
        return setting.is_fixed
    return name in _ACCESS or _has_meaning(name)


def _has_meaning(name: str) -> bool:
    return name in FIXED or name in TLS_KEYS or name in _IGNORED or name == _HEADER_FORM


def with_system(config: Config, texts: Mapping[str, str]) -> Config:
    """Apply settings that are system properties in Java: TLS, and the form of headers."""
    form = texts.get(_HEADER_FORM)
    if form is not None:
        config = replace(config, binary=form.strip() == "ROCKETMQ")
    if not TLS_KEYS & texts.keys():
        return config
    mode = texts.get(TLS_MODE, config.tls.server_mode)
    file = texts.get(_TLS_FILE, config.tls.config_file)
    others = {name: text for name, text in texts.items() if name not in {TLS_MODE, _TLS_FILE}}
    tls = replace(config.tls.over(others), server_mode=mode, config_file=file)
    use_tls = texts.get(_TLS_ENABLE, _write_boolean(config.use_tls)).strip().lower() == "true"
    return replace(config, tls=tls, use_tls=use_tls)


def write_settings(config: Config) -> dict[str, str]:
    """Return the settings by their names in ``broker.conf``, as code 26 shows them."""
    own = {name: item.write(getattr(config, item.field)) for name, item in SETTINGS.items()}
    return {**FIXED, **own}
