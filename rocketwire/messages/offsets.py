"""Offsets: query, commit, reset, correction and storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    BOXED_BOOLEAN,
    BOXED_LONG,
    INT,
    INTEGER,
    LONG,
    STRING,
    enumeration,
    ext,
    listing,
    mapping,
    member,
    record,
)
from rocketwire.messages.enums import BoundaryType
from rocketwire.messages.message_queue import MessageQueue, MessageQueueForC
from rocketwire.messages.rpc import RpcRequestHeader, TopicQueueRequestHeader, TopicRequestHeader
from rocketwire.messages.topic_config import DataVersion
from rocketwire.wire.values.frozen import dataclass


def _parse_boundary(text: str) -> BoundaryType | str:
    # Java: ``BoundaryType.getType``.
    return BoundaryType.UPPER if text.upper() == "UPPER" else BoundaryType.LOWER


_BOUNDARY_TYPE = replace(enumeration(BoundaryType), parse=_parse_boundary, print=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumerOffsetRequestHeader(TopicQueueRequestHeader):
    """Asks for the committed offset of a queue (code 14)."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int | None = ext(INTEGER, required=True)
    set_zero_if_not_found: bool | None = ext(BOXED_BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumerOffsetResponseHeader:
    """The committed offset."""

    offset: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConsumerOffsetRequestHeader(TopicQueueRequestHeader):
    """Commits an offset (code 15)."""

    consumer_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int | None = ext(INTEGER, required=True)
    commit_offset: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConsumerOffsetResponseHeader:
    """Response without fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOffsetRequestHeader(TopicQueueRequestHeader):
    """Searches the offset at a store time (code 29)."""

    topic: str | None = ext(STRING, required=True)
    lite_topic: str | None = ext(STRING, since="5.5.0")
    queue_id: int | None = ext(INTEGER, required=True)
    timestamp: int | None = ext(BOXED_LONG, required=True)
    boundary_type: BoundaryType | str | None = ext(_BOUNDARY_TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOffsetResponseHeader:
    """The offset at that time."""

    offset: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMaxOffsetRequestHeader(TopicQueueRequestHeader):
    """Asks for the end offset of a queue (code 30)."""

    topic: str | None = ext(STRING, required=True)
    queue_id: int | None = ext(INTEGER, required=True)
    committed: bool = ext(BOOLEAN, default=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMaxOffsetResponseHeader:
    """The offset that the next message will get."""

    offset: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMinOffsetRequestHeader(TopicQueueRequestHeader):
    """Asks for the start offset of a queue (code 31)."""

    topic: str | None = ext(STRING, required=True)
    queue_id: int | None = ext(INTEGER, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMinOffsetResponseHeader:
    """The offset of the oldest message."""

    offset: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetEarliestMsgStoretimeRequestHeader(TopicQueueRequestHeader):
    """Asks when the oldest message was stored (code 32)."""

    topic: str | None = ext(STRING, required=True)
    queue_id: int | None = ext(INTEGER, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetEarliestMsgStoretimeResponseHeader:
    """Store time of the oldest message, in milliseconds."""

    timestamp: int | None = ext(BOXED_LONG, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitConsumerOffsetRequestHeader(TopicRequestHeader):
    """Start offset of a group in a topic; no request code carries it."""

    topic: str | None = ext(STRING)
    init_mode: int = ext(INT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsetRequestHeader(TopicQueueRequestHeader):
    """Resets offsets to a time or to an offset (codes 220, 222)."""

    group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)
    queue_id: int = ext(INT, default=-1)
    offset: int | None = ext(BOXED_LONG)
    timestamp: int = ext(LONG, required=True)
    is_force: bool = ext(BOOLEAN, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsetBody:
    """Offsets that a consumer must use from now on."""

    offset_table: Mapping[MessageQueue, int] | None = member(
        mapping(record(MessageQueue), BOXED_LONG), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsetBodyForC:
    """Offsets that a C++ client must use from now on."""

    offset_table: tuple[MessageQueueForC, ...] | None = member(listing(record(MessageQueueForC)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneGroupOffsetRequestHeader(RpcRequestHeader):
    """Copies the offsets of one group to another (code 314)."""

    src_group: str | None = ext(STRING, required=True)
    dest_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING)
    offline: bool = ext(BOOLEAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCorrectionOffsetHeader(TopicRequestHeader):
    """Asks for corrected offsets of groups (code 308)."""

    filter_groups: str | None = ext(STRING)
    compare_group: str | None = ext(STRING, required=True)
    topic: str | None = ext(STRING, required=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCorrectionOffsetBody:
    """Offsets by queue id."""

    correction_offsets: Mapping[int, int] | None = member(mapping(INTEGER, BOXED_LONG), default={})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerOffsetSerializeWrapper:
    """All offsets of a broker, by ``topic@group`` and queue id (code 43)."""

    data_version: DataVersion | None = member(record(DataVersion))
    offset_table: Mapping[str, Mapping[int, int]] | None = member(
        mapping(STRING, mapping(INTEGER, BOXED_LONG, concurrent=True), concurrent=True), default={}
    )
    pull_offset_table: Mapping[str, Mapping[int, int]] | None = member(
        mapping(STRING, mapping(INTEGER, BOXED_LONG, concurrent=True), concurrent=True),
        since="5.5.1",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayOffsetSerializeWrapper:
    """Offsets of a broker's delay levels (code 45).
    Java: ``broker.schedule.DelayOffsetSerializeWrapper``."""

    data_version: DataVersion | None = member(record(DataVersion))
    offset_table: Mapping[int, int] | None = member(
        mapping(INTEGER, BOXED_LONG, concurrent=True), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetSerializeWrapper:
    """A Java client's local file of offsets.
    Java: ``client.consumer.store.OffsetSerializeWrapper``."""

    offset_table: Mapping[MessageQueue, int] | None = member(
        mapping(record(MessageQueue), BOXED_LONG, concurrent=True), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RocksDBOffsetSerializeWrapper:
    """Offsets as a broker keeps them in RocksDB.
    Java: ``broker.config.v1.RocksDBOffsetSerializeWrapper``."""

    offset_table: Mapping[int, int] | None = member(mapping(INTEGER, BOXED_LONG, concurrent=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetMovedEvent:
    """Message that a broker publishes after it changed an offset.
    Java: ``remoting.protocol.topic.OffsetMovedEvent``."""

    consumer_group: str | None = member(STRING)
    message_queue: MessageQueue | None = member(record(MessageQueue))
    offset_new: int = member(LONG)
    offset_request: int = member(LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackStats:
    """Result of an offset reset for one queue, in Java's admin tool.
    Java: ``remoting.protocol.admin.RollbackStats``."""

    broker_name: str | None = member(STRING)
    broker_offset: int = member(LONG)
    consumer_offset: int = member(LONG)
    queue_id: int = member(LONG)
    rollback_offset: int = member(LONG)
    timestamp_offset: int = member(LONG)
