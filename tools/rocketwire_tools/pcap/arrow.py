"""The only module that imports pyarrow. pyarrow has no types, so this module declares those it
uses.

``pyarrow.compute`` creates hundreds of functions when it is imported, which takes as long as the
rest of pyarrow, so it is imported only by ``compute()``. ``pyarrow.array`` of an array imports
``numpy.ma``, and type inference imports ``dateutil``. Each takes as long as 16 MiB of a capture, so
neither is called.
"""

from __future__ import annotations

import importlib
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

pa: Any = importlib.import_module("pyarrow")
_NOTHING: Any = pa.scalar("", pa.string())


class DataType(Protocol):
    """Type of a column."""


class Schema(Protocol):
    names: list[str]
    types: list[DataType]


class Column(Protocol):
    type: DataType

    def __len__(self) -> int: ...

    def to_pylist(self) -> list[Any]:
        """The values; None for a missing value."""
        ...

    def to_numpy(self, *, zero_copy_only: bool = True) -> Any: ...

    def take(self, indices: Column) -> Column:
        """The values at some indices; null for a null index."""
        ...

    def slice(self, offset: int, length: int) -> Column: ...

    def dictionary_encode(self) -> Any:
        """The distinct values, and the index of each value in them."""
        ...


class Batch(Protocol):
    num_rows: int
    nbytes: int
    schema: Schema

    def column(self, name: str) -> Column: ...

    def filter(self, mask: Column) -> Batch:
        """The rows for which the mask is true."""
        ...

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as objects."""
        ...

    def slice(self, offset: int, length: int) -> Batch: ...


def compute() -> Any:
    return importlib.import_module("pyarrow.compute")


def functions() -> Any:
    """The private module under ``pyarrow.compute``, or ``pyarrow.compute`` if it is missing or
    has changed."""
    try:
        module = importlib.import_module("pyarrow._compute")
    except ImportError:
        return compute()
    return module if all(hasattr(module, name) for name in _NEEDED) else compute()


_NEEDED: Final = ("call_function", "CastOptions", "DictionaryEncodeOptions", "JoinOptions")
_of_arrow: Any = functions()
_call: Any = _of_arrow.call_function
_WITH_NULL: Final = _of_arrow.DictionaryEncodeOptions(null_encoding="encode")
_TO_TEXT: Final = _of_arrow.CastOptions(pa.string())
_NULL_AS_TEXT: Final = _of_arrow.JoinOptions(null_handling="replace", null_replacement="null")


def take(values: Column, indices: Column) -> Column:
    """The values at some indices, like ``values.take`` without ``pyarrow.compute``."""
    return _call("array_take", [values, indices])


def encode(values: Column) -> tuple[Column, Column]:
    """The distinct values, maybe with null, and the index of each value in them."""
    result: Any = _call("dictionary_encode", [values], _WITH_NULL)
    return result.dictionary, result.indices


def as_texts(values: Column) -> Column:
    return _call("cast", [values], _TO_TEXT)


def concatenate_columns(*parts: Column) -> Column:
    """Concatenate the texts of several columns in each row; ``null`` stands for a missing text."""
    return _call("binary_join_element_wise", [*parts, _NOTHING], _NULL_AS_TEXT)


def text_bytes(texts: Any) -> memoryview:
    _, ends, text = texts.buffers()
    first, last = np.frombuffer(ends, np.int32)[[texts.offset, texts.offset + len(texts)]]
    return memoryview(text)[first:last]


def parquet_writer(file: IO[bytes], schema: Schema, **options: Any) -> Any:
    """Create a Parquet writer without ``pyarrow.parquet``, which imports ``ssl`` and all file
    systems of pyarrow."""
    try:
        writer = importlib.import_module("pyarrow._parquet").ParquetWriter
        return writer(file, schema, version="2.6", writer_engine_version="V2", **options)
    except (ImportError, AttributeError, TypeError, ValueError):
        return importlib.import_module("pyarrow.parquet").ParquetWriter(file, schema, **options)


def batch(columns: Sequence[Column], schema: Schema) -> Batch:
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def column(values: Any, data_type: DataType | None = None) -> Column:
    return _of_array(values) if data_type is None else pa.array(values, data_type)


def mask(values: Any, good: Any) -> Column:
    """Make a column of an array, with nulls where it is not good."""
    return _of_array(values, None if good.all() else _bits(good))


def _of_array(values: Any, valid: Any = None) -> Column:
    data = _bits(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    data_type = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(data_type, len(values), [valid, data])


def _bits(truth: Any) -> Any:
    return pa.py_buffer(np.packbits(truth, bitorder="little"))
