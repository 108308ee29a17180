"""Properties of rows as arrays of Arrow, without an object for each."""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire.messages import message_const
from rocketwire.wire.message.properties import split_keys
from rocketwire_tools.numbers import number_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.store.engine.columns import Int64s
    from rocketwire_tools.store.engine.properties import PropertyItems

pa: Any = importlib.import_module("pyarrow")  # it has no types

_TEXT: Final = pa.string()
MAP: Final = pa.map_(pa.string(), pa.string())
KEYS: Final = pa.list_(pa.string())
_FIRST_PLAIN: Final = ord("!")
_LAST_PLAIN: Final = ord("~")
_FEW_NAMES: Final = 16
"""Names for each item at which looking for equal ones is done with an array of all pairs."""


class PropertyArrays:
    """Names and values of properties as arrays of Arrow."""

    def __init__(self, items: PropertyItems) -> None:
        self.items = items  # of rows of one block
        # four parts for each item: its name, what is between, its value, what is before the next
        edges = np.zeros(4 * len(items) + 1, np.int32)
        edges[0:-1:4] = items.names
        edges[1::4] = items.name_ends
        edges[2::4] = items.values
        edges[3::4] = items.value_ends
        edges[-1] = edges[-2] if len(items) else 0
        buffers = [None, pa.py_buffer(edges), pa.py_buffer(items.data)]
        self._parts = pa.Array.from_buffers(_TEXT, 4 * len(items), buffers)

    @cached_property
    def _names(self) -> Any:
        return self._parts.take(pa.array(np.arange(0, 4 * len(self.items), 4)))

    @cached_property
    def _numbers(self) -> tuple[Int64s, list[str]]:
        """A number for the name of each item, and the names."""
        encoded = self._names.dictionary_encode()
        return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()

    def _items_of(self, name: str) -> Int64s | None:
        numbers, names = self._numbers
        if name not in names:
            return None
        items = np.flatnonzero(numbers == names.index(name))
        result = np.full(self.items.row_count, -1, np.int64)
        result[self.items.rows[items]] = items  # of several the last one stays
        return result

    def values(self, name: str) -> Any:
        """The value of a name of each row; null without one."""
        items = self._items_of(name)
        if items is None:
            return pa.nulls(self.items.row_count, _TEXT)
        is_missing = items < 0
        mask = is_missing if is_missing.any() else None
        return self._parts.take(pa.array(4 * items + 2, mask=mask))

    @cached_property
    def has_name_twice(self) -> bool:
        numbers, names = self._numbers
        rows, count = self.items.rows, len(names)
        pairs = rows * count + numbers
        if self.items.row_count * count > _FEW_NAMES * len(self.items):
            return len(np.unique(pairs)) < len(pairs)
        return bool(len(pairs)) and int(np.bincount(pairs).max()) > 1

    def maps(self) -> Any:
        """All properties of each row; of two with one name the last counts."""
        items = self.items
        if self.has_name_twice:
            pairs = [list(properties.items()) for properties in items.dicts()]
            return pa.array(pairs, MAP)
        counts = np.bincount(items.rows, minlength=items.row_count)
        offsets = np.zeros(items.row_count + 1, np.int32)
        np.cumsum(counts, out=offsets[1:])
        values = self._parts.take(pa.array(np.arange(2, 4 * len(items), 4)))
        return pa.MapArray.from_arrays(pa.array(offsets), self._names, values)


def _numbers(values: Any) -> Any:
    """Texts as numbers; null for one that is none."""
    if values.null_count == len(values):
        return pa.nulls(len(values), pa.int32())
    texts = values.to_pylist()
    return pa.array([_int32(text) for text in texts], pa.int32())


def _int32(text: str | None) -> int | None:
    number = number_in(text)
    return number if number is not None and number < 1 << 31 else None


def _keys(values: Any) -> Any:
    if are_plain(values):
        counts = np.asarray(values.is_valid()).astype(np.int32)
        offsets = np.zeros(len(values) + 1, np.int32)
        np.cumsum(counts, out=offsets[1:])
        if not values.null_count:
            return pa.ListArray.from_arrays(pa.array(offsets), values)
        edges = pa.array(offsets, mask=np.append(counts == 0, False))
        return pa.ListArray.from_arrays(edges, values.drop_null())
    lists = [None if value is None else split_keys(value) for value in values.to_pylist()]
    return pa.array(lists, KEYS)


def are_plain(values: Any) -> bool:
    """Whether texts have nothing but visible characters of ASCII, and so no white space."""
    _, edges, data = values.buffers()
    if data is None:
        return True
    offsets = np.frombuffer(edges, np.int32, len(values) + 1, 4 * values.offset)
    text = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    return not (text - np.uint8(_FIRST_PLAIN) > _LAST_PLAIN - _FIRST_PLAIN).any()


PROPERTY_COLUMNS: Final[dict[str, Callable[[PropertyArrays], Any]]] = {
    "properties": PropertyArrays.maps,
    "tags": lambda texts: texts.values(message_const.TAGS),
    "keys": lambda texts: _keys(texts.values(message_const.KEYS)),
    "msg_id": lambda texts: texts.values(message_const.UNIQ_KEY),
    "real_topic": lambda texts: texts.values(message_const.REAL_TOPIC),
    "real_queue_id": lambda texts: _numbers(texts.values(message_const.REAL_QUEUE_ID)),
}
"""Name of a column that is a property → its array."""
