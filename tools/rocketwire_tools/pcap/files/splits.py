"""Where a capture can be cut: records are found from any byte on, by what a chain of them looks like.

Rules of this file: no record is read but at the front and near a cut; both sides of a cut come from one call of ``plan``, so
that they agree.  A compressed capture is one piece.

Formats: those of ``pcap`` and ``pcapng``.  A pcapng is cut if all its interfaces are described at its front.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, Self

import numpy as np

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files import pcapng
from rocketwire_tools.pcap.files.decompress import COMPRESSED
from rocketwire_tools.pcap.files.pcap import is_cut_head, pcap_format
from rocketwire_tools.pcap.files.reader import PCAPNG, CaptureReader
from rocketwire_tools.pcap.files.records import CHUNK_SIZE, MAX_RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from rocketwire_tools.pcap.files.inputs import ByteSource
    from rocketwire_tools.pcap.files.pcap import PcapFormat
    from rocketwire_tools.pcap.files.records import Records

    class Head(Protocol):
        """What the front of a capture says."""

        end: int
        """Offset of the first record."""

        def records(self, reader: RangeReader) -> Iterator[Records]:
            """The records of a reader that begins at one of them."""
            ...

        def chain(self, data: bytes, at: int, *, last: bool) -> int | None:
            """Offset in the data of the first record whose followers look like records too; None if more
            bytes are needed, -1 if there is none.

            Args:
                data: bytes of the file.
                at: their offset in the file.
                last: whether they are the last ones.
            """
            ...


CHAIN: Final = 12
"""Records in a row that have to look like records."""
_FEW: Final = 3
"""Records in a row that do at the end of a file that ends within one."""
_WINDOW: Final = 1 << 16
_MOST_WINDOW: Final = 4 << 20
_HEAD: Final = 1 << 20
_ALL: Final = 1 << 62
_NEAR: Final = 366 * 86_400
"""Seconds from the first record to any other."""


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a capture.

    Attributes:
        path: of the file.
        start: offset of the first record; 0 for the front of the file.
        end: offset behind the last record; None for the end of the file.
        before: path of the capture that ends where this file begins, if it is one of several.
        after: path of the capture that goes on where this file ends.
        certain: whether these two do so whatever the times of their packets say.
    """

    path: str
    start: int = 0
    end: int | None = None
    before: str | None = None
    after: str | None = None
    certain: bool = True


class PcapHead:
    """The front of a classic capture.

    Args:
        path: for messages.
        data: the first bytes, a record header included.
    """

    end = 24

    def __init__(self, path: str, data: bytes) -> None:
        found = pcap_format(path, data[:24]) if len(data) >= 24 else None
        if found is None:
            raise CaptureError(path, 0, "this is neither a pcap nor a pcapng file")
        self.format: PcapFormat = found
        self._order = found.order
        self._size = found.record_header
        self._fractions = found.fractions
        whole = len(data) >= 28
        self._second: int = struct.unpack_from(f"{self._order}I", data, 24)[0] if whole else 0

    def records(self, reader: RangeReader) -> Iterator[Records]:
        """See ``Head``."""
        return reader.classic(self.format)

    def chain(self, data: bytes, at: int, *, last: bool) -> int | None:
        """See ``Head``; a record may begin at any byte."""
        del at
        count = len(data) - self._size + 1
        if count <= 0:
            return -1 if last else None
        second, fraction, captured, wire = (
            np.ndarray((count,), f"{self._order}u4", data, offset, strides=(1,))
            for offset in (0, 4, 8, 12)
        )
        good = (captured <= MAX_RECORD) & (captured <= wire) & (fraction < self._fractions)
        good &= np.abs(second.astype(np.int64) - self._second) < _NEAR
        good &= wire <= MAX_RECORD
        for start in np.flatnonzero(good).tolist():
            found = self._follow(start, good, captured, len(data), last=last)
            if found is None:
                return None
            if found:
                return int(start)
        return -1 if last else None

    def _follow(self, at: int, good: Any, captured: Any, size: int, *, last: bool) -> bool | None:
        """Whether a chain begins there; None if more bytes are needed to tell."""
        for number in range(CHAIN):
            if at == size and last:
                return number > 0
            if at >= len(good):
                return number >= _FEW if last else None
            if not good[at]:
                return False
            at += self._size + int(captured[at])
        return True


