"""Records of pcap and pcapng files, a chunk of them at a time.

Rules of this file: one buffer is filled again and again; the chain of record headers is walked by Python, everything else
about them is gathered by numpy.  A length is looked at before anything is done with it.

Formats: pcap (both byte orders, micro- and nanoseconds, the variant with larger record headers), and pcapng
(draft-ietf-opsawg-pcapng) by ``pcapng``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rocketwire_tools.pcap import lanes
from rocketwire_tools.pcap.buffers import buffer_of
from rocketwire_tools.pcap.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.buffers import Buffer
    from rocketwire_tools.pcap.inputs import ByteSource

    Integers = np.ndarray[Any, Any]

PCAPNG: Final = b"\x0a\x0d\x0d\x0a"
"""What files of that format begin with."""
CHUNK_SIZE: Final = 16 << 20
"""Bytes looked at together: small enough for the processor's caches, large enough for numpy."""
MAX_RECORD: Final = 1 << 20
"""Largest record; captures hold at most 256 KiB of a packet."""
MOST_RECORDS: Final = 32_768
"""Records looked at together, however small they are."""
PADDING: Final = 256
"""Bytes behind the buffer, so that headers can be gathered before it is known whether they are all there."""


@dataclass(slots=True)
class Records:
    """Records that lie in the buffer until the next ones are asked for.

    Attributes:
        buffer: holds them, and ``PADDING`` bytes more.
        size: bytes of it in use.
        where: offsets of the records in the file.
        data: offsets of the packets in the buffer.
        captured: bytes of each packet that are there.
        wire: bytes of each packet that there were.
        time_ns: nanoseconds since 1970.
        link: link type of each packet, or of all of them.
    """

    buffer: Buffer
    size: int
    where: Integers
    data: Integers
    captured: Integers
    wire: Integers
    time_ns: Integers
    link: Integers | int

    def take(self, some: Integers | slice) -> Records:
        """These records."""
        return Records(
            self.buffer,
            self.size,
            self.where[some],
            self.data[some],
            self.captured[some],
            self.wire[some],
            self.time_ns[some],
            self.link if isinstance(self.link, int) else self.link[some],
        )


class Format(Protocol):
    """How records lie in a file."""

    head_size: int

    def walk(self, buffer: Buffer, start: int, end: int) -> tuple[Integers, int]:
        """Find the records that are all there between two offsets, and the end of the last of them."""
        ...

    def records(self, buffer: Buffer, at: Integers, base: int) -> Records:
        """Gather what is known of records; base is where in the file the buffer begins."""
        ...


def rows_at(buffer: Buffer | Integers, offsets: Integers, size: int) -> np.ndarray[Any, Any]:
    """Gather ``size`` bytes at each offset, one row each; they may reach into the padding."""
    width = np.dtype((np.void, size))
    windows = np.ndarray((len(buffer) - size + 1,), width, buffer, strides=(1,))
    return windows[offsets].view(np.uint8).reshape(-1, size)


