"""Pop consumption: the broker keeps offsets, and the consumer acknowledges each message."""

from __future__ import annotations

from rocketwire.messages._codec.fields import (
    BIT_SET,
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_LONG,
    BYTE,
    INT,
    INTEGER,
    LONG,
    STRING,
    ext,
    listing,
    member,
    record,
)
from rocketwire.messages.rpc import TopicQueueRequestHeader
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PopMessageRequestHeader(TopicQueueRequestHeader):
    """Pops messages, which stay invisible for a time (code 200050)."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int = ext(INT, required=True)
    max_msg_nums: int = ext(INT, required=True)
    invisible_time: int = ext(LONG, required=True)
    poll_time: int = ext(LONG, required=True)
    born_time: int = ext(LONG, required=True)
    init_mode: int = ext(INT, required=True)
    exp_type: str | None = ext(STRING)
    exp: str | None = ext(STRING)
    order: bool | None = ext(BOXED_BOOLEAN, default=False)
    attempt_id: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PopMessageResponseHeader:
    """Popped messages and how long they stay invisible."""

    pop_time: int = ext(LONG, required=True)
    invisible_time: int = ext(LONG, required=True)
    revive_qid: int = ext(INT, required=True)
    rest_num: int = ext(LONG, required=True)
    start_offset_info: str | None = ext(STRING)
    msg_offset_info: str | None = ext(STRING)
    order_count_info: str | None = ext(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeekMessageRequestHeader(TopicQueueRequestHeader):
    """Peeks at messages without popping them (code 200052)."""

    topic: str | None = ext(STRING, required=True)
    queue_id: int = ext(INT, required=True)
    max_msg_nums: int = ext(INT, required=True)
    consumer_group: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AckMessageRequestHeader(TopicQueueRequestHeader):
    """Acknowledges one message (code 200051)."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int | None = ext(INTEGER, required=True)
    extra_info: str | None = ext(STRING, required=True)
    offset: int | None = ext(BOXED_LONG, required=True)
    lite_topic: str | None = ext(STRING, since="5.5.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAck:
    """Acknowledgements of a queue, as bits from a start offset."""

    bit_set: frozenset[int] | None = member(BIT_SET, wire="b", also=("bitSet",))
    consumer_group: str | None = member(STRING, wire="c", also=("consumerGroup",))
    invisible_time: int = member(LONG, wire="it", also=("invisibleTime",))
    pop_time: int = member(LONG, wire="pt", also=("popTime",))
    queue_id: int = member(INT, wire="q", also=("queueId",))
    retry: str | None = member(STRING, wire="r", also=("retry",))
    revive_queue_id: int = member(INT, wire="rq", also=("reviveQueueId",))
    start_offset: int = member(LONG, wire="so", also=("startOffset",))
    topic: str | None = member(STRING, wire="t", also=("topic",))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAckMessageRequestBody:
    """Acknowledges several messages (code 200151)."""

    acks: tuple[BatchAck, ...] | None = member(listing(record(BatchAck)))
    broker_name: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeInvisibleTimeRequestHeader(TopicQueueRequestHeader):
    """Changes how long a message stays invisible (code 200053)."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int | None = ext(INTEGER, required=True)
    extra_info: str | None = ext(STRING, required=True)
    offset: int | None = ext(BOXED_LONG, required=True)
    invisible_time: int | None = ext(BOXED_LONG, required=True)
    lite_topic: str | None = ext(STRING, since="5.5.0")
    suspend: bool = ext(BOOLEAN, since="5.5.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeInvisibleTimeResponseHeader:
    """The new invisible time of a message."""

    pop_time: int = ext(LONG, required=True)
    invisible_time: int = ext(LONG, required=True)
    revive_qid: int = ext(INT, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationRequestHeader(TopicQueueRequestHeader):
    """Waits until there are messages to pop (code 200054)."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int = ext(INT, required=True)
    poll_time: int = ext(LONG, required=True)
    born_time: int = ext(LONG, required=True)
    order: bool | None = ext(BOXED_BOOLEAN, default=False)
    attempt_id: str | None = ext(STRING)
    exp_type: str | None = ext(STRING, since="5.5.0")
    exp: str | None = ext(STRING, since="5.5.0")
    client_id: str | None = ext(STRING, since="5.5.1")
    is_lite_consumer: bool | None = ext(BOXED_BOOLEAN, since="5.5.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationResponseHeader:
    """Whether there are messages to pop."""

    has_msg: bool = ext(BOOLEAN, required=True)
    polling_full: bool = ext(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class PollingInfoRequestHeader(TopicQueueRequestHeader):
    """Asks how many consumers wait at a queue (code 200055)."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int = ext(INT, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PollingInfoResponseHeader:
    """Number of waiting consumers."""

    polling_num: int = ext(INT, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AckMsg:
    """An acknowledgement in a broker's revive log. Java: ``store.pop.AckMsg``."""

    ack_offset: int = member(LONG, wire="ao", also=("ackOffset",))
    broker_name: str | None = member(STRING, wire="bn", also=("brokerName",))
    consumer_group: str | None = member(STRING, wire="c", also=("consumerGroup",))
    pop_time: int = member(LONG, wire="pt", also=("popTime",))
    queue_id: int = member(INT, wire="q", also=("queueId",))
    start_offset: int = member(LONG, wire="so", also=("startOffset",))
    topic: str | None = member(STRING, wire="t", also=("topic",))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAckMsg(AckMsg):
    """Several acknowledgements in a broker's revive log. Java: ``store.pop.BatchAckMsg``."""

    ack_offset_list: tuple[int, ...] | None = member(
        listing(BOXED_LONG), wire="aol", default=(), also=("ackOffsetList",)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PopCheckPoint:
    """A checkpoint of popped messages in a broker's revive log.
    Java: ``store.pop.PopCheckPoint``."""

    bit_map: int = member(INT, wire="bm")
    broker_name: str | None = member(STRING, wire="bn")
    cid: str | None = member(STRING, wire="c")
    queue_offset_diff: tuple[int, ...] | None = member(listing(INTEGER), wire="d")
    invisible_time: int = member(LONG, wire="it")
    num: int = member(BYTE, wire="n")
    pop_time: int = member(LONG, wire="pt")
    queue_id: int = member(INT, wire="q")
    revive_time: int = member(LONG, write_only=True)
    revive_offset: int = member(LONG, wire="ro")
    re_put_times: str | None = member(STRING, wire="rp")
    start_offset: int = member(LONG, wire="so")
    suspend: bool = member(BOOLEAN, wire="sp", since="5.5.0")
    topic: str | None = member(STRING, wire="t")
