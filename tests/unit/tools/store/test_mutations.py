"""Damage at random places: nothing is invented, nothing outside the damage is missed, and nothing crashes."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.verbs.check import StoreCheck
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SEED: Final = 20251124
ROUNDS: Final = 200
"""Mutations of each of two stores."""


@dataclass
class Log:
    """A commit log in memory, as its broker left it.

    Attributes:
        folder: with its files.
        files: name of a file → its bytes.
        messages: offset of a message → its bytes.
    """

    folder: Path
    files: dict[str, bytes]
    messages: dict[int, bytes]

    def restore(self) -> None:
        for file in self.folder.iterdir():
            if self.files.get(file.name) != file.read_bytes():
                file.unlink()
        for name, data in self.files.items():
            if not (self.folder / name).exists():
                (self.folder / name).write_bytes(data)


def messages_of(root: Path) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of all messages that a scan returns."""
    for scan in OpenedStore([root]).scans():
        for block in scan:
            positions = block.messages.positions.tolist()
            for position, size in zip(positions, block.messages.sizes.tolist(), strict=True):
                yield block.base + position, bytes(block.view[position : position + size])


@pytest.fixture(scope="module", params=[CURRENT, OLD])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Log:
    store = unpack(request.param, "plain", tmp_path_factory.mktemp("store"))
    folder = store.root / "commitlog"
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    messages = dict(messages_of(store.root))
    places = {one.physical_offset: one.size for one in store.truth.pulled}
    assert {offset: len(data) for offset, data in messages.items()} == places
    return Log(folder, files, messages)


Ranges = list[tuple[int, int]]
"""Stretches of the log that are damaged."""


def flip_bits(log: Log, chance: random.Random) -> Ranges:
    ranges: Ranges = []
    for _ in range(chance.randint(1, 4)):
        offset = chance.choice(list(log.messages))
        place = offset + chance.randrange(len(log.messages[offset]))
        change(log, place, lambda data: bytes([data[0] ^ 1 << chance.randrange(8)]), 1)
        ranges.append((place, place + 1))
    return ranges


def zero(log: Log, chance: random.Random) -> Ranges:
    return overwrite(log, chance, bytes)


def fill_with_noise(log: Log, chance: random.Random) -> Ranges:
    return overwrite(log, chance, chance.randbytes)


def overwrite(log: Log, chance: random.Random, data_of: Callable[[int], bytes]) -> Ranges:
    size = chance.choice((1, 8, 100, 4096, 20_000))
    name = chance.choice(list(log.files))
    start = int(name) + chance.randrange(len(log.files[name]) - size)
    change(log, start, lambda _: data_of(size), size)
    return [(start, start + size)]


def copy_message(log: Log, chance: random.Random) -> Ranges:
    """A whole message stands at another place, as after a lost write."""
    source, target = chance.sample(list(log.messages), 2)
    data = log.messages[source][: len(log.messages[target])]
    change(log, target, lambda _: data, len(data))
    return [(target, target + len(data))]


def truncate(log: Log, chance: random.Random) -> Ranges:
    name = chance.choice(list(log.files))
    size = chance.randrange(len(log.files[name]))
    (log.folder / name).write_bytes(log.files[name][:size])
    return [(int(name) + size, int(name) + len(log.files[name]))]


def remove(log: Log, chance: random.Random) -> Ranges:
    name = chance.choice(list(log.files))
    (log.folder / name).unlink()
    return [(int(name), int(name) + len(log.files[name]))]


def empty(log: Log, chance: random.Random) -> Ranges:
    name = chance.choice(list(log.files))
    (log.folder / name).write_bytes(b"")
    return [(int(name), int(name) + len(log.files[name]))]


def swap(log: Log, chance: random.Random) -> Ranges:
    first, second = chance.sample(list(log.files), 2)
    (log.folder / first).write_bytes(log.files[second])
    (log.folder / second).write_bytes(log.files[first])
    return [(int(name), int(name) + len(log.files[name])) for name in (first, second)]


def add_strange_file(log: Log, chance: random.Random) -> Ranges:
    (log.folder / chance.choice(("notes.txt", ".DS_Store", "1"))).write_bytes(chance.randbytes(99))
    return []


MUTATIONS: Final = (
    flip_bits,
    zero,
    fill_with_noise,
    copy_message,
    truncate,
    remove,
    empty,
    swap,
    add_strange_file,
)


def change(log: Log, offset: int, function: Callable[[bytes], bytes], size: int) -> None:
    name = max(name for name in log.files if int(name) <= offset)
    position = offset - int(name)
    with (log.folder / name).open("r+b") as stream:
        stream.seek(position)
        data = function(stream.read(size))
        stream.seek(position)
        stream.write(data)


def touches(ranges: Ranges, offset: int, size: int) -> bool:
    return any(offset < end and start < offset + size for start, end in ranges)


@pytest.mark.slow
def test_damage_at_random_places_invents_no_message_and_hides_none(log: Log) -> None:
    chance = random.Random(SEED)
    kinds: Counter[str] = Counter()
    for number in range(ROUNDS):
        mutation = MUTATIONS[number % len(MUTATIONS)]
        ranges = mutation(log, chance)
        kinds[mutation.__name__] += 1

        name = f"{number} {mutation.__name__} {ranges}"
        check = StoreCheck(OpenedStore([log.folder.parent]))
        check.run()
        seen = list(messages_of(log.folder.parent))
        offsets = [offset for offset, _ in seen]

        assert len(set(offsets)) == len(offsets), name
        for offset, data in seen:
            assert offset in log.messages, name
            if not touches(ranges, offset, len(data)):
                assert data == log.messages[offset], name
        missed = {
            offset
            for offset, data in log.messages.items()
            if not touches(ranges, offset, len(data))
        } - set(offsets)
        assert not missed, name
        # a store without its first file looks like one whose first file has expired
        has_expired = mutation is remove and ranges[0][0] == min(map(int, log.files))
        if len(seen) != len(log.messages) and not has_expired:
            assert check.findings.has_damage, name
        for start in check.starts:
            assert start.cut_messages <= len(seen), name
        log.restore()
    assert len(kinds) == len(MUTATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_damage_beside_the_log_hides_no_message_and_ends_no_check(
    release: str, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    root = unpack(release, "plain", tmp_path).root
    files = sorted(
        file
        for file in root.rglob("*")
        if file.is_file() and file.parent.name not in ("commitlog", "rocksdbstore")
    )
    whole = StoreCheck(OpenedStore([root]))
    whole.run()
    assert not whole.findings.has_damage
    for number in range(ROUNDS // 2):
        file = chance.choice(files)
        data = file.read_bytes()
        place = chance.randrange(len(data) + 1)
        noise = chance.randbytes(chance.choice((1, 4, 20, 100)))
        damaged = chance.choice(
            (
                data[:place],
                data[:place] + noise + data[place + len(noise) :],
                data[:place] + bytes(len(noise)) + data[place + len(noise) :],
                data + noise,
                b"",
            )
        )
        file.write_bytes(damaged)

        name = f"{number} {file.relative_to(root)} {place} {len(data)} {len(damaged)}"
        check = StoreCheck(OpenedStore([root]))
        check.run()

        assert check.log.messages == whole.log.messages, name
        assert all(finding.report()["rule"] for finding in check.findings.kept), name
        if "consumequeue" in file.parts and damaged != data:
            units = [damaged[at : at + 12] != data[at : at + 12] for at in range(0, len(data), 20)]
            lost = any(units) or len(damaged) != len(data)
            assert check.findings.has_damage >= lost, name
        file.write_bytes(data)
