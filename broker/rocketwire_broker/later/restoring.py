"""A broker that goes on with a store: what waited when it ended waits again.

Messages of the log come in order of their physical offsets. What a broker knows beside messages is
in system topics.

Java: ``CommitLogDispatcherBuildConsumeQueue``, ``ScheduleMessageService.load``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from rocketwire.messages.message_const import DELAY, TAGS
from rocketwire.policy.resource_names import SCHEDULE_TOPIC
from rocketwire_broker.later import delays
from rocketwire_broker.later.numbers import INT, number
from rocketwire_broker.storage.message import code_of_tag

if TYPE_CHECKING:
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.storage.log_store import LogStore

_TAGS: Final = f"{TAGS}\x01".encode()
_DELAY: Final = f"{DELAY}\x01".encode()


def value_of(properties: bytes, name: bytes) -> bytes | None:
    """Return the value of a property of stored bytes; None without it.

    Args:
        properties: as stored.
        name: with the byte that follows it.
    """
    start = -1
    position = properties.find(name)
    while position >= 0:  # the last one of a name counts
        if not position or properties[position - 1] == 2:
            start = position + len(name)
        position = properties.find(name, position + 1)
    if start < 0:
        return None
    end = properties.find(b"\x02", start)
    return properties[start:] if end < 0 else properties[start:end]


class Restoring:
    """Builds the queues of a broker from its log.

    Args:
        broker: has its tables already; its store is a ``LogStore``.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._store = cast("LogStore", broker.store)
        self._delays = broker.config.delays_ms()

    def add(
        self,
        topic: str,
        queue_id: int,
        queue_offset: int,
        physical: int,
        size: int,
        store_time: int,
        prepared: int | None,
        properties: bytes,
    ) -> None:
        """Take the next message of the log.

        Args:
            topic, queue_id, queue_offset: its place.
            physical: its physical offset.
            size: its bytes.
            store_time: in milliseconds.
            prepared: physical offset of the half message that it commits, or None.
            properties: as stored.
        """
        code = self._code(topic, store_time, properties)
        self._store.place(topic, queue_id, queue_offset, physical, size, code)
        self._store.last_stored = store_time

    def _code(self, topic: str, store_time: int, properties: bytes) -> int:
        """Return the code that filters see; for a delayed message that is its time."""
        if topic == SCHEDULE_TOPIC:
            text = value_of(properties, _DELAY)
            level = None if text is None else number(text.decode(errors="replace"), INT)
            if level is not None and level > 0:
                return store_time + self._delays[min(level, len(self._delays)) - 1]
        tag = value_of(properties, _TAGS)
        return code_of_tag(tag.decode(errors="replace")) if tag else 0

    def drop_unknown(self) -> None:
        """Drop the queues of topics that do not exist: they were deleted."""
        for topic in self._store.topics:
            if topic not in self._broker.topics and topic not in self._broker.topics.system:
                self._store.delete_topic(topic)

    def finish(self, now: int) -> None:
        """Let wait what waited."""
        for queue in self._store.queues(SCHEDULE_TOPIC):
            delays.go_on(self._broker, queue.queue_id)
