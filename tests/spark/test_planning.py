"""The files of a read and its cuts, without Spark."""

import subprocess
import sys
from pathlib import Path

import pytest

from rocketwire_tools.pcap.decode.split_decoder import Reach
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.records import CHUNK_SIZE
from rocketwire_tools.pcap.files.splits import Split
from rocketwire_tools.pcap.rows.rows import COLUMNS
from rocketwire_tools.spark.columns import columns
from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.options import Settings, read_options
from rocketwire_tools.spark.planning import Part, files, parts
from rocketwire_tools.spark.reading import read
from rocketwire_tools.spark.sizing import part_size, tasks


def test_options_have_defaults_units_and_any_case() -> None:
    assert Settings(paths=("x",)) == read_options({"path": "x"})
    assert Settings(paths=("x",)).chunk_size == CHUNK_SIZE
    reach = Reach()
    default = Settings(paths=("x",))
    assert (default.look_behind, default.look_ahead) == (reach.backward, reach.ahead)
    settings = read_options(
        {
            "PATHS": '["a", "b"]',
            "splitsize": "64m",
            "Mode": "EXACT",
            "extFields": "true",
            "badFile": "skip",
        }
    )
    assert ("a", "b") == settings.paths
    assert (64 << 20, "exact", True, "skip") == (
        settings.split_size, settings.mode, settings.ext_fields, settings.bad_file,
    )  # fmt: skip
    assert [7, 1024, 2 << 20, 1 << 30] == [
        read_options({"path": "x", "lookAhead": size}).look_ahead
        for size in ("7", "1k", "2MB", "1g")
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("nonsense", "1", "unknown option 'nonsense'; the options are path"),
        ("mode", "fast", "'fast' is not one of split, exact"),
        ("splitSize", "large", "'large' is not a size"),
        ("paths", "a", "is not a JSON list"),
        ("extFields", "1", "is not one of true, false"),
        ("redact", "", "an empty secret hides nothing"),
    ],
)
def test_invalid_option_is_refused(name: str, value: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_options({"path": "x", name: value})


def test_without_a_path_there_is_nothing_to_read() -> None:
    with pytest.raises(OptionError, match="no path"):
        read_options({})


def test_files_come_in_the_order_in_which_they_were_rotated(tmp_path: Path) -> None:
    for name in ("t.pcap", "t.pcap10", "t.pcap9", "t.pcap1", ".hidden", "_SUCCESS"):
        (tmp_path / name).touch()
    names = [path.rpartition("/")[2] for path in files([str(tmp_path)])]
    assert ["t.pcap", "t.pcap1", "t.pcap9", "t.pcap10"] == names
    assert files([f"{tmp_path}/t.pcap?"]) == files([f"file://{tmp_path}/t.pcap[19]"])


def test_tasks_get_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.pcap").touch()
    monkeypatch.chdir(tmp_path)
    assert [str(tmp_path / "t.pcap")] == files(["t.pcap"]) == files(["*.pcap"]) == files(["."])


def test_missing_path_and_a_file_system_of_hadoop_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="there is no such file"):
        files([str(tmp_path / "*.pcap")])
    with pytest.raises(OptionError, match=r"s3a://bucket/x\.pcap: Python workers see"):
        files(["s3a://bucket/x.pcap"])


@pytest.fixture
def trace(tmp_path: Path) -> list[str]:
    head = b"\xd4\xc3\xb2\xa1" + bytes(12) + b"\xff\xff\x00\x00" + b"\x01\x00\x00\x00"
    paths = [tmp_path / f"{number}.pcap" for number in range(3)]
    for path in paths:
        path.write_bytes(head)
    return [str(path) for path in paths]


@pytest.mark.parametrize(
    ("sizes", "processors", "size"),
    [
        ([1000], 2, 500),
        ([1200], 2, 300),
        ([1200], 8, 256),
        ([10], 2, 256),
        ([50_000], 4, 500),
        ([700, 700, 700], 2, 350),
        ([600] * 100, 2, 512),
        ([], 2, 256),
    ],
)
def test_parts_are_large_and_keep_processors_equally_busy(
    tmp_path: Path, sizes: list[int], processors: int, size: int
) -> None:
    paths: list[str] = []
    for number, megabytes in enumerate(sizes):
        path = tmp_path / str(number)
        with path.open("wb") as file:
            file.truncate(megabytes << 20)
        paths.append(str(path))
    size_of_part = part_size(paths, None, processors)
    assert 0.97 * size < size_of_part / (1 << 20) <= size
    assert 7 == part_size(paths, 7, processors)


