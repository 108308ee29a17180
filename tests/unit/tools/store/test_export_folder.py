"""Exported files of a folder hold what one file holds."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.__main__ import main
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore

PART_SIZE = 10_000
COLUMNS = ("--columns", "commit_log_offset,topic,tags,keys,born_host,store_timestamp")
ds: Any = importlib.import_module("pyarrow.dataset")


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of all files, by their offset in the log."""
    kind = next(folder.iterdir()).suffix[1:]
    if kind == "jsonl":
        lines = [line for file in folder.iterdir() for line in file.read_text().splitlines()]
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    else:
        rows = ds.dataset(folder, format=kind).to_table().to_pylist()
    return sorted(rows, key=lambda row: row["commit_log_offset"])


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl"])
def test_a_folder_holds_what_a_file_holds(
    kind: str, plain: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    for name in ("file/", "folder/"):
        (tmp_path / name).mkdir()
    one = tmp_path / "file" / f"one.{kind}"
    folder = f"{tmp_path}/folder/out/"

    run("export", *COLUMNS, "-o", one, plain.root)
    run("export", *COLUMNS, "-o", folder, "--format", kind, plain.root)

    assert names_in(tmp_path / "folder" / "out") == [f"part-00000.{kind}"]
    assert rows_of(tmp_path / "folder" / "out") == rows_of(tmp_path / "file")


def test_a_folder_has_parquet_if_nothing_else_is_asked_for(
    plain: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    run("export", "-o", f"{tmp_path}/out/", plain.root)

    assert names_in(tmp_path) == ["out"]
    assert len(rows_of(tmp_path / "out")) == len(plain.truth.pulled)


def test_a_folder_that_exists_is_not_written_to(
    plain: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    assert b"overwrites nothing" in run("export", "-o", f"{tmp_path}/", plain.root, status=2).err
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl"])
def test_a_run_that_fails_leaves_no_folder(
    kind: str,
    plain: BrokerStore,
    run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("rocketwire_tools.store.verbs.export.os.fsync", fail)

    answer = run("export", "-o", f"{tmp_path}/out/", "--format", kind, plain.root, status=2)

    assert answer.err == b"rocketwire-store: the disk is full\n"
    assert names_in(tmp_path) == []


def test_a_file_of_a_folder_ends_when_it_is_large(
    plain: BrokerStore, run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketwire_tools.store.verbs.export.FILE_SIZE", 20_000)
    monkeypatch.setattr("rocketwire_tools.store.verbs.export._BLOCK_SIZE", 30_000)

    run("export", "-o", f"{tmp_path}/out/", plain.root)

    assert len(names_in(tmp_path / "out")) > 2
    assert len(rows_of(tmp_path / "out")) == len(plain.truth.pulled)


def test_a_broken_message_late_in_a_file_is_counted(
    copy: BrokerStore, run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage.flip_body(copy.root)
    monkeypatch.setattr("rocketwire_tools.store.verbs.export._BLOCK_SIZE", 30_000)

    answer = run("export", "--json", "-o", f"{tmp_path}/out/", copy.root, status=1)

    assert json.loads(answer.err)["broken_messages"] == 1


@pytest.mark.process
@pytest.mark.parametrize("name", ["nothing", "flip_size"])
def test_processes_write_files_of_the_same_rows(
    name: str, copy: BrokerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage.DAMAGE[name](copy.root)
    monkeypatch.setattr("rocketwire_tools.store.verbs.export.FOLDER_PART", 100_000)

    for folder, options in ((tmp_path / "one", ()), (tmp_path / "two", ("--jobs", "2"))):
        words = ("export", *COLUMNS, "-o", f"{folder}/", *options, copy.root)
        assert main([str(word) for word in words]) == (0 if name == "nothing" else 1)

    names = names_in(tmp_path / "two")
    assert names == [f"part-{number:05}.parquet" for number in range(len(names))]
    assert len(names) > 3
    assert rows_of(tmp_path / "two") == rows_of(tmp_path / "one")


def test_a_folder_without_messages_has_a_file_with_the_columns(
    plain: BrokerStore, run: Callable[..., Any], tmp_path: Path
) -> None:
    run("export", *COLUMNS, "-o", f"{tmp_path}/out/", "--end", "2020-01-01", plain.root)

    table = ds.dataset(tmp_path / "out", format="parquet").to_table()
    assert table.schema.names == COLUMNS[1].split(",")
    assert table.num_rows == 0
