"""A stream reads each whole message once, while a log grows, and reports what it can no longer read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.spark.stores import streaming
from rocketwire_tools.spark.stores.options import read_options
from rocketwire_tools.spark.stores.planning import DamageError
from rocketwire_tools.spark.stores.reading import read
from rocketwire_tools.spark.stores.streaming import (
    Cuts,
    Offset,
    ends,
    latest,
    parts_between,
)
from tests.support.java.peers import CURRENT
from tests.support.stores.damage import log_files, places, put, remove_first_file, zero_page
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rocketwire_tools.spark.stores.options import Settings
    from tests.support.stores import BrokerStore

FIELDS = ("physical_offset",)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store that a test may change."""
    return unpack(CURRENT, "plain", tmp_path / "copy").root


def settings_of(root: Path, **options: str) -> Settings:
    return read_options({"path": str(root), "system": "true", **options})


def rows_between(settings: Settings, start: Offset, end: Offset) -> list[int]:
    """Physical offsets of a micro-batch."""
    return [
        row["physical_offset"]
        for part in parts_between(settings, start, end)
        for batch in read(part, FIELDS, settings)
        for row in batch.to_pylist()
    ]


def run(settings: Settings, start: Offset, max_bytes: int) -> tuple[Offset, list[list[int]]]:
    """Micro-batches until nothing is left; offsets pass through JSON."""
    batches: list[list[int]] = []
    while True:
        end: Offset = json.loads(json.dumps(latest(settings, start, max_bytes)))
        if end == start:
            return end, batches
        batches.append(rows_between(settings, start, end))
        start = end


@pytest.mark.parametrize("max_bytes", [0, 700_000])
def test_a_log_is_not_read_again_to_cut_what_is_new(
    max_bytes: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(root, splitSize="100000")
    cuts: Cuts = {}
    end = latest(settings, {}, max_bytes, cuts=cuts)
    surveyed = parts_between(settings, {}, end)
    earlier = {str(root): {**end[str(root)], "offset": surveyed[-1].start}}

    monkeypatch.delattr(streaming, "survey")

    assert parts_between(settings, {}, end, cuts) == surveyed
    assert len(surveyed) > 3
    with pytest.raises(NameError):  # these are cuts of other messages
        parts_between(settings, {}, earlier, cuts)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "killed", "dledger", "rocksdb", "inner"])
@pytest.mark.parametrize("max_bytes", [0, 100_000, 1])
def test_micro_batches_of_any_size_hold_each_message_once(
    packed_store: Callable[[str, str], BrokerStore],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    max_bytes: int,
) -> None:
    monkeypatch.setattr(streaming, "_BETWEEN_LOOKS", 0)
    store = packed_store(CURRENT, kind)
    end, batches = run(settings_of(store.root), {}, max_bytes)

    offsets = [offset for batch in batches for offset in batch]
    assert sorted(set(offsets)) == sorted({m.physical_offset for m in store.truth.pulled})
    assert kind == "inner" or len(offsets) == len(set(offsets))
    assert len(batches) > (kind != "inner") * 5 if max_bytes else len(batches) == 1
    last = store.truth.pulled[-1]
    assert end[str(store.root)]["offset"] == last.physical_offset + last.size
    assert ends(settings_of(store.root)) == {str(store.root): last.physical_offset + last.size}


def test_large_micro_batches_have_several_parts(root: Path) -> None:
    settings = settings_of(root, splitSize="50k")
    end = latest(settings, {}, 0)

    planned = parts_between(settings, {}, end)

    assert len(planned) > 5
    assert rows_between(settings, {}, end) == rows_between(settings_of(root), {}, end)


