"""Parts of a block as arrays of Arrow, in place of an object for each."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from rocketwire_tools.store.engine.columns import Bools, Bytes, Int64s

pa: Any = importlib.import_module("pyarrow")  # it has no types
pc: Any = importlib.import_module("pyarrow.compute")
TEXT: Final = pa.string()
BINARY: Final = pa.binary()


def build_array(kind: Any, data: Any, sizes: Int64s) -> Any:
    edges = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=edges[1:])
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(sizes), buffers)


def gather(data: Bytes, starts: Int64s, sizes: Int64s, is_null: Bools | None = None) -> Any:
    """Parts of less than 2 GiB as an array of Arrow; those of ``is_null`` become null."""
    count = len(starts)
    edges = np.empty(2 * count + 1, np.int32)
    edges[0:-1:2] = starts
    edges[1::2] = starts + sizes
    edges[-1] = len(data)
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(data)]
    parts = pa.Array.from_buffers(BINARY, 2 * count, buffers)
    return parts.take(pa.array(np.arange(0, 2 * count, 2), mask=is_null))
