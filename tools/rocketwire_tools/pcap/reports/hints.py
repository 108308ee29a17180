"""Why a capture shows no frames: its connections may be encrypted.

Rules of this file: it reads the capture a second time, and only where the first time no frame came out, so that other captures
cost nothing.  It looks at a bounded part of the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.reports.protocols import Openings
from rocketwire_tools.pcap.reports.reports import By
from rocketwire_tools.pcap.streams.resync import Protocol

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.records import Records
    from rocketwire_tools.pcap.packets.packets import Addresses, Segments

MOST_PACKETS: Final = 200_000
"""Packets that are looked at; a connection says at its beginning whether it is encrypted."""


class _EnoughError(Exception):
    """So much has been read that the rest does not matter."""


def tls_hint(path: str) -> str | None:
    """Text about the encrypted connections of a capture without frames.

    Args:
        path: of the capture.

    Returns:
        None if no connection speaks TLS, or if the capture cannot be read twice (standard input).
    """
    if not Path(path).is_file():
        return None
    openings = Openings(By("connection", 1), 1, None)
    packets = 0

    def watch(records: Records, segments: Segments, addresses: Addresses) -> None:
        nonlocal packets
        openings.watch(records, segments, addresses)
        packets += len(records.time_ns)
        if packets >= MOST_PACKETS:
            raise _EnoughError

    bound = ""
    try:
        for _ in Decoder(path, Options(fields=("time_ns",), watch=watch)):
            pass
    except _EnoughError:
        bound = "at least "
    except CaptureError:  # the reader of the rows has been told
        pass
    count = openings.count(Protocol.TLS)
    if not count:
        return None
    speak = "connection speaks" if count == 1 else "connections speak"
    return f"{bound}{count:,} {speak} TLS, which cannot be decoded; capture where it is decrypted, or use Wireshark with the keys"
