"""The settings of a broker, with Java's names and defaults.

Rules of this file: values only; times in milliseconds, because the protocol has them so.

Java: ``BrokerConfig``, ``MessageStoreConfig``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, NamedTuple

from rocketwire.connection.guards import Guard
from rocketwire.errors import IllegalValueError
from rocketwire.serving.tls.settings import KEYS as TLS_KEYS
from rocketwire.serving.tls.settings import TlsSettings

DELAY_LEVELS: Final = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
"""Delay of each level, from 1 on (Java: ``messageDelayLevel``)."""

STATUS_PORT: Final = 5559
"""Default port of the status page of the programs."""
NO_STATUS_PORT: Final = -1
ANY_STATUS_PORT: Final = -2
"""``STATUS_PORT``, or a free port if it is in use."""

_UNITS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings of a broker.

    Attributes:
        cluster_name: name of the cluster.
        broker_name: name of the broker.
        broker_id: 0, the master; others are only registered.
        bind_address: address to listen on.
        broker_ip: address for clients, which routes and message ids contain.
        listen_port: port to listen on; 0 takes a free one.
        advertised_port: port for clients, which routes and message ids contain; 0: the same one.
        namesrv_addr: name servers as ``host:port;host:port``; empty for none.
        register_period_ms: time between two registrations, limited to 10 to 60 s as in Java.
        auto_create_topics: whether a send creates its topic.
        auto_create_groups: whether a consumer creates its group.
        default_topic_queues: queues of TBW102, the template of created topics.
        property_filter: whether consumers may filter with SQL92.
        trace_topic: whether the topic of trace records exists.
        max_message_size: most bytes of a body.
        max_pull_messages: most messages of a pull.
        max_pull_bytes: most bytes of a pull, unless it has one message.
        max_filtered: records that a pull with a filter reads.
        unique_key_hits: messages that a query by a unique key returns.
        retain_bytes: bytes of messages that are kept; the oldest go first.
        retain_hours: time that messages are kept.
        store_path: folder that keeps messages and tables; empty keeps them in memory.
        store_retain_bytes: with a folder, files are deleted, the oldest first, while the others
            hold more than this; 0 deletes none because of their size.
        flush_disk_type: ``SYNC_FLUSH`` if each answer waits until its message is on the disk;
            otherwise it is in the files, and lost only if the machine goes down.
        log_file_size: bytes of each new file of the commit log.
        queue_file_size: bytes of each new file of a queue.
        timer_log_file_size: bytes of each new file of the log of timers.
        delay_levels: delays as Java writes them.
        timer_enabled: whether messages may have a time of delivery.
        timer_max_delay_ms: longest delay of such a message.
        recall_enabled: whether such a message may be recalled.
        store_replies: whether replies of request-reply are stored.
        server_side_reset: whether the broker resets offsets itself, and does not push them (220).
        reject_transactions: whether half messages are refused.
        transaction_timeout_ms: age of a half message at its first check.
        transaction_check_ms: time between two checks.
        transaction_check_max: checks after which a half message is given up.
        client_expiry_ms: time without a heartbeat after which a client is gone.
        lock_expiry_ms: time without renewal after which a queue's lock is free.
        max_connections: connections at once; further ones wait.
        max_connections_per_address: connections of one address; 0: no limit.
        server_channel_max_idle_time_seconds: time without a complete frame or a sent response
            after which a connection is closed; 0: never.
        frame_deadline_seconds: time from a frame's first byte to its last; 0: no limit.
        first_frame_deadline_seconds: time from a connection to the end of its first frame; 0: no
            limit.
        send_deadline_seconds: time for a client to read its responses; 0: no limit.
        server_socket_snd_buf_size: the kernel's send buffer in bytes; 0: its default.
        server_socket_rcv_buf_size: the kernel's receive buffer in bytes; 0: its default.
        max_held: requests that wait for messages, in all.
        max_held_per_peer: the same for one connection.
        max_polls: pops that wait for a queue, by group (Java: ``popPollingSize``).
        max_hidden_messages: popped messages that are not acknowledged.
        max_topics: topics.
        max_groups: consumer groups, and connected producer groups.
        max_subscription_bytes: bytes of members and subscriptions of all groups.
        max_locks: locked queues.
        max_cold_read_limits: groups with a limit for cold data.
        max_relayed_requests: requests to clients that are not answered.
        light_queues: whether messages of lite topics are put into light queues, too; otherwise
            nobody can read lite topics.
        max_light_queues: light queues; messages of further lite topics are refused.
        max_lite_subscriptions: subscriptions of all clients to lite topics, and such clients.
        max_lite_events: lite topics of which a client is told at once, if its group does not say.
        lite_event_check_ms: time between two searches for clients that do not pop their events.
        lite_full_dispatch_ms: time after which a client with too many events gets further ones.
        lite_client_check_ms: time between two searches for clients that have ended.
        lite_client_expiry_ms: time after which subscriptions that were not renewed end.
        lite_expiry_check_ms: time between two searches for lite topics that are over.
        lite_min_ttl_ms: shortest life of a lite topic after its last message.
        max_unsent_bytes: bytes that wait for a slow reader; beyond it its requests wait. One
            response may be longer.
        max_all_unsent_bytes: the same for all connections; the one with most is closed beyond.
        max_buffered_bytes: bytes of requests that are incomplete or wait, of all connections; the
            one with most is closed beyond.
        relay_timeout_ms: time for a client's answer to a forwarded request.
        accounts_file: TOML or YAML file of accounts; empty: every request may be sent.
        initial_user: ``{"username":"u","password":"p"}``, an account of an administrator.
        access_required: whether settings of Java's ask for accounts.
        binary: whether frames have binary headers; those of requests have no influence on it.
        tls: certificates, and whether connections may, must or must not begin with TLS.
        use_tls: whether the broker uses TLS to name servers.
        observe_address: address of the operators' port.
        observe_port: port of status pages and metrics; 0 takes a free one.
    """

    cluster_name: str = "DefaultCluster"
    broker_name: str = "broker-a"
    broker_id: int = 0
    bind_address: str = "127.0.0.1"
    broker_ip: str = "127.0.0.1"
    listen_port: int = 10911
    advertised_port: int = 0
    namesrv_addr: str = ""
    register_period_ms: int = 30_000
    auto_create_topics: bool = True
    auto_create_groups: bool = True
    default_topic_queues: int = 8
    property_filter: bool = True
    trace_topic: bool = True
    max_message_size: int = 4 << 20
    max_pull_messages: int = 32
    max_pull_bytes: int = 256 << 10
    max_filtered: int = 800
    unique_key_hits: int = 32
    retain_bytes: int = 256 << 20
    retain_hours: float = 72.0
    store_path: str = ""
    store_retain_bytes: int = 0
    flush_disk_type: str = "ASYNC_FLUSH"
    log_file_size: int = 1 << 30
    queue_file_size: int = 6_000_000
    timer_log_file_size: int = 100 << 20
    delay_levels: str = DELAY_LEVELS
    timer_enabled: bool = True
    timer_max_delay_ms: int = 3 * 86_400_000
    recall_enabled: bool = True
    store_replies: bool = True
    server_side_reset: bool = True
    reject_transactions: bool = False
    transaction_timeout_ms: int = 6_000
    transaction_check_ms: int = 30_000
    transaction_check_max: int = 15
    client_expiry_ms: int = 120_000
    lock_expiry_ms: int = 60_000
    max_connections: int = 10_000
    max_connections_per_address: int = 0
    server_channel_max_idle_time_seconds: int = 120
    frame_deadline_seconds: int = 60
    first_frame_deadline_seconds: int = 0
    send_deadline_seconds: int = 60
    server_socket_snd_buf_size: int = 0
    server_socket_rcv_buf_size: int = 0
    max_held: int = 20_000
    max_held_per_peer: int = 4_096
    max_polls: int = 1_024
    max_hidden_messages: int = 200_000
    max_topics: int = 20_000
    max_groups: int = 20_000
    max_subscription_bytes: int = 64 << 20
    max_locks: int = 100_000
    max_cold_read_limits: int = 20_000
    max_relayed_requests: int = 20_000
    light_queues: bool = True
    max_light_queues: int = 20_000
    max_lite_subscriptions: int = 100_000
    max_lite_events: int = 100
    lite_event_check_ms: int = 10_000
    lite_full_dispatch_ms: int = 10_000
    lite_client_check_ms: int = 120_000
    lite_client_expiry_ms: int = 180_000
    lite_expiry_check_ms: int = 120_000
    lite_min_ttl_ms: int = 900_000
    max_unsent_bytes: int = 1 << 20
    max_all_unsent_bytes: int = 256 << 20
    max_buffered_bytes: int = 256 << 20
    relay_timeout_ms: int = 10_000
    accounts_file: str = ""
    initial_user: str = field(default="", repr=False)
    access_required: bool = False
    binary: bool = False
    tls: TlsSettings = field(default_factory=TlsSettings)
    use_tls: bool = False
    observe_address: str = "127.0.0.1"
    observe_port: int = NO_STATUS_PORT

    def delays_ms(self) -> tuple[int, ...]:
        """Return the delay of each level, from 1 on, in milliseconds.

        Raises:
            IllegalValueError: an item is not a number with a unit (s, m, h, d).
        """
        return tuple(map(_delay_ms, self.delay_levels.split()))


