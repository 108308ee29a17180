"""The readers as Spark calls them, without Spark: what they plan, read and remember."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.rows.rows import COLUMNS
from rocketwire_tools.spark.columns import columns, every_column
from tests.peers.foreign.captures import capture
from tests.peers.foreign.files import save
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import LOSSY, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")

Content = Counter[tuple[Any, ...]]


def source(**options: str) -> Any:
    from pyspark_rocketwire import DefaultSource

    return DefaultSource(options)


def schema(names: Iterable[str] | None = None) -> Any:
    """The schema of these columns, or of those of a read that does not choose any."""
    from pyspark.sql.types import (
        BooleanType,
        IntegerType,
        LongType,
        StringType,
        StructField,
        StructType,
    )

    kinds = {"string": StringType, "bigint": LongType, "int": IntegerType, "boolean": BooleanType}
    every = every_column()
    return StructType(
        [StructField(name, kinds[every[name]]()) for name in (COLUMNS if names is None else names)]
    )


def read(reader: Any, partitions: Iterable[Any]) -> list[dict[str, Any]]:
    """All rows; readers and partitions travel to workers first."""
    return [
        row
        for partition in partitions
        for batch in copy_by_pickle(reader).read(copy_by_pickle(partition))
        for row in batch.to_pylist()
    ]


def copy_by_pickle(one: Any) -> Any:
    """Return a copy of an object through pickle."""
    return pickle.loads(pickle.dumps(one))


def content(found: Iterable[dict[str, Any]], *, but: Iterable[str] = ()) -> Content:
    return Counter(tuple(value for name, value in row.items() if name not in but) for row in found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of two kinds, one with losses."""
    made = tmp_path_factory.mktemp("captures")
    save(made / "usual.pcap", capture(SMALL, 1).packets)
    save(made / "lossy.pcapng", capture(LOSSY, 2).packets, pcapng=True)
    return made


def of_command(folder: Path, **but: Iterable[str]) -> Content:
    return content((row for path in folder.iterdir() for row in rows(path)), **but)


def test_it_has_the_name_and_the_columns_that_are_documented() -> None:
    made = source(path="x")
    assert "rocketmq-pcap" == made.name()
    from rocketwire_tools.spark.options import Settings

    text = ", ".join(f"`{name}` {kind}" for name, kind in columns(Settings(paths=("x",))).items())
    assert text == made.schema()


def test_batches_have_the_schema_that_spark_compares_with(folder: Path) -> None:
    from rocketwire_tools.pcap.rows.rows import schema as of_rows

    chosen = schema(["topic", "latency_ns", "header_ok", "code"])
    reader = source(path=str(folder)).reader(chosen)
    batch: Any = next(reader.read(reader.partitions()[0]))
    assert of_rows(chosen.names) == batch.schema


def test_column_that_is_not_there_or_of_another_type_is_refused(folder: Path) -> None:
    from pyspark.sql.types import StringType, StructField, StructType

    with pytest.raises(ValueError, match="no column 'code' of type string"):
        source(path=str(folder)).reader(StructType([StructField("code", StringType())]))


def test_masks_are_those_of_the_command_and_filters_of_a_query_read_them(
    folder: Path, tmp_path: Path
) -> None:
    printed = tmp_path / "masked.jsonl"
    for path in sorted(folder.iterdir()):
        assert 0 == main(["decode", str(path), "-o", str(printed), "--redact", "sesame"])
        masked = [json.loads(line) for line in printed.read_text("utf-8").splitlines()]

        reader = source(path=str(path), redact="sesame", pushFilters="true").reader(schema())

        assert content(masked) == content(read(reader, reader.partitions()))
        assert "CaptureReader" == reader.__class__.__name__  # the one that is given no filters


def test_filter_that_makes_no_sense_is_refused_before_there_are_tasks(folder: Path) -> None:
    with pytest.raises(ValueError, match="no column 'colour'"):
        source(path=str(folder), filter="colour == 1").reader(schema())


def test_many_small_files_are_few_tasks(tmp_path: Path) -> None:
    packets = capture(SMALL, 7).packets
    count = len(packets) // 200
    for number in range(200):
        save(tmp_path / f"{number}.pcap", packets[number * count : (number + 1) * count])
    reader = source(path=str(tmp_path), join="none").reader(schema())
    partitions: list[Any] = reader.partitions()
    assert 3 <= len(partitions) < 150
    assert of_command(tmp_path) == content(read(reader, partitions))


def test_stand_in_for_no_partitions_has_no_rows(folder: Path) -> None:
    from pyspark.sql.datasource import InputPartition

    assert [] == read(source(path=str(folder)).reader(schema()), [InputPartition(None)])
