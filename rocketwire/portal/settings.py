"""Settings of a facade: a config, keyword settings, or both; and their types for type checkers.

Attributes with the same name have the same meaning in both configs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from rocketwire.client.arguments import check_config, check_setting_names, type_error
from rocketwire.client.config import ClientConfig, to_config

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence

    from _typeshed import DataclassInstance

    from rocketwire.client.addresses import AddressRemap
    from rocketwire.client.config import AccessChannel, Credentials, Hook
    from rocketwire.client.consumer.pop.pop import InitMode
    from rocketwire.codes import LanguageCode, SerializeType
    from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
    from rocketwire.policy.allocation import AllocateMessageQueueStrategy
    from rocketwire.policy.process_queue import Thresholds
    from rocketwire.wire.message.body_compression import CompressionType

Config = TypeVar("Config", bound="DataclassInstance")


def apply_settings(
    client: object, config: Config | None, config_class: type[Config], settings: Mapping[str, Any]
) -> tuple[object, Config]:
    """Return client and config, changed by settings; ``IllegalTypeError`` for an unknown one."""
    check_config(config, config_class)
    _check_names(settings, ClientConfig, config_class)
    names = {field.name for field in fields(config_class)}
    changes = {name: value for name, value in settings.items() if name in names}
    of_client = {name: value for name, value in settings.items() if name not in names}
    if config is None:
        config = config_class(**changes)
    elif changes:
        config = replace(config, **changes)
    return apply_client_settings(client, of_client), config


def apply_client_settings(client: object, settings: Mapping[str, Any]) -> object:
    _check_names(settings, ClientConfig)
    if client is None:
        client = ClientConfig.from_env()
    if not settings:
        return client
    if not isinstance(client, (str, ClientConfig)):
        names = ", ".join(settings)
        raise type_error("client", f"settings or name servers, because of {names}", client)
    return replace(to_config(client), **settings)


def _check_names(settings: Mapping[str, Any], *classes: type[Any]) -> None:
    names = [field.name for config_class in classes for field in fields(config_class)]
    check_setting_names(settings, names)


def reopens(client: object) -> bool:
    # whether a client with these settings opens itself again in a fork
    if isinstance(client, ClientConfig):
        return client.reopen_after_fork
    return bool(getattr(client, "reopens_after_fork", False))


class ClientSettings(TypedDict, total=False):
    """Attributes of ``ClientConfig``."""

    namesrv_addr: str | Sequence[str] | None
    address_remap: AddressRemap | None
    credentials: Credentials | None
    tls: ssl.SSLContext | None
    tls_server_hostname: str | None
    client_ip: str | None
    instance_name: str
    unit_name: str | None
    unit_mode: bool
    namespace: str
    namespace_v2: str
    zone_name: str | None
    zone_mode: str | None
    enable_stream_request_type: bool
    access_channel: AccessChannel
    vip_channel_enabled: bool
    use_heartbeat_v2: bool
    serialize_type: SerializeType
    language: LanguageCode
    version: int
    poll_name_server_interval: float
    heartbeat_broker_interval: float
    persist_consumer_offset_interval: float
    fetch_name_server_interval: float
    probe_name_server_interval: float
    mq_client_api_timeout: float
    connect_timeout: float
    channel_idle_timeout: float | None
    reconnect_for_go_away: bool
    address_server_domain: str | None
    address_server_subgroup: str
    hooks: Sequence[Hook]
    reopen_after_fork: bool


class ProducerSettings(ClientSettings, total=False):
    """Attributes of ``ProducerConfig``, and of the client."""

    send_msg_timeout: float
    send_msg_max_timeout_per_request: float | None
    retry_times_when_send_failed: int
    retry_interval: float
    retry_another_broker_when_not_store_ok: bool
    retry_response_codes: frozenset[int]
    compress_msg_body_over_howmuch: int
    compress_level: int
    compress_type: CompressionType
    max_message_size: int
    default_topic_queue_nums: int
    create_topic_key: str
    send_latency_enable: bool
    start_detector_enable: bool
    send_smart_msg: bool
    enable_trace: bool
    trace_topic: str | None


class _ConsumerSettings(ClientSettings, total=False):
    max_body_size: int
    max_inflated_size: int
    enable_trace: bool
    trace_topic: str | None


class _PullSettings(_ConsumerSettings, total=False):
    consume_from_where: ConsumeFromWhere
    consume_timestamp_millis: int | None
    exact_start: bool
    allocate_message_queue_strategy: AllocateMessageQueueStrategy
    pull_batch_size: int
    thresholds: Thresholds
    rebalance_interval: float


class PushConsumerSettings(_PullSettings, total=False):
    """Attributes of ``PushConsumerConfig``, and of the client."""

    message_model: MessageModel
    consume_thread_max: int
    consume_message_batch_max_size: int
    pull_batch_size_in_bytes: int
    pull_interval: float
    max_reconsume_times: int
    suspend_current_queue_time_millis: int
    consume_timeout: float
    post_subscription_when_pull: bool
    await_termination: float
    local_offset_store_dir: str | None


class PopConsumerSettings(_ConsumerSettings, total=False):
    """Attributes of ``PopConsumerConfig``, and of the client."""

    pop_invisible_time: float
    poll_time: float
    pop_batch_nums: int
    pop_threshold: int
    consume_thread_max: int
    init_mode: InitMode
    max_reconsume_times: int
    await_termination: float
    refresh_interval: float


class LitePullConsumerSettings(_PullSettings, total=False):
    """Attributes of ``LitePullConsumerConfig``, and of the client."""

    pull_threshold_for_all: int
    auto_commit: bool
    auto_commit_interval: float
