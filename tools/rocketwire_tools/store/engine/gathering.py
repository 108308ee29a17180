"""Parts of a block, copied one after the other by Arrow, in place of a slice for each."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.store.engine.properties import PropertyItems

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Bools, Bytes, Int64s, Messages

pa: Any = importlib.import_module("pyarrow")  # it has no types

_VALUE_END: Final = 2


def gather(data: Bytes, starts: Int64s, sizes: Int64s, is_null: Bools | None = None) -> Any:
    """Parts of less than 2 GiB as an array of Arrow; those of ``is_null`` become null."""
    count = len(starts)
    edges = np.empty(2 * count + 1, np.int32)
    edges[0:-1:2] = starts
    edges[1::2] = starts + sizes
    edges[-1] = len(data)
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(data)]
    parts = pa.Array.from_buffers(pa.binary(), 2 * count, buffers)
    return parts.take(pa.array(np.arange(0, 2 * count, 2), mask=is_null))


def property_items(messages: Messages) -> PropertyItems:
    data, starts, sizes = messages.data, messages.properties, messages.property_sizes
    last = data[np.minimum(starts + sizes, len(data)) - 1]
    if len(starts) and sizes.all() and (last == _VALUE_END).all():  # as a broker writes them
        texts = gather(data, starts, sizes)
        return PropertyItems.from_joined(
            texts.buffers()[2].to_pybytes()[: int(sizes.sum())], sizes - 1
        )
    ends = (starts + sizes).tolist()
    places = zip(starts.tolist(), ends, strict=True)
    return PropertyItems([data[begin:end].tobytes() for begin, end in places])
