"""Rows as JSON lines, without an object for each row.

Each column becomes a column of the texts in the lines, in which each distinct value is encoded
once, and these columns are joined. The lines are the same as msgspec's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from rocketwire_tools.pcap.arrow import (
    as_texts,
    column,
    concatenate_columns,
    encode,
    pa,
    take,
    text_bytes,
)
from rocketwire_tools.terminal import escape_line_breaks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.arrow import Batch, Column, Schema

_FEW: Final = 128  # Fewer rows are written faster as objects
_MAX_ROWS: Final = 4096  # Rows that are written at once
_LARGEST: Final = 64 << 20  # Bytes of columns that are written at once, unless there are few rows
_DISTINCT: Final = frozenset(
    {"time_ns", "end_time_ns", "opaque", "latency_ns", "frame_length", "body_length"}
)
"""Columns whose numbers seldom repeat."""


class _Part(NamedTuple):
    texts: Column  # one text for all lines, or all distinct texts
    numbers: Column | None = None  # indices of the lines' texts; None if all lines have the same

    def column(self, start: int, rows: int) -> Column:
        return (
            self.texts
            if self.numbers is None
            else take(self.texts, self.numbers.slice(start, rows))
        )


class _Numbers(NamedTuple):
    values: Column

    def column(self, start: int, rows: int) -> Column:
        return as_texts(self.values.slice(start, rows))


class JsonRows:
    def __init__(self, schema: Schema) -> None:
        encoder = msgspec.json.Encoder()
        self._encode = encoder.encode
        self._encode_lines = encoder.encode_lines
        self._names = [(name, f'"{name}":') for name in schema.names]

    def lines(self, batch: Batch) -> Iterator[bytes | memoryview]:
        count = batch.num_rows
        if count < _FEW:
            yield escape_line_breaks(self._encode_lines(batch.to_pylist()))
        elif batch.nbytes > _LARGEST:
            yield from self.lines(batch.slice(0, count // 2))
            yield from self.lines(batch.slice(count // 2, count - count // 2))
        else:
            yield from self._join(batch)

    def _join(self, batch: Batch) -> Iterator[bytes | memoryview]:
        parts, back = self._parts(batch)
        if not parts:
            yield back.encode() * batch.num_rows
            return
        end = _scalar(back)
        for start in range(0, batch.num_rows, _MAX_ROWS):
            rows = min(_MAX_ROWS, batch.num_rows - start)
            yield text_bytes(
                concatenate_columns(*(part.column(start, rows) for part in parts), end)
            )

    def _parts(self, batch: Batch) -> tuple[list[_Part | _Numbers], str]:
        parts: list[_Part | _Numbers] = []
        front = "{"
        for name, member in self._names:
            values = batch.column(name)
            front += member
            if name in _DISTINCT:
                parts += [_Part(_scalar(front)), _Numbers(values)]
                front = ","
                continue
            distinct, numbers = encode(values)
            texts = [f"{front}{self._text(value)}" for value in distinct.to_pylist()]
            front = f"{texts[0]},"
            if len(texts) > 1:
                parts.append(_Part(column(texts, pa.string()), numbers))
                front = ","
        return parts, f"{front[:-1]}}}\n"

    def _text(self, value: Any) -> str:
        return escape_line_breaks(self._encode(value)).decode()


def _scalar(text: str) -> Column:
    return pa.scalar(text, pa.string())
