"""Inflating ahead of the decoder: the order of the pieces, and closing before the end."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files import inputs
from rocketwire_tools.pcap.files.inputs import AHEAD, BLOCK, InflatedSource

if TYPE_CHECKING:
    from collections.abc import Iterator


class Counting:
    """Inflates to blocks that hold their number, and then comes to an end.

    Args:
        sizes: how many bytes each call gives.
        end: raised after them; None for a clean end.
    """

    def __init__(self, sizes: list[int], end: Exception | None = None) -> None:
        self._sizes = sizes
        self._end = end
        self.calls = 0
        self.filled = threading.Semaphore(0)

    def readinto1(self, buffer: memoryview, /) -> int:
        self.calls += 1
        self.filled.release()
        if self.calls > len(self._sizes):
            if self._end is not None:
                raise self._end
            return 0
        size = min(self._sizes[self.calls - 1], len(buffer))
        buffer[:size] = bytes([self.calls % 251]) * size
        return size


def read_all(source: InflatedSource, step: int = 3 << 19) -> Iterator[bytes]:
    """Read to the end, a buffer at a time."""
    buffer = memoryview(bytearray(step))
    while count := source.readinto(buffer):
        yield bytes(buffer[:count])


def source_of(plain: Counting, piece: int = BLOCK) -> InflatedSource:
    return InflatedSource("some.pcap.gz", plain, io.FileIO("/dev/null"), piece)


def read_sizes(sizes: list[int]) -> bytes:
    return b"".join(bytes([(at + 1) % 251]) * size for at, size in enumerate(sizes))


@pytest.mark.parametrize("step", [1000, BLOCK, 5 * BLOCK])
def test_pieces_of_any_size_come_in_order_however_much_is_asked_for(step: int) -> None:
    sizes = [3, BLOCK, BLOCK - 3, 1, BLOCK // 2, *[BLOCK] * 3, 17]
    plain = Counting([min(size, 1 << 17) for size in sizes])
    source = source_of(plain, 1 << 17)
    assert read_sizes([min(size, 1 << 17) for size in sizes]) == b"".join(read_all(source, step))
    source.close()


def test_it_runs_ahead_of_the_decoder_so_many_blocks_and_no_further() -> None:
    sizes = [BLOCK] * (3 * AHEAD)
    plain = Counting(sizes)
    source = source_of(plain)
    for _ in range(AHEAD):
        plain.filled.acquire()
    assert AHEAD == plain.calls
    assert read_sizes(sizes) == b"".join(read_all(source))
    source.close()


def test_what_comes_before_damage_is_given_and_then_the_damage_is_told_once() -> None:
    source = source_of(Counting([BLOCK, 5], ValueError("no such block")))
    assert read_sizes([BLOCK, 5]) == source_bytes(source, BLOCK + 5)
    with pytest.raises(CaptureError, match=r"some\.pcap\.gz: cannot be inflated: no such block"):
        source.readinto(memoryview(bytearray(1)))
    assert 0 == source.readinto(memoryview(bytearray(1)))
    source.close()


def source_bytes(source: InflatedSource, count: int) -> bytes:
    """So many bytes, and no call more."""
    made = bytearray()
    while len(made) < count:
        buffer = memoryview(bytearray(count - len(made)))
        made += buffer[: source.readinto(buffer)]
    return bytes(made)


def test_stream_that_was_cut_off_just_ends() -> None:
    source = source_of(Counting([10], EOFError()))
    assert read_sizes([10]) == b"".join(read_all(source))
    assert 0 == source.readinto(memoryview(bytearray(1)))
    source.close()


@pytest.mark.parametrize("taken", [0, 1])
def test_closing_ends_the_thread_wherever_it_is(taken: int) -> None:
    plain, file = Counting([BLOCK] * (3 * AHEAD)), io.FileIO("/dev/null")
    source = InflatedSource("some.pcap.gz", plain, file)
    for _ in range(AHEAD):
        plain.filled.acquire()
    for _ in range(taken):
        source.readinto(memoryview(bytearray(BLOCK)))
    source.close()
    assert file.closed
    assert plain.calls <= AHEAD + taken
    assert "inflate" not in {thread.name for thread in threading.enumerate()}


class Waiting:
    """Waits for a pipe that gives nothing for long."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.comes = threading.Event()

    def readinto1(self, buffer: memoryview, /) -> int:
        self.begun.set()
        self.comes.wait()
        return len(buffer)


def test_closing_does_not_wait_for_a_pipe_that_gives_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inputs, "_JOIN_SECONDS", 0.001)
    plain, file = Waiting(), io.FileIO("/dev/null")
    source = InflatedSource("-", plain, file)
    plain.begun.wait()
    source.close()
    assert not file.closed

    plain.comes.set()
    for thread in threading.enumerate():
        if thread.name == "inflate":
            thread.join()
    assert file.closed
