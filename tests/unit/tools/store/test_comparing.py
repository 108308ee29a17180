"""Stores of real brokers against damaged copies of them: each difference is named, and nothing else."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.store import comparing
from rocketwire_tools.store.comparing import (
    Log,
    LogComparison,
    StoreDifference,
    config_differences,
    queue_differences,
)
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore


def log_of(root: Path) -> Log:
    return Log(OpenedStore([root]).folder.commit_log)


def compare_logs(a: Path, b: Path) -> tuple[LogComparison, list[StoreDifference]]:
    comparison = LogComparison(log_of(a), log_of(b))
    return comparison, list(comparison)


def compare_queues(a: Path, b: Path) -> list[StoreDifference]:
    stores = OpenedStore([a]), OpenedStore([b])
    return list(queue_differences(*stores, [(log_of(a), log_of(b))]))


def name_of(place: damage.Place, root: Path) -> str:
    """How a comparison names the message that stands at a place of an undamaged store."""
    log = log_of(root)
    offset = int(place.file.name) + place.position
    (message,) = log.messages([(offset, offset + 1)])
    rows = message.rows()
    topic, queue, number = (rows.column(name)[0] for name in ("topic", "queue_id", "queue_offset"))
    return f"{topic}:{queue}:{number} at {offset}"


@pytest.mark.parametrize("block_size", [comparing.BLOCK_SIZE, 1000])
def test_a_log_ends_with_its_last_message_and_is_compared_up_to_there(
    plain: BrokerStore, copy: BrokerStore, monkeypatch: pytest.MonkeyPatch, block_size: int
) -> None:
    monkeypatch.setattr(comparing, "BLOCK_SIZE", block_size)

    comparison, differences = compare_logs(plain.root, plain.root)

    last = max(plain.truth.pulled, key=lambda message: message.physical_offset)
    assert differences == []
    assert comparison.compared == last.physical_offset + last.size
    assert comparison.a.end == comparison.b.end == comparison.compared


@pytest.mark.parametrize("block_size", [comparing.BLOCK_SIZE, 1000])
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
    monkeypatch.setattr(comparing, "BLOCK_SIZE", block_size)
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


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (damage.zero_unit, "1 units are in A only, this is the first"),
        (damage.spoil_unit, "1 units differ, this is the first"),
    ],
)
def test_a_unit_that_differs_is_named_with_its_queue_offset(
    copy: BrokerStore, tmp_path: Path, change: Callable[[Path], None], rule: str
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    change(copy.root)

    (difference,) = compare_queues(original, copy.root)

    files = damage.queue_files(original)[0]
    file, unit = (files[-2], 5) if change is damage.zero_unit else (files[-1], 0)
    topic, queue = file.parts[-3:-1]
    number = int(file.name) // damage.UNIT + unit
    assert difference.rule == rule
    assert difference.name == f"{topic}:{queue}:{number}"


def test_a_queue_that_one_store_does_not_have_is_named_with_the_number_of_its_units(
    copy: BrokerStore, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    topic, queue = damage.queue_files(original)[1][0].parts[-3:-1]
    damage.remove_one_queue(copy.root)

    (difference,) = compare_queues(original, copy.root)

    (answered,) = (
        one for one in copy.truth.queues if (one.topic, one.queue_id) == (topic, int(queue))
    )
    count = answered.max_offset - answered.min_offset
    assert difference.rule == f"{count} units are in A only, this is the first"


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_units_of_messages_that_only_a_master_has_make_no_difference(
    release: str, packed_store: Callable[[str, str], BrokerStore]
) -> None:
    master = packed_store(release, "slave")
    assert master.slave is not None

    assert compare_queues(master.root, master.slave.root) == []


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


def test_offsets_of_groups_topics_and_settings_are_compared_without_versions(
    copy: BrokerStore, tmp_path: Path
) -> None:
    original = tmp_path / "original"
    shutil.copytree(copy.root, original)
    config = copy.root / "config"
    offsets = (config / "consumerOffset.json").read_text()
    (config / "consumerOffset.json").write_text(
        offsets.replace('"counter":', '"counter":9').replace("0:1,", "0:8,", 1)
    )
    (config / "topics.json").unlink()
    (config / "topics.json.bak").unlink(missing_ok=True)

    differences = list(config_differences(OpenedStore([original]), OpenedStore([copy.root])))

    offset, topics = differences
    assert offset.name.startswith("consumerOffset.json: offsetTable.")
    assert (offset.a, offset.b, offset.rule) == (1, 8, "the settings differ")
    assert topics.rule == "only A has this file"
    assert topics.name == "topics.json"


@pytest.mark.slow
def test_queues_of_batches_and_logs_of_dledger_are_compared_too(
    packed_store: Callable[[str, str], BrokerStore], tmp_path: Path
) -> None:
    inner = packed_store(CURRENT, "inner").root
    shutil.copytree(inner, tmp_path / "inner")
    (queue,) = list((tmp_path / "inner" / "batchconsumequeue").rglob("0" * 20))[:1]
    damage.flip(queue, 46 + 30)

    (difference,) = compare_queues(inner, tmp_path / "inner")
    assert difference.rule == "1 units differ, this is the first"
    assert difference.place_b is not None
    assert difference.place_b.byte == 46

    ledger = packed_store(CURRENT, "dledger").root
    log = Log(OpenedStore([ledger]).folder.dledger, is_dledger=True)
    comparison = LogComparison(log, log)
    assert list(comparison) == []
    assert comparison.compared > 0
