"""Damage at random places, and what every verb that reads must do with a damaged store.

Rules of this file: no promise knows what was done to the store; whether a message is hit is read from
the bytes on the disk.  A line that ``faults`` returns is one broken promise:

* a verb ends with a documented status, and with one line if the path is no store;
* a message whose bytes are as the broker wrote them is listed, with the same values as before, and
  ``get`` finds it;
* a message is listed only where one of the broker's stood, and is marked if its body is another;
* ``check`` counts the listed messages, and calls the store damaged if one of them is missing;
* ``rebuild`` makes a store in which every whole message is listed as before.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, Final

from rocketwire.store.commit_log import message_parts
from rocketwire.store.consume_queue import UNIT_SIZE
from tests.support.file_programs import call_store

LIST: Final = ("messages", "--json", "--system", "--ghosts", "--folded", "--body", "hex")


LARGE_FILE: Final = 1 << 22
"""A larger file is changed in its first part only."""

OVERWRITES: Final = ("bit", "zeros", "noise", "number", "old bytes")
SIZES: Final = (1, 8, 20, 100, 4096, 20_000)
NUMBERS: Final = (0, 1, -1, (1 << 31) - 1, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63))
"""Numbers at the borders of Java's types."""

JSON_VALUES: Final = (
    *(b"null", b"[]", b"{}", b'"x"', b"true", b"-1", b"1e999", b"9223372036854775808", b"9" * 400),
    *(b"[" * 3000, b'{"a":' * 3000, b"\xff\xfe", b'"\\ud800"'),
)
"""Values that may replace one of a configuration file."""


class Original:
    def __init__(self, root: Path) -> None:
        self.root = root  #: the folder of the store
        #: name below ``root`` → bytes; of a large file its first part
        self.files: dict[str, bytes] = {}
        self.sizes: dict[str, int] = {}  #: name below ``root`` → bytes of the file
        for path in sorted(root.rglob("*")):
            if path.is_file():
                name = str(path.relative_to(root))
                with path.open("rb") as stream:
                    self.files[name] = stream.read(LARGE_FILE)
                self.sizes[name] = path.stat().st_size

    def put(self, name: str, position: int, data: bytes) -> None:
        """Overwrite bytes; what reaches beyond the end of the file is left out."""
        with (self.root / name).open("r+b") as stream:
            stream.seek(position)
            stream.write(data[: max(0, self.sizes[name] - position)])

    def restore(self, name: str) -> None:
        path = self.root / name
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
        path.write_bytes(self.files[name])
        os.truncate(path, self.sizes[name])

    def damage(self, chance: Random) -> tuple[str, str]:
        """Damage a file; returns what was done, and the name of the file.

        Every folder is met as often as any other.
        """
        folder = chance.choice(sorted({name.split("/")[0] for name in self.files}))
        name = chance.choice([name for name in self.files if name.split("/")[0] == folder])
        path, written = self.root / name, self.files[name].rstrip(b"\0")
        kinds = [*OVERWRITES, "cut", "longer", "no file"]
        if name.endswith((".json", ".bak")):
            kinds += ["value"] * 12
        change = chance.choice(kinds)
        if change in OVERWRITES:
            self.put(name, *_overwrite(change, written, chance))
        elif change == "cut":
            os.truncate(path, chance.choice((0, chance.randrange(max(1, self.sizes[name])))))
        elif change == "longer":
            path.write_bytes(path.read_bytes() + chance.randbytes(chance.choice(SIZES)))
        elif change == "value":
            path.write_bytes(_with_another_value(written, chance))
        else:
            path.unlink()
            target = chance.choice(("", "/etc/passwd", name, "/dev/zero", ".."))
            path.symlink_to(target) if target else chance.choice((path.mkdir, path.touch))()
        return change, name


