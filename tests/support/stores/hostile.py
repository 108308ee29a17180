"""What every verb that reads must do with a damaged store.

Rules of this file: nothing here knows what a mutation did; whether a message is hit is read from
the bytes on the disk.  A line that ``faults`` returns is one broken promise:

* a verb ends with a documented status, and with one line if the path is no store;
* a message whose bytes are as the broker wrote them is listed, with the same values as before, and
  ``get`` finds it;
* a message is listed only where one of the broker's stood, and is marked if its body is another;
* ``check`` counts the listed messages, and calls the store damaged if one of them is missing;
* ``rebuild`` makes a store in which every whole message is listed as before.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, Final

from rocketwire.store.commit_log import message_parts
from rocketwire.store.consume_queue import UNIT_SIZE
from rocketwire_tools.store.__main__ import main
from tests.support.stores.mutations import Original, mutate_often

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.stores.mutations import Damage

LIST: Final = ("messages", "--json", "--system", "--ghosts", "--folded", "--body", "hex")


def run(*arguments: object) -> tuple[int, bytes, str]:
    """Run the command; returns its status and what it wrote to both streams."""
    output, errors = io.BytesIO(), io.BytesIO()
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in (output, errors)
    )
    try:
        status = main([str(argument) for argument in arguments])
        return status, output.getvalue(), errors.getvalue().decode()
    finally:
        sys.stdout, sys.stderr = kept


@dataclass(slots=True)
class Listed:
    """Messages as the command lists them: physical offset → line; ``repeated`` offsets."""

    status: int
    lines: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    repeated: list[int] = field(default_factory=list[int])


def listed(root: Path, arguments: tuple[str, ...] = LIST) -> Listed:
    """The messages of a store."""
    status, output, _ = run(*arguments, root)
    result = Listed(status)
    for text in output.splitlines():
        line = json.loads(text)
        place = line["physical_offset"]
        if place in result.lines:
            result.repeated.append(place)
        result.lines[place] = line
    return result


class HostileStore:
    """A store that is damaged again and again.

    Attributes:
        original: the store as its broker left it.
        lines: physical offset → how the command lists the message.
    """

    def __init__(self, root: Path, foreign: Path | None = None) -> None:
        self.original = Original(root, None if foreign is None else Original(foreign))
        self.lines = listed(root).lines

    @cached_property
    def _places(self) -> dict[int, tuple[str, int, bytes]]:
        """Physical offset of a message → name of the file, position there, and bytes."""
        files = {
            int(name[-20:]): name for name in self.original.files if name.startswith("commitlog/")
        }
        places: dict[int, tuple[str, int, bytes]] = {}
        for offset, line in self.lines.items():
            base = max(file for file in files if file <= offset)
            data = self.original.files[files[base]]
            places[offset] = (files[base], offset - base, data[offset - base :][: line["size"]])
        return places

    def damage(self, seed: str, most: int = 1) -> tuple[Damage, list[str]]:
        """Damage the store, list the faults of the command, and put the store back.

        Args:
            seed: of the random numbers.
            most: how many places are damaged at most.
        """
        chance = Random(seed)
        damage = mutate_often(self.original, chance, chance.randint(1, most))
        try:
            return damage, list(self._faults(damage, chance))
        finally:
            self.original.restore(damage.files)

    def _faults(self, damage: Damage, chance: Random) -> Iterator[str]:
        root = self.original.root
        now = listed(root)
        hit = set(self._hit(damage))
        yield from (f"{offset} is listed twice" for offset in now.repeated)
        for offset, line in self.lines.items():
            if offset not in hit and now.lines.get(offset) != line:
                yield from _difference(line, now.lines.get(offset), may_be_old=bool(damage.written))
        for offset in now.lines.keys() - self.lines.keys() - damage.written.keys():
            yield f"{offset} is listed, where no message stood"
        for offset in hit & now.lines.keys() - damage.written.keys():
            if now.lines[offset]["crc_ok"] and self._has_other_body(offset):
                yield f"{offset} has another body and no mark"
        yield from self._check_faults(damage, now, hit)
        yield from self._rebuild_faults(now, hit)
        offset = chance.choice([*self.lines])
        if offset not in hit and not damage.written:  # or it may be a ghost
            yield from self._get_faults(offset)
        yield from self._verb_faults(chance)

    def _bytes(self, offset: int) -> bytes:
        """What stands at the place of a message now."""
        name, position, data = self._places[offset]
        path = self.original.root / name
        if not path.is_file() or path.is_symlink():
            return b""
        with path.open("rb") as stream:
            stream.seek(position)
            return stream.read(len(data))

    def _hit(self, damage: Damage) -> Iterator[int]:
        for offset, (name, _, data) in self._places.items():
            if name in damage.files and self._bytes(offset) != data:
                yield offset

    def _has_other_body(self, offset: int) -> bool:
        old, new = self._places[offset][2], self._bytes(offset)
        before, after = message_parts(old, 0), message_parts(new, 0)
        if before is None or after is None:
            return False
        body = slice(before.body, before.body + before.body_size)
        return before[2:4] == after[2:4] and old[body] != new[body]

    # -------------------------------------------------------------- verbs

    def _check_faults(self, damage: Damage, now: Listed, hit: set[int]) -> Iterator[str]:
        status, output, _ = run("check", "--json", self.original.root)
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
        if not status and not was_killed and any(map(self._has_lost_units, damage.files)):
            yield f"check calls the store whole, and units of {damage.files} are lost"

    def _rebuild_faults(self, now: Listed, hit: set[int]) -> Iterator[str]:
        root = self.original.root
        whole = {
            offset: line
            for offset, line in now.lines.items()
            if offset in self.lines and offset not in hit and line["state"] != "ghost"
        }
        new = root.parent / "new"
        try:
            status, _, errors = run("rebuild", new, root)
            if status == 2 and whole:
                yield f"rebuild: {errors}"
            if status == 2:
                return
            saved = listed(new).lines
        finally:
            shutil.rmtree(new, ignore_errors=True)
        for offset, line in whole.items():
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
        units = [slice(at, at + 12) for at in range(0, len(old), UNIT_SIZE)]
        return any(any(old[unit]) and old[unit] != new[unit] for unit in units)

    def _get_faults(self, offset: int) -> Iterator[str]:
        line = self.lines[offset]
        place = f"{line['topic']}:{line['queue_id']}:{line['queue_offset']}"
        for name, value in (
            ("--physical", offset),
            ("--at", place),
            ("--id", line["offset_msg_id"]),
        ):
            status, output, errors = run("get", "--json", name, value, self.original.root)
            places = [json.loads(text)["physical_offset"] for text in output.splitlines()]
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
            status, _, errors = run(*arguments, self.original.root)
            *notes, line = errors.splitlines() or [""]  # a note for each file that is not read
            is_clear = line.startswith("rocketwire-store: ")
            is_clear &= all(" is not read: " in note for note in notes)
            if status not in (0, 1, 2) or (status == 2 and not is_clear):
                yield f"{arguments[0]}: status {status}, {errors!r}"


def _difference(
    line: dict[str, Any], now: dict[str, Any] | None, *, may_be_old: bool
) -> Iterator[str]:
    """What is wrong with the line of a message that was not hit.

    Args:
        line: as it was.
        now: as it is.
        may_be_old: whether newer messages were written before it, so that it may be a ghost.
    """
    offset = line["physical_offset"]
    if now is None:
        yield f"{offset} is missing, though no byte of it has changed"
        return
    names = {name for name in line if line[name] != now[name]}
    if names - {"state"}:
        yield f"{offset}: {', '.join(sorted(names))} changed"
    elif now["state"] == "ghost" and not may_be_old:
        yield f"{offset} counts as a ghost"
