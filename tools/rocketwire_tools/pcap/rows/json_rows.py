"""Rows as lines of JSON, without an object for each.

Rules of this file: every column becomes a column of what stands in the lines, where each distinct value is written once, and these are
joined.  The lines are those that msgspec makes of the rows as objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from rocketwire_tools.jsonlines import unbroken
from rocketwire_tools.pcap.arrow import as_texts, column, encoded, pa, strung, taken, text_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.arrow import Batch, Column, Schema

_FEW: Final = 128
"""Fewer rows are written faster as objects."""
_MOST: Final = 16_384
"""Rows that are written at once."""
_LARGEST: Final = 64 << 20
"""Bytes of columns that are written at once, unless one row has more."""
_DISTINCT: Final = frozenset(
    {"time_ns", "end_time_ns", "opaque", "latency_ns", "frame_length", "body_length"}
)
"""Columns of numbers that are seldom the same."""


class JsonRows:
    """Writes rows as lines of JSON.

    Args:
        schema: of the rows.
    """

    def __init__(self, schema: Schema) -> None:
        encoder = msgspec.json.Encoder()
        self._encode = encoder.encode
        self._encode_lines = encoder.encode_lines
        self._names = [(name, f'"{name}":') for name in schema.names]

    def lines(self, batch: Batch) -> Iterator[bytes | memoryview]:
        """The lines of rows, some at a time."""
        for start in range(0, batch.num_rows, _MOST):
            yield from self._lines(batch.slice(start, _MOST))

    def _lines(self, batch: Batch) -> Iterator[bytes | memoryview]:
        if batch.num_rows < _FEW:
            yield unbroken(self._encode_lines(batch.to_pylist()))
        elif batch.nbytes > _LARGEST:
            half = batch.num_rows // 2
            yield from self._lines(batch.slice(0, half))
            yield from self._lines(batch.slice(half, batch.num_rows - half))
        else:
            yield self._joined(batch)

    def _joined(self, batch: Batch) -> memoryview:
        parts: list[Column] = []
        front = "{"
        for name, member in self._names:
            values = batch.column(name)
            front += member
            if name in _DISTINCT:
                parts += [pa.scalar(front, pa.string()), as_texts(values)]
                front = ","
                continue
            distinct, numbers = encoded(values)
            texts = [f"{front}{self._text(value)}" for value in distinct.to_pylist()]
            front = f"{texts[0]},"
            if len(texts) > 1:
                parts.append(taken(column(texts, pa.string()), numbers))
                front = ","
        back = f"{front[:-1]}}}\n"
        if not parts:
            return memoryview(back.encode() * batch.num_rows)
        return text_bytes(strung(*parts, pa.scalar(back, pa.string())))

    def _text(self, value: Any) -> str:
        return unbroken(self._encode(value)).decode()
