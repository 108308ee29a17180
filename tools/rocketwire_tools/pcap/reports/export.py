"""``export``: writes all packets of selected connections to a new capture, with their original
times.

Packets are copied unchanged, also those without payload. Nothing is masked, because bodies cannot
be masked. A pcap file has one link type; packets of several link types need pcapng.
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
from rocketwire_tools.pcap.reports.connection_filter import ConnectionFilter

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
    """The packets cannot be written to this file."""


class PacketSink(Protocol):
    """Writes packets."""

    def add(self, time_ns: int, link: int, data: bytes, wire: int) -> None:
        """Write a packet; ``wire`` is its length before the capture cut it."""


class PcapSink:
    """Writes pcap with nanoseconds; the first packet determines the link type."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._link: int | None = None

    def add(self, time_ns: int, link: int, data: bytes, wire: int) -> None:
        """See ``PacketSink``.

        Raises:
            ExportError: the packet has another link type than the packets before it.
        """
        if self._link is None:
            self._link = link
            self._file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, _SNAPLEN, link))
        elif link != self._link:
            raise ExportError("packets of several link types: write to a file that ends in .pcapng")
        seconds, nanoseconds = divmod(time_ns, _SECOND)
        self._file.write(struct.pack("<IIII", seconds, nanoseconds, len(data), wire) + data)


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

    def _block(self, block_type: int, body: bytes) -> None:
        body += bytes(-len(body) % 4)
        length = len(body) + 12
        self._file.write(struct.pack("<II", block_type, length) + body + struct.pack("<I", length))


class PacketFilter:
    """Finds the packets of connections.

    Args:
        connections: the selected connections.
    """

    def __init__(self, connections: ConnectionFilter) -> None:
        self._addresses = Addresses()
        self._skipped = Skipped()
        self._choices = [[self._number(end) for end in choice] for choice in connections.choices]

    def _number(self, end: End) -> int:
        """The number of an end, as in ``packets.Segments``."""
        packed = ipaddress.ip_address(end.host).packed
        number = int.from_bytes(packed, "big")
        if len(packed) == 16:
            number = int(self._addresses.numbers(np.frombuffer(packed, np.uint8).reshape(1, 16))[0])
        return number << 16 | end.port

    def records(self, records: Records) -> list[int]:
        """Numbers of the selected records."""
        tcp_segments = segments(records, self._addresses, self._skipped)
        mask = np.zeros(len(tcp_segments.record), np.bool_)
        for choice in self._choices:
            mask |= _has_all(tcp_segments, choice)
        if self._addresses.are_many:
            self._addresses.keep({end >> 16 for choice in self._choices for end in choice})
        chosen: list[int] = np.sort(tcp_segments.record[mask]).tolist()
        return chosen


def _has_all(tcp_segments: Segments, ends: list[int]) -> Array:
    """Which segments have all of these ends."""
    mask = np.ones(len(tcp_segments.record), np.bool_)
    for end in ends:
        mask &= (tcp_segments.source == end) | (tcp_segments.target == end)
    return mask


def copy(path: str, chooser: PacketFilter, sink: PacketSink) -> int:
    """Copy the selected packets of a capture; returns their number.

    Raises:
        CaptureError: the capture is damaged; the packets before have been copied.
        ExportError: the packets cannot be written to this file.
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
        captures: paths of the captures.
        connections: names of connections, see ``connection_filter``.
        output: path of the new capture, pcapng if it ends so; ``-`` for standard output.

    Returns:
        The exit status; 1 also if there is no such packet.

    Raises:
        ExportError: the packets cannot be written to this file, or it is an input.
        OSError: the file cannot be written.
    """
    if output != STDIN and any(_same(path, output) for path in captures):
        raise ExportError(f"{output} is one of the captures that are read")
    connection_filter = ConnectionFilter(connections)
    count = 0
    failed = False
    with _output(output) as sink:
        for path in captures:
            try:
                count += copy(path, PacketFilter(connection_filter), sink)
            except CaptureError as error:
                failed = True
                print(f"rocketwire-pcap: {error}", file=sys.stderr)
    if not count:
        print(
            "rocketwire-pcap: no packet of this connection; list connections with 'connections'",
            file=sys.stderr,
        )
    return FAILED if failed or not count else 0


def _same(path: str, output: str) -> bool:
    return (
        path != STDIN
        and Path(output).exists()
        and Path(path).exists()
        and Path(output).samefile(path)
    )
