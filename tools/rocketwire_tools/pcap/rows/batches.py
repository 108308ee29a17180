"""Frames as Arrow batches.

Rules of this file: the same columns in every format and in Spark; only those that are wanted are made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.wire.layouts.functions import LENGTH_SIZE
from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.arrow import column, masked, pa, taken
from rocketwire_tools.pcap.headers.headers import (
    OPTIONAL_COLUMNS,
    Columns,
    HeaderReader,
    ext_fields_text,
)
from rocketwire_tools.pcap.rows.endpoints import CONNECTION, SOURCE, TARGET, Names
from rocketwire_tools.pcap.rows.pairing import MOST_HELD
from rocketwire_tools.pcap.rows.rows import schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.arrow import Batch, Column
    from rocketwire_tools.pcap.packets.packets import Addresses
    from rocketwire_tools.pcap.rows.file_names import FileNames
    from rocketwire_tools.pcap.rows.pairing import Paired, Pairing
    from rocketwire_tools.pcap.rows.rows import Rows

    Array = np.ndarray[Any, Any]

KINDS: Final = ("request", "oneway", "response")
_KIND_NAMES: Final = column(list(KINDS), pa.string())
_KIND_OF_FLAG: Final = np.array([0, 2, 1, 2], np.int8)
"""Which of them the last two bits say: 1 is an answer, 2 wants none."""
_SERIALIZE_TYPES: Final = column(["JSON", "ROCKETMQ"], pa.string())
_JSON: Final = pa.scalar("JSON", pa.string())


_OF_PAIRS: Final = frozenset({"request_code", "request_topic", "latency_ns"})
_NO_ANSWER: Final = 2
"""Flag of a oneway request, for a header that cannot be read."""


@dataclass(slots=True)
class _Held:
    """Columns of a batch, but for those of ``paired``."""

    others: dict[str, Column]
    paired: Paired
    rows: int


class BatchBuilder:
    """Makes Arrow batches of rows.

    Args:
        files: in which frames begin.
        fields: the columns that are wanted.
        addresses: numbers of addresses.
        pairing: finds requests.

    Attributes:
        files: in which frames begin.
        names: texts of addresses and connections.
    """

    def __init__(
        self, files: FileNames, fields: Sequence[str], addresses: Addresses, pairing: Pairing
    ) -> None:
        self.files = files
        self._schema = schema(fields)
        self._with_topics = "request_topic" in fields
        self._reader = HeaderReader(
            OPTIONAL_COLUMNS.intersection((*fields, "topic") if self._with_topics else fields)
        )
        self._pairing = pairing
        self._with_pairs = not _OF_PAIRS.isdisjoint(fields)
        self._held: list[_Held] = []
        self.names = Names(addresses)

    def add(self, rows: Rows) -> list[Batch]:
        """Take rows; gives the batches, in order, in which nothing changes any more.

        Args:
            rows: become one batch.
        """
        headers = self._reader.read(rows.header, rows.header_type)
        paired = self._pairing.pair(
            rows.number,
            headers.opaque,
            headers.flag if headers.ok.all() else np.where(headers.ok, headers.flag, _NO_ANSWER),
            headers.code,
            rows.time_ns,
            _objects(headers.topic) if self._with_topics else None,
        )
        values = _Values(self, rows, headers)
        others = {name: values.column(name) for name in self._schema.names if name not in _OF_PAIRS}
        self._held.append(_Held(others, paired, len(rows)))
        count = 0
        surplus = sum(one.rows for one in self._held) - MOST_HELD
        for one in self._held:
            if surplus <= 0 and self._with_pairs and one.paired.until > self._pairing.now:
                break
            surplus -= one.rows
            count += 1
        return self._made(count)

    def rest(self) -> list[Batch]:
        """The batches that are left, as they are."""
        return self._made(len(self._held))

    def _made(self, count: int) -> list[Batch]:
        names = self._schema.names
        done, self._held = self._held[:count], self._held[count:]
        made = [
            {
                name: _of_pair(name, one.paired) if name in _OF_PAIRS else one.others[name]
                for name in names
            }
            for one in done
        ]
        return [arrow.batch(list(columns.values()), self._schema) for columns in made]


class _Values:
    """Makes single columns of a batch."""

    def __init__(
        self,
        builder: BatchBuilder,
        rows: Rows,
        headers: Columns,
    ) -> None:
        self._builder = builder
        self._rows = rows
        self._columns = headers
        self._known: Column | None = None

    def column(self, name: str) -> Column:
        """The column of that name."""
        make = getattr(self, f"_{name}", None)
        if make is not None:
            return _plain(make())
        if name in ("code", "opaque", "flag", "version"):
            return masked(getattr(self._columns, name).astype(np.int32), self._columns.ok)
        if name in ("language", "remark", "topic", "group", "queue_id"):
            return _plain(getattr(self._columns, name))
        return column(getattr(self._rows, name))

    # ---- who

    def _named(self, which: int) -> Column:
        """A text of each row's stream."""
        names, rows = self._builder.names, self._rows
        if self._known is None:
            first, inverse = distinct(rows.number)
            of = names.rows(rows.number[first], rows.source[first], rows.target[first])
            self._known = column(of[inverse])
        return taken(names.column(which), self._known)

    def _file(self) -> Column:
        return self._builder.files.column(self._rows.first_where)

    def _connection(self) -> Column:
        return self._named(CONNECTION)

    def _src(self) -> Column:
        return self._named(SOURCE)

    def _dst(self) -> Column:
        return self._named(TARGET)

    def _src_port(self) -> Column:
        return column((self._rows.source & 0xFFFF).astype(np.int32))

    def _dst_port(self) -> Column:
        return column((self._rows.target & 0xFFFF).astype(np.int32))

    # ---- what

    def _kind(self) -> Column:
        numbers = _KIND_OF_FLAG[self._columns.flag & 3]
        return taken(_KIND_NAMES, masked(numbers, self._columns.ok))

    def _code_name(self) -> Column:
        flag, code = self._columns.flag, self._columns.code
        key = (code + (1 << 31)) << 1 | flag & 1
        first, inverse = distinct(key)
        found = zip(code[first].tolist(), (flag[first] & 1).tolist(), strict=True)
        names = [_name(each, response=bool(answer)) for each, answer in found]
        return taken(column(names, pa.string()), masked(inverse, self._columns.ok))

    def _serialize_type(self) -> Column:
        kinds = self._rows.header_type
        if kinds.any():
            return taken(_SERIALIZE_TYPES, column(kinds))
        return _plain(pa.repeat(_JSON, len(kinds)))

    # ---- how much

    def _frame_length(self) -> Column:
        return column((self._rows.length + LENGTH_SIZE).astype(np.int32))

    def _header_length(self) -> Column:
        return column(self._rows.header.length.astype(np.int32))

    def _body_length(self) -> Column:
        return column((self._rows.length - 4 - self._rows.header.length).astype(np.int32))

    def _header_ok(self) -> Column:
        return column(self._columns.ok)

    def _body_ok(self) -> Column:
        return column(self._rows.whole)

    def _raw_body(self) -> Column:
        body = self._rows.body
        return column([None] * len(self._rows) if body is None else body.tolist(), pa.binary())

    def _ext_fields(self) -> Column:
        texts = [
            ext_fields_text(header, kind)
            for header, kind in zip(
                self._rows.header.tolist(), self._rows.header_type.tolist(), strict=True
            )
        ]
        return column(texts, pa.string())


