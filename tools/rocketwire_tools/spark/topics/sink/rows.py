"""Record batches of Arrow in, messages out."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.message import Message
from rocketwire.errors import LocalProtocolError
from rocketwire.messages import message_const as const
from rocketwire.policy.validation import check_message
from rocketwire_tools.spark.topics.sink.columns import COLUMNS
from rocketwire_tools.spark.topics.sink.failures import SinkError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rocketwire_tools.spark.topics.sink.unique_keys import StableKeys

_MICROS_OF_MILLI: Final = 1000


class RowReader:
    """Builds the messages of a partition.

    Attributes:
        count: rows so far.
        names: columns.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        topic: str | None,
        max_message_size: int,
        keys: StableKeys | None = None,
    ) -> None:
        """Start before the first row.

        Args:
            names: columns in the order of the record batches, with the names of ``COLUMNS``.
            topic: topic of all rows; None for that of column ``topic``.
            max_message_size: largest body in bytes.
            keys: unique keys; None for those of the producer.
        """
        self.count = 0
        self.names = tuple(names)
        self._topic = topic
        self._max_size = max_message_size
        self._keys = keys
        self._has_ids = "id" in self.names

    def messages(self, batch: Any) -> Iterator[Message]:
        """Yield the messages of a record batch.

        Raises:
            SinkError: a row cannot be a message.
        """
        columns: dict[str, Iterable[Any]] = {
            name: _values(name, batch.column(at)) for at, name in enumerate(self.names)
        }
        if self._topic is not None:
            columns["topic"] = repeat(self._topic)
        missing = repeat(None)
        for row in zip(*(columns.get(name, missing) for name in COLUMNS), strict=False):
            try:
                message = self._message(*row)
                check_message(message.topic, message.body, max_size=self._max_size)
                yield message
            except LocalProtocolError as error:
                raise SinkError(
                    f"row {self.count} of the partition: {error}: correct or filter such rows"
                ) from None
            self.count += 1

    def _message(
        self,
        topic: str | None,
        body: bytes | str | None,
        tags: str | None,
        keys: str | Sequence[str | None] | None,
        properties: Sequence[tuple[str, str]] | None,
        sharding_key: str | None,
        delay_seconds: int | None,
        deliver_millis: int | None,
        row_id: str | None,
    ) -> Message:
        """Build the message of a row; the arguments are in the order of ``COLUMNS``."""
        if topic is None or body is None:
            raise self._null("topic" if topic is None else "body")
        message = Message(
            topic,
            body.encode() if isinstance(body, str) else body,
            tags or None,
            () if keys is None else keys if isinstance(keys, str) else _texts(keys),
            properties=_own_properties(properties) if properties else None,
            delay_seconds=delay_seconds,
            deliver_millis=deliver_millis,
            sharding_key=sharding_key or None,
        )
        if self._keys is None:
            return message
        if row_id is not None:
            key = self._keys.of_id(topic, row_id)
        elif self._has_ids:
            raise self._null("id")
        else:
            key = self._keys.of_message(message)
        return with_unique_key(message, key)

    def _null(self, column: str) -> SinkError:
        return SinkError(
            f"row {self.count} of the partition: column {column!r} is null: filter such rows"
        )


def with_unique_key(message: Message, key: str, **system: str) -> Message:
    """Return a message with a unique key and other properties of the system."""
    return Message(
        message.topic,
        message.body,
        message.tags,
        message.keys,
        properties=message.properties,
        delay_seconds=message.delay_seconds,
        deliver_millis=message.deliver_millis,
        sharding_key=message.sharding_key,
        system={const.UNIQ_KEY: key, **system},
    )


def _values(name: str, column: Any) -> list[Any]:
    if name == "deliverTimestamp" and str(column.type).startswith("timestamp"):
        micros = column.cast("int64").to_pylist()
        return [None if micro is None else micro // _MICROS_OF_MILLI for micro in micros]
    values: list[Any] = column.to_pylist()
    return values


def _texts(keys: Sequence[str | None]) -> tuple[str, ...]:
    """Return the keys of an array, without nulls and empty texts."""
    return tuple(key for key in keys if key)


def _own_properties(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the properties of the application.

    Those that clients and brokers set are left out, so that a row that was read can be written.
    """
    return {name: value for name, value in pairs if name not in const.RESERVED}
