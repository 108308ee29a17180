"""Rows are those of the command for parts of any size and all options."""

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rocketwire_tools.spark.stores.options import read_options
from rocketwire_tools.spark.stores.planning import DamageError, parts
from rocketwire_tools.spark.stores.reading import read
from tests.peers.peers import CURRENT
from tests.support.file_programs import call_store
from tests.support.stores.damage import DAMAGE, flip_body, zero_page
from tests.support.stores.fixtures import PACKED, OpenStore, unpack
from tests.unit.tools.spark.stores.conftest import EVERY, read_rows

WITHOUT_STATE = tuple(name for name in EVERY if name not in ("crc_ok", "state"))
pq: Any = importlib.import_module("pyarrow.parquet")


def export(root: Path, out: Path, *arguments: str, fields: Sequence[str] = EVERY) -> list[Any]:
    """The rows that the command exports."""
    names = ",".join(name for name in fields if name != "store")
    call_store("export", "--columns", names, *arguments, "-o", out, root)
    rows: list[dict[str, Any]] = pq.read_table(out).to_pylist()
    return [row | {"store": str(root)} for row in rows]


@pytest.mark.parametrize(
    ("release", "kind"),
    [*PACKED[:3], *(pytest.param(*store, marks=pytest.mark.full) for store in PACKED[3:])],
)
def test_parts_of_any_size_give_the_rows_of_the_command(
    open_store: OpenStore, tmp_path: Path, release: str, kind: str
) -> None:
    root = open_store(release, kind).root
    expected = export(root, tmp_path / "all.parquet", "--system", "--broken")

    for size in ("1g", "30k", "3000"):
        _, rows = read_rows(path=str(root), system="true", splitSize=size)
        assert rows == expected
        _, rows = read_rows(WITHOUT_STATE, path=str(root), system="true", splitSize=size)
        assert rows == [{name: row[name] for name in WITHOUT_STATE} for row in expected]


@pytest.mark.parametrize(
    "damage",
    [
        "flip_body",
        "shorten_last_file",
        *(
            pytest.param(name, marks=pytest.mark.full)
            for name in sorted(DAMAGE.keys() - {"remove_log", "flip_body", "shorten_last_file"})
        ),
    ],
)
def test_damaged_log_gives_the_rows_of_the_command_too(tmp_path: Path, damage: str) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "copy").root
    DAMAGE[damage](root)
    expected = export(root, tmp_path / "all.parquet", "--broken")
    without_state = [{name: row[name] for name in WITHOUT_STATE} for row in expected]

    for size in ("1g", "20000"):
        assert read_rows(path=str(root), splitSize=size)[1] == expected
        assert read_rows(WITHOUT_STATE, path=str(root), splitSize=size)[1] == without_state
        _, of_log = read_rows(WITHOUT_STATE, path=str(root), splitSize=size, topic="orders")
        assert of_log == [row for row in without_state if row["topic"] == "orders"]


def test_body_with_a_wrong_checksum_is_kept_dropped_or_refused(tmp_path: Path) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "copy").root
    flip_body(root)

    _, all_rows = read_rows(path=str(root), mode="PERMISSIVE")
    _, valid_rows = read_rows(path=str(root), mode="DROPMALFORMED")

    assert [row for row in all_rows if row["crc_ok"]] == valid_rows
    assert len(all_rows) == len(valid_rows) + 1
    with pytest.raises(DamageError, match=r"commitlog/\d+ at byte \d+: the body"):
        read_rows(path=str(root), mode="FAILFAST")


def test_damaged_region_is_skipped_or_refused(tmp_path: Path) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "copy").root
    _, all_rows = read_rows(path=str(root), mode="FAILFAST")
    zero_page(root)

    _, remaining = read_rows(path=str(root), mode="DROPMALFORMED")

    assert 0 < len(all_rows) - len(remaining) < 20
    with pytest.raises(DamageError, match=r"commitlog/\d+ at byte \d+: \w+ of \d+ bytes, "):
        read_rows(path=str(root), mode="FAILFAST")


@pytest.mark.parametrize(
    "options",
    [
        {"queue": "1"},
        {"tag": "paid, new"},
        {"offsets": "3:5"},
        {"physical": "100000:400000"},
        {"key": "order-1"},
        {"sql": "amount > 3"},
        {"topic": "orders", "tag": "paid"},
        {"topic": "orders,bills", "queue": "0", "offsets": "2:"},
        {"topic": "orders", "offsets": "900000:"},
    ],
    ids=str,
)
def test_options_choose_the_messages_of_the_command(
    open_store: OpenStore, tmp_path: Path, options: dict[str, str]
) -> None:
    root = open_store(CURRENT, "plain").root
    arguments = [
        argument
        for name, value in options.items()
        for part in (value.split(",") if name in ("tag", "topic") else [value])
        for argument in (f"--{name}", part.strip())
    ]
    expected = export(root, tmp_path / "x.parquet", *arguments, fields=WITHOUT_STATE)

    _, rows = read_rows(WITHOUT_STATE, path=str(root), splitSize="20000", **options)

    assert sorted(rows, key=str) == sorted(expected, key=str)


def test_read_may_name_the_store_alone(open_store: OpenStore) -> None:
    store = open_store(CURRENT, "plain")

    _, rows = read_rows(["store"], path=str(store.root))

    assert rows == [{"store": str(store.root)}] * len(store.truth.pulled)


@pytest.mark.parametrize(
    ("options", "share"), [({"physical": ":100000"}, 0.3), ({"end": "2020-01-01"}, 0.0)], ids=str
)
def test_excluded_messages_are_not_read_from_the_log(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], share: float
) -> None:
    path = str(open_store(CURRENT, "plain").root)
    sizes: list[int] = []

    def count_bytes(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        sizes.append(preadv(descriptor, buffers, offset))
        return sizes[-1]

    def bytes_read(**options: str) -> int:
        settings = read_options({"path": path, "splitSize": "30k", **options})
        planned = parts(settings, ("topic",))
        sizes.clear()
        for part in planned:
            assert sum(map(len, read(part, ("topic",), settings))) >= 0
        return sum(sizes)

    preadv = os.preadv
    monkeypatch.setattr(os, "preadv", count_bytes)

    assert bytes_read(**options) <= share * bytes_read()
