"""Damage done to copies of stores, as disks, kills and operators do it.

Rules of this file: a function changes a store in place, and takes its root alone, so that it can be a parameter of a test; places
are chosen by the store's own bytes, so that the same store gets the same damage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import isfunction
from pathlib import Path
from typing import Final

from rocketwire.store.commit_log import message_parts, walk

UNIT: Final = 20


@dataclass(frozen=True, slots=True)
class Place:
    """A message of a commit log."""

    file: Path  #: that has it
    position: int  #: of its first byte there
    size: int
    body: int  #: position of its body's first byte
    body_size: int
    properties: int  #: position of its properties' first byte


def log_files(root: Path) -> list[Path]:
    """The files of the commit log by offset; a spare file of zeros at the end is left out."""
    files = sorted((root / "commitlog").iterdir())
    return [file for file in files if places(file)]


def places(file: Path) -> list[Place]:
    """The messages of a file from its beginning up to the first bytes that are none."""
    data = file.read_bytes()
    positions, _ = walk(data, 0, len(data))
    result: list[Place] = []
    for position in positions:
        parts = message_parts(data, position)
        if parts is None:
            break
        result.append(
            Place(file, position, parts.size, parts.body, parts.body_size, parts.properties)
        )
    return result


def put(file: Path, position: int, data: bytes) -> None:
    with file.open("r+b") as stream:
        stream.seek(position)
        stream.write(data)


def flip(file: Path, position: int, bit: int = 1) -> None:
    data = file.read_bytes()
    put(file, position, bytes([data[position] ^ bit]))


def nothing(root: Path) -> None:
    """A store as its broker left it."""


def kill(root: Path) -> None:
    (root / "abort").touch()


def tear_last_message(root: Path) -> None:
    place = [place for place in places(log_files(root)[-1]) if place.body_size][-1]
    start = place.body + place.body_size // 2
    put(place.file, start, bytes(place.file.stat().st_size - start))


def flip_body(root: Path) -> None:
    messages = [place for place in places(log_files(root)[-1]) if place.body_size]
    place = messages[len(messages) // 2]
    flip(place.file, place.body + place.body_size // 2)


def flip_early_body(root: Path) -> None:
    messages = [place for place in places(log_files(root)[0]) if place.body_size]
    place = messages[len(messages) // 2]
    flip(place.file, place.body)


def flip_size(root: Path) -> None:
    messages = places(log_files(root)[-1])
    place = messages[len(messages) // 3]
    flip(place.file, place.position + 3, 4)


def flip_physical_offset(root: Path) -> None:
    """A bit in the physical offset of a message of the last file, which Java does not compare."""
    messages = places(log_files(root)[-1])
    flip(messages[2].file, messages[2].position + 35, 1)


def zero_page(root: Path) -> None:
    file = log_files(root)[-2]
    messages = places(file)
    start = messages[len(messages) // 2].position // 4096 * 4096
    put(file, start, bytes(4096))


def remove_first_file(root: Path) -> None:
    log_files(root)[0].unlink()


def remove_middle_file(root: Path) -> None:
    files = log_files(root)
    files[len(files) // 2].unlink()


def shorten_last_file(root: Path) -> None:
    file = log_files(root)[-1]
    file.write_bytes(file.read_bytes()[:-4096])


def add_strange_file(root: Path) -> None:
    (root / "commitlog" / ".DS_Store").write_bytes(bytes(6148))


def add_empty_last_file(root: Path) -> None:
    file = sorted((root / "commitlog").iterdir())[-1]
    size = file.stat().st_size
    (root / "commitlog" / f"{int(file.name) + size:020}").touch()


def remove_log(root: Path) -> None:
    for file in (root / "commitlog").iterdir():
        file.unlink()


def remove_queues(root: Path) -> None:
    for file in (root / "consumequeue").rglob("*"):
        if file.is_file():
            file.unlink()


def queue_files(root: Path) -> list[list[Path]]:
    queues = [
        sorted(queue.iterdir())
        for topic in sorted((root / "consumequeue").iterdir())
        for queue in sorted(topic.iterdir())
    ]
    return sorted(queues, key=lambda files: (-len(files), str(files[0].parent)))


def zero_unit(root: Path) -> None:
    put(queue_files(root)[0][-2], 5 * UNIT, bytes(UNIT))


def spoil_unit(root: Path) -> None:
    file = queue_files(root)[0][-1]
    put(file, 0, (77).to_bytes(8, "big") + (100).to_bytes(4, "big") + bytes(8))


def remove_last_queue_file(root: Path) -> None:
    queue_files(root)[0][-1].unlink()


def remove_first_queue_file(root: Path) -> None:
    queue_files(root)[0][0].unlink()


def remove_one_queue(root: Path) -> None:
    for file in queue_files(root)[1]:
        file.unlink()


def shorten_queue_file(root: Path) -> None:
    file = queue_files(root)[0][-1]
    file.write_bytes(file.read_bytes()[:-UNIT])


def lose_units_from(root: Path, offset: int) -> None:
    for files in queue_files(root):
        for file in files:
            data = bytearray(file.read_bytes())
            for start in range(0, len(data), UNIT):
                if int.from_bytes(data[start : start + 8], "big") >= offset:
                    data[start : start + UNIT] = bytes(UNIT)
            file.write_bytes(data)


def lose_last_units(root: Path) -> None:
    place = places(log_files(root)[-1])[-6]
    lose_units_from(root, int(place.file.name) + place.position)


def kill_and_zero_page(root: Path) -> None:
    kill(root)
    zero_page(root)


def kill_and_zero_checkpoint(root: Path) -> None:
    kill(root)
    put(root / "checkpoint", 0, bytes(48))


def kill_and_remove_queues(root: Path) -> None:
    kill(root)
    remove_queues(root)


def zero_middle_file(root: Path) -> None:
    file = log_files(root)[-2]
    put(file, 0, bytes(file.stat().st_size))


def zero_tail_of_middle_file(root: Path) -> None:
    place = places(log_files(root)[-2])[-2]
    put(place.file, place.position, bytes(place.file.stat().st_size - place.position))


DAMAGE: Final[dict[str, Callable[[Path], None]]] = {
    name: function
    for name, function in [*globals().items()]
    if isfunction(function) and function.__annotations__ == {"root": Path, "return": None}
}
"""All kinds of damage by name."""
