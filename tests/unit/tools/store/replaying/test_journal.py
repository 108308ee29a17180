"""The file of a journal."""

import os
from pathlib import Path
from typing import Any

import pytest

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.store.replaying import journal as journal_module
from rocketwire_tools.store.replaying.journal import Journal, JournalLane
from tests.support.virtual_disk import run_until_crashes

SELECTION = {"topics": ["orders=new"]}


def open_journal(path: Path | None, selection: Any = SELECTION, **options: Any) -> Journal:
    return Journal(path, selection, **options)


def lane_of(queue_id: int) -> JournalLane:
    return JournalLane("orders", queue_id, ("new", "a", 1), "c", 7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def fill(path: Path, count: int = 3) -> None:
    journal = open_journal(path)
    lanes = [lane_of(number) for number in range(2)]
    for lane in lanes:
        journal.add_lane(lane)
    for number in range(count):
        journal.note(lanes[number % 2], (100 * number, -1), 7 + number)
    journal.close()


def test_journal_keeps_the_progress_of_each_queue(path: Path) -> None:
    fill(path, 5)

    journal = open_journal(path)
    journal.close()

    first, second = journal.lanes["orders", 0], journal.lanes["orders", 1]
    assert (first.position, first.next_offset) == ((400, -1), 12)
    assert (second.position, second.next_offset) == ((300, -1), 11)
    assert first.queue == MessageQueue(topic="new", broker_name="a", queue_id=1)
    assert journal.age is not None


def test_queue_has_a_line_at_once_and_then_at_most_one_a_second(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    journal, lane = open_journal(path), lane_of(0)
    journal.add_lane(lane)
    sizes = [len(path.read_bytes().splitlines())]
    for number in range(20):
        now = number / 10
        journal.note(lane, (number, -1), number)
        sizes.append(len(path.read_bytes().splitlines()))

    journal.close()

    assert sizes == [2] * 11 + [3] * 10
    assert open_journal(path, is_read_only=True).lanes["orders", 0].position == (19, -1)


@pytest.mark.parametrize("tail", [b"", b'{"topic":"o', b"null\n", b"\0\0\n{", b"\xff\n", b"{}\n"])
def test_invalid_line_and_all_after_it_are_cut(path: Path, tail: bytes) -> None:
    fill(path)
    open_journal(path).close()
    lines = path.read_bytes()
    path.write_bytes(lines + tail)

    open_journal(path).close()

    assert path.read_bytes() == lines


@pytest.mark.parametrize(
    "text", [b"notes\n", b'{"a":1}\n', b"[]\n", b'{"replay":2', b'{"replay":1,"selection":{}}\n']
)
def test_file_that_is_no_journal_is_not_changed(path: Path, text: bytes) -> None:
    path.write_bytes(text)

    with pytest.raises(ValueError, match="is no journal of a replay"):
        open_journal(path)

    assert path.read_bytes() == text


def test_two_replays_do_not_share_a_journal(path: Path) -> None:
    journal = open_journal(path)
    with pytest.raises(ValueError, match="in use by another replay"):
        open_journal(path)
    journal.close()
    open_journal(path).close()


def test_dry_run_reads_a_journal_and_writes_nothing(path: Path) -> None:
    open_journal(path, is_read_only=True).close()
    assert not path.exists()
    fill(path)
    lines = path.read_bytes()

    journal = open_journal(path, is_read_only=True)
    journal.close()

    assert len(journal.lanes) == 2
    assert path.read_bytes() == lines
    assert os.listdir(path.parent) == [path.name]


def test_long_journal_is_rewritten_and_locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "_FEW", 10)
    monkeypatch.setattr(journal_module, "INTERVAL", 0.0)
    journal, lane = open_journal(path), lane_of(0)
    journal.add_lane(lane)
    for number in range(95):
        journal.note(lane, (number, -1), number)
    assert len(path.read_bytes().splitlines()) < 20
    with pytest.raises(ValueError, match="in use by another replay"):
        open_journal(path)
    journal.close()

    assert open_journal(path, is_read_only=True).lanes["orders", 0].position == (94, -1)


def test_refused_message_is_done_and_has_no_place_at_the_target(path: Path) -> None:
    journal, lane = open_journal(path), lane_of(0)
    journal.add_lane(lane)
    for number in range(4):
        journal.note(lane, (number, -1), 7 + number if number < 2 else None)
    journal.close()

    reread = open_journal(path, is_read_only=True).lanes["orders", 0]
    assert (reread.position, reread.next_offset) == ((3, -1), 9)


def test_without_a_file_progress_is_only_in_memory() -> None:
    journal, lane = open_journal(None), lane_of(0)
    journal.add_lane(lane)
    journal.note(lane, (1, -1), 8)
    journal.close()

    assert (lane.next_offset, journal.age) == (9, None)


def test_progress_survives_a_crash_at_each_call(tmp_path: Path) -> None:
    def replay(root: Path, steps: list[int]) -> None:
        journal = open_journal(root / "journal")
        lane = lane_of(0)
        journal.add_lane(lane)
        steps.append(0)
        journal.note(lane, (100, -1), 7)
        journal.close()
        steps.append(100)
        open_journal(root / "journal").close()

    for root, steps in run_until_crashes(tmp_path, replay):
        journal = open_journal(root / "journal")
        journal.close()
        lane = journal.lanes.get(("orders", 0))
        assert not steps or lane is not None
        assert len(steps) < 2 or (lane and lane.position == (100, -1))
