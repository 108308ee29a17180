"""Files of Parquet and Arrow, written batch by batch."""

from __future__ import annotations

import importlib
from typing import IO, TYPE_CHECKING, Any, Final, Self

from rocketwire_tools.store.engine.arrow import pa
from rocketwire_tools.store.formats.arrow_rows import FEW_VALUES, schema_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_WITHOUT_ORDER: Final = frozenset({"body", "properties", "keys", "offset_msg_id"})
"""Columns of which no reader asks for the least and the largest value."""
_GROUP_SIZE: Final = 16 << 20  # bytes of the rows that become one row group of Parquet


class ArrowFile:
    """A file of Parquet, or of Arrow if no compression is given.

    Parquet describes each row group at the end of the file: until then it takes 26 KB of memory.
    """

    def __init__(self, file: IO[bytes], names: Sequence[str], compression: str | None) -> None:
        self._batches: list[Any] = []
        self._size = 0
        schema = schema_of(names, has_dictionaries=compression is not None)
        self._schema = schema
        self._writer: Any
        if compression:
            parquet: Any = importlib.import_module("pyarrow.parquet")
            self._writer = parquet.ParquetWriter(
                file,
                schema,
                compression=compression,
                store_schema=False,  # or Arrow's readers would get dictionaries and not texts
                use_dictionary=list(FEW_VALUES),
                write_statistics=[name for name in names if name not in _WITHOUT_ORDER],
            )
        else:
            self._writer = pa.ipc.new_file(file, schema)

    def write(self, batch: Any) -> None:
        self._batches.append(batch)
        self._size += batch.nbytes
        if self._size >= _GROUP_SIZE:
            self._write_batches()

    def _write_batches(self) -> None:
        table = pa.Table.from_batches(self._batches, self._schema)
        self._writer.write_table(table.unify_dictionaries())
        self._batches, self._size = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._write_batches()
            self._writer.close()
        elif hasattr(self._writer, "is_open"):  # Parquet's writer would write when it is collected
            self._writer.is_open = False
