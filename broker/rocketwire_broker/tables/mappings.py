"""Static topics: their logical queues, each a list of sections that are queues of brokers.

The broker of a queue's last section is its leader. Each broker knows the sections of the queues
that it leads, or led.

Java: ``TopicQueueMappingManager``, ``TopicQueueMappingUtils``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rocketwire.errors import LocalProtocolError
from rocketwire.messages.route import TopicQueueMappingInfo
from rocketwire.messages.static_topics import LogicQueueMappingItem, TopicQueueMappingDetail
from rocketwire.messages.topic_config import DataVersion

Items = Sequence[LogicQueueMappingItem]


class Mappings:
    """Logical queues by static topic.

    Attributes:
        version: changes with each of them.
    """

    def __init__(self, now: int) -> None:
        self.version: DataVersion = DataVersion(counter=0, state_version=0, timestamp=now)
        self._details: dict[str, TopicQueueMappingDetail] = {}

    def __len__(self) -> int:
        return len(self._details)

    def __iter__(self) -> Iterator[TopicQueueMappingDetail]:
        return iter(self._details.values())

    def get(self, topic: str) -> TopicQueueMappingDetail | None:
        """Return the logical queues of a static topic; None for another topic."""
        return self._details.get(topic)

    def put(self, detail: TopicQueueMappingDetail, now: int, *, is_forced: bool = False) -> None:
        """Add or change a static topic; queues that are not named stay as they were.

        Args:
            detail: its logical queues at this broker.
            now: the time.
            is_forced: whether a change that contradicts what is there is no error.

        Raises:
            LocalProtocolError: it is contradictory, or older than what is there.
        """
        name = detail.topic or ""
        for items in (detail.hosted_queues or {}).values():
            _check(items)
        old = self._details.get(name)
        if old is not None:
            if not is_forced:
                _check_change(old, detail)
            queues = {**(old.hosted_queues or {}), **(detail.hosted_queues or {})}
            detail = replace(detail, hosted_queues=queues)
        self._details[name] = detail
        self._advance(now)

    def restore(
        self, details: Mapping[str, TopicQueueMappingDetail], version: DataVersion | None
    ) -> None:
        """Go on with the static topics of an earlier run."""
        self._details.update(details)
        if version is not None:
            self.version = version

    def delete(self, topic: str, now: int) -> None:
        """Forget a topic."""
        if self._details.pop(topic, None) is not None:
            self._advance(now)

    def table(self) -> dict[str, TopicQueueMappingDetail]:
        """Return all static topics by name."""
        return dict(self._details)

    def infos(self) -> list[TopicQueueMappingInfo]:
        """Return the queues that this broker leads, of all static topics."""
        return [info for info in map(self.info, self._details) if info is not None]

    def info(self, topic: str) -> TopicQueueMappingInfo | None:
        """Return the queues that this broker leads, as name servers keep them."""
        detail = self._details.get(topic)
        if detail is None:
            return None
        return TopicQueueMappingInfo(
            topic=detail.topic,
            bname=detail.bname,
            epoch=detail.epoch,
            total_queues=detail.total_queues,
            scope=detail.scope,
            curr_id_map={
                number: items[-1].queue_id
                for number, items in (detail.hosted_queues or {}).items()
                if items and items[-1].bname == detail.bname
            },
        )

    def _advance(self, now: int) -> None:
        counter = (self.version.counter or 0) + 1
        self.version = replace(self.version, counter=counter, timestamp=now)


def _check(items: Items) -> None:
    """Check the sections of a queue (Java: ``checkLogicQueueMappingItemOffset``).

    Raises:
        LocalProtocolError: they contradict each other.
    """
    for index, item in enumerate(items):
        if item.start_offset < 0 or item.gen < 0 or item.queue_id < 0:
            raise LocalProtocolError("The field is illegal, should not be negative")
        if item.end_offset != -1 and item.end_offset < item.start_offset:
            raise LocalProtocolError("The endOffset is smaller than the start offset")
        if index == len(items) - 1:
            return
        following = items[index + 1]
        if item.logic_offset < 0:
            raise LocalProtocolError("The non-latest item has negative logic offset")
        if item.gen >= following.gen:
            raise LocalProtocolError("The gen does not increase monotonically")
        if following.logic_offset != -1:
            if item.logic_offset >= following.logic_offset:
                raise LocalProtocolError("The base logic offset does not increase monotonically")
            length = max(0, item.end_offset - item.start_offset)
            if item.logic_offset + length >= following.logic_offset:
                raise LocalProtocolError("The max logic offset does not increase monotonically")


def _check_change(old: TopicQueueMappingDetail, new: TopicQueueMappingDetail) -> None:
    """Check that a change is not older than what is there.

    Raises:
        LocalProtocolError: it is, or has another scope or, with the same epoch, another leader.
    """
    if new.epoch < old.epoch:
        raise LocalProtocolError(f"Can't accept data with small epoch {new.epoch} < {old.epoch}")
    if new.scope != old.scope:
        raise LocalProtocolError(
            f"Can't accept data with unmatched scope {new.scope} != {old.scope}"
        )
    for number, items in (old.hosted_queues or {}).items():
        changed = (new.hosted_queues or {}).get(number)
        if changed is None:
            if new.epoch == old.epoch:
                raise LocalProtocolError("Cannot accept equal epoch with null data")
        elif items and not changed:
            raise LocalProtocolError("The new item list is null or empty")
        elif items and new.epoch == old.epoch and _place(items[-1]) != _place(changed[-1]):
            raise LocalProtocolError("The new leader is different but epoch equal")


def _place(item: LogicQueueMappingItem) -> tuple[int, str | None, int, int]:
    return item.gen, item.bname, item.queue_id, item.start_offset
