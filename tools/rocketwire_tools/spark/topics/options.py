"""Options of the data source ``rocketmq`` for reads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.spark.option_values import (
    OptionError,
    read_choice,
    read_time,
    read_values,
    size,
    switch,
)
from rocketwire_tools.spark.topics.connection import OPTIONS as OF_CONNECTION
from rocketwire_tools.spark.topics.connection import Connection
from rocketwire_tools.spark.topics.offsets import EARLIEST, LATEST, QueueValues, read_queue_values
from rocketwire_tools.spark.topics.ranges import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire_tools.spark.topics.offsets import Queue


ROCKETMQ: Final[Mapping[str, str]] = {
    "topic": "string",
    "brokerName": "string",
    "queueId": "int",
    "queueOffset": "bigint",
    "body": "binary",
    "tags": "string",
    "keys": "array<string>",
    "properties": "map<string,string>",
    "bornTimestamp": "timestamp",
    "storeTimestamp": "timestamp",
    "msgId": "string",
    "reconsumeTimes": "int",
    "bornHost": "string",
}
"""Name of a column → its SQL type."""

KAFKA: Final[Mapping[str, str]] = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": "array<struct<key:string,value:binary>>",
}
"""The same with ``columns=kafka``."""

FORMS: Final[Mapping[str, Mapping[str, str]]] = {"rocketmq": ROCKETMQ, "kafka": KAFKA}
"""Value of option ``columns`` → its columns; any other value is a list of RocketMQ's."""


def columns_of(chosen: str) -> dict[str, str]:
    """Names and SQL types of the columns of option ``columns``.

    Args:
        chosen: ``rocketmq``, ``kafka``, or names of RocketMQ's columns with commas between them.
    """
    if chosen in FORMS:
        return dict(FORMS[chosen])
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    unknown = [name for name in names if name not in ROCKETMQ]
    if unknown or not names or len(set(names)) < len(names):
        wrong = f"no column {unknown[0]!r}" if unknown else f"{chosen!r} is not a list of columns"
        raise ValueError(f"{wrong}; use rocketmq, kafka, or some of {', '.join(ROCKETMQ)}")
    return {name: ROCKETMQ[name] for name in names}


