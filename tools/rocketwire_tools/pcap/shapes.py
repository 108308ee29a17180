"""``Shapes``: JSON headers of shapes that are known, and ROCKETMQ ones, read many at a time without an object for each.

Rules of this file: only numpy.  A shape is learnt when it is seen a second time, since headers without a second one of their shape
are read faster one by one.  Whatever is out of the ordinary is left to who asked.  What is remembered is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.binary_headers import ABSENT, Span
from rocketwire_tools.pcap.binary_headers import read as read_binary
from rocketwire_tools.pcap.header_bytes import room_of, rooms, rows_of
from rocketwire_tools.pcap.shape import NUMBERS, shape_of
from rocketwire_tools.pcap.shape_places import ShapePlaces
from rocketwire_tools.pcap.shape_table import NOWHERE, HeaderRows, ShapeTable
from rocketwire_tools.pcap.texts import NONE, Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from rocketwire_tools.pcap.binary_headers import Some
    from rocketwire_tools.pcap.header_bytes import HeaderBytes

    Array = np.ndarray[Any, Any]
    Said = Callable[[bytes], tuple[str | None, str | None] | None]

_LARGEST: Final = 512
"""Room of the largest headers that are looked at here."""
_TOGETHER: Final = 1 << 18
"""Bytes that are compared at once, so that they stay in the processor's cache."""
_READ_TOGETHER: Final = 8192
"""Headers that are read at once."""
_MOST: Final = 4096
"""Shapes that are remembered; some more, and all are learnt anew."""
_MOST_TEXTS: Final = 16_384
"""Texts that are remembered, likewise."""
_LEARNT_OF: Final = 64
"""At most one of so many headers is made a shape of, so that to learn takes no longer than it saves."""
_AT_FIRST: Final = 256
"""Shapes that are learnt in any case."""
FIELDS: Final = (
    "topic",
    "consumerGroup",
    "producerGroup",
    "group",
    "groupName",
    "queueId",
    "a",
    "b",
    "e",
)
"""The extension fields that become columns."""
_GROUPS: Final = FIELDS[1:5]
"""Those that have the group; the first that says something counts."""
_TEXTS: Final = frozenset({"topic", "group"})
_FEW_BINARY: Final = 96
"""Fewer ROCKETMQ headers are read faster one by one."""
_MANY: Final = 64
"""Headers compared at once by which to tell whether it is worth it."""
_PAUSE: Final = 15
"""How often headers of a size are not compared after it was not."""
_CODE, _FLAG = NUMBERS.index("code"), NUMBERS.index("flag")


@dataclass(slots=True)
class Shaped:
    """What has been read, an entry for each header; texts are numbers of those of ``Shapes``.

    Attributes:
        done: whether the header was read.
        numbers: a row for each of ``shape.NUMBERS``, and the queue where ``has_queue``.
    """

    done: Array
    numbers: Array
    has_queue: Array
    language: Array
    remark: Array
    topic: Array
    group: Array