def test_a_log_that_grows_gives_the_new_messages_alone(root: Path) -> None:
    settings = settings_of(root)
    file = log_files(root)[-1]
    whole = file.read_bytes()
    messages = places(file)
    cut = messages[len(messages) // 2]
    put(file, cut.position, bytes(len(whole) - cut.position))

    first = latest(settings, {}, 0)
    put(file, 0, whole)
    second = latest(settings, first, 0)

    base = int(file.name)
    assert first[str(root)]["offset"] == base + cut.position
    new = [base + message.position for message in messages[len(messages) // 2 :]]
    assert rows_between(settings, first, second) == new


@pytest.mark.parametrize("missing", ["all but the head", "a part of the properties"])
def test_a_message_that_is_still_written_waits(root: Path, missing: str) -> None:
    settings = settings_of(root)
    file = log_files(root)[-1]
    last = places(file)[-1]
    whole = file.read_bytes()
    end = last.position + last.size
    start = last.position + 20 if missing == "all but the head" else end - 5
    put(file, start, bytes(end - start))
    for queue_file in (root / "consumequeue").glob("*/*/*"):
        queue_file.write_bytes(b"")  # no unit points to it yet

    waiting = latest(settings, {}, 0)[str(root)]["offset"]

    if missing == "all but the head":
        assert waiting == int(file.name) + last.position
    put(file, 0, whole)
    assert latest(settings, {}, 0)[str(root)]["offset"] == int(file.name) + end


def test_a_message_that_changes_between_two_looks_waits(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(root)
    file = log_files(root)[-1]
    last = places(file)[-1]
    for queue_file in (root / "consumequeue").glob("*/*/*"):
        queue_file.write_bytes(b"")

    def write(_: float) -> None:
        put(file, last.position + last.size - 3, b"!")

    monkeypatch.setattr("time.sleep", write)

    assert latest(settings, {}, 0)[str(root)]["offset"] == int(file.name) + last.position


def test_messages_after_damage_come_too(root: Path) -> None:
    settings = settings_of(root)
    before = rows_between(settings, {}, latest(settings, {}, 0))
    zero_page(root)

    end, batches = run(settings, {}, 50_000)

    after = [offset for batch in batches for offset in batch]
    assert set(after) < set(before)
    assert 0 < len(before) - len(after) < 20
    assert end[str(root)]["state"] == "saved"


def test_files_that_were_deleted_before_they_were_read_are_reported(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of(root)
    start = latest(settings, {}, 10_000)
    remove_first_file(root)

    end = latest(settings, start, 0)
    rows = rows_between(settings, start, end)

    assert rows[0] == int(log_files(root)[0].name)
    offset = start[str(root)]["offset"]
    assert f"the files from offset {offset} to {rows[0]} were deleted" in capsys.readouterr().err
    with pytest.raises(DamageError, match="were deleted before the stream read them"):
        latest(settings_of(root, mode="FAILFAST"), start, 0)


def test_a_log_that_became_shorter_is_refused(root: Path) -> None:
    settings = settings_of(root)
    place = {"offset": 1 << 40, "state": "live", "newest": 0}

    with pytest.raises(DamageError, match=r"the log ends at \d+, and the stream has read it to"):
        latest(settings, {str(root): place}, 0)


def test_stores_may_come_and_go(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = settings_of(root.parent / "*" / "store")
    none: dict[str, Any] = {}
    assert latest(settings, none, 0) == {}
    settings = settings_of(root.parent)
    end = latest(settings, none, 0)
    assert list(end) == [str(root)]

    gone = {"/gone/store": end[str(root)]}

    assert parts_between(settings, {}, gone) == []
    assert "/gone/store: the store is gone" in capsys.readouterr().err


def test_nothing_after_the_end_at_the_beginning_is_read(root: Path) -> None:
    settings = settings_of(root)
    until = {str(root): 300_000}
    every = rows_between(settings, {}, latest(settings, {}, 0))

    end = latest(settings, {}, 0, until)

    assert rows_between(settings, {}, end) == [offset for offset in every if offset < 300_000]
    assert latest(settings, end, 0, until) == end