def _overwrite(change: str, written: bytes, chance: Random) -> tuple[int, bytes]:
    place = chance.randrange(max(1, len(written)))
    size, width = chance.choice(SIZES), chance.choice((1, 2, 4, 8))
    match change:
        case "bit":
            old = written[place : place + 1] or b"\0"
            return place, bytes([old[0] ^ 1 << chance.randrange(8)])
        case "zeros":
            return place, bytes(size)
        case "noise":
            return place, chance.randbytes(size)
        case "number":
            number = chance.choice(NUMBERS) & (1 << 8 * width) - 1
            return place - place % chance.choice((1, 4, 20)), number.to_bytes(width, "big")
        case _:
            source = chance.randrange(max(1, len(written)))
            return place, written[source : source + size]


def _with_another_value(written: bytes, chance: Random) -> bytes:
    """JSON in which another value stands in the place of a number, a text, an object or a list."""
    place = chance.choice(
        [index for index, byte in enumerate(written) if byte in b'{["0123456789'] or [0]
    )
    end = place + 1
    while end < len(written) and written[end] not in b",}]:\n":
        end += 1
    return written[:place] + chance.choice(JSON_VALUES) + written[end:]


@dataclass(slots=True)
class Listing:
    """Messages as the command lists them: physical offset → line; ``repeated`` offsets."""

    status: int
    lines: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    repeated: list[int] = field(default_factory=list[int])


def list_messages(root: Path, arguments: tuple[str, ...] = LIST) -> Listing:
    status, output, _ = call_store(*arguments, root)
    result = Listing(status)
    for text in output.splitlines():
        line = json.loads(text)
        place = line["commit_log_offset"]
        if place in result.lines:
            result.repeated.append(place)
        result.lines[place] = line
    return result


