"""``ProducerConfig``: settings of a producer.

The names are Java's in Python spelling, times in seconds (Java: ``DefaultMQProducer``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from rocketwire.client.arguments import (
    Rule,
    Settings,
    check_settings,
    instance_of,
    integer_in,
    seconds,
    type_error,
)
from rocketwire.policy.retry import RETRY_RESPONSE_CODES, RETRY_TIMES
from rocketwire.policy.routing import DEFAULT_TOPIC
from rocketwire.policy.validation import DEFAULT_MAX_MESSAGE_SIZE
from rocketwire.wire.message.body_compression import DEFAULT_LEVEL, CompressionType
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConfig(Settings):
    """Settings of a producer.

    A value with a wrong type or out of range is rejected when the config is created.

    Attributes:
        send_msg_timeout: timeout of a send in seconds, retries included.
        send_msg_max_timeout_per_request: timeout in seconds of an attempt that is not the last;
            None for the remaining time.
        retry_times_when_send_failed: attempts after the first.
        retry_interval: seconds before another attempt at a broker that has failed; while there is
            no connection, such attempts do not count, and a send ends with its timeout. 0 for
            none, as in Java: a send fails as soon as no broker accepts a connection.
        retry_another_broker_when_not_store_ok: send again if a message was stored less safely than
            requested.
        retry_response_codes: response codes after which another broker is tried.
        compress_msg_body_over_howmuch: compress bodies from this size in bytes.
        compress_level: see ``compress_body``.
        compress_type: compression algorithm.
        max_message_size: largest body, or batch, in bytes before compression.
        default_topic_queue_nums: queues of topics that a send creates.
        create_topic_key: topic whose settings such topics get.
        send_latency_enable: avoid slow and failing brokers for a while.
        start_detector_enable: check periodically whether unreachable brokers are reachable again.
        send_smart_msg: False to use long names of header fields, which old brokers need.
        enable_trace: record sends in the trace topic.
        trace_topic: the trace topic; None for ``RMQ_SYS_TRACE_TOPIC``.

    Raises:
        IllegalTypeError, IllegalValueError: the text has the setting, the expected and the actual
            value.
    """

    send_msg_timeout: float = 3.0
    send_msg_max_timeout_per_request: float | None = None
    retry_times_when_send_failed: int = RETRY_TIMES
    retry_interval: float = 0.2
    retry_another_broker_when_not_store_ok: bool = False
    retry_response_codes: frozenset[int] = RETRY_RESPONSE_CODES
    compress_msg_body_over_howmuch: int = 4096
    compress_level: int = DEFAULT_LEVEL
    compress_type: CompressionType = CompressionType.ZLIB
    max_message_size: int = DEFAULT_MAX_MESSAGE_SIZE
    default_topic_queue_nums: int = 4
    create_topic_key: str = DEFAULT_TOPIC
    send_latency_enable: bool = False
    start_detector_enable: bool = False
    send_smart_msg: bool = True
    enable_trace: bool = False
    trace_topic: str | None = None

    def __post_init__(self) -> None:
        check_settings(self, _RULES)


def _check_codes(name: str, value: Any) -> None:
    codes = cast("Iterable[Any]", value if type(value) in (frozenset, set) else (None,))
    if not all(isinstance(code, int) for code in codes):
        raise type_error(name, "a frozenset of response codes (int)", value)


# The checks of settings that are not those of their type
_RULES: Final[Mapping[str, Rule]] = {
    "retry_times_when_send_failed": integer_in(minimum=0),
    "retry_interval": seconds(zero=True),
    "retry_response_codes": _check_codes,
    "compress_msg_body_over_howmuch": integer_in(minimum=0),
    "compress_level": integer_in(),
    "compress_type": instance_of(CompressionType, expected="a CompressionType"),
}
