"""Records of pcap and pcapng files, a chunk of them at a time.

Rules of this file: one buffer is filled again and again; the chain of record headers is walked by Python, everything else
about them is gathered by numpy.  A length is looked at before anything is done with it.

Formats: pcap (both byte orders, micro- and nanoseconds, the variant with larger record headers), and pcapng
(draft-ietf-opsawg-pcapng) by ``pcapng``.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.pcap.files import record_scan
from rocketwire_tools.pcap.files.records import (
    MAX_RECORD,
    Records,
    rows_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.pcap.files.buffers import Buffer
    from rocketwire_tools.pcap.files.records import Integers


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
        if last - start >= record_scan.FEWEST * record_scan.LANE:
            starts = record_scan.guesses(
                buffer, start, last, self._marks, partial(self._are_plausible, buffer, last)
            )
            if len(starts) >= record_scan.FEWEST:
                found, start = record_scan.follow(
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