class HostileStore:
    def __init__(self, root: Path) -> None:
        self.original = Original(root)  #: the store as its broker left it
        #: physical offset → how the command lists the message
        self.lines = list_messages(root).lines

    @cached_property
    def _places(self) -> dict[int, tuple[str, int, bytes]]:
        files = {
            int(name[-20:]): name for name in self.original.files if name.startswith("commitlog/")
        }
        places: dict[int, tuple[str, int, bytes]] = {}
        for offset, line in self.lines.items():
            base = max(file for file in files if file <= offset)
            data = self.original.files[files[base]]
            places[offset] = (
                files[base],
                offset - base,
                data[offset - base :][: line["store_size"]],
            )
        return places

    def damage(self, seed: str) -> tuple[str, list[str]]:
        """Damage the store at a random place and put it back; returns what was done and the faults."""
        chance = Random(seed)
        kind, name = self.original.damage(chance)
        try:
            return f"{kind} in {name}", list(self._faults(name, chance))
        finally:
            self.original.restore(name)

    def _faults(self, name: str, chance: Random) -> Iterator[str]:
        now = list_messages(self.original.root)
        hit = set(self._hit(name))
        yield from (f"{offset} is listed twice" for offset in now.repeated)
        for offset, line in self.lines.items():
            if offset not in hit and now.lines.get(offset) != line:
                yield from _difference(line, now.lines.get(offset))
        for offset in now.lines.keys() - self.lines.keys():
            yield f"{offset} is listed, where no message stood"
        for offset in hit & now.lines.keys():
            if now.lines[offset]["crc_ok"] and self._has_other_body(offset):
                yield f"{offset} has another body and no mark"
        yield from self._check_faults(name, now, hit)
        yield from self._rebuild_faults(now, hit)
        offset = chance.choice([*self.lines])
        if offset not in hit:
            yield from self._get_faults(offset)
        yield from self._verb_faults(chance)

    def _bytes(self, offset: int) -> bytes:
        name, position, data = self._places[offset]
        path = self.original.root / name
        if not path.is_file() or path.is_symlink():
            return b""
        with path.open("rb") as stream:
            stream.seek(position)
            return stream.read(len(data))

    def _hit(self, damaged: str) -> Iterator[int]:
        for offset, (name, _, data) in self._places.items():
            if name == damaged and self._bytes(offset) != data:
                yield offset

    def _has_other_body(self, offset: int) -> bool:
        old, new = self._places[offset][2], self._bytes(offset)
        old_parts, new_parts = message_parts(old, 0), message_parts(new, 0)
        if old_parts is None or new_parts is None:
            return False
        body = slice(old_parts.body, old_parts.body + old_parts.body_size)
        return old_parts[2:4] == new_parts[2:4] and old[body] != new[body]

    # -------------------------------------------------------------- verbs

    def _check_faults(self, name: str, now: Listing, hit: set[int]) -> Iterator[str]:
        status, output, _ = call_store("check", "--json", self.original.root)
        if status == 2:
            return
        lines = [json.loads(line) for line in output.splitlines()]
        is_live = [line["state"] != "ghost" for line in now.lines.values()]
        if lines[-1]["messages"] != sum(is_live):
            yield f"check counts {lines[-1]['messages']} messages instead of {sum(is_live)}"
        first = min((place[0] for place in self._places.values()), default="")
        lost = [place for place in hit - now.lines.keys() if self._places[place][0] != first]
        if lost and not status:  # those of the first file may have expired
            yield f"check calls the store whole, and {len(lost)} messages are lost"
        was_killed = "abort" in self.original.files  # its last units may be missing
        if not status and not was_killed and self._has_lost_units(name):
            yield f"check calls the store whole, and units of {name} are lost"

    def _rebuild_faults(self, now: Listing, hit: set[int]) -> Iterator[str]:
        root = self.original.root
        expected = {
            offset: line
            for offset, line in now.lines.items()
            if offset in self.lines and offset not in hit and line["state"] != "ghost"
        }
        new = root.parent / "new"
        try:
            status, _, errors = call_store("rebuild", new, root)
            if status == 2 and expected:
                yield f"rebuild: {errors}"
            if status == 2:
                return
            saved = list_messages(new).lines
        finally:
            shutil.rmtree(new, ignore_errors=True)
        for offset, line in expected.items():
            if offset not in saved:
                yield f"rebuild loses {offset}"
            elif {**saved[offset], "state": line["state"]} != line:
                yield f"rebuild changes {offset}"

    def _has_lost_units(self, name: str) -> bool:
        """Whether a unit of a queue's file is not as it was; tags codes do not count."""
        if not name.startswith("consumequeue/") or not name[-20:].isdecimal():
            return False
        old, path = self.original.files[name], self.original.root / name
        new = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        units = [slice(start, start + 12) for start in range(0, len(old), UNIT_SIZE)]
        return any(any(old[unit]) and old[unit] != new[unit] for unit in units)

    def _get_faults(self, offset: int) -> Iterator[str]:
        line = self.lines[offset]
        place = f"{line['topic']}:{line['queue_id']}:{line['queue_offset']}"
        for name, value in (
            ("--physical", offset),
            ("--at", place),
            ("--id", line["offset_msg_id"]),
        ):
            status, output, errors = call_store("get", "--json", name, value, self.original.root)
            places = [json.loads(text)["commit_log_offset"] for text in output.splitlines()]
            if offset not in places and line["state"] != "ghost":
                yield f"get {name} {value}: {status} {errors}"

    def _verb_faults(self, chance: Random) -> Iterator[str]:
        group = chance.choice(("topic", "queue", "tag", "hour", "kind", "file"))
        for arguments in (
            ("info",),
            ("stat", "--system", "--by", group),
            ("messages", "--system", "--body", "text"),
            ("check", "--why"),
            ("pending",),
            ("pending", "--json"),
            ("export", "--format", "jsonl"),
            ("get", "--key", "no such key"),
            ("rebuild", "--dry-run", self.original.root.parent / "new"),
        ):
            status, _, errors = call_store(*arguments, self.original.root)
            *notes, line = errors.splitlines() or [""]  # a note for each file that is not read
            is_clear = line.startswith("rocketwire-store: ")
            is_clear &= all(" is not read: " in note for note in notes)
            if status not in (0, 1, 2) or (status == 2 and not is_clear):
                yield f"{arguments[0]}: status {status}, {errors!r}"


def _difference(line: dict[str, Any], now: dict[str, Any] | None) -> Iterator[str]:
    if now is None:
        yield f"{line['commit_log_offset']} is missing, though no byte of it has changed"
        return
    names = {name for name in line if line[name] != now[name]}
    if names - {"state"} or now["state"] == "ghost":
        yield f"{line['commit_log_offset']}: {', '.join(sorted(names))} changed"
