"""Damage at random places of any file of a store, and a store that can be put back as it was.

Rules of this file: a mutation changes one or two files below ``root`` and nothing else; the same
generator of random numbers makes the same mutation.  ``Original.restore`` undoes every one of them.
``mutate`` damages a store at one place, ``mutate_often`` at several.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from rocketwire.store.commit_log import candidates, message_parts
from rocketwire.store.consume_queue import UNIT_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from random import Random

SIZES: Final = (1, 8, 20, 100, 4096, 20_000)
NUMBERS: Final = (
    0,
    1,
    -1,
    (1 << 15) - 1,
    -(1 << 15),
    (1 << 31) - 1,
    -(1 << 31),
    (1 << 32) - 1,
    1 << 40,
    (1 << 63) - 1,
    -(1 << 63),
)
"""Numbers at the borders of Java's types."""

JSON_VALUES: Final = (
    b"null",
    b"[]",
    b"{}",
    b'"x"',
    b"true",
    b"-1",
    b"1e999",
    b"9223372036854775808",
    b"9" * 400,
    b"[" * 3000,
    b'{"a":' * 3000,
    b"\xff\xfe",
    b'"\\ud800"',
)
"""What may stand where a configuration file has another value."""

QUEUE_FOLDERS: Final = ("consumequeue", "batchconsumequeue")

LARGE_FILE: Final = 1 << 22
"""A larger file is changed in its first part only."""


@dataclass(slots=True)
class Original:
    """A store as its broker left it, in memory.

    Attributes:
        root: the folder of the store.
        foreign: another broker's store.
        files: name below ``root`` → bytes; of a large file its first part.
        sizes: name below ``root`` → bytes of the file.
    """

    root: Path
    foreign: Original | None = None
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                name = str(path.relative_to(self.root))
                with path.open("rb") as stream:
                    self.files[name] = stream.read(LARGE_FILE)
                self.sizes[name] = path.stat().st_size

    def names(self, *folders: str) -> list[str]:
        """Names of the files in some folders of the root; of all files by default."""
        return [name for name in self.files if not folders or name.split("/")[0] in folders]

    def restore(self, names: Sequence[str]) -> None:
        """Put files back, and remove what the broker did not write."""
        for name in names:
            path = self.root / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            if name in self.files:
                path.write_bytes(self.files[name])
                os.truncate(path, self.sizes[name])


@dataclass(frozen=True, slots=True)
class Damage:
    """What a mutation does.

    Attributes:
        name: of the mutation.
        files: names of the files that it changes.
        written: offset of the log → bytes of a message that the mutation wrote.
    """

    name: str
    files: tuple[str, ...]
    written: dict[int, bytes] = field(default_factory=dict[int, bytes])


def put(original: Original, name: str, position: int, data: bytes) -> None:
    """Overwrite bytes; what reaches beyond the end of the file is left out."""
    size = original.sizes[name]
    with (original.root / name).open("r+b") as stream:
        stream.seek(position)
        stream.write(data[: max(0, size - position)])


def _place(original: Original, name: str, chance: Random) -> int:
    """A place in the part of a file that is written."""
    data = original.files[name].rstrip(b"\0")
    return chance.randrange(max(1, len(data)))


def flip_bits(original: Original, name: str, chance: Random) -> None:
    for _ in range(chance.randint(1, 4)):
        place = _place(original, name, chance)
        old = original.files[name][place : place + 1] or b"\0"
        put(original, name, place, bytes([old[0] ^ 1 << chance.randrange(8)]))


def zero(original: Original, name: str, chance: Random) -> None:
    put(original, name, _place(original, name, chance), bytes(chance.choice(SIZES)))


def fill_with_noise(original: Original, name: str, chance: Random) -> None:
    put(original, name, _place(original, name, chance), chance.randbytes(chance.choice(SIZES)))


def write_number(original: Original, name: str, chance: Random) -> None:
    """A number of 1 to 8 bytes, at the limits of its type or not."""
    width = chance.choice((1, 2, 4, 4, 8, 8))
    number = chance.choice(NUMBERS) & (1 << 8 * width) - 1
    place = _place(original, name, chance)
    put(original, name, place - place % chance.choice((1, 4, 20)), number.to_bytes(width, "big"))


def copy_bytes(original: Original, name: str, chance: Random) -> None:
    """Old bytes of the file stand at another place of it, as after a lost write."""
    data, size = original.files[name], chance.choice(SIZES)
    source = _place(original, name, chance)
    put(original, name, _place(original, name, chance), data[source : source + size])


def truncate(original: Original, name: str, chance: Random) -> None:
    os.truncate(original.root / name, chance.randrange(max(1, original.sizes[name])))