class PcapFormat:
    """The classic format.

    Args:
        path: for messages.
        order: ``<`` or ``>``.
        nanoseconds: whether fractions are nanoseconds, otherwise microseconds.
        link: the link type of all packets.
        record_header: bytes of it, 16 or 24.

    Attributes:
        order: as given.
        record_header: as given.
        fractions: parts of a second that its times count.
    """

    head_size = 24

    def __init__(
        self, path: str, order: str, *, nanoseconds: bool, link: int, record_header: int
    ) -> None:
        self._path = path
        self.order = order
        self._unit = 1 if nanoseconds else 1000
        self._link = link
        self.record_header = record_header
        self.fractions = 10**9 if nanoseconds else 10**6
        self._captured = struct.Struct(f"{order}8xI").unpack_from
        self._length = np.dtype(f"{order}u4")
        self._marks = range(2, 4) if order == "<" else range(2)  # of seconds: the same for 18 hours

    def walk(self, buffer: Buffer, start: int, end: int) -> tuple[Integers, int]:
        """See ``Format``; stops in front of a length that nothing has, and of the head of another file."""
        last = end - self.record_header
        found = self._found(buffer, start, last)
        if not len(found):
            return found, start
        latest = int(found[-1])
        (captured,) = self._captured(buffer, latest)
        after: int = latest + self.record_header + captured
        if after > end:
            found, after = found[:-1], latest
        for number in range(max(len(found) - _BEHIND_HEAD, 0), len(found)):
            if is_head(buffer, int(found[number])):
                return found[:number], int(found[number])
        return found, after

    def _found(self, buffer: Buffer, start: int, last: int) -> Integers:
        """Where records begin up to an offset, if all lengths are right."""
        found = np.zeros(0, np.int64)
        if last - start >= lanes.FEWEST * lanes.LANE:
            starts = lanes.guesses(
                buffer, start, last, self._marks, partial(self._are_plausible, buffer, last)
            )
            if len(starts) >= lanes.FEWEST:
                found, start = lanes.follow(
                    buffer, starts, last, self._length, 8, self.record_header
                )
        rest = np.fromiter(self._chain(buffer, start, last), np.int64)
        return np.concatenate([found, rest]) if len(rest) else found

    def _are_plausible(self, buffer: Buffer, last: int, at: Integers) -> Integers:
        """At which offsets a record seems to begin, and another one behind it."""
        good, after = self._seem_good(buffer, at)
        some = np.flatnonzero(good)
        some = some[after[some] <= last]
        good[some], _ = self._seem_good(buffer, after[some])
        return good

    def _seem_good(self, buffer: Buffer, at: Integers) -> tuple[Integers, Integers]:
        """Whether records seem to begin at offsets, and where they would end."""
        seconds, fraction, captured, wire = (
            rows_at(buffer, at, 16).view(self._length).astype(np.int64).T
        )
        good = (fraction < self.fractions) & (captured <= wire) & (wire <= MAX_RECORD)
        return good & (seconds > 0), at + self.record_header + captured

    def _chain(self, buffer: Buffer, at: int, last: int) -> Iterator[int]:
        captured, header = self._captured, self.record_header
        while at <= last:
            yield at
            at += captured(buffer, at)[0] + header

    def refusal(self, buffer: Buffer, at: int, end: int) -> str | None:
        """Why the record that starts there cannot be one; None while it may be."""
        if end - at < self.record_header:
            return None
        (captured,) = self._captured(buffer, at)
        if captured > MAX_RECORD:
            return f"a record claims {captured} bytes, {MAX_RECORD} is the limit"
        return None

    def records(self, buffer: Buffer, at: Integers, base: int) -> Records:
        """See ``Format``."""
        words = rows_at(buffer, at, 16).view(f"{self.order}u4").astype(np.int64)
        return Records(
            buffer=buffer,
            size=0,
            where=at + base,
            data=at + self.record_header,
            captured=words[:, 2],
            wire=np.maximum(words[:, 3], words[:, 2]),
            time_ns=words[:, 0] * 1_000_000_000 + words[:, 1] * self._unit,
            link=self._link,
        )


_MAGICS: Final = {
    0xA1B2C3D4: (False, 16),
    0xA1B23C4D: (True, 16),
    0xA1B2CD34: (False, 24),
}
"""Whether fractions are nanoseconds, and the size of a record header."""


_HEADS: Final = frozenset(
    struct.pack(f"{order}IHH", magic, 2, 4) for magic in _MAGICS for order in "<>"
)
"""Magic and version: what every file begins with, and no record, which would have to be of the years 2055 or 2077."""
_BEHIND_HEAD: Final = 3
"""A head taken for a record is one without data; the next one begins within the head, and what that says leads nowhere."""


def is_head(buffer: Buffer, at: int) -> bool:
    """Whether a classic capture begins there."""
    return bytes(buffer[at : at + 8]) in _HEADS


def is_cut_head(data: bytes) -> bool:
    """Whether that is all there is of a classic capture, and less than its head."""
    return len(data) < PcapFormat.head_size and any(one.startswith(data[:8]) for one in _HEADS)


def pcap_format(path: str, head: bytes) -> PcapFormat | None:
    """The format that a file's first 24 bytes announce, if it is classic pcap."""
    for order in "<>":
        magic, _, _, _, _, _, link = struct.unpack(f"{order}IHHIIII", head)
        if magic in _MAGICS:
            nanoseconds, header = _MAGICS[magic]
            return PcapFormat(
                path, order, nanoseconds=nanoseconds, link=link & 0xFFFF, record_header=header
            )
    return None


