"""Static topics: logical queues that do not change when brokers join or leave."""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.messages._codec.fields import (
    BOOLEAN,
    INT,
    INTEGER,
    LONG,
    STRING,
    listing,
    mapping,
    member,
    record,
)
from rocketwire.messages.route import TopicQueueMappingInfo
from rocketwire.wire.values.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicQueueMappingItem:
    """A section of a logical queue on a broker.
    Java: ``remoting.protocol.statictopic.LogicQueueMappingItem``."""

    bname: str | None = member(STRING)
    end_offset: int = member(LONG, default=-1)
    gen: int = member(INT)
    logic_offset: int = member(LONG)
    queue_id: int = member(INT)
    start_offset: int = member(LONG)
    time_of_end: int = member(LONG, default=-1)
    time_of_start: int = member(LONG, default=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingDetail(TopicQueueMappingInfo):
    """All sections of the logical queues on a broker.
    Java: ``remoting.protocol.statictopic.TopicQueueMappingDetail``."""

    hosted_queues: Mapping[int, tuple[LogicQueueMappingItem, ...]] | None = member(
        mapping(INTEGER, listing(record(LogicQueueMappingItem)), concurrent=True), default={}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingContext:
    """Result of a broker's lookup in its mapping; never sent.
    Java: ``remoting.protocol.statictopic.TopicQueueMappingContext``."""

    current_item: LogicQueueMappingItem | None = member(
        record(LogicQueueMappingItem), write_only=True
    )
    global_id: int | None = member(INTEGER)
    leader: bool = member(BOOLEAN, write_only=True)
    leader_item: LogicQueueMappingItem | None = member(record(LogicQueueMappingItem))
    mapping_detail: TopicQueueMappingDetail | None = member(record(TopicQueueMappingDetail))
    mapping_item_list: tuple[LogicQueueMappingItem, ...] | None = member(
        listing(record(LogicQueueMappingItem))
    )
    topic: str | None = member(STRING)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingOne:
    """Mapping of one logical queue; used inside Java's admin tool.
    Java: ``remoting.protocol.statictopic.TopicQueueMappingOne``."""

    bname: str | None = member(STRING)
    global_id: int | None = member(INTEGER)
    items: tuple[LogicQueueMappingItem, ...] | None = member(listing(record(LogicQueueMappingItem)))
    mapping_detail: TopicQueueMappingDetail | None = member(record(TopicQueueMappingDetail))
    topic: str | None = member(STRING)
