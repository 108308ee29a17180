"""``ProducerConfig``: settings of one producer; Java's names in Python spelling, times in seconds (Java: ``DefaultMQProducer``)."""

from __future__ import annotations

from rocketwire.policy.retry import RETRY_RESPONSE_CODES, RETRY_TIMES
from rocketwire.policy.routing import DEFAULT_TOPIC
from rocketwire.policy.validation import DEFAULT_MAX_MESSAGE_SIZE
from rocketwire.wire.body_compression import DEFAULT_LEVEL, CompressionType
from rocketwire.wire.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConfig:
    """Settings of one producer.

    Attributes:
        send_msg_timeout: seconds for a whole send, retries included.
        send_msg_max_timeout_per_request: seconds for one try that is not the last; None for all that is left.
        retry_times_when_send_failed: tries after the first.
        retry_another_broker_when_not_store_ok: whether a message that was stored less safely than asked is sent once more.
        retry_response_codes: refusals after which another broker is tried.
        compress_msg_body_over_howmuch: bytes from which on bodies are compressed.
        compress_level: see ``compress_body``.
        compress_type: how.
        max_message_size: most bytes of a body, or of a batch, before compression.
        default_topic_queue_nums: queues of topics that a send creates.
        create_topic_key: topic whose settings such topics get.
        send_latency_enable: whether slow and failing brokers are avoided for a while.
        start_detector_enable: whether brokers that were not reachable are looked after.
        send_smart_msg: False for the long names of header fields, which old brokers need.
        enable_trace: whether sends are recorded in the trace topic.
        trace_topic: None for ``RMQ_SYS_TRACE_TOPIC``.
    """

    send_msg_timeout: float = 3.0
    send_msg_max_timeout_per_request: float | None = None
    retry_times_when_send_failed: int = RETRY_TIMES
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