def _delay_ms(text: str) -> int:
    number, unit = text[:-1], text[-1:]
    if not number.isdecimal() or unit not in _UNITS:
        raise IllegalValueError(f"messageDelayLevel: {text!r} is not a number with s, m, h or d")
    return int(number) * _UNITS[unit]


# ---------------------------------------------------------------------------- Java's names


class Setting(NamedTuple):
    """A setting in a properties file.

    Attributes:
        field: its attribute of ``Config``.
        read: the value of a text; raises ValueError.
        write: the text of a value.
        is_fixed: whether a running broker cannot change it.
    """

    field: str
    read: Callable[[str], Any] = str
    write: Callable[[Any], str] = str
    is_fixed: bool = False


def _boolean(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError("must be true or false")
    return text.lower() == "true"


def _truth(value: object) -> str:
    return "true" if value else "false"


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("must be a whole number") from None


def _limit(text: str) -> int:
    number = _whole(text)
    if not 0 <= number <= _MOST:
        raise ValueError(f"must be a whole number from 1 to {_MOST}, or 0 (no limit)")
    return number


def _positive(text: str) -> int:
    number = _whole(text)
    if not 1 <= number <= _MOST:
        raise ValueError(f"must be a whole number from 1 to {_MOST}")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("must be a number") from None


def _seconds(text: str) -> int:
    return _whole(text) * 1000


def _in_seconds(value: int) -> str:
    return str(value // 1000)


def _hours(value: float) -> str:
    return f"{value:g}"


_HEADER_FORM: Final = "rocketmq.serialize.type"
TLS_MODE: Final = "tls.server.mode"
_TLS_FILE: Final = "tls.config.file"
_TLS_ENABLE: Final = "tls.enable"
_BOOLEAN: Final = (_boolean, _truth)
_MOST: Final = 2**31 - 1

SETTINGS: Final[Mapping[str, Setting]] = {
    "brokerClusterName": Setting("cluster_name", is_fixed=True),
    "brokerName": Setting("broker_name", is_fixed=True),
    "brokerId": Setting("broker_id", _whole, is_fixed=True),
    "brokerIP1": Setting("broker_ip", is_fixed=True),
    "bindAddress": Setting("bind_address", is_fixed=True),
    "listenPort": Setting("listen_port", _whole, is_fixed=True),
    "namesrvAddr": Setting("namesrv_addr", is_fixed=True),
    "registerNameServerPeriod": Setting("register_period_ms", _whole, is_fixed=True),
    "autoCreateTopicEnable": Setting("auto_create_topics", *_BOOLEAN),
    "autoCreateSubscriptionGroup": Setting("auto_create_groups", *_BOOLEAN),
    "defaultTopicQueueNums": Setting("default_topic_queues", _whole, is_fixed=True),
    "enablePropertyFilter": Setting("property_filter", *_BOOLEAN),
    "traceTopicEnable": Setting("trace_topic", *_BOOLEAN, is_fixed=True),
    "maxMessageSize": Setting("max_message_size", _whole),
    "maxTransferCountOnMessageInMemory": Setting("max_pull_messages", _whole),
    "maxTransferBytesOnMessageInMemory": Setting("max_pull_bytes", _whole),
    "defaultQueryMaxNum": Setting("unique_key_hits", _whole),
    "fileReservedTime": Setting("retain_hours", _number, _hours),
    "messageDelayLevel": Setting("delay_levels"),
    "popPollingSize": Setting("max_polls", _whole),
    "timerWheelEnable": Setting("timer_enabled", *_BOOLEAN, is_fixed=True),
    "timerMaxDelaySec": Setting("timer_max_delay_ms", _seconds, _in_seconds),
    "recallMessageEnable": Setting("recall_enabled", *_BOOLEAN),
    "storeReplyMessageEnable": Setting("store_replies", *_BOOLEAN),
    "useServerSideResetOffset": Setting("server_side_reset", *_BOOLEAN),
    "rejectTransactionMessage": Setting("reject_transactions", *_BOOLEAN),
    "transactionTimeOut": Setting("transaction_timeout_ms", _whole),
    "transactionCheckInterval": Setting("transaction_check_ms", _whole),
    "transactionCheckMax": Setting("transaction_check_max", _whole),
    "retainBytes": Setting("retain_bytes", _whole),
    "storePathRootDir": Setting("store_path", is_fixed=True),
    "flushDiskType": Setting("flush_disk_type", is_fixed=True),
    "mappedFileSizeCommitLog": Setting("log_file_size", _whole, is_fixed=True),
    "mappedFileSizeConsumeQueue": Setting("queue_file_size", _whole, is_fixed=True),
    "mappedFileSizeTimerLog": Setting("timer_log_file_size", _whole, is_fixed=True),
    "enableLmq": Setting("light_queues", *_BOOLEAN),
    "maxLmqConsumeQueueNum": Setting("max_light_queues", _whole),
    "maxLiteSubscriptionCount": Setting("max_lite_subscriptions", _whole),
    "maxClientEventCount": Setting("max_lite_events", _whole),
    "liteEventCheckInterval": Setting("lite_event_check_ms", _whole, is_fixed=True),
    "liteEventFullDispatchDelayTime": Setting("lite_full_dispatch_ms", _whole),
    "liteSubscriptionCheckInterval": Setting("lite_client_check_ms", _whole, is_fixed=True),
    "liteSubscriptionCheckTimeoutMills": Setting("lite_client_expiry_ms", _whole),
    "liteTtlCheckInterval": Setting("lite_expiry_check_ms", _whole, is_fixed=True),
    "minLiteTTl": Setting("lite_min_ttl_ms", _whole),
    "rocketwire.accountsFile": Setting("accounts_file", is_fixed=True),
    "rocketwire.advertisedPort": Setting("advertised_port", _whole, is_fixed=True),
    "rocketwire.observeAddress": Setting("observe_address", is_fixed=True),
    "rocketwire.observePort": Setting("observe_port", _whole, is_fixed=True),
    Guard.CONNECTIONS: Setting("max_connections", _positive, is_fixed=True),
    Guard.CONNECTIONS_PER_ADDRESS: Setting("max_connections_per_address", _limit),
    Guard.IDLE_TIME: Setting("server_channel_max_idle_time_seconds", _limit),
    Guard.FRAME_DEADLINE: Setting("frame_deadline_seconds", _limit),
    Guard.FIRST_FRAME_DEADLINE: Setting("first_frame_deadline_seconds", _limit),
    Guard.SEND_DEADLINE: Setting("send_deadline_seconds", _limit),
    Guard.UNSENT_BYTES: Setting("max_unsent_bytes", _limit),
    Guard.ALL_UNSENT_BYTES: Setting("max_all_unsent_bytes", _limit),
    Guard.BUFFERED_BYTES: Setting("max_buffered_bytes", _limit),
    "serverSocketSndBufSize": Setting("server_socket_snd_buf_size", _limit),
    "serverSocketRcvBufSize": Setting("server_socket_rcv_buf_size", _limit),
    "rocketwire.maxTopics": Setting("max_topics", _limit),
    "rocketwire.maxGroups": Setting("max_groups", _limit),
    "rocketwire.maxSubscriptionBytes": Setting("max_subscription_bytes", _limit),
    "rocketwire.maxLocks": Setting("max_locks", _limit),
    "rocketwire.maxColdReadLimits": Setting("max_cold_read_limits", _limit),
    "rocketwire.maxRelayedRequests": Setting("max_relayed_requests", _limit),
    "rocketwire.maxHeldRequests": Setting("max_held", _limit),
    "rocketwire.maxHeldRequestsPerConnection": Setting("max_held_per_peer", _limit),
    "rocketwire.maxUnacknowledgedMessages": Setting("max_hidden_messages", _limit),
}
"""Settings by their names in ``broker.conf``: Java's, ``retainBytes`` and ``rocketwire.*``."""

_ACCESS: Final[Mapping[str, Setting]] = {
    "aclEnable": Setting("access_required", _boolean),
    "authenticationEnabled": Setting("access_required", _boolean),
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


def read_settings(config: Config, texts: Mapping[str, str]) -> tuple[Config, list[str]]:
    """Apply settings from a properties file.

    Returns:
        The changed settings, and the names that have no effect here.

    Raises:
        IllegalValueError: a value is invalid.
    """
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
    """Return whether a running broker cannot change a setting."""
    setting = SETTINGS.get(name)
    if setting is not None:
        return setting.is_fixed
    return name in _ACCESS or _has_meaning(name)


def _has_meaning(name: str) -> bool:
    return name in FIXED or name in TLS_KEYS or name in _IGNORED or name == _HEADER_FORM


def with_system(config: Config, texts: Mapping[str, str]) -> Config:
    """Return a configuration with the settings that are system properties in Java.

    Those are TLS and the form of headers. Here a file may have them, too.
    """
    form = texts.get(_HEADER_FORM)
    if form is not None:
        config = replace(config, binary=form.strip() == "ROCKETMQ")
    if not TLS_KEYS & texts.keys():
        return config
    mode = texts.get(TLS_MODE, config.tls.server_mode)
    file = texts.get(_TLS_FILE, config.tls.config_file)
    others = {name: text for name, text in texts.items() if name not in {TLS_MODE, _TLS_FILE}}
    tls = replace(config.tls.over(others), server_mode=mode, config_file=file)
    use_tls = texts.get(_TLS_ENABLE, _truth(config.use_tls)).strip().lower() == "true"
    return replace(config, tls=tls, use_tls=use_tls)


def write_settings(config: Config) -> dict[str, str]:
    """Return the settings by their names in ``broker.conf``, as code 26 shows them."""
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    own = {name: item.write(values[item.field]) for name, item in SETTINGS.items()}
    return {**FIXED, **own}
