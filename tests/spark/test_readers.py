"""The readers as Spark calls them, without Spark."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from rocketwire_tools.pcap.rows.rows import COLUMNS
from rocketwire_tools.spark.columns import columns, every_column
from tests.peers.foreign.captures import capture
from tests.peers.foreign.files import save
from tests.support.captures.decoded_rows import rows
from tests.support.captures.fixtures import LOSSY, SMALL
from tests.support.file_programs import run_pcap
from tests.support.spark_sources import make_schema, read_partitions

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")

Content = Counter[tuple[Any, ...]]


def source(**options: str) -> Any:
    from pyspark_rocketwire import DefaultSource

    return DefaultSource(options)


def schema(names: Iterable[str] | None = None) -> Any:
    every = every_column()
    return make_schema({name: every[name] for name in (COLUMNS if names is None else names)})


def content(decoded: Iterable[dict[str, Any]], *, but: Iterable[str] = ()) -> Content:
    return Counter(
        tuple(value for name, value in row.items() if name not in but) for row in decoded
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("captures")
    save(path / "sample.pcap", capture(SMALL, 1).packets)
    save(path / "lossy.pcapng", capture(LOSSY, 2).packets, pcapng=True)
    return path


def of_command(folder: Path, **but: Iterable[str]) -> Content:
    return content((row for path in folder.iterdir() for row in rows(path)), **but)


def test_source_has_its_documented_name_and_columns() -> None:
    reader_source = source(path="x")
    assert "rocketmq-pcap" == reader_source.name()
    from rocketwire_tools.spark.options import Settings

    text = ", ".join(f"`{name}` {type_}" for name, type_ in columns(Settings(paths=("x",))).items())
    assert text == reader_source.schema()


def test_batches_have_the_schema_that_spark_compares_with(folder: Path) -> None:
    from rocketwire_tools.pcap.rows.rows import schema as of_rows

    chosen = schema(["topic", "latency_ns", "header_ok", "code"])
    reader = source(path=str(folder)).reader(chosen)
    batch: Any = next(reader.read(reader.partitions()[0]))
    assert of_rows(chosen.names) == batch.schema


def test_column_of_another_type_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="no column 'code' of type string"):
        source(path=str(folder)).reader(make_schema({"code": "string"}))


def test_masks_are_those_of_the_command(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        masked = run_pcap("decode", path, "--format", "jsonl", "--redact", "sesame").lines
        reader = source(path=str(path), redact="sesame").reader(schema())
        assert content(masked) == content(read_partitions(reader, reader.partitions()))


def test_invalid_filter_is_refused_before_there_are_tasks(folder: Path) -> None:
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
    assert of_command(tmp_path) == content(read_partitions(reader, partitions))


def test_stand_in_for_no_partitions_has_no_rows(folder: Path) -> None:
    from pyspark.sql.datasource import InputPartition

    assert [] == read_partitions(source(path=str(folder)).reader(schema()), [InputPartition(None)])
