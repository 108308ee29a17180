"""The file of a journal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.store.replaying import journal as journal_module
from rocketwire_tools.store.replaying.journal import REFUSED, FirstMessage, Journal, Progress

if TYPE_CHECKING:
    from pathlib import Path

QUEUE = MessageQueue(topic="new", broker_name="a", queue_id=1)
SELECTION = {"topics": ["orders=new"]}
STORE = FirstMessage(0, "d")


def opened(path: Path | None, selection: Any = SELECTION, **options: Any) -> Journal:
    return Journal(path, selection, STORE, **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def filled(path: Path, count: int = 3) -> None:
    journal = opened(path)
    lanes = [journal.add_lane("orders", number, QUEUE, "c", 7) for number in range(2)]
    for number in range(count):
        journal.add(lanes[number % 2], Progress(100 * number, -1, 7 + number, "e"))
    journal.close()


def test_a_journal_gives_back_lanes_and_their_last_message(path: Path) -> None:
    filled(path, 5)

    journal = opened(path)
    journal.close()

    assert journal.store == STORE
    assert journal.age is not None
    first, second = journal.lanes["orders", 0], journal.lanes["orders", 1]
    assert first.last == Progress(400, -1, 11, "e")
    assert second.last == Progress(300, -1, 10, "e")
    assert (first.queue, first.cluster, first.begin, first.next_offset) == (QUEUE, "c", 7, 12)


def test_a_lane_without_a_message_begins_at_the_former_end_of_the_queue(path: Path) -> None:
    filled(path, 0)

    journal = opened(path)
    journal.close()

    assert journal.lanes["orders", 1].next_offset == 7


@pytest.mark.parametrize(
    "tail",
    [b"", b"[0,4", b'[9,1,1,1,"e"]\n', b"null\n", b"\0\0\0\0\n[0", b"\xff\n", b'[0,"1",1,1,"e"]\n'],
)
def test_a_line_that_is_none_and_all_after_it_is_cut(path: Path, tail: bytes) -> None:
    filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole + tail)

    journal = opened(path)
    journal.add(journal.lanes["orders", 0], Progress(900, 2, 20, "f"))
    journal.close()

    assert path.read_bytes() == whole + b'[0,900,2,20,"f"]\n'


@pytest.mark.parametrize(
    "text",
    [
        b"notes\n",
        b'{"a":1}\n',
        b"[]\n",
        b'{"replay":1',
        b'{"replay":2,"selection":{},"store":null}\n',
    ],
)
def test_a_file_that_is_no_journal_stays_as_it_is(path: Path, text: bytes) -> None:
    path.write_bytes(text)

    with pytest.raises(ValueError, match="is no journal of a replay"):
        opened(path)

    assert path.read_bytes() == text


def test_a_journal_of_another_replay_is_refused(path: Path) -> None:
    filled(path)
    before = path.read_bytes()

    with pytest.raises(ValueError, match=r"another replay, with the options .*orders=new.*, not"):
        opened(path, {"topics": ["orders=newer"]})

    assert path.read_bytes() == before


def test_two_replays_do_not_share_a_journal(path: Path) -> None:
    journal = opened(path)
    with pytest.raises(ValueError, match="in use by another replay"):
        opened(path)
    journal.close()
    opened(path).close()


def test_a_dry_run_reads_a_journal_and_creates_none(path: Path) -> None:
    opened(path, is_read_only=True).close()
    assert not path.exists()
    filled(path)
    before = path.read_bytes()
    path.write_bytes(before + b"[0,")

    journal = opened(path, is_read_only=True)
    journal.close()

    assert len(journal.lanes) == 2
    assert path.read_bytes() == before + b"[0,"


def test_a_long_journal_is_written_anew_and_stays_locked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "MAX_LINES", 10)
    journal = opened(path)
    lanes = [journal.add_lane("orders", number, QUEUE, "c", 7) for number in range(2)]
    for number in range(95):
        journal.add(lanes[number % 2], Progress(number, -1, number, "e"))
    assert len(path.read_bytes().splitlines()) < 20
    with pytest.raises(ValueError, match="in use by another replay"):
        opened(path)
    journal.close()

    again = opened(path)
    again.close()
    assert again.lanes["orders", 0].last == Progress(94, -1, 94, "e")
    assert again.lanes["orders", 1].last == Progress(93, -1, 93, "e")
    assert os.listdir(path.parent) == [path.name]


def test_a_journal_that_cannot_be_replaced_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "MAX_LINES", 3)
    journal = opened(path)
    lane = journal.add_lane("orders", 0, QUEUE, "c", 7)
    for number in range(3):
        journal.add(lane, Progress(number, -1, number, "e"))

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output error"):
            journal.add(lane, Progress(3, -1, 3, "e"))
    journal.close()

    again = opened(path)
    again.close()
    assert again.lanes["orders", 0].last == Progress(2, -1, 2, "e")


@pytest.mark.parametrize("most", [3, 100])
def test_a_refused_message_is_done_and_has_no_place_at_the_target(
    path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(journal_module, "MAX_LINES", most)
    journal = opened(path)
    lane = journal.add_lane("orders", 0, QUEUE, "c", 7)
    for number in range(4):
        journal.add(lane, Progress(number, -1, 7 + number if number < 2 else REFUSED, "e"))
    journal.close()

    again = opened(path)
    again.close()
    lane = again.lanes["orders", 0]
    assert lane.last == Progress(3, -1, REFUSED, "e")
    assert lane.stored == Progress(1, -1, 8, "e")
    assert lane.next_offset == 9


def test_without_a_file_progress_is_only_in_memory() -> None:
    journal = opened(None)
    lane = journal.add_lane("orders", 0, QUEUE, "c", 7)
    journal.add(lane, Progress(1, -1, 8, "e"))
    journal.close()

    assert lane.next_offset == 9
    assert journal.age is None