class CaptureReader:
    """Reads one capture.

    Args:
        path: for messages.
        source: its bytes, from the first on.
        chunk_size: bytes looked at together.
        eager: give what has come, however little, instead of waiting for a chunk.

    Attributes:
        truncated: whether the last record is not all there; a capture that is being written, or
            was cut off, ends so.
    """

    def __init__(
        self, path: str, source: ByteSource, *, chunk_size: int = CHUNK_SIZE, eager: bool = False
    ) -> None:
        self._eager = eager
        self.path = path
        self.truncated = False
        self._source = source
        self._chunk = max(chunk_size, 2 * MAX_RECORD)
        self._buffer = buffer_of(self._chunk + PADDING)
        self._view = memoryview(self._buffer)[: self._chunk]
        self._size = 0
        self._base = 0
        self._failure: CaptureError | None = None

    def __iter__(self) -> Iterator[Records]:
        """Give all records.

        Raises:
            CaptureError: it is no capture, or damaged.
        """
        try:
            yield from self._records()
        except CaptureError as error:
            if self._failure is None or error is self._failure:
                raise
            raise self._failure from error  # what follows damage in a compressed file may be anything

    def _records(self) -> Iterator[Records]:
        self._fill(24)
        if self._size < 24 and self._failure is not None:
            raise self._failure
        if self._size == 0:
            return
        head = bytes(self._view[: min(self._size, 24)])
        if head.startswith(PCAPNG):
            from rocketwire_tools.pcap import pcapng

            yield from pcapng.read(self)
            return
        if is_cut_head(head):
            self.truncated = True
            return
        classic = pcap_format(self.path, head) if self._size >= 24 else None
        if classic is None:
            raise CaptureError(self.path, 0, "this is neither a pcap nor a pcapng file")
        yield from self._classic(classic, classic.head_size)

    def _classic(self, classic: PcapFormat, at: int) -> Iterator[Records]:
        """The records from an offset on, also those of captures that were put behind the first one as they were."""
        while True:
            found, after = classic.walk(self._buffer, at, self._size)
            for first in range(0, len(found), MOST_RECORDS):
                some = found[first : first + MOST_RECORDS]
                records = classic.records(self._buffer, some, self._base)
                records.size = self._size
                yield records
            if (another := self._another(after)) is not None:
                classic, at = another, after + another.head_size
                continue
            if (why := classic.refusal(self._buffer, after, self._size)) is not None:
                raise CaptureError(self.path, self._base + after, why)
            if not self.advance(after):
                return
            at = 0

    def _another(self, at: int) -> PcapFormat | None:
        """The format of the capture whose head is there, if one is."""
        if self._size - at < PcapFormat.head_size or not is_head(self._buffer, at):
            return None
        return pcap_format(self.path, bytes(self._view[at : at + PcapFormat.head_size]))

    # ---- the buffer

    def window(self) -> tuple[Buffer, int, int]:
        """The buffer, bytes of it in use, and where in the file it begins."""
        return self._buffer, self._size, self._base

    def advance(self, used: int) -> bool:
        """Drop bytes from the front and fill up; returns False at the end of the file."""
        rest = self._size - used
        self._view[:rest] = self._view[used : self._size]
        self._size = rest
        self._base += used
        before = self._size
        self._fill(self._size + 1 if self._eager else self._chunk)
        if self._size == before:
            if self._failure is not None:
                raise self._failure
            self.truncated = rest > 0
            return False
        return True

    def skip(self, count: int) -> bool:
        """Drop bytes that need not all have been read; returns False at the end of the file."""
        while count > self._size:
            count -= self._size
            if not self.advance(self._size):
                self.truncated = True
                return False
        return self.advance(count)

    def _fill(self, least: int) -> None:
        """Read until so many bytes are there, or no more come; a pipe may give less.  A failure is kept until what
        came before it has been looked at."""
        read, view = self._source.readinto, self._view
        while self._size < least and self._failure is None:
            try:
                count = read(view[self._size :])
            except CaptureError as failure:
                self._failure = failure
                return
            if not count:
                return
            self._size += count
