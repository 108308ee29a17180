"""``export``: all packets of some connections as a capture of their own, with the times that they had.

Rules of this file: packets are copied as they are, also those without payload; nothing is masked, because bodies cannot be.
A pcap file has one link type; where packets of several are wanted the file has to be pcapng.
"""

from __future__ import annotations

import ipaddress
import struct
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.inputs import STDIN, open_input
from rocketwire_tools.pcap.files.reader import CaptureReader
from rocketwire_tools.pcap.packets.packets import Addresses, segments
from rocketwire_tools.pcap.packets.skipped import Skipped
from rocketwire_tools.pcap.reports.connection_filter import Wanted

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from rocketwire_tools.pcap.files.records import Records
    from rocketwire_tools.pcap.packets.packets import Segments
    from rocketwire_tools.pcap.reports.connection_filter import End

    Array = np.ndarray[Any, Any]

FAILED: Final = 1
_SNAPLEN: Final = 262_144
_SECOND: Final = 1_000_000_000


class ExportError(ValueError):
    """What is wanted does not fit into the file."""


class PacketSink(Protocol):
    """Takes packets."""

    def add(self, time_ns: int, link: int, data: bytes, wire: int) -> None:
        """Take one; wire: bytes that it had before the capture cut it."""


class PcapSink:
    """Writes pcap with nanoseconds; its head when the first packet tells the link type."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._link: int | None = None

    def add(self, time_ns: int, link: int, data: bytes, wire: int) -> None:
        """See ``PacketSink``.

        Raises:
            ExportError: it has another link type than those before.
        """
        if self._link is None:
            self._link = link
            self._file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, _SNAPLEN, link))
        elif link != self._link:
            raise ExportError("packets of several link types: write to a file that ends in .pcapng")
        seconds, rest = divmod(time_ns, _SECOND)
        self._file.write(struct.pack("<IIII", seconds, rest, len(data), wire) + data)


class PcapngSink:
    """Writes pcapng with nanoseconds, an interface for each link type."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._interfaces: dict[int, int] = {}
        self._block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))

    def add(self, time_ns: int, link: int, data: bytes, wire: int) -> None:
        """See ``PacketSink``."""
        number = self._interfaces.get(link)
        if number is None:
            number = self._interfaces[link] = len(self._interfaces)
            resolution = struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)
            self._block(1, struct.pack("<HHI", link, 0, _SNAPLEN) + resolution)
        head = struct.pack("<IIIII", number, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), wire)
        self._block(6, head + data)

    def _block(self, kind: int, body: bytes) -> None:
        body += bytes(-len(body) % 4)
        length = len(body) + 12
        self._file.write(struct.pack("<II", kind, length) + body + struct.pack("<I", length))


class Chooser:
    """Finds the packets of connections.

    Args:
        wanted: the connections.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._addresses = Addresses()
        self._skipped = Skipped()
        self._choices = [[self._number(end) for end in choice] for choice in wanted.choices]

    def _number(self, end: End) -> int:
        """The end as in ``packets.Segments``."""
        packed = ipaddress.ip_address(end.host).packed
        number = int.from_bytes(packed, "big")
        if len(packed) == 16:
            number = int(self._addresses.numbers(np.frombuffer(packed, np.uint8).reshape(1, 16))[0])
        return number << 16 | end.port

    def records(self, records: Records) -> list[int]:
        """Numbers of the records that are wanted."""
        found = segments(records, self._addresses, self._skipped)
        mask = np.zeros(len(found.record), np.bool_)
        for choice in self._choices:
            mask |= _has_all(found, choice)
        if self._addresses.are_many:
            self._addresses.keep({end >> 16 for choice in self._choices for end in choice})
        chosen: list[int] = np.sort(found.record[mask]).tolist()
        return chosen


def _has_all(found: Segments, ends: list[int]) -> Array:
    """Which segments are between these ends, or at this one."""
    mask = np.ones(len(found.record), np.bool_)
    for end in ends:
        mask &= (found.source == end) | (found.target == end)
    return mask


def copy(path: str, chooser: Chooser, sink: PacketSink) -> int:
    """Copy the wanted packets of a capture; returns how many there were.

    Raises:
        CaptureError: it cannot be read on; what came before has been copied.
        ExportError: they do not fit into the file.
    """
    source = open_input(path)
    count = 0
    try:
        for records in CaptureReader(path, source):
            for number in chooser.records(records):
                start, length = int(records.data[number]), int(records.captured[number])
                link = records.link if isinstance(records.link, int) else records.link[number]
                data = bytes(records.buffer[start : start + length])
                wire = int(records.wire[number])
                sink.add(int(records.time_ns[number]), int(link), data, wire)
                count += 1
    finally:
        source.close()
    return count


@contextmanager
def _output(path: str) -> Generator[PacketSink]:
    if path == STDIN:
        yield PcapSink(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with Path(path).open("wb") as file:
        yield PcapngSink(file) if Path(path).suffix.lower() == ".pcapng" else PcapSink(file)


def export(captures: Sequence[str], connections: list[str], output: str) -> int:
    """Write the packets of connections to a capture.

    Args:
        captures: paths of the captures they are in.
        connections: their names; see ``ends``.
        output: path of the new capture, pcapng if it ends so; ``-`` for standard output.

    Returns:
        The exit status; 1 also if there is no such packet.

    Raises:
        ExportError: they do not fit into the file, or it is one of the captures.
        OSError: it cannot be written.
    """
    if output != STDIN and any(_same(path, output) for path in captures):
        raise ExportError(f"{output} is one of the captures that are read")
    wanted = Wanted(connections)
    count = 0
    failed = False
    with _output(output) as sink:
        for path in captures:
            try:
                count += copy(path, Chooser(wanted), sink)
            except CaptureError as error:
                failed = True
                print(f"rocketwire-pcap: {error}", file=sys.stderr)
    if not count:
        print("rocketwire-pcap: no packet of such a connection; see 'connections'", file=sys.stderr)
    return FAILED if failed or not count else 0


def _same(path: str, output: str) -> bool:
    return (
        path != STDIN
        and Path(output).exists()
        and Path(path).exists()
        and Path(output).samefile(path)
    )
