"""Offsets by topic, broker and queue, as JSON: ``{"orders": {"broker-a": {"0": 23}}}``.

Rules of this file: pure.  Where a query begins or ends, -1 stands for the end of a queue and -2 for
its first message, as in spark-sql-kafka; a number in place of an object stands for all queues of a
topic or a broker.  The offset of a stream is the same JSON with plain offsets.  It also has, under
``(from)``, where its batch begins in queues that the offset before it does not have: so a batch is
the same again after a restart, whatever the queues have become.  Topics have the names that brokers
use, with their namespace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from rocketwire.policy.resource_names import LMQ_PREFIX, lite_names
from rocketwire_tools.spark.option_values import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LATEST: Final = -1
EARLIEST: Final = -2
_FROM: Final = "(from)"
_INT64: Final = 1 << 63
_EXPECTED: Final = {
    EARLIEST: "an offset, -1 (latest) or -2 (earliest)",
    LATEST: "an offset or -1 (latest)",
}
"""Smallest number → what an option takes; times begin at 0."""


class Queue(NamedTuple):
    topic: str
    broker: str
    queue_id: int

    def __str__(self) -> str:
        return f"topic {self.topic}, broker {self.broker}, queue {self.queue_id}"


def routing_topic(topic: str, broker: str) -> str:
    """The topic whose route leads to a queue.

    LMQs have no route: lite ones have that of their parent, and for others there is the
    topic that each broker creates of its own name.
    """
    lite = lite_names(topic)
    if lite is not None:
        return lite[0]
    return broker if topic.startswith(LMQ_PREFIX) else topic


class Bounds(NamedTuple):
    min_offset: int  # of its first message
    max_offset: int  # of its next message
    is_master: bool = True  # whether a master reported it; a slave may lag


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRange:
    topic: str
    broker: str
    queue_id: int
    begin: int  # first offset
    end: int  # offset after the last one

    @property
    def queue(self) -> Queue:
        return Queue(self.topic, self.broker, self.queue_id)

    def __len__(self) -> int:
        return self.end - self.begin

    def __str__(self) -> str:
        return f"topic {self.topic}, broker {self.broker}, queue {self.queue_id}"


class QueueValues:
    """An offset or a time for queues, brokers and topics; that of the queue counts first."""

    def __init__(self) -> None:
        self.by_queue: dict[Queue, int] = {}  # number of single queues
        # number of all queues of a topic at a broker
        self.by_broker: dict[tuple[str, str], int] = {}
        self.by_topic: dict[str, int] = {}  # number of all queues of a topic

    def of(self, queue: Queue) -> int | None:
        for number in (
            self.by_queue.get(queue),
            self.by_broker.get((queue.topic, queue.broker)),
            self.by_topic.get(queue.topic),
        ):
            if number is not None:
                return number
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QueueValues) and vars(self) == vars(other)

    def rename(self, name: Callable[[str], str]) -> QueueValues:
        values = QueueValues()
        values.by_queue = {
            queue._replace(topic=name(queue.topic)): number
            for queue, number in self.by_queue.items()
        }
        values.by_broker = {
            (name(topic), broker): number for (topic, broker), number in self.by_broker.items()
        }
        values.by_topic = {name(topic): number for topic, number in self.by_topic.items()}
        return values

    def unknown(self, queues: Iterable[Queue]) -> str:
        every = set(queues)
        brokers = {(queue.topic, queue.broker) for queue in every}
        topics = {queue.topic for queue in every}
        for queue in self.by_queue:
            if queue not in every:
                return str(queue)
        for topic, broker in self.by_broker:
            if (topic, broker) not in brokers:
                return f"topic {topic}, broker {broker}"
        return next((f"topic {topic}" for topic in self.by_topic if topic not in topics), "")


def read_queue_values(option: str, text: str, *, minimum: int = EARLIEST) -> QueueValues:
    example = '{"topic": {"broker": {"0": 23}}}'
    wrong = OptionError(f"option {option!r}: {text!r} is not JSON like {example}")
    try:
        topics: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise wrong from None
    if not isinstance(topics, dict) or not topics:
        raise wrong
    values = QueueValues()
    for topic, brokers in cast("dict[str, Any]", topics).items():
        if topic == _FROM:  # the text is the offset of a checkpoint
            continue
        if not isinstance(brokers, dict):
            values.by_topic[topic] = _number(option, brokers, minimum)
            continue
        for broker, queues in cast("dict[str, Any]", brokers).items():
            if not isinstance(queues, dict):
                values.by_broker[topic, broker] = _number(option, queues, minimum)
                continue
            for queue_id, number in cast("dict[str, Any]", queues).items():
                if not queue_id.isdecimal() or len(queue_id) > 9:
                    raise OptionError(f"option {option!r}: {queue_id!r} is not a queue id")
                queue = Queue(topic, broker, int(queue_id))
                values.by_queue[queue] = _number(option, number, minimum)
    return values


def _number(option: str, value: Any, minimum: int) -> int:
    if type(value) is not int or not minimum <= value < _INT64:
        expected = _EXPECTED.get(minimum, "a number of milliseconds since 1970")
        raise OptionError(f"option {option!r}: {value!r} is not {expected}")
    return value


def nest(offsets: Mapping[Queue, int]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for queue in sorted(offsets):
        brokers = tree.setdefault(queue.topic, {})
        brokers.setdefault(queue.broker, {})[str(queue.queue_id)] = offsets[queue]
    return tree


def flat(tree: Mapping[str, Any]) -> dict[Queue, int]:
    try:
        return {
            Queue(topic, broker, int(queue_id)): _plain(offset)
            for topic, brokers in tree.items()
            if topic != _FROM
            for broker, queues in brokers.items()
            for queue_id, offset in queues.items()
        }
    except (AttributeError, TypeError, ValueError):
        raise OptionError(
            "the checkpoint has offsets of another source: let each query have its own"
        ) from None


def _plain(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def with_begins(end: Mapping[Queue, int], begins: Mapping[Queue, int]) -> dict[str, Any]:
    """The offset of a stream at the end of a batch.

    Args:
        end: offset after the last message of each queue.
        begins: where the batch begins in queues that the offset before it does not have.
    """
    tree = nest(end)
    return {**tree, _FROM: nest(begins)} if begins else tree


def begins_of(end: Mapping[str, Any]) -> dict[Queue, int]:
    return flat(end.get(_FROM, {}))
