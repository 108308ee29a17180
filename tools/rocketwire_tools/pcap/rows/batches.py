"""Frames as Arrow batches.

All formats and Spark have the same columns. Only requested columns are made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.wire.layouts.fused import LENGTH_SIZE
from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.arrow import column, mask, pa, take
from rocketwire_tools.pcap.headers.columns import OPTIONAL_COLUMNS, Columns
from rocketwire_tools.pcap.headers.headers import HeaderReader, ext_fields_text
from rocketwire_tools.pcap.rows.endpoints import CONNECTION, SOURCE, TARGET, StreamNames
from rocketwire_tools.pcap.rows.pairing import MAX_HELD
from rocketwire_tools.pcap.rows.rows import schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.arrow import Batch, Column
    from rocketwire_tools.pcap.files.records import Array
    from rocketwire_tools.pcap.packets.packets import Addresses
    from rocketwire_tools.pcap.rows.pairing import Paired, Pairing
    from rocketwire_tools.pcap.rows.rows import Rows


class FileNames:
    def __init__(self, first: str) -> None:
        # offset of each file in the series, and its path
        self.begun: list[tuple[int, str]] = [(0, first)]
        self._scalar = pa.scalar(first, pa.string())
        self._equal: Column = pa.repeat(self._scalar, 0)

    def add(self, base: int, path: str) -> None:
        self.begun.append((base, path))

    def column(self, file_offset: Array) -> Column:
        if len(self.begun) == 1:
            if len(self._equal) < len(file_offset):
                self._equal = pa.repeat(self._scalar, len(file_offset))
            return self._equal.slice(0, len(file_offset))
        bases, paths = zip(*self.begun, strict=True)
        number = np.searchsorted(np.array(bases[1:]), file_offset, side="right")
        return take(column(list(paths), pa.string()), column(number))


KINDS: Final = ("request", "oneway", "response")
_KIND_NAMES: Final = column(list(KINDS), pa.string())
_KIND_OF_FLAG: Final = np.array([0, 2, 1, 2], np.int8)
"""Index in ``KINDS`` by the last two bits of the flag: 1 is a response, 2 is oneway."""
_SERIALIZE_TYPES: Final = column(["JSON", "ROCKETMQ"], pa.string())
_JSON: Final = pa.scalar("JSON", pa.string())

_OF_PAIRS: Final = frozenset({"request_code", "request_topic", "latency_ns"})
_NO_ANSWER: Final = 2  # Flag of a oneway request; stands for an unreadable header


@dataclass(slots=True)
class _PendingBatch:
    columns: dict[str, Column]
    paired: Paired
    rows: int


class BatchBuilder:
    def __init__(
        self, files: FileNames, fields: Sequence[str], addresses: Addresses, pairing: Pairing
    ) -> None:
        self.files = files  # the files in which frames begin
        self._schema = schema(fields)
        self._with_topics = "request_topic" in fields
        self._reader = HeaderReader(
            OPTIONAL_COLUMNS.intersection((*fields, "topic") if self._with_topics else fields)
        )
        self._pairing = pairing
        self._with_pairs = not _OF_PAIRS.isdisjoint(fields)
        self._held: list[_PendingBatch] = []
        self.names = StreamNames(addresses)  # texts of addresses and connections

    def add(self, rows: Rows) -> list[Batch]:
        """Add rows as one batch; returns the batches, in order, whose pairs are final."""
        headers = self._reader.read(rows.header, rows.header_type)
        topics: Array | None = None
        if self._with_topics and headers.topic is not None:
            topics = headers.topic.to_numpy(zero_copy_only=False)
        paired = self._pairing.pair(
            rows.number,
            headers.opaque,
            headers.flag if headers.ok.all() else np.where(headers.ok, headers.flag, _NO_ANSWER),
            headers.code,
            rows.time_ns,
            topics,
        )
        values = _ColumnMaker(self, rows, headers)
        columns = {
            name: values.column(name) for name in self._schema.names if name not in _OF_PAIRS
        }
        self._held.append(_PendingBatch(columns, paired, len(rows)))
        count = 0
        surplus = sum(batch.rows for batch in self._held) - MAX_HELD
        for batch in self._held:
            if surplus <= 0 and self._with_pairs and batch.paired.until > self._pairing.now:
                break
            surplus -= batch.rows
            count += 1
        return self._take_batches(count)

    def rest(self) -> list[Batch]:
        return self._take_batches(len(self._held))

    def _take_batches(self, count: int) -> list[Batch]:
        names = self._schema.names
        finished, self._held = self._held[:count], self._held[count:]
        columns = [
            {
                name: _pair_column(name, batch.paired) if name in _OF_PAIRS else batch.columns[name]
                for name in names
            }
            for batch in finished
        ]
        return [arrow.batch(list(values.values()), self._schema) for values in columns]


class _ColumnMaker:
    def __init__(self, builder: BatchBuilder, rows: Rows, headers: Columns) -> None:
        self._builder = builder
        self._rows = rows
        self._columns = headers
        self._stream_rows: Column | None = None

    def column(self, name: str) -> Column:
        make = getattr(self, f"_{name}", None)
        if make is not None:
            return make()
        if name in ("code", "opaque", "flag", "version"):
            return mask(getattr(self._columns, name).astype(np.int32), self._columns.ok)
        if name in ("language", "remark", "topic", "group", "queue_id"):
            return getattr(self._columns, name)
        return column(getattr(self._rows, name))

    # ---- connection

    def _stream_text(self, which: int) -> Column:
        names, rows = self._builder.names, self._rows
        if self._stream_rows is None:
            _, first, inverse = np.unique(rows.number, return_index=True, return_inverse=True)
            stream_rows = names.rows(rows.number[first], rows.source[first], rows.target[first])
            self._stream_rows = column(stream_rows[inverse])
        return take(names.column(which), self._stream_rows)

    def _file(self) -> Column:
        return self._builder.files.column(self._rows.first_offset)

    def _connection(self) -> Column:
        return self._stream_text(CONNECTION)

    def _src(self) -> Column:
        return self._stream_text(SOURCE)

    def _dst(self) -> Column:
        return self._stream_text(TARGET)

    def _src_port(self) -> Column:
        return column((self._rows.source & 0xFFFF).astype(np.int32))

    def _dst_port(self) -> Column:
        return column((self._rows.target & 0xFFFF).astype(np.int32))

    # ---- kind and code

    def _kind(self) -> Column:
        numbers = _KIND_OF_FLAG[self._columns.flag & 3]
        return take(_KIND_NAMES, mask(numbers, self._columns.ok))

    def _code_name(self) -> Column:
        flag, code = self._columns.flag, self._columns.code
        key = (code + (1 << 31)) << 1 | flag & 1
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        codes = zip(code[first].tolist(), (flag[first] & 1).tolist(), strict=True)
        names = [
            _name(code_number, response=bool(is_response)) for code_number, is_response in codes
        ]
        return take(column(names, pa.string()), mask(inverse, self._columns.ok))

    def _serialize_type(self) -> Column:
        kinds = self._rows.header_type
        if kinds.any():
            return take(_SERIALIZE_TYPES, column(kinds))
        return pa.repeat(_JSON, len(kinds))

    # ---- lengths and bodies

    def _frame_length(self) -> Column:
        return column((self._rows.length + LENGTH_SIZE).astype(np.int32))

    def _header_length(self) -> Column:
        return column(self._rows.header.length.astype(np.int32))

    def _body_length(self) -> Column:
        return column((self._rows.length - 4 - self._rows.header.length).astype(np.int32))

    def _header_ok(self) -> Column:
        return column(self._columns.ok)

    def _body_ok(self) -> Column:
        return column(self._rows.is_complete)

    def _raw_body(self) -> Column:
        body = self._rows.body
        return column([None] * len(self._rows) if body is None else body.tolist(), pa.binary())

    def _ext_fields(self) -> Column:
        texts = [
            ext_fields_text(header, header_type)
            for header, header_type in zip(
                self._rows.header.tolist(), self._rows.header_type.tolist(), strict=True
            )
        ]
        return column(texts, pa.string())


def _pair_column(name: str, paired: Paired) -> Column:
    if name == "request_topic":
        return column(paired.topic.tolist(), pa.string())
    if name == "request_code":
        return mask(paired.code.astype(np.int32), paired.is_paired)
    return mask(paired.latency_ns, paired.is_paired & (paired.latency_ns >= 0))


def _names_by_code(codes: Any) -> dict[int, str]:
    return {int(code): name for name, code in codes.__members__.items()}


_REQUESTS: Final = _names_by_code(RequestCode)
_RESPONSES: Final = _names_by_code(ResponseCode)


def _name(code: int, *, response: bool) -> str | None:
    return (_RESPONSES if response else _REQUESTS).get(code)
