"""Explains why a capture shows no frames: its connections may be encrypted.

A bounded part of the capture is read a second time, only if the first time gave no frame.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.reports.protocols import OpeningReport
from rocketwire_tools.pcap.reports.reports import ColumnReport
from rocketwire_tools.pcap.streams.resync import Protocol

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.records import Records
    from rocketwire_tools.pcap.packets.packets import Addresses, Segments

MAX_PACKETS: Final = 200_000
"""Packets to read; the first bytes of a connection show whether it is encrypted."""


class _EnoughError(Exception):
    """Enough packets have been read."""


def tls_hint(path: str) -> str | None:
    """Describe the encrypted connections of a capture without frames.

    Returns:
        None if no connection uses TLS, or if the capture cannot be read twice (standard input).
    """
    if not Path(path).is_file():
        return None
    openings = OpeningReport(ColumnReport("connection", 1), 1, None)
    packets = 0

    def watch(records: Records, segments: Segments, addresses: Addresses) -> None:
        nonlocal packets
        openings.watch(records, segments, addresses)
        packets += len(records.time_ns)
        if packets >= MAX_PACKETS:
            raise _EnoughError

    bound = ""
    try:
        for _ in Decoder(path, Options(fields=("time_ns",), watch=watch)):
            pass
    except _EnoughError:
        bound = "at least "
    except CaptureError:  # the error has already been printed
        pass
    count = openings.count(Protocol.TLS)
    if not count:
        return None
    connections = "connection uses" if count == 1 else "connections use"
    return (
        f"{bound}{count:,} {connections} TLS, which cannot be decoded; capture the decrypted"
        " traffic, or use Wireshark with the keys"
    )
