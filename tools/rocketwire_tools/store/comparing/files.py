"""Files of two stores that only agree if the same broker wrote both: compared byte by byte.

These are the extensions of queues, the timer log, the timer wheel, and the words of ``checkpoint``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire.store.folder import file_at, files_between
from rocketwire_tools.store.comparing.differences import Place, StoreDifference
from rocketwire_tools.store.engine.blocks import open_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire.store.folder import StoreFile
    from rocketwire_tools.store.opened import OpenedStore

PART: Final = "file"
_BLOCK: Final = 1 << 20


def file_differences(a: OpenedStore, b: OpenedStore) -> Iterator[StoreDifference]:
    """Extensions, timers and checkpoints that differ."""
    for topic, queue_id in sorted({*a.folder.extensions, *b.folder.extensions}):
        files = (store.folder.extensions.get((topic, queue_id), []) for store in (a, b))
        yield from _stream_differences(f"extensions of {topic}:{queue_id}", *files)
    yield from _stream_differences("timer log", a.folder.timer_log, b.folder.timer_log)
    wheels = [{file.name: file for file in store.folder.timer_wheels} for store in (a, b)]
    for name in sorted({*wheels[0], *wheels[1]}):
        files = ([wheel[name]] if name in wheel else [] for wheel in wheels)
        yield from _stream_differences(name, *files)
    yield from _checkpoint_differences(a, b)


def _checkpoint_differences(a: OpenedStore, b: OpenedStore) -> Iterator[StoreDifference]:
    words_a, words_b = a.checkpoint, b.checkpoint
    if words_a is None and words_b is None:
        return
    if words_a is None or words_b is None:
        rule = f"only {'A' if words_b is None else 'B'} has this file"
        yield StoreDifference(part=PART, name="checkpoint", rule=rule)
        return
    for number, name in enumerate(words_a._fields):
        if words_a[number] != words_b[number]:
            place = Place("checkpoint", 8 * number)
            yield StoreDifference(
                part=PART,
                name=f"checkpoint: {name}",
                rule="the numbers differ",
                a=words_a[number],
                b=words_b[number],
                place_a=place,
                place_b=place,
            )


def _stream_differences(
    name: str, files_a: Sequence[StoreFile], files_b: Sequence[StoreFile]
) -> Iterator[StoreDifference]:
    """One difference for the bytes of a stream; where a store has no file, it has zeros."""
    count, first = 0, -1
    for start in _starts((*files_a, *files_b)):
        part_a, part_b = _bytes(files_a, start), _bytes(files_b, start)
        differs = np.flatnonzero(part_a != part_b)
        if len(differs):
            first = start + int(differs[0]) if first < 0 else first
            count += len(differs)
    if count:
        yield StoreDifference(
            part=PART,
            name=name,
            rule=f"{count} bytes differ, the first at {first}",
            place_a=_place(files_a, first),
            place_b=_place(files_b, first),
        )


def _starts(files: Sequence[StoreFile]) -> list[int]:
    """Where blocks with data begin."""
    starts: set[int] = set()
    for file in files:
        with open_blocks(file, block_size=1) as blocks:
            place = blocks.next_data(0)
            while place < file.size:
                block = (file.offset + place) // _BLOCK
                starts.add(block * _BLOCK)
                place = blocks.next_data((block + 1) * _BLOCK - file.offset)
    return sorted(starts)


def _bytes(files: Sequence[StoreFile], start: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """A block of a stream; zeros where no file has it."""
    data = np.zeros(_BLOCK, np.uint8)
    for file in files_between(files, start, start + _BLOCK):
        begin, end = max(start, file.offset), min(start + _BLOCK, file.end)
        with open_blocks(file, block_size=end - begin) as blocks:
            part = np.frombuffer(blocks.read(begin - file.offset), np.uint8)
            data[begin - start : begin - start + len(part)] = part
    return data


def _place(files: Sequence[StoreFile], offset: int) -> Place | None:
    file = file_at(files, offset)
    return None if file is None else Place(file.name, offset - file.offset)