def _of_pair(name: str, paired: Paired) -> Column:
    """A column of what is known of requests of responses."""
    if name == "request_topic":
        return column(paired.topic.tolist(), pa.string())
    if name == "request_code":
        return masked(paired.code.astype(np.int32), paired.found)
    return masked(paired.latency_ns, paired.found & (paired.latency_ns >= 0))


_DENSE: Final = 1 << 16
"""Distinct values are found by counting if they are not farther apart."""


def distinct(values: Array) -> tuple[Array, Array]:
    """Where each distinct value can be found, and which of them each value is."""
    least = int(values.min())
    reach = int(values.max()) - least + 1
    if reach > _DENSE + 4 * len(values):
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        return first, inverse
    places = np.full(reach, -1, np.int64)
    places[values - least] = np.arange(len(values))
    some = np.flatnonzero(places >= 0)
    first = places[some]
    places[some] = np.arange(len(some))
    return first, places[values - least]


def _objects(values: Any) -> Array:
    """The values of a column as an array of objects."""
    found: Array = values.to_numpy(zero_copy_only=False)
    return found


def _plain(made: Any) -> Column:
    result: Column = made
    return result


def _table(codes: Any) -> dict[int, str]:
    return {int(code): name for name, code in codes.__members__.items()}


_REQUESTS: Final = _table(RequestCode)
_RESPONSES: Final = _table(ResponseCode)


def _name(code: int, *, response: bool) -> str | None:
    return (_RESPONSES if response else _REQUESTS).get(code)
