"""The parts of a log, checked one by one, say what one pass through the log says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.store.folder import read_folder
from rocketwire_tools.store import jobs
from rocketwire_tools.store.checks.log_parts import add_part, checked_part
from rocketwire_tools.store.checks.queue_groups import QUEUE_MASK
from rocketwire_tools.store.engine.ghosts import LogTrail
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.verbs import check as verb
from rocketwire_tools.store.verbs.check import StoreCheck
from tests.support.java.peers import CURRENT
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rocketwire_tools.store.checks.log_parts import LogPart
    from rocketwire_tools.store.engine.scan import LogScan
    from tests.support.stores import BrokerStore

PART_SIZE = 20_000


def parts_of(root: Path) -> list[LogPart | None]:
    """The parts of a log, as another process checks them."""
    check = StoreCheck(OpenedStore([root]))
    (scan,) = check.store.scans()
    return [checked_part(check.log, part_scan(scan, part)) for part in jobs.cut([scan], PART_SIZE)]


def part_scan(scan: LogScan, part: jobs.Part) -> LogScan:
    return replace(scan, start=part.start, stop=part.stop, regions=[], trail=LogTrail())


def state_of(check: StoreCheck) -> dict[str, Any]:
    """What a check has noted of its log."""
    log = check.log
    names = log.topics.names
    return {
        "stretches": [(part.start, part.messages, part.size) for part in log.stretches],
        "files": {
            file: (progress.position, progress.old_position)
            for file, progress in log.files.items()
            if progress.position
        },
        "newest": log.newest,
        "topics": names,
        "next": {
            (names[key >> 32], key & QUEUE_MASK): end for key, end in log.next_offsets.items()
        },
        "queues": check.queues.part(),
        "index": check.index.part([]),
    }


@pytest.mark.parametrize(
    "kind", ["plain", "killed", "crc", "ext", "lmq", "pop", "ipv6", "features"]
)
def test_parts_say_what_one_pass_says(
    kind: str, packed_store: Callable[[str, str], BrokerStore]
) -> None:
    root = packed_store(CURRENT, kind).root
    one, many = StoreCheck(OpenedStore([root])), StoreCheck(OpenedStore([root]))
    (scan,), (rest,) = one.store.scans(), many.store.scans()
    parts = parts_of(root)
    one.log.run(scan, scan)
    many.log.begin(rest)
    assert many.index.skip_to(0)

    added = 0
    for part, place in zip(parts, jobs.cut([rest], PART_SIZE), strict=True):
        if part is None or not add_part(many.log, part):
            break
        rest.start = place.stop
        added += 1
    many.log.run(rest, rest)

    assert added > 1
    assert state_of(many) == state_of(one)


def test_a_part_is_not_added_in_the_place_of_another(copy: BrokerStore) -> None:
    first, second, third, *_ = parts_of(copy.root)
    assert first is not None
    assert second is not None
    assert third is not None
    check = StoreCheck(OpenedStore([copy.root]))
    (scan,) = check.store.scans()
    check.log.begin(scan)

    assert not add_part(check.log, second)
    assert add_part(check.log, first)
    assert not add_part(check.log, first)
    assert not add_part(check.log, third)
    assert not add_part(check.log, replace(second, first_offsets={0: 77}))
    assert second.index is not None
    assert not add_part(check.log, replace(second, index=second.index._replace(starts=[1])))
    assert add_part(check.log, second)


def test_a_part_with_damage_does_not_count(copy: BrokerStore) -> None:
    message = copy.truth.pulled[len(copy.truth.pulled) // 2]
    file = next(
        file
        for file in read_folder([copy.root]).commit_log
        if file.offset <= message.physical_offset < file.end
    )
    damage.put(file.path, message.physical_offset - file.offset + 95, b"\xff")

    parts = parts_of(copy.root)

    assert parts.count(None) == 1


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("kind", ["plain", "features", "inner", "dledger", "rocksdb"])
def test_processes_find_what_one_finds(
    kind: str,
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert_equal_output(packed_store(CURRENT, kind).root, run, monkeypatch)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("name", sorted(damage.DAMAGE)[::4])
def test_processes_find_the_damage_that_one_finds(
    name: str, copy: BrokerStore, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    damage.DAMAGE[name](copy.root)

    assert_equal_output(copy.root, run, monkeypatch)


@pytest.mark.slow
@pytest.mark.process
def test_processes_find_the_slots_that_one_finds(
    copy: BrokerStore, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = sorted((copy.root / "index").iterdir())[0]
    damage.put(file, 40 + 4 * 100 + 20 * 90 + 16, b"\0\0\0\x59")

    assert_equal_output(copy.root, run, monkeypatch)


def assert_equal_output(root: Path, run: Callable[..., Any], patch: pytest.MonkeyPatch) -> None:
    patch.setattr(jobs, "PART_SIZE", PART_SIZE)
    for module in (jobs, verb):
        patch.setattr(module, "may_fork", lambda: True)

    outputs: list[bytes] = []
    for options in ((), ("--jobs", "2")):
        try:
            outputs.append(run("check", "--json", *options, root).out)
        except AssertionError:
            outputs.append(run("check", "--json", *options, root, status=1).out)

    assert outputs[0] == outputs[1]
