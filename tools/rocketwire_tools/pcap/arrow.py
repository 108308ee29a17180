"""pyarrow, the only place that imports it: it has no types, so what is used of it is written down here.

Rules of this file: ``pyarrow.compute`` makes hundreds of functions when it is imported, which takes as long as the rest of pyarrow:
only who needs one of them by name, for a filter say, asks for ``compute()``.  ``pyarrow.array`` of an array imports ``numpy.ma``,
and whatever has to guess a type imports ``dateutil``, which take as long as 16 MiB of a capture: neither is called.
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
    """Names and types of columns."""

    names: list[str]


class Column(Protocol):
    """Values of one column."""

    type: DataType

    def __len__(self) -> int: ...

    def to_pylist(self) -> list[Any]:
        """The values, None where there is none."""
        ...

    def to_numpy(self) -> Any:
        """The values as an array."""
        ...

    def take(self, indices: Column) -> Column:
        """The values at these places, none where there is no place."""
        ...

    def slice(self, offset: int, length: int) -> Column:
        """Some of the values."""
        ...

    def dictionary_encode(self) -> Any:
        """The distinct values, and which of them each is."""
        ...


class Batch(Protocol):
    """Rows."""

    num_rows: int
    nbytes: int
    schema: Schema

    def column(self, name: str) -> Column:
        """The column of that name."""
        ...

    def filter(self, mask: Column) -> Batch:
        """The rows for which this is true."""
        ...

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as objects."""
        ...

    def slice(self, offset: int, length: int) -> Batch:
        """Some of the rows."""
        ...


def compute() -> Any:
    """``pyarrow.compute``."""
    return importlib.import_module("pyarrow.compute")


def functions() -> Any:
    """What ``pyarrow.compute`` is made of, as long as pyarrow keeps it there: that is no promise of pyarrow's."""
    try:
        found = importlib.import_module("pyarrow._compute")
    except ImportError:
        return compute()
    return found if all(hasattr(found, name) for name in _NEEDED) else compute()


_NEEDED: Final = ("call_function", "CastOptions", "DictionaryEncodeOptions", "JoinOptions")
_of_arrow: Any = functions()
_call: Any = _of_arrow.call_function
_WITH_NULL: Final = _of_arrow.DictionaryEncodeOptions(null_encoding="encode")
_TO_TEXT: Final = _of_arrow.CastOptions(pa.string())
_NULL_AS_TEXT: Final = _of_arrow.JoinOptions(null_handling="replace", null_replacement="null")


def taken(values: Column, indices: Column) -> Column:
    """The values at these places, none where there is no place: ``values.take`` without ``pyarrow.compute``."""
    made: Column = _call("array_take", [values, indices])
    return made


def encoded(values: Column) -> tuple[Column, Column]:
    """The distinct values, of which null may be one, and which of them each value is."""
    made: Any = _call("dictionary_encode", [values], _WITH_NULL)
    return made.dictionary, made.indices


def as_texts(values: Column) -> Column:
    """Numbers as texts."""
    made: Column = _call("cast", [values], _TO_TEXT)
    return made


def strung(*parts: Column) -> Column:
    """The texts of several columns, ``null`` where there is none, one behind the other in each row."""
    made: Column = _call("binary_join_element_wise", [*parts, _NOTHING], _NULL_AS_TEXT)
    return made


def text_bytes(texts: Any) -> memoryview:
    """The bytes of texts of which none is null, one behind the other."""
    _, ends, text = texts.buffers()
    first, last = np.frombuffer(ends, np.int32)[[texts.offset, texts.offset + len(texts)]]
    return memoryview(text)[first:last]


def parquet_writer(file: IO[bytes], schema: Schema, **options: Any) -> Any:
    """A writer of Parquet, from where pyarrow keeps it: ``pyarrow.parquet`` imports every file system that pyarrow knows, and ``ssl``."""
    try:
        writer = importlib.import_module("pyarrow._parquet").ParquetWriter
        return writer(file, schema, version="2.6", writer_engine_version="V2", **options)
    except (ImportError, AttributeError, TypeError, ValueError):
        return importlib.import_module("pyarrow.parquet").ParquetWriter(file, schema, **options)


def batch(columns: Sequence[Column], schema: Schema) -> Batch:
    """Make rows of columns."""
    made: Batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    return made


def column(values: Any, kind: DataType | None = None) -> Column:
    """Make a column of values; an array is not copied, and says itself of which type it is."""
    made: Column = _of_array(values) if kind is None else pa.array(values, kind)
    return made


def packed(rows: Any) -> bytes:
    """A batch as bytes, for another process."""
    made: bytes = rows.serialize().to_pybytes()
    return made


def unpacked(data: bytes, schema: Schema) -> Batch:
    """The batch that was packed; its columns lie in the bytes."""
    made: Batch = pa.ipc.read_record_batch(pa.py_buffer(data), schema)
    return made


def masked(values: Any, good: Any) -> Column:
    """A column of an array, null where it is not good."""
    return _of_array(values, None if good.all() else _bits(good))


def _of_array(values: Any, valid: Any = None) -> Column:
    data = _bits(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    kind = pa.from_numpy_dtype(values.dtype)
    made: Column = pa.Array.from_buffers(kind, len(values), [valid, data])
    return made


def _bits(truth: Any) -> Any:
    return pa.py_buffer(np.packbits(truth, bitorder="little"))
