"""Inflating ahead of the decoder: the order of the pieces, and closing before the end."""

import io
import threading
from collections.abc import Iterator

import pytest

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files import inputs
from rocketwire_tools.pcap.files.inputs import AHEAD, BLOCK, InflatedSource


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
    buffer = memoryview(bytearray(step))
    while count := source.readinto(buffer):
        yield bytes(buffer[:count])


def source_of(reader: Counting, piece: int = BLOCK) -> InflatedSource:
    return InflatedSource("some.pcap.gz", reader, io.FileIO("/dev/null"), piece)


def read_sizes(sizes: list[int]) -> bytes:
    return b"".join(bytes([(number + 1) % 251]) * size for number, size in enumerate(sizes))


@pytest.mark.parametrize("step", [1000, BLOCK, 5 * BLOCK])
def test_pieces_of_any_size_come_in_order(step: int) -> None:
    sizes = [3, BLOCK, BLOCK - 3, 1, BLOCK // 2, *[BLOCK] * 3, 17]
    reader = Counting([min(size, 1 << 17) for size in sizes])
    source = source_of(reader, 1 << 17)
    assert read_sizes([min(size, 1 << 17) for size in sizes]) == b"".join(read_all(source, step))
    source.close()


def test_it_runs_ahead_of_the_decoder_so_many_blocks_and_no_further() -> None:
    sizes = [BLOCK] * (3 * AHEAD)
    reader = Counting(sizes)
    source = source_of(reader)
    for _ in range(AHEAD):
        reader.filled.acquire()
    assert AHEAD == reader.calls
    assert read_sizes(sizes) == b"".join(read_all(source))
    source.close()


def test_bytes_before_damage_come_first_and_then_one_error() -> None:
    source = source_of(Counting([BLOCK, 5], ValueError("no such block")))
    assert read_sizes([BLOCK, 5]) == read_bytes(source, BLOCK + 5)
    with pytest.raises(CaptureError, match=r"some\.pcap\.gz: cannot be inflated: no such block"):
        source.readinto(memoryview(bytearray(1)))
    assert 0 == source.readinto(memoryview(bytearray(1)))
    source.close()


def read_bytes(source: InflatedSource, count: int) -> bytes:
    """Read this number of bytes, without another call."""
    data = bytearray()
    while len(data) < count:
        buffer = memoryview(bytearray(count - len(data)))
        data += buffer[: source.readinto(buffer)]
    return bytes(data)


def test_stream_that_was_cut_off_just_ends() -> None:
    source = source_of(Counting([10], EOFError()))
    assert read_sizes([10]) == b"".join(read_all(source))
    assert 0 == source.readinto(memoryview(bytearray(1)))
    source.close()


@pytest.mark.parametrize("taken", [0, 1])
def test_closing_ends_the_thread_at_any_time(taken: int) -> None:
    reader, file = Counting([BLOCK] * (3 * AHEAD)), io.FileIO("/dev/null")
    source = InflatedSource("some.pcap.gz", reader, file)
    for _ in range(AHEAD):
        reader.filled.acquire()
    for _ in range(taken):
        source.readinto(memoryview(bytearray(BLOCK)))
    source.close()
    assert file.closed
    assert reader.calls <= AHEAD + taken
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


def test_closing_does_not_wait_for_a_silent_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_JOIN_SECONDS", 0.001)
    reader, file = Waiting(), io.FileIO("/dev/null")
    source = InflatedSource("-", reader, file)
    reader.begun.wait()
    source.close()
    assert not file.closed

    reader.comes.set()
    for thread in threading.enumerate():
        if thread.name == "inflate":
            thread.join()
    assert file.closed
