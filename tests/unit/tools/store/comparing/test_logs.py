"""Logs of real brokers against damaged copies of them: each difference is named, and nothing else."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store.comparing import logs
from rocketwire_tools.store.comparing.logs import Log, LogComparison
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rocketwire_tools.store.comparing.differences import StoreDifference
    from tests.support.stores import BrokerStore


def log_of(root: Path) -> Log:
    return Log(OpenedStore([root]).folder.commit_log)


def compare_logs(a: Path, b: Path) -> tuple[LogComparison, list[StoreDifference]]:
    comparison = LogComparison(log_of(a), log_of(b))
    return comparison, list(comparison)


def name_of(place: damage.Place, root: Path) -> str:
    """How a comparison names the message that stands at a place of an undamaged store."""
    log = log_of(root)
    offset = int(place.file.name) + place.position
    (message,) = log.messages([(offset, offset + 1)])
    rows = message.rows()
    topic, queue, number = (rows.column(name)[0] for name in ("topic", "queue_id", "queue_offset"))
    return f"{topic}:{queue}:{number} at {offset}"


@pytest.mark.parametrize("block_size", [logs.BLOCK_SIZE, 1000])
def test_a_log_ends_with_its_last_message_and_is_compared_up_to_there(
    plain: BrokerStore, copy: BrokerStore, monkeypatch: pytest.MonkeyPatch, block_size: int
) -> None:
    monkeypatch.setattr(logs, "BLOCK_SIZE", block_size)

    comparison, differences = compare_logs(plain.root, plain.root)

    last = max(plain.truth.pulled, key=lambda message: message.physical_offset)
    assert differences == []
    assert comparison.compared == last.physical_offset + last.size
    assert comparison.a.end == comparison.b.end == comparison.compared


@pytest.mark.parametrize("block_size", [logs.BLOCK_SIZE, 1000])
@pytest.mark.parametrize(
    ("change", "columns"),
    [
        (damage.flip_body, {"body"}),
        (damage.flip_early_body, {"body"}),
        (damage.flip_property, {"properties"}),
    ],
)
def test_a_message_that_differs_is_named_with_what_differs(
    copy: BrokerStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    columns: set[str],
    block_size: int,
) -> None:
    monkeypatch.setattr(logs, "BLOCK_SIZE", block_size)
    before = {place: place.file.read_bytes() for place in all_places(copy.root)}
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)

    change(copy.root)
    comparison, (difference,) = compare_logs(original, copy.root)

    (changed,) = (
        place
        for place, data in before.items()
        if place.file.read_bytes()[place.position : place.position + place.size]
        != data[place.position : place.position + place.size]
    )
    start = int(changed.file.name) + changed.position
    assert difference.name == name_of(changed, original)
    assert columns <= set(difference.rule.removeprefix("the messages differ in ").split(", "))
    assert comparison.first_difference is not None
    assert start <= comparison.first_difference < start + changed.size
    assert difference.place_a == difference.place_b
    assert difference.place_a == (f"commitlog/{changed.file.name}", changed.position)


def all_places(root: Path) -> list[damage.Place]:
    return [place for file in damage.log_files(root) for place in damage.places(file)]


@pytest.mark.slow
@pytest.mark.parametrize("change", [damage.zero_page, damage.flip_size])
def test_messages_that_damage_hides_are_in_one_log_only(
    copy: BrokerStore, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    change(copy.root)

    _, differences = compare_logs(original, copy.root)
    _, reverse = compare_logs(copy.root, original)

    names = {message.name for message in differences}
    places = {name_of(place, original): place for place in all_places(original)}
    changed = {
        name
        for name, place in places.items()
        if (data := slice_of(original, place)) != slice_of(copy.root, place) and data
    }
    assert names == changed
    assert {one.name for one in reverse} == names
    assert any(one.rule == "only A has a message here" for one in differences)
    assert any(one.rule == "only B has a message here" for one in reverse)


def slice_of(root: Path, place: damage.Place) -> bytes:
    data = (root / "commitlog" / place.file.name).read_bytes()
    return data[place.position : place.position + place.size]


@pytest.mark.parametrize("change", [damage.remove_first_file, damage.remove_middle_file])
def test_a_file_that_one_log_does_not_have_is_one_difference_with_its_messages(
    copy: BrokerStore, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    change(copy.root)

    _, (difference,) = compare_logs(original, copy.root)

    (missing,) = {path.name for path in (original / "commitlog").iterdir()} - {
        path.name for path in (copy.root / "commitlog").iterdir()
    }
    file = original / "commitlog" / missing
    assert difference.name.startswith(f"offsets {int(missing)} to ")
    assert difference.a == f"{len(damage.places(file))} messages"
    assert difference.b is None


def test_bytes_that_are_no_message_differ_before_the_end_of_both_logs(
    copy: BrokerStore, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    first = damage.log_files(copy.root)[0]
    last = damage.places(first)[-1]
    damage.flip(first, last.position + last.size + 3)

    _, (difference,) = compare_logs(original, copy.root)

    assert difference.rule == "bytes that are no message differ"
    assert difference.place_a == (f"commitlog/{first.name}", last.position + last.size + 3)


def test_old_bytes_after_the_last_message_make_no_difference(
    copy: BrokerStore, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    file = damage.log_files(copy.root)[-1]
    last = damage.places(file)[-1]
    damage.put(file, last.position + last.size, b"old bytes")

    comparison, differences = compare_logs(original, copy.root)

    assert differences == []
    assert comparison.more_in_a == comparison.more_in_b == 0


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_a_slave_has_its_masters_messages_from_its_first_file_on(
    release: str, packed_store: Callable[[str, str], BrokerStore]
) -> None:
    master = packed_store(release, "slave")
    assert master.slave is not None

    comparison, (beginning,) = compare_logs(master.root, master.slave.root)

    offsets = {message.physical_offset for message in master.truth.pulled}
    copied = {message.physical_offset for message in master.slave.truth.pulled}
    before = {offset for offset in offsets if offset < comparison.b.start}
    assert beginning.a == f"{len(before)} messages"
    assert comparison.more_in_a == len(offsets - copied - before)
    assert comparison.more_in_b == 0
    assert comparison.first_difference is None


def test_a_log_of_dledger_equals_itself(packed_store: Callable[[str, str], BrokerStore]) -> None:
    ledger = packed_store(CURRENT, "dledger").root
    log = Log(OpenedStore([ledger]).folder.dledger, is_dledger=True)
    comparison = LogComparison(log, log)

    assert list(comparison) == []
    assert comparison.compared > 0