GROUP: Final = "spark-rocketwire"
PATIENCE: Final = 60.0
"""Seconds for which a lane repeats a pull that fails, or that finds the queue too short."""
_WORDS: Final = {"earliest": EARLIEST, "latest": LATEST}
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    # offset, -1 or -2 for queues without an offset of their own; None for none
    everywhere: int | None = None
    offsets: QueueValues = field(default_factory=QueueValues)  # offsets of queues
    time: int | None = None  # milliseconds since 1970 of all queues; None for offsets
    times: QueueValues | None = None  # milliseconds of queues, brokers or topics

    def time_of(self, queue: Queue) -> int | None:
        return self.time if self.times is None else self.times.of(queue)

    def is_latest(self, queue: Queue) -> bool:
        if self.time is not None or self.times is not None:
            return False
        offset = self.offsets.of(queue)
        return (self.everywhere if offset is None else offset) == LATEST

    def rename(self, name: Callable[[str], str]) -> Edge:
        times = None if self.times is None else self.times.rename(name)
        return replace(self, offsets=self.offsets.rename(name), times=times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    connection: Connection  # how to reach the cluster
    # names of topics as brokers have them, with the namespace; so are all others
    topics: tuple[str, ...] = ()
    pattern: str = ""  # of the names of topics without the namespace; empty for none
    queues: QueueValues | None = None  # the only queues of option ``assign``; None for all
    start: Edge | None = None  # where a query begins; None for the default
    end: Edge | None = None  # where a batch query ends; None for the default
    by_time_fails: bool = True  # whether a queue without a message since ``start`` is an error
    limits: Limits = field(default_factory=Limits)  # of a micro-batch
    min_partitions: int = 0  # fewest partitions
    max_records: int = 0  # most messages of a partition; 0 for no limit
    fails_on_loss: bool = True  # whether lost messages are an error
    tags: str = ""  # ``a || b``
    sql: str = ""  # an SQL92 expression
    group: str = GROUP  # name of the consumer group in requests
    commits: bool = False  # whether the group's offsets follow the query
    # names and SQL types of the columns
    columns: Mapping[str, str] = field(default_factory=lambda: columns_of("rocketmq"))

    def reads(self, queue: Queue) -> bool:
        if self.pattern:
            return self.matches(queue.topic)
        if self.queues is not None:
            return queue in self.queues.by_queue
        return queue.topic in self.topics

    def matches(self, topic: str) -> bool:
        plain = self.connection.strip_namespace(topic)
        is_inside = topic == self.connection.name_at_broker(plain)
        return is_inside and re.fullmatch(self.pattern, plain) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PullSettings:
    group: str  # name of the consumer group in requests; it has no members
    tags: str = ""  # ``a || b``; empty for all
    sql: str = ""  # an SQL92 expression; empty for none
    fails_on_loss: bool = True  # option ``failOnDataLoss``
    timeout: float = 5.0  # seconds for a response
    patience: float = PATIENCE  # seconds for which a failing pull is repeated

    @property
    def is_filtered(self) -> bool:
        return bool(self.sql or self.tags)


def _names(option: str, text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise OptionError(f"option {option!r}: {text!r} has no topic")
    return names


def _pattern(option: str, text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise OptionError(f"option {option!r}: {text!r} is not a pattern: {error}") from None
    if not text:
        raise OptionError(f"option {option!r}: the pattern is empty")
    return text


def _parse_assignment(option: str, text: str) -> QueueValues:
    import json

    wrong = OptionError(
        f"option {option!r}: {text!r} is not JSON like " + '{"topic": {"broker": [0, 1]}}'
    )
    selected = QueueValues()
    try:
        tree = json.loads(text)
        for topic, brokers in tree.items():
            for broker, numbers in brokers.items():
                for number in numbers:
                    if type(number) is not int or number < 0:
                        raise wrong
                    from rocketwire_tools.spark.topics.offsets import Queue

                    selected.by_queue[Queue(topic, broker, number)] = 0
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise wrong from None
    if not selected.by_queue:
        raise wrong
    return selected


def _start(option: str, text: str) -> Edge:
    if text.lower() in _WORDS:
        return Edge(everywhere=_WORDS[text.lower()])
    return Edge(offsets=read_queue_values(option, text))


def _end(option: str, text: str) -> Edge:
    if text.lower() == "latest":
        return Edge(everywhere=LATEST)
    if text.lower() == "earliest":
        raise OptionError(f"option {option!r}: a query cannot end at 'earliest'; use 'latest'")
    return Edge(offsets=read_queue_values(option, text, minimum=LATEST))


def _time(option: str, text: str) -> Edge:
    if text.lstrip().startswith("{"):
        return Edge(times=read_queue_values(option, text, minimum=0))
    return Edge(time=read_time(option, text, 'JSON like {"topic": 1700000000000}'))


def _count(option: str, text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 18 or not int(text):
        raise OptionError(f"option {option!r}: {text!r} is not a whole number from 1 on")
    return int(text)


def _bytes(option: str, text: str) -> int:
    value = size(option, text)
    if not value:
        raise OptionError(f"option {option!r}: a trigger has at least one byte")
    return value


def _delay(option: str, text: str) -> float:
    digits = text.strip().rstrip("mshin")
    unit = text.strip()[len(digits) :].strip()
    try:
        value = float(digits) * _UNITS[unit or "ms"]
    except (ValueError, KeyError):
        value = -1.0
    if not 0 <= value < float("inf"):
        raise OptionError(f"option {option!r}: {text!r} is not a time such as 500ms, 30s or 15m")
    return value


def _tags(option: str, text: str) -> str:
    from rocketwire.errors import LocalProtocolError
    from rocketwire.policy.subscription import subscription_data

    try:
        subscription_data("topic", text, version=0)
    except LocalProtocolError as error:
        raise OptionError(f"option {option!r}: {error}") from None
    return "" if text.strip() == "*" else text


def _expression(option: str, text: str) -> str:
    from rocketwire.sql92 import compile_expression

    try:
        compile_expression(text)
    except ValueError as error:
        raise OptionError(f"option {option!r}: {error}") from None
    return text


def _group(option: str, text: str) -> str:
    if not re.fullmatch(r"[%|a-zA-Z0-9_-]{1,120}", text):
        raise OptionError(f"option {option!r}: {text!r} is not the name of a group")
    return text


def _columns(option: str, text: str) -> dict[str, str]:
    try:
        return columns_of(text)
    except ValueError as error:
        raise OptionError(f"option {option!r}: {error}") from None


_READERS: Final[Mapping[str, tuple[str, Callable[[str, str], Any]]]] = {
    "subscribe": ("topics", _names),
    "subscribePattern": ("pattern", _pattern),
    "assign": ("queues", _parse_assignment),
    "startingOffsets": ("start_offsets", _start),
    "endingOffsets": ("end_offsets", _end),
    "startingTimestamp": ("start_time", _time),
    "endingTimestamp": ("end_time", _time),
    "startingOffsetsByTimestamp": ("start_time", _time),
    "endingOffsetsByTimestamp": ("end_time", _time),
    "startingOffsetsByTimestampStrategy": ("strategy", read_choice("error", "latest")),
    "maxOffsetsPerTrigger": ("max_offsets", _count),
    "maxBytesPerTrigger": ("max_bytes", _bytes),
    "minOffsetsPerTrigger": ("min_offsets", _count),
    "maxTriggerDelay": ("max_delay", _delay),
    "minPartitions": ("min_partitions", _count),
    "maxRecordsPerPartition": ("max_records", _count),
    "failOnDataLoss": ("fails_on_loss", switch),
    "tags": ("tags", _tags),
    "sql": ("sql", _expression),
    "group": ("group", _group),
    "commitGroup": ("commits", switch),
    "columns": ("columns", _columns),
}
_CHOICES: Final = ("subscribe", "subscribePattern", "assign")
_LIMITS: Final = ("max_offsets", "max_bytes", "min_offsets", "max_delay")


def read_options(options: Mapping[str, str]) -> Settings:
    connection = Connection.from_options(options)
    if not {option.lower() for option in options}.isdisjoint(("path", "paths")):
        raise OptionError("a topic has no path: use load() without one, and option 'subscribe'")
    values = read_values(options, _READERS, others=OF_CONNECTION)
    chosen = [name for name in _CHOICES if _READERS[name][0] in values]
    if len(chosen) != 1:
        have = " and ".join(repr(name) for name in chosen) or "none"
        raise OptionError(
            f"give one of options {', '.join(_CHOICES)}, which say what to read; there is {have}"
        )
    if values.get("tags") and values.get("sql"):
        raise OptionError("options 'tags' and 'sql' exclude each other: use TAGS in the expression")
    limits = Limits(**{name: values.pop(name) for name in _LIMITS if name in values})
    if limits.max_offsets and limits.min_offsets > limits.max_offsets:
        raise OptionError("option 'minOffsetsPerTrigger' is larger than 'maxOffsetsPerTrigger'")
    start = values.pop("start_time", None) or values.pop("start_offsets", None)
    end = values.pop("end_time", None) or values.pop("end_offsets", None)
    for replaced in ("start_offsets", "end_offsets"):
        values.pop(replaced, None)  # times come first, as in spark-sql-kafka
    by_time_fails = values.pop("strategy", "error") == "error"
    settings = Settings(
        connection=connection,
        start=start,
        end=end,
        by_time_fails=by_time_fails,
        limits=limits,
        **values,
    )
    return _add_namespace(settings) if connection.namespace else settings


def _add_namespace(settings: Settings) -> Settings:
    name = settings.connection.name_at_broker
    return replace(
        settings,
        topics=tuple(map(name, settings.topics)),
        queues=settings.queues and settings.queues.rename(name),
        start=settings.start and settings.start.rename(name),
        end=settings.end and settings.end.rename(name),
        group=name(settings.group),
    )
