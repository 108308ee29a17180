"""Rows become the lines that msgspec makes of them as objects."""

import random
from typing import Any

import msgspec
import pytest

from rocketwire_tools.pcap.arrow import Batch, pa
from rocketwire_tools.pcap.rows import json_rows
from rocketwire_tools.pcap.rows.json_rows import JsonRows
from rocketwire_tools.pcap.rows.rows import COLUMNS, EVERY, RAW_BODY, schema
from rocketwire_tools.terminal import escape_line_breaks

TEXTS = (
    None, "", "T", "null", 'a"b', "a\\b", "a\nb\r\t", "\0\x01\x1f\x7f", "\u4e3b\u9898", "\x85\u2028\u2029", "\U0001f600", "</>",
)  # fmt: skip
NUMBERS = (None, 0, 1, -1, 12, (1 << 31) - 1, -(1 << 31))
LONG = (*NUMBERS, (1 << 63) - 1, -(1 << 63), 1_700_000_000_000_000_000)


def rows(count: int, names: tuple[str, ...] = tuple(COLUMNS), seed: int = 1) -> Batch:
    chance = random.Random(seed)
    values: dict[Any, tuple[Any, ...]] = {
        pa.string(): TEXTS, pa.int32(): NUMBERS, pa.int64(): LONG, pa.bool_(): (True, False, None),
    }  # fmt: skip
    types = [EVERY[name] for name in names]
    columns = [pa.array(chance.choices(values[type_], k=count), type_) for type_ in types]
    batch: Batch = pa.RecordBatch.from_arrays(columns, schema=schema(names))
    return batch


def lines(batch: Batch) -> bytes:
    return b"".join(JsonRows(batch.schema).lines(batch))


def lines_of_objects(batch: Batch) -> bytes:
    return escape_line_breaks(msgspec.json.Encoder().encode_lines(batch.to_pylist()))


@pytest.mark.parametrize(
    "batch",
    [
        *(rows(count) for count in (0, 1, 127, 128, 129, 1000)),
        rows(500, tuple(name for name in EVERY if name != RAW_BODY)),
        rows(1000).slice(301, 450),
    ],
    ids=lambda batch: f"{batch.num_rows} rows",
)
def test_lines_are_those_of_the_rows_as_objects(batch: Batch) -> None:
    assert lines_of_objects(batch) == lines(batch)
    assert lines(batch).count(b"\n") == batch.num_rows


@pytest.mark.parametrize("value", ["T", None])
def test_lines_of_columns_with_one_value(value: str | None) -> None:
    names = ("topic", "group")
    columns = [pa.array([value] * 200, pa.string())] * 2
    batch = pa.RecordBatch.from_arrays(columns, schema=schema(names))
    assert lines_of_objects(batch) == lines(batch)
    with_number = pa.RecordBatch.from_arrays(
        [columns[0], pa.array(range(200), pa.int32()), columns[1]],
        schema=schema(("topic", "opaque", "group")),
    )
    assert lines_of_objects(with_number) == lines(with_number)


def test_many_or_large_rows_are_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = rows(3000)
    monkeypatch.setattr(json_rows, "_MAX_ROWS", 700)
    assert len(list(JsonRows(batch.schema).lines(batch))) == 5
    assert lines_of_objects(batch) == lines(batch)
    monkeypatch.setattr(json_rows, "_LARGEST", batch.nbytes // 10)
    assert len(list(JsonRows(batch.schema).lines(batch))) > 10
    assert lines_of_objects(batch) == lines(batch)