class PcapngHead:
    """The front of a pcapng capture.

    Args:
        path: for messages.
        data: the first bytes.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.section, self.end = pcapng.front(path, data)

    def records(self, reader: RangeReader) -> Iterator[Records]:
        """See ``Head``."""
        return pcapng.read(reader, self.section)

    def chain(self, data: bytes, at: int, *, last: bool) -> int | None:
        """See ``Head``; blocks begin at every fourth byte."""
        start = -at % 4
        while start + 12 <= len(data):
            kind, _ = struct.unpack_from(f"{self.section.order}II", data, start)
            if kind in pcapng.PACKETS:
                found = self._follow(data, start, last=last)
                if found is None:
                    return None
                if found:
                    return start
            start += 4
        return -1 if last else None

    def _follow(self, data: bytes, at: int, *, last: bool) -> bool | None:
        order = self.section.order
        for number in range(CHAIN):
            if at == len(data) and last:
                return number > 0
            if at + 12 > len(data):
                return number >= _FEW if last else None
            _, length = struct.unpack_from(f"{order}II", data, at)
            if length < 12 or length & 3 or length > MAX_RECORD:
                return False
            at += length
            if at > len(data):
                return number >= _FEW if last else None
            if struct.unpack_from(f"{order}I", data, at - 4)[0] != length:
                return False
        return True


class RangeReader(CaptureReader):
    """Reads a capture from a record on.

    Args:
        path: for messages.
        head: of the capture; None to read it from its front.
        source: its bytes from that record on.
        base: offset of that record, as it is to be given.
        chunk_size: bytes looked at together.
    """

    def __init__(
        self,
        path: str,
        head: Head | None,
        source: ByteSource,
        base: int,
        chunk_size: int = CHUNK_SIZE,
    ) -> None:
        super().__init__(path, source, chunk_size=chunk_size, base=base)
        self._head = head

    def __iter__(self) -> Iterator[Records]:
        """See ``CaptureReader``."""
        return super().__iter__() if self._head is None else self._head.records(self)

    def classic(self, classic: PcapFormat) -> Iterator[Records]:
        """The records of a classic capture."""
        return self._classic(classic, 0)


class Range:
    """Some bytes of a file.

    Args:
        path: of the file.
        start: offset of the first one.
        end: offset behind the last one; None for the end of the file.
    """

    def __init__(self, path: str, start: int, end: int | None) -> None:
        try:
            self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close
        except OSError as error:
            raise CaptureError(path, None, error.strerror or str(error)) from error
        self._file.seek(start)
        self._left = _ALL if end is None else end - start

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def readinto(self, buffer: memoryview, /) -> int:
        """See ``ByteSource``."""
        count = self._file.readinto(buffer[: self._left]) or 0
        self._left -= count
        return count

    def close(self) -> None:
        """See ``ByteSource``."""
        self._file.close()


def read_head(path: str) -> Head | None:
    """What the front of a capture says; None if it is compressed, or cut off within its head.

    Raises:
        CaptureError: it cannot be read, or is no capture.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(_HEAD)
    except OSError as error:
        raise CaptureError(path, None, error.strerror or str(error)) from error
    if data.startswith(COMPRESSED) or is_cut_head(data):
        return None
    if data.startswith(PCAPNG):
        return PcapngHead(path, data)
    return PcapHead(path, data)


def find_record(path: str, head: Head, offset: int) -> int:
    """Offset of the first record that begins at an offset or behind it; the size of the file if none does.

    Args:
        path: of the file.
        head: what its front says.
        offset: any.

    Raises:
        CaptureError: there is nothing like records.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        offset = max(offset, head.end)
        window = _WINDOW
        while offset < size and window <= _MOST_WINDOW:
            data = _read_at(file, offset, window)
            last = offset + len(data) >= size
            found = head.chain(data, offset, last=last)
            if found is not None:
                return size if found < 0 else offset + found
            window *= 4
    if offset >= size:
        return size
    raise CaptureError(path, offset, f"no records in the {window // 4} bytes from there on")


def _read_at(file: IO[bytes], offset: int, count: int) -> bytes:
    file.seek(offset)
    return file.read(count)


def plan(path: str, size: int) -> list[Split]:
    """Cut a capture.

    Args:
        path: of the file.
        size: bytes of a part, at least; 0 for one part.

    Returns:
        Parts that have every record once; one for a compressed capture or an empty file.

    Raises:
        CaptureError: it cannot be read, or is no capture.
    """
    total = os.path.getsize(path) if os.path.exists(path) else 0
    head = read_head(path) if total or not os.path.exists(path) else None
    if head is None or not 0 < size < total:
        return [Split(path)]
    cuts = [find_record(path, head, offset) for offset in range(size, total, size)]
    inner = sorted({cut for cut in cuts if head.end < cut < total})
    starts: list[int] = [0, *inner]
    ends: list[int | None] = [*inner, None]
    return [Split(path, start, end) for start, end in zip(starts, ends, strict=True)]
