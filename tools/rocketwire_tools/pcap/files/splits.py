"""Finds offsets at which a capture can be split: records are recognised by the chain that they
form.

Records are read only at the front and near a split. One call of ``plan`` determines both sides of a
split, so that they agree. A compressed capture is not split. A pcapng file is split only if all its
interfaces are described at its front.
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
from rocketwire_tools.pcap.files.pcapng_blocks import PACKETS
from rocketwire_tools.pcap.files.reader import PCAPNG, CaptureReader
from rocketwire_tools.pcap.files.records import CHUNK_SIZE, MAX_RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from rocketwire_tools.pcap.files.inputs import ByteSource
    from rocketwire_tools.pcap.files.pcap import PcapFormat
    from rocketwire_tools.pcap.files.records import Records

    class Head(Protocol):
        end: int
        """Offset of the first record."""

        def records(self, reader: RangeReader) -> Iterator[Records]:
            """Read records with a reader that begins at a record."""
            ...

        def chain(self, data: bytes, offset: int, *, last: bool) -> int | None:
            """Find the first of several plausible records.

            Returns:
                An offset in the data; None if more bytes are needed, -1 if there is no record.
            """
            ...


CHAIN: Final = 12  # Consecutive records that must be plausible
_FEW: Final = 3  # The same at the end of a file that ends within a record
_WINDOW: Final = 1 << 16
_MAX_WINDOW: Final = 4 << 20
_HEAD: Final = 1 << 20
_ALL: Final = 1 << 62
_NEAR: Final = 366 * 86_400  # Seconds between the first record and any other record at most


@dataclass(frozen=True, slots=True)
class Split:
    path: str  # of the file
    start: int = 0  # offset of the first record; 0 for the front of the file
    end: int | None = None  # offset after the last record; None for the end of the file
    # path of the capture that this file continues, if it is one of a series
    before: str | None = None
    after: str | None = None  # path of the capture that continues this file
    certain: bool = True  # whether these files continue each other regardless of their times


class PcapHead:
    end = 24

    def __init__(self, path: str, data: bytes) -> None:
        file_format = pcap_format(path, data[:24]) if len(data) >= 24 else None
        if file_format is None:
            raise CaptureError(path, 0, "this is neither a pcap nor a pcapng file")
        self.format: PcapFormat = file_format
        self._order = file_format.order
        self._size = file_format.record_header
        self._fractions = file_format.fractions
        has_record = len(data) >= 28
        self._second: int = struct.unpack_from(f"{self._order}I", data, 24)[0] if has_record else 0

    def records(self, reader: RangeReader) -> Iterator[Records]:
        return reader.classic(self.format)

    def chain(self, data: bytes, offset: int, *, last: bool) -> int | None:
        """See ``Head``; a record may begin at any byte."""
        del offset
        count = len(data) - self._size + 1
        if count <= 0:
            return -1 if last else None
        second, fraction, captured, wire = (
            np.ndarray((count,), f"{self._order}u4", data, field, strides=(1,))
            for field in (0, 4, 8, 12)
        )
        good = (captured <= MAX_RECORD) & (captured <= wire) & (fraction < self._fractions)
        good &= np.abs(second.astype(np.int64) - self._second) < _NEAR
        good &= wire <= MAX_RECORD
        for start in np.flatnonzero(good).tolist():
            is_chain = self._follow(start, good, captured, len(data), last=last)
            if is_chain is None:
                return None
            if is_chain:
                return int(start)
        return -1 if last else None

    def _follow(
        self, offset: int, good: Any, captured: Any, size: int, *, last: bool
    ) -> bool | None:
        # Whether a chain begins at an offset; None if more bytes are needed
        for index in range(CHAIN):
            if offset == size and last:
                return index > 0
            if offset >= len(good):
                return index >= _FEW if last else None
            if not good[offset]:
                return False
            offset += self._size + int(captured[offset])
        return True


class PcapngHead:
    def __init__(self, path: str, data: bytes) -> None:
        self.section, self.end = pcapng.read_front(path, data)

    def records(self, reader: RangeReader) -> Iterator[Records]:
        return pcapng.read(reader, self.section)

    def chain(self, data: bytes, offset: int, *, last: bool) -> int | None:
        """See ``Head``; blocks begin at every fourth byte."""
        start = -offset % 4
        while start + 12 <= len(data):
            block_type, _ = struct.unpack_from(f"{self.section.order}II", data, start)
            if block_type in PACKETS:
                is_chain = self._follow(data, start, last=last)
                if is_chain is None:
                    return None
                if is_chain:
                    return start
            start += 4
        return -1 if last else None

    def _follow(self, data: bytes, offset: int, *, last: bool) -> bool | None:
        order = self.section.order
        for index in range(CHAIN):
            if offset == len(data) and last:
                return index > 0
            if offset + 12 > len(data):
                return index >= _FEW if last else None
            _, length = struct.unpack_from(f"{order}II", data, offset)
            if length < 12 or length & 3 or length > MAX_RECORD:
                return False
            offset += length
            if offset > len(data):
                return index >= _FEW if last else None
            if struct.unpack_from(f"{order}I", data, offset - 4)[0] != length:
                return False
        return True


class RangeReader(CaptureReader):
    def __init__(
        self,
        path: str,  # for error messages
        head: Head | None,  # of the capture; None to read it from its front
        source: ByteSource,  # its bytes from that record on
        base: int,  # offset of that record in the results
        chunk_size: int = CHUNK_SIZE,  # bytes that are decoded together
    ) -> None:
        super().__init__(path, source, chunk_size=chunk_size, base=base)
        self._head = head

    def __iter__(self) -> Iterator[Records]:
        return super().__iter__() if self._head is None else self._head.records(self)

    def classic(self, classic: PcapFormat) -> Iterator[Records]:
        return self._classic(classic, 0)


class Range:
    """The bytes of a file from ``start`` to ``end``; None for the end of the file."""

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
        count = self._file.readinto(buffer[: self._left]) or 0
        self._left -= count
        return count

    def close(self) -> None:
        self._file.close()


def read_head(path: str) -> Head | None:
    """Read the front of a capture; None if it is compressed, or ends within its file header."""
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
    """Find the first record at or after an offset; without one, the size of the file."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        offset = max(offset, head.end)
        window = _WINDOW
        while offset < size and window <= _MAX_WINDOW:
            data = _read_at(file, offset, window)
            last = offset + len(data) >= size
            distance = head.chain(data, offset, last=last)
            if distance is not None:
                return size if distance < 0 else offset + distance
            window *= 4
    if offset >= size:
        return size
    raise CaptureError(path, offset, f"no records in the next {window // 4} bytes")


def _read_at(file: IO[bytes], offset: int, count: int) -> bytes:
    file.seek(offset)
    return file.read(count)


def plan(path: str, size: int) -> list[Split]:
    """Split a capture into parts that contain every record once; one part for a compressed capture
    or an empty file."""
    total = os.path.getsize(path) if os.path.exists(path) else 0
    head = read_head(path) if total or not os.path.exists(path) else None
    if head is None or not 0 < size < total:
        return [Split(path)]
    cuts = [find_record(path, head, offset) for offset in range(size, total, size)]
    inner = sorted({cut for cut in cuts if head.end < cut < total})
    starts: list[int] = [0, *inner]
    ends: list[int | None] = [*inner, None]
    return [Split(path, start, end) for start, end in zip(starts, ends, strict=True)]
