"""Exported files of a folder hold what one file holds."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore, damage

COLUMNS = ("--columns", "commit_log_offset,topic,tags,keys,born_host,store_timestamp")
ds: Any = importlib.import_module("pyarrow.dataset")


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of all files, by their offset in the log."""
    form = next(folder.iterdir()).suffix[1:]
    if form == "jsonl":
        lines = [line for file in folder.iterdir() for line in file.read_text().splitlines()]
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    else:
        rows = ds.dataset(folder, format=form).to_table().to_pylist()
    return sorted(rows, key=lambda row: row["commit_log_offset"])


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("form", ["parquet", "arrow", "jsonl"])
def test_folder_holds_what_a_file_holds(form: str, intact: BrokerStore, tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()

    run_store("export", *COLUMNS, "-o", tmp_path / "file" / f"rows.{form}", intact.root)
    run_store("export", *COLUMNS, "-o", f"{tmp_path}/folder/", "--format", form, intact.root)

    assert names_in(tmp_path / "folder") == [f"part-00000.{form}"]
    assert rows_of(tmp_path / "folder") == rows_of(tmp_path / "file")


def test_folder_has_parquet_by_default(intact: BrokerStore, tmp_path: Path) -> None:
    run_store("export", "-o", f"{tmp_path}/out/", intact.root)

    assert names_in(tmp_path) == ["out"]
    assert len(rows_of(tmp_path / "out")) == len(intact.truth.pulled)


def test_folder_that_exists_is_not_written_to(intact: BrokerStore, tmp_path: Path) -> None:
    assert (
        "overwrites nothing" in run_store("export", "-o", f"{tmp_path}/", intact.root, status=2).err
    )
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("form", ["parquet", "arrow", "jsonl"])
def test_run_that_fails_leaves_no_folder(
    form: str, intact: BrokerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("rocketwire_tools.store.verbs.export.os.fsync", fail)

    answer = run_store("export", "-o", f"{tmp_path}/out/", "--format", form, intact.root, status=2)

    assert answer.err == "rocketwire-store: the disk is full\n"
    assert names_in(tmp_path) == []


def test_file_of_a_folder_ends_when_it_is_large(
    intact: BrokerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketwire_tools.store.verbs.export.FILE_SIZE", 20_000)
    monkeypatch.setattr("rocketwire_tools.store.verbs.export._BLOCK_SIZE", 30_000)

    run_store("export", "-o", f"{tmp_path}/out/", intact.root)

    assert len(names_in(tmp_path / "out")) > 2
    assert len(rows_of(tmp_path / "out")) == len(intact.truth.pulled)


def test_broken_message_late_in_a_file_is_counted(
    store: BrokerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage.flip_body(store.root)
    monkeypatch.setattr("rocketwire_tools.store.verbs.export._BLOCK_SIZE", 30_000)

    answer = run_store("export", "--json", "-o", f"{tmp_path}/out/", store.root, status=1)

    assert json.loads(answer.err)["broken_messages"] == 1


def test_folder_without_messages_has_a_file_of_columns(intact: BrokerStore, tmp_path: Path) -> None:
    run_store("export", *COLUMNS, "-o", f"{tmp_path}/out/", "--end", "2020-01-01", intact.root)

    table = ds.dataset(tmp_path / "out", format="parquet").to_table()
    assert table.schema.names == COLUMNS[1].split(",")
    assert table.num_rows == 0
