"""Options of the sink as texts, and the values that they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rocketwire_tools.spark.option_values import (
    OptionError,
    read_choice,
    read_text,
    read_values,
    size,
)
from rocketwire_tools.spark.topics.connection import OPTIONS as CONNECTION_OPTIONS
from rocketwire_tools.spark.topics.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_tools.spark.option_values import Reader

DEFAULT_GROUP: Final = "spark-rocketwire"
MAX_SECONDS: Final = 86_400
MAX_IN_FLIGHT: Final = 1024
MAX_BATCH_SIZE: Final = 4 << 20
MAX_MESSAGE_SIZE: Final = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkSettings:
    connection: Connection  # how to reach the cluster
    topic: str | None = None  # topic of all rows; None for that of column ``topic``
    of_kafka: bool = False  # whether columns are those of spark-sql-kafka
    group: str = DEFAULT_GROUP  # producer group
    stable_ids: bool = False  # whether equal rows of repeated attempts have equal unique keys
    # name of a run, whose repetition has the same unique keys; None for another one each time
    run_id: str | None = None
    in_flight: int = 16  # requests under way of a task
    batch_size: int = 256 << 10  # bytes of a request with several messages
    # larger bodies are sent compressed, each in a request of its own; None for no compression
    compress_above: int | None = None
    max_message_size: int = 4 << 20  # largest body in bytes
    send_timeout: float = 3.0  # seconds of an attempt
    retry_timeout: float = 60.0  # seconds in which a failed request is tried again


def _seconds(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MAX_SECONDS:
        raise OptionError(
            f"option {option!r}: {text!r} is not a number of seconds up to {MAX_SECONDS}"
        )
    return value


def _positive_seconds(option: str, text: str) -> float:
    value = _seconds(option, text)
    if not value:
        raise OptionError(f"option {option!r}: must be above 0")
    return value


def _count(option: str, text: str) -> int:
    if not text.strip().isdecimal() or not 1 <= int(text) <= MAX_IN_FLIGHT:
        raise OptionError(f"option {option!r}: {text!r} is not a number from 1 to {MAX_IN_FLIGHT}")
    return int(text)


def _size_to(limit: int) -> Reader:
    def read(option: str, text: str) -> int:
        value = size(option, text)
        if not 1 <= value <= limit:
            raise OptionError(f"option {option!r}: {text!r} is not a size from 1 to {limit} bytes")
        return value

    return read


def _name(check: str) -> Reader:
    def read(option: str, text: str) -> str:
        from rocketwire.errors import LocalProtocolError
        from rocketwire.policy import validation

        try:
            getattr(validation, check)(text)
        except LocalProtocolError as error:
            raise OptionError(f"option {option!r}: {error}") from None
        return text

    return read


_READERS: Final[Mapping[str, tuple[str, Reader]]] = {
    "topic": ("topic", _name("check_topic")),
    "group": ("group", _name("check_producer_group")),
    "columns": (
        "of_kafka",
        lambda option, text: read_choice("rocketmq", "kafka")(option, text) == "kafka",
    ),
    "ids": (
        "stable_ids",
        lambda option, text: read_choice("stable", "new")(option, text) == "stable",
    ),
    "runId": ("run_id", read_text),
    "inFlight": ("in_flight", _count),
    "batchSize": ("batch_size", _size_to(MAX_BATCH_SIZE)),
    "compressAbove": ("compress_above", _size_to(MAX_MESSAGE_SIZE)),
    "maxMessageSize": ("max_message_size", _size_to(MAX_MESSAGE_SIZE)),
    "sendTimeout": ("send_timeout", _positive_seconds),
    "retryTimeout": ("retry_timeout", _seconds),
}
_OF_SPARK: Final = frozenset({"path", "queryname", "checkpointlocation"})
"""Options that Spark passes on; ``path`` is the argument of ``save`` and ``start``."""


def read_sink_options(options: Mapping[str, str]) -> SinkSettings:
    connection = Connection.from_options(options)
    values = read_values(
        options, _READERS, others=CONNECTION_OPTIONS, ignored=_OF_SPARK, of=" of the sink"
    )
    by_name = {name.lower(): text for name, text in options.items()}
    if "path" in by_name:
        values.setdefault("topic", _READERS["topic"][1]("path", by_name["path"]))
    settings = SinkSettings(connection=connection, **values)
    if settings.run_id is not None and not settings.stable_ids:
        raise OptionError("option 'runId' needs option ids=stable")
    return settings
