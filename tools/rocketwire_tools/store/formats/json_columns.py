"""Columns of rows as columns of the texts that they have in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
import numpy as np
import pybase64

from rocketwire.messages import message_const
from rocketwire_tools.store.engine.arrow import BINARY, build_array, gather, pa, pc
from rocketwire_tools.store.engine.rows import FEW_TEXTS
from rocketwire_tools.store.formats.arrow_rows import are_plain, offset_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rocketwire_tools.store.engine.columns import Bytes, Int64s, Messages
    from rocketwire_tools.store.engine.rows import Rows

    Digits = tuple[bytes | bytearray, Int64s]
    """Digits of all bodies, joined, and the number of each body's digits."""

_FEW: Final = 256  # values of a column that are encoded once, in place of one for each row
_GROUP: Final = 3  # bytes that become four digits of base64
_DIGITS_OF_GROUP: Final = 4
_PAD: Final = ord("=")
_NULL: Final = b"null"
_PROPERTIES: Final = {
    "tags": message_const.TAGS,
    "keys": message_const.KEYS,
    "msg_id": message_const.UNIQ_KEY,
    "real_topic": message_const.REAL_TOPIC,
}


class JsonColumns:
    """The columns of rows without inner batches; ``values`` are those that msgspec writes."""

    def __init__(self, rows: Rows, values: Callable[[Rows, str], Sequence[Any]]) -> None:
        self._rows = rows
        self._values = values
        self._items = rows.property_items
        self._encoder = msgspec.json.Encoder()

    def lines(self, names: Sequence[str], body: str) -> memoryview:
        """The lines with some columns, and bodies in a form of ``BODY_FORMS``."""
        parts: list[Any] = []
        text = b"{"
        for name in names:
            text += self._encoder.encode(name) + b":"
            if name == "body" and body in DIGITS and self._rows.are_bodies_stored:
                column = self._bodies(*DIGITS[body](self._rows.messages))
            else:
                column = self._texts(name)
            for part in [*column, b","]:
                if isinstance(part, bytes):
                    text += part
                else:
                    parts += [text, part]
                    text = b""
        text = text[:-1] + b"}\n"
        if not parts:
            return memoryview(text * len(self._rows))
        joined = pc.binary_join_element_wise(
            *parts, text, b"", null_handling="replace", null_replacement="null"
        )
        _, edges, data = joined.buffers()
        return memoryview(data)[: np.frombuffer(edges, np.int32, len(self._rows) + 1)[-1]]

    def _texts(self, name: str) -> Iterator[Any]:
        rows = self._rows
        if name in FEW_TEXTS:
            yield self._few(*FEW_TEXTS[name](rows))
        elif name == "offset_msg_id":
            yield from _enclose(b'"', offset_ids(rows), b'"')
        elif name in _PROPERTIES:
            values = self._items.array(_PROPERTIES[name])
            if values.null_count == len(values):
                yield _NULL
            elif not self._items.needs_no_escape:
                yield self._each(name)
            elif name != "keys":
                yield from _enclose(b'"', values, b'"')
            elif are_plain(values):  # one key
                yield from _enclose(b'["', values, b'"]')
            else:
                yield self._each(name)
        elif name == "properties":
            yield from self._objects()
        elif name == "batch_index" or (
            name == "real_queue_id"
            and self._items.array(message_const.REAL_QUEUE_ID).null_count == len(rows)
        ):
            yield _NULL
        else:
            values = None if name == "body" else rows.column(name)
            is_array = isinstance(values, np.ndarray)
            yield self._numbers(cast("Int64s", values)) if is_array else self._each(name)

    def _few(self, texts: Sequence[Any], numbers: Int64s) -> Any:
        if len(texts) > _FEW:
            used, numbers = np.unique(numbers, return_inverse=True)
            texts = [texts[number] for number in used.tolist()]
        if (numbers == numbers[0]).all():
            return self._encoder.encode(texts[int(numbers[0])])
        encoded = [self._encoder.encode(text) for text in texts]
        return pa.array(encoded, BINARY).take(pa.array(numbers))

    def _numbers(self, values: Int64s) -> Any:
        array = pa.array(values)
        encoded = array.dictionary_encode()
        if len(encoded.dictionary) <= _FEW:
            numbers = encoded.indices.to_numpy(zero_copy_only=False)
            return self._few(encoded.dictionary.to_pylist(), numbers)
        return array.cast(pa.string()).view(BINARY)

    def _objects(self) -> Iterator[Any]:
        members = self._items.json_members()
        if members is None:
            yield self._each("properties")
        else:
            yield from _enclose(b'{"', build_array(BINARY, *members), b'"}')

    @staticmethod
    def _bodies(digits: bytes | bytearray, sizes: Int64s) -> Iterator[Any]:
        texts = build_array(BINARY, digits, sizes)
        if not sizes.all():
            texts = texts.take(pa.array(np.arange(len(sizes)), mask=sizes == 0))
        yield from _enclose(b'"', texts, b'"')

    def _each(self, name: str) -> Any:
        data = np.frombuffer(self._encoder.encode_lines(self._values(self._rows, name)), np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        starts = np.zeros_like(ends)
        starts[1:] = ends[:-1] + 1
        return gather(data, starts, ends - starts)


def _enclose(begin: bytes, values: Any, end: bytes) -> Iterator[Any]:
    values = values.view(BINARY)
    if values.null_count:
        yield pc.binary_join_element_wise(begin, values, end, b"")
    else:
        yield from (begin, values, end)


def _hex_digits(messages: Messages) -> Digits:
    bodies = _join(messages.data, messages.bodies, messages.body_sizes)
    return bodies.data.hex().encode(), 2 * messages.body_sizes


def _base64_digits(messages: Messages) -> Digits:
    """Bodies as base64, each with its padding.

    Each body is joined with the one or two bytes that follow it in the block, so that it fills its
    last group; these bytes become zeros, and their digits become ``=``.
    """
    padding = -messages.body_sizes % _GROUP
    sizes = messages.body_sizes + padding
    ends = np.cumsum(sizes)
    bodies = _join(messages.data, messages.bodies, sizes)
    for count in (1, 2):
        bodies[ends[padding >= count] - count] = 0
    digits = bytearray(pybase64.b64encode(bodies.data))
    texts = np.frombuffer(digits, np.uint8)
    sizes = sizes // _GROUP * _DIGITS_OF_GROUP
    ends = np.cumsum(sizes)
    for count in (1, 2):
        texts[ends[padding >= count] - count] = _PAD
    return digits, sizes


DIGITS: Final[dict[str, Callable[[Messages], Digits]]] = {
    "hex": _hex_digits,
    "base64": _base64_digits,
}
"""Name of a form of bodies → the digits of it."""


def _join(data: Bytes, starts: Int64s, sizes: Int64s) -> Bytes:
    if len(starts) and int((starts + sizes).max()) > len(data):
        data = np.concatenate([data, np.zeros(_GROUP, np.uint8)])
    buffer: Any = gather(data, starts, sizes).buffers()[2]
    joined: Bytes = np.frombuffer(buffer or b"", np.uint8)[: int(sizes.sum())]
    return joined if joined.flags.writeable else joined.copy()