class Shapes:
    """Shapes that are known.

    Args:
        said: gives language and remark of a header; None if it is not strict JSON.
        language: gives the name of a language by its number.
        short_named: codes of the requests whose header has names of one letter.
        wanted: columns; those of texts of extension fields are made only if they are among them.

    Attributes:
        texts: those that were found.
    """

    def __init__(
        self,
        said: Said,
        language: Callable[[int], str],
        short_named: tuple[int, ...],
        wanted: AbstractSet[str],
    ) -> None:
        self._said = said
        self._language = language
        self._short_named = short_named
        self._wanted = wanted
        self._may_learn = _AT_FIRST
        self._forget()

    def _forget(self) -> None:
        self._tables: dict[int, ShapeTable] = {}
        self._places = ShapePlaces()
        self.texts = Texts()

    def read(self, headers: HeaderBytes, is_json: Array) -> Shaped:
        """Read headers: ROCKETMQ ones, and JSON ones of known shapes; and learn other shapes.

        Args:
            headers: the headers.
            is_json: which of them are JSON.
        """
        if len(self.texts) > _MOST_TEXTS or len(self._places) > _MOST:
            self._forget()
        count = len(headers)
        self._may_learn += count // _LEARNT_OF
        found = Shaped(
            np.zeros(count, np.bool_),
            np.zeros((len(NUMBERS) + 1, count), np.int64),
            np.zeros(count, np.bool_),
            *np.full((4, count), NONE, np.int32),
        )
        for piece, of, start in headers.split():
            shapes = self._shapes(piece, start, headers.length[of], is_json[of])
            some = np.flatnonzero(shapes >= 0)
            for first in range(0, len(some), _READ_TOGETHER):
                part = some[first : first + _READ_TOGETHER]
                self._read(piece, of[part], start[part], shapes[part], found)
        binary = np.flatnonzero(~is_json)
        if len(binary) < _FEW_BINARY:
            return found
        few = headers.take(binary).without_others()
        few = few if len(few.pieces) == 1 else few.packed()
        for piece, of, start in few.split():
            read = read_binary(piece, start, few.length[of], FIELDS)
            self._read_binary(piece, binary[of], read, found)
        return found

    # ---- which shapes

    def _shapes(self, data: Array, start: Array, length: Array, among: Array) -> Array:
        """The number of the shape of each header of a piece, ``NOWHERE`` for one that has none."""
        shapes = np.full(len(start), NOWHERE)
        for room, every in rooms(np.where(among, room_of(length), 0)):
            if not 0 < room <= _LARGEST:
                continue
            table = self._tables.setdefault(room, ShapeTable(room))
            each = _TOGETHER // room
            for first in range(0, len(every), each):
                if table.pause:
                    table.pause -= 1
                    continue
                some = every[first : first + each]
                rows = HeaderRows(rows_of(data, start[some], room).view(np.uint8), length[some])
                shapes[some] = found = self._of_table(table, rows)
                if len(some) >= _MANY and 4 * np.count_nonzero(found >= 0) < len(some):
                    table.pause = _PAUSE
        return shapes

    def _of_table(self, table: ShapeTable, rows: HeaderRows) -> Array:
        entries = table.find(rows)
        numbers = table.fitting(rows, entries)
        unknown = np.flatnonzero(entries < 0)
        if not len(unknown):
            return numbers
        learnt = table.seen(rows, unknown)[: self._may_learn]
        self._may_learn -= len(learnt)
        for one in learnt.tolist():
            self._learn(table, rows, one)
        if len(learnt):
            rows = HeaderRows(rows.rows[unknown], rows.length[unknown])
            numbers[unknown] = table.fitting(rows, table.find(rows))
        return numbers

    def _learn(self, table: ShapeTable, rows: HeaderRows, one: int) -> None:
        header = rows.rows[one, : rows.length[one]].tobytes()
        shape, said, number = shape_of(header, self._has_letters), self._said(header), NOWHERE
        if shape is not None and said is not None:
            language, remark = (self.texts.number(text) for text in said)
            number = self._places.add(shape, language, remark)
        table.add(rows, one, shape, number)

    def _has_letters(self, code: int, flag: int) -> bool:
        return code in self._short_named and not flag & 1

    def _letters(self, code: Array, flag: Array) -> Array:
        letters = np.zeros(len(code), np.bool_)
        for each in self._short_named:
            letters |= code == each
        letters &= flag & 1 == 0
        return letters

    # ---- what headers of known shapes say

    def _read(self, data: Array, some: Array, start: Array, shapes: Array, found: Shaped) -> None:
        """Read headers of one piece.

        Args:
            data: the piece.
            some: numbers of the headers.
            start: where each begins.
            shapes: the number of the shape of each.
            found: takes what they say.
        """
        places = self._places
        values, good = places.integers(data, start, shapes)
        for row, each in zip(found.numbers, values.T, strict=True):
            row[some] = each
        letters = self._letters(values[:, _CODE], values[:, _FLAG])
        named = places.named[shapes]
        found.done[some] = good & ((named < 0) | (named == letters))
        found.has_queue[some] = places.has_queue[shapes]
        found.language[some] = places.language[shapes]
        found.remark[some] = places.remark[shapes]
        names = _TEXTS & self._wanted
        spans = {
            name: Span(
                start + getattr(places, f"{name}_start")[shapes],
                getattr(places, f"{name}_length")[shapes],
            )
            for name in names
        }
        for name, texts in self._numbered(data, spans):
            getattr(found, name)[some] = texts

    def _numbered(self, data: Array, spans: Mapping[str, Span]) -> Iterator[tuple[str, Array]]:
        """The numbers of several texts of each header, which are found together."""
        if not spans:
            return
        at, length = (np.concatenate(each) for each in zip(*spans.values(), strict=True))
        yield from zip(
            spans, np.split(self.texts.numbers(data, at, length), len(spans)), strict=True
        )

    # ---- what ROCKETMQ headers say

    def _read_binary(self, data: Array, of: Array, some: Some, found: Shaped) -> None:
        """Take what was read of headers of one piece; of: their numbers."""
        numbers, fields, good = some.numbers, some.fields, some.good
        for row, name in zip(found.numbers, NUMBERS, strict=False):
            row[of] = numbers[name]
        letters = self._letters(found.numbers[_CODE, of], found.numbers[_FLAG, of])
        topic = fields["b"].over(fields["topic"], letters & (fields["b"].length > 0))
        group = fields[_GROUPS[-1]]
        for name in reversed(_GROUPS[:-1]):
            group = fields[name].over(group, fields[name].length > 0)
        group = fields["a"].over(group, letters & (fields["a"].length > 0))
        queue = fields["e"].over(fields["queueId"], letters & (fields["e"].length >= 0))
        language = numbers["language"].astype(np.int64)
        for each in set(language.tolist()):
            found.language[of[language == each]] = self.texts.number(self._language(each))
        spans = {"remark": some.remark, "topic": topic, "group": group, "queue_id": queue}
        wanted = {
            name: Span(span.at, np.where(good, span.length, ABSENT))
            for name, span in spans.items()
            if name in self._wanted
        }
        for name, texts in self._numbered(data, wanted):
            if name == "queue_id":
                found.numbers[-1, of], found.has_queue[of] = self.texts.integers(texts)
            else:
                getattr(found, name)[of] = texts
        found.done[of] = good
