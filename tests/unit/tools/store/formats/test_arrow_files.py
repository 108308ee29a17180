"""Files of Parquet and Arrow."""

import importlib
from io import BytesIO
from typing import Any

import pytest

from rocketwire_tools.store.engine.properties import pa
from rocketwire_tools.store.formats import arrow_rows
from rocketwire_tools.store.formats.arrow_rows import ArrowFile, schema_of

NAMES = ["commit_log_offset", "topic"]
pq: Any = importlib.import_module("pyarrow.parquet")


def batch(first: int) -> Any:
    columns = [pa.array([first, first + 1]), pa.array([f"topic-{first}", "topic"])]
    return pa.record_batch(columns, schema=schema_of(NAMES))


@pytest.mark.parametrize("compression", ["snappy", None])
def test_file_has_all_batches(compression: str | None) -> None:
    output = BytesIO()
    file = ArrowFile(output, NAMES, compression)

    with file:
        for first in (0, 2, 4):
            file.write(batch(first))

    data = BytesIO(output.getvalue())
    table = pq.read_table(data) if compression else pa.ipc.open_file(data).read_all()
    rows = table.to_pylist()
    assert [row["commit_log_offset"] for row in rows] == list(range(6))
    assert [row["topic"] for row in rows[::2]] == ["topic-0", "topic-2", "topic-4"]


@pytest.mark.parametrize("compression", ["snappy", None])
def test_file_that_is_given_up_does_not_get_the_rows_that_wait(compression: str | None) -> None:
    output = BytesIO()
    file = ArrowFile(output, NAMES, compression)
    file.write(batch(0))

    with pytest.raises(KeyboardInterrupt), file:
        raise KeyboardInterrupt
    del file

    assert b"topic-0" not in output.getvalue()


def test_row_group_has_as_many_rows_as_its_size_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_rows, "_GROUP_SIZE", 50)
    output = BytesIO()
    file = ArrowFile(output, NAMES, "snappy")

    with file:
        for first in (0, 2, 4):
            file.write(batch(first))

    assert pq.ParquetFile(BytesIO(output.getvalue())).num_row_groups > 1