def test_small_files_are_read_together_by_few_tasks(tmp_path: Path) -> None:
    sizes = [10] * 40 + [100, 10, 10]
    small_parts: list[Part] = []
    for number, size in enumerate(sizes):
        path = tmp_path / str(number)
        path.write_bytes(bytes(size))
        small_parts.append(Part(Split(str(path))))
    parts_of_tasks = tasks(small_parts, 2)
    assert small_parts == [part for parts_of_task in parts_of_tasks for part in parts_of_task]
    assert [8] * 5 + [1, 2] == [len(parts_of_task) for parts_of_task in parts_of_tasks]
    cut = [Part(Split("x", 0, 10)), Part(Split("x", 10)), Part(Split("y"), (0, 2))]
    assert [[part] for part in cut] == tasks(cut, 2)
    assert [] == tasks([], 2)


def test_empty_file_has_no_rows_in_exact_mode_either(tmp_path: Path) -> None:
    path = tmp_path / "empty.pcap"
    path.touch()
    settings = Settings(paths=(str(path),), mode="exact")
    (part,) = parts(settings)
    assert [] == list(read(part, ["opaque"], settings))


def test_parts_that_are_too_many_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.pcap"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(OptionError, match=r"'splitSize': 64 bytes make 16777216 parts of .*pcap"):
        parts(read_options({"path": str(path), "splitSize": "64"}))


def test_exact_mode_shares_a_file_out(trace: list[str]) -> None:
    settings = Settings(paths=(trace[0],), mode="exact", shares=2)
    assert [Part(Split(trace[0]), (k, 2)) for k in range(2)] == parts(settings)
    assert [Part(Split(trace[0]))] == parts(Settings(paths=(trace[0],), mode="exact"))


def test_bad_file_is_named_or_skipped(
    trace: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "notes.txt"
    bad.write_bytes(b"nothing of the kind" * 1000)
    paths = (str(bad), trace[0])
    with pytest.raises(CaptureError, match=r"notes\.txt at byte 0: this is neither"):
        parts(Settings(paths=paths, split_size=100))
    skipping = Settings(paths=paths, split_size=100, bad_file="skip")
    assert [Part(Split(trace[0]))] == parts(skipping)
    assert "rocketmq-pcap: skipped: " in capsys.readouterr().err
    assert [] == list(read(Part(Split(str(bad))), ["code"], skipping))
    with pytest.raises(CaptureError, match=r"notes\.txt"):
        list(read(Part(Split(str(bad))), ["code"], Settings(paths=paths)))


def test_columns_follow_the_options() -> None:
    assert list(COLUMNS) == list(columns(Settings(paths=("x",))))
    assert "body_length" not in columns(Settings(paths=("x",), body="none"))
    items = list(columns(Settings(paths=("x",), body="decoded", ext_fields=True)).items())
    assert {"ext_fields": "string", "body": "string"} == dict(items[-2:])


@pytest.mark.process
def test_import_of_the_package_is_cheap() -> None:
    pytest.importorskip("pyspark")
    source = "import sys, pyspark_rocketwire; print([m for m in ('numpy', 'trio', 'msgspec', 'rocketwire') if m in sys.modules])"
    process = subprocess.run([sys.executable, "-c", source], capture_output=True, check=True)
    assert process.stdout.strip() == b"[]"


@pytest.mark.process
def test_planning_a_query_does_not_import_the_engine() -> None:
    source = (
        "import sys, rocketwire_tools.spark.options, rocketwire_tools.spark.planning;"
        "print([m for m in sys.modules if m in ('rocketwire_tools.pcap.decode.decoder', 'msgspec')])"
    )
    process = subprocess.run([sys.executable, "-c", source], capture_output=True, check=True)
    assert process.stdout.strip() == b"[]"