def extend(original: Original, name: str, chance: Random) -> None:
    with (original.root / name).open("ab") as stream:
        stream.write(chance.randbytes(chance.choice(SIZES)))


def remove(original: Original, name: str, _chance: Random) -> None:
    (original.root / name).unlink()


def empty(original: Original, name: str, _chance: Random) -> None:
    os.truncate(original.root / name, 0)


def zero_file(original: Original, name: str, _chance: Random) -> None:
    os.truncate(original.root / name, 0)
    os.truncate(original.root / name, original.sizes[name])


def replace_by_folder(original: Original, name: str, _chance: Random) -> None:
    (original.root / name).unlink()
    (original.root / name).mkdir()


def replace_by_link(original: Original, name: str, chance: Random) -> None:
    """A link to a file outside, to itself, or to a device that never ends."""
    (original.root / name).unlink()
    (original.root / name).symlink_to(chance.choice(("/etc/passwd", name, "/dev/zero", "..")))


def replace_by_pipe(original: Original, name: str, _chance: Random) -> None:
    """A pipe, from which nothing is ever read."""
    (original.root / name).unlink()
    os.mkfifo(original.root / name)


def swap_json_value(original: Original, name: str, chance: Random) -> None:
    """Another value stands in the place of a number, a text, an object or a list."""
    data = original.files[name]
    places = [place for place, byte in enumerate(data) if byte in b'{["0123456789']
    if not places:
        return zero(original, name, chance)
    place = chance.choice(places)
    end = place + 1
    while end < len(data) and data[end] not in b",}]:\n":
        end += 1
    (original.root / name).write_bytes(data[:place] + chance.choice(JSON_VALUES) + data[end:])
    return None


MUTATIONS: Final[tuple[Callable[[Original, str, Random], None], ...]] = (
    flip_bits,
    zero,
    fill_with_noise,
    write_number,
    copy_bytes,
    truncate,
    extend,
    remove,
    empty,
    zero_file,
    replace_by_folder,
    replace_by_link,
    replace_by_pipe,
)
"""Damage to one file of any kind."""


def swap(original: Original, name: str, chance: Random) -> tuple[str, ...]:
    """Two files of one folder have each other's names."""
    folder = name.rpartition("/")[0]
    others = [other for other in original.files if other.rpartition("/")[0] == folder]
    other = chance.choice(others)
    for target, source in ((name, other), (other, name)):
        _copy(original, source, original.root / target)
    return (name, other)


def _copy(source: Original, name: str, path: Path) -> None:
    path.write_bytes(source.files[name])
    os.truncate(path, source.sizes[name])


def replace_by_foreign(original: Original, name: str, chance: Random) -> dict[int, bytes]:
    """The file of another broker's store stands there; its messages may name that place."""
    foreign = original.foreign or original
    folder = name.split("/")[0]
    source = (
        name if name in foreign.files else chance.choice(foreign.names(folder) or [*foreign.files])
    )
    _copy(foreign, source, original.root / name)
    base = _base(name)
    data = foreign.files[source]
    return {base + position: data[position : position + size] for position, size in _places(data)}


def continue_after_cut(original: Original, name: str, chance: Random) -> dict[int, bytes]:
    """Java cut the log inside the file and wrote a message there; old ones stay behind it."""
    data = original.files[name]
    places = _places(data)
    if name.split("/")[0] != "commitlog" or len(places) < 3:
        flip_bits(original, name, chance)
        return {}
    position, size = chance.choice(places)
    newest = max(int.from_bytes(data[place + 56 : place + 64], "big") for place, _ in places)
    source = chance.choice([place for place in places if place[1] < size] or [places[0]])
    message = bytearray(data[source[0] : source[0] + source[1]])
    message[28:36] = (_base(name) + position).to_bytes(8, "big")
    if not message[39] & 0x10:
        message[56:64] = (newest + 60_000).to_bytes(8, "big")
    put(original, name, position, bytes(message))
    return {_base(name) + position: bytes(message)}


def _base(name: str) -> int:
    last = name.rpartition("/")[2]
    return int(last) if last.isdecimal() else 0


def _places(data: bytes) -> list[tuple[int, int]]:
    """First byte and size of each message of a file of a log."""
    places: list[tuple[int, int]] = []
    for position in candidates(data, 0):
        parts = message_parts(data, position)
        if parts is not None and (not places or position >= sum(places[-1])):
            places.append((position, parts.size))
    return places


