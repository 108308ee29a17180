"""A logical queue, and the offsets of its sections.

Java: ``LogicQueueMappingItem``, ``TopicQueueMappingContext``, ``TopicQueueMappingUtils``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import ResponseCode
from rocketwire_broker.state.response import RefusedError

if TYPE_CHECKING:
    from rocketwire.messages.static_topics import LogicQueueMappingItem

END: Final = 1 << 63
"""Beyond every offset."""

NO_LEADER: Final = "{queue} does not exit in request process of current broker {broker}"


class LogicalQueue(NamedTuple):
    """A logical queue at a broker.

    Attributes:
        topic: the static topic.
        number: its number.
        broker_name: this broker.
        items: its sections in their order.
    """

    topic: str
    number: int
    broker_name: str
    items: Sequence[LogicQueueMappingItem]

    def leader(self, remark: str = NO_LEADER) -> LogicQueueMappingItem:
        """Return the last section.

        Raises:
            RefusedError: it is at another broker (501).
        """
        if self.items and self.items[-1].bname == self.broker_name:
            return self.items[-1]
        name = f"{self.topic}-{self.number}"
        text = remark.format(queue=name, broker=self.broker_name)
        raise RefusedError(ResponseCode.NOT_LEADER_FOR_QUEUE, text)

    def decided(self) -> list[LogicQueueMappingItem]:
        """Return the sections whose first logical offset is known."""
        return [item for item in self.items if item.logic_offset >= 0]

    def item_at(self, offset: int) -> LogicQueueMappingItem:
        """Return the section of a logical offset; the first one for an offset before it.

        Raises:
            RefusedError: no section's offset is known (1).
        """
        decided = self.decided()
        if not decided:
            raise RefusedError(ResponseCode.SYSTEM_ERROR, "no section has an offset")
        return next((item for item in reversed(decided) if item.logic_offset <= offset), decided[0])

    def item_after(self, item: LogicQueueMappingItem) -> LogicQueueMappingItem | None:
        """Return the section after another one, if its offset is known."""
        following = [other for other in self.items if other.gen > item.gen]
        return following[0] if following and following[0].logic_offset >= 0 else None


def logical(item: LogicQueueMappingItem, physical: int) -> int:
    """Return the logical offset of an offset of a section's queue."""
    return item.logic_offset + max(0, physical - item.start_offset)


def logical_or_unknown(item: LogicQueueMappingItem, physical: int) -> int:
    """Return the same, not beyond the section; -1 while its first logical offset is not known."""
    if item.logic_offset < 0:
        return -1
    if item.end_offset >= item.start_offset:
        physical = min(physical, item.end_offset)
    return logical(item, physical)


def physical(item: LogicQueueMappingItem, offset: int) -> int:
    """Return the offset of a logical offset in a section's queue."""
    return offset - item.logic_offset + item.start_offset


def has_end(item: LogicQueueMappingItem) -> bool:
    """Return whether a section has a last offset."""
    return item.end_offset > item.start_offset