def flip_part(original: Original, name: str, chance: Random) -> None:
    """A bit of a message's size, body, topic or properties."""
    data = original.files[name]
    places = _places(data)
    if not places:
        return flip_bits(original, name, chance)
    position, _ = chance.choice(places)
    parts = message_parts(data, position)
    assert parts is not None
    ranges = (
        (position, 4),
        (position + 28, 8),
        (position + 36, 4),
        (parts.body - 4, 4),
        (parts.body, parts.body_size),
        (parts.topic - 1, parts.topic_size + 1),
        (parts.properties - 2, 2),
        (parts.properties, parts.properties_size),
    )
    start, size = chance.choice(ranges)
    place = start + chance.randrange(max(1, size))
    put(original, name, place, bytes([data[place] ^ 1 << chance.randrange(8)]))
    return None


def tear(original: Original, name: str, chance: Random) -> None:
    """From inside a message on nothing was written."""
    places = _places(original.files[name])
    if not places:
        return zero(original, name, chance)
    position, size = chance.choice([places[-1], chance.choice(places)])
    start = position + chance.randrange(1, size)
    put(original, name, start, bytes(original.sizes[name] - start))
    return None


def spoil_unit(original: Original, name: str, chance: Random) -> None:
    """The offset, size or tags code of a queue's unit is another number."""
    units = max(1, len(original.files[name].rstrip(b"\0")) // UNIT_SIZE)
    start, width = chance.choice(((0, 8), (8, 4), (12, 8)))
    number = chance.choice((chance.choice(NUMBERS), chance.randrange(1 << 20)))
    data = (number & (1 << 8 * width) - 1).to_bytes(width, "big")
    put(original, name, UNIT_SIZE * chance.randrange(units) + start, data)


IN_PLACE: Final = frozenset(
    {flip_bits, zero, fill_with_noise, write_number, copy_bytes, flip_part, tear, spoil_unit}
)
"""Mutations that overwrite bytes: a file can have several."""

UNREAL: Final = frozenset({replace_by_folder, replace_by_link, replace_by_pipe})
"""Mutations that only an attacker makes."""


def _mutations(folder: str, name: str) -> list[Callable[[Original, str, Random], object]]:
    """The mutations of a file; those that hurt its format more are there more often."""
    special: list[Callable[[Original, str, Random], object]] = [swap, replace_by_foreign]
    if folder == "commitlog":
        special += [flip_part] * 4 + [continue_after_cut, tear] * 2
    if folder in QUEUE_FOLDERS:
        special += [spoil_unit] * 4
    if name.endswith((".json", ".bak")):
        special += [swap_json_value] * 12
    return [*MUTATIONS, *special]


def mutate(original: Original, chance: Random) -> Damage:
    """Damage a store at a random place; every folder is met as often as any other."""
    folder = chance.choice(sorted({name.split("/")[0] for name in original.files}))
    name = chance.choice(original.names(folder))
    return _damage(original, name, chance.choice(_mutations(folder, name)), chance)


def _damage(
    original: Original,
    name: str,
    mutation: Callable[[Original, str, Random], object],
    chance: Random,
) -> Damage:
    result = mutation(original, name, chance)
    files = cast("tuple[str, ...]", result) if isinstance(result, tuple) else (name,)
    written = cast("dict[int, bytes]", result) if isinstance(result, dict) else {}
    return Damage(mutation.__name__, files, written)


def mutate_often(
    original: Original, chance: Random, count: int, folders: Sequence[str] = ()
) -> Damage:
    """Damage a store at several places; what one mutation did to a file, no other one undoes.

    Args:
        original: the store.
        chance: the random numbers.
        count: how many mutations.
        folders: only files and folders of these names, and only damage as disks and operators
            do it.
    """
    tops = sorted({name.split("/")[0] for name in original.names(*folders)})
    parts: list[Damage] = []
    changed: set[str] = set()
    replaced: set[str] = set()
    while len(parts) < count:
        folder = chance.choice(tops)
        name = chance.choice(original.names(folder))
        mutation = chance.choice(_mutations(folder, name))
        siblings = {other for other in original.files if _folder(other) == _folder(name)}
        touched = siblings if mutation is swap else {name}
        is_in_place = mutation in IN_PLACE
        if touched & (replaced if is_in_place else replaced | changed):
            count -= 1  # a store may have no other file
            continue
        if folders and mutation in UNREAL:
            continue
        part = _damage(original, name, mutation, chance)
        (changed if is_in_place else replaced).update(part.files)
        parts.append(part)
    written = {place: data for part in parts for place, data in part.written.items()}
    files = sorted({name for part in parts for name in part.files})
    return Damage(" + ".join(part.name for part in parts), tuple(files), written)


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
