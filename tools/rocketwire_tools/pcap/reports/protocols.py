"""Reports the protocols of connections (RocketMQ, TLS, HTTP/2, unknown), PROXY headers, and the
number of connections that each client opens.

The first captured bytes of a direction decide, unless it has frames. Memory is bounded; further
connections are only counted.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.decode.decoder import Decoder, Options
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.reports.reports import OTHERS, ColumnReport, Report, Table
from rocketwire_tools.pcap.rows.redaction import Redaction
from rocketwire_tools.pcap.streams.chunk import RST, SYN
from rocketwire_tools.pcap.streams.flows import ACK
from rocketwire_tools.pcap.streams.resync import Protocol, protocol_of, proxy_header_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.pcap.arrow import Batch
    from rocketwire_tools.pcap.decode.decoder import Totals
    from rocketwire_tools.pcap.files.records import Records
    from rocketwire_tools.pcap.packets.packets import Addresses, Segments

_MAX_CONNECTIONS: Final = 100_000  # Connections and clients that are remembered
_LONGEST: Final = 108
"""Bytes of a direction that are checked: the longest PROXY header of version 1."""
_NAMES: Final = {
    Protocol.REMOTING: "RocketMQ",
    Protocol.TLS: "TLS",
    Protocol.HTTP2: "HTTP/2",
    Protocol.OTHER: "unknown",
    Protocol.UNKNOWN: "unknown",
}
_SURE: Final = ("HTTP/2", "TLS")  # If one direction has such a protocol, the other has it too
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(slots=True)
class ConnectionOpening:
    protocol: str = "no data"  # of its first bytes
    bytes: int = 0  # of payload, in both directions
    proxied: str | None = None  # the client in the PROXY header of a load balancer
    speaks: bool = False  # whether it has RocketMQ frames


class OpeningReport:
    def __init__(self, report: Report, top: int, redact: str | None) -> None:
        self._report = report
        self._top = top
        self._redaction = None if redact is None else Redaction(redact)
        self.fields = tuple(dict.fromkeys((*report.fields, "connection")))
        self._openings: dict[str, ConnectionOpening] = {}
        self._names: dict[tuple[int, int], str] = {}
        self._begun_directions: set[tuple[int, int]] = set()
        self._uncounted = 0
        self._opened: Counter[str] = Counter()
        self._seconds: Counter[tuple[str, int]] = Counter()
        self._resets = 0

    def take(self, batch: Batch) -> None:
        self._report.take(batch)
        for name in batch.column("connection").dictionary_encode().dictionary.to_pylist():
            if (opening := self._openings.get(name)) is not None:
                opening.speaks = True

    def tables(self, totals: Sequence[Totals]) -> list[Table]:
        return [*self._report.tables(totals), *self._own_tables()]

    def count(self, protocol: Protocol) -> int:
        name = _NAMES[protocol]
        return sum(opening.protocol == name for opening in self._openings.values())

    # ---- packets

    def watch(self, records: Records, segments: Segments, addresses: Addresses) -> None:
        """Count the segments of a chunk, see ``decoder.Options.watch``."""
        self._resets += int(np.count_nonzero(segments.flags & RST))
        syn = np.flatnonzero((segments.flags & (SYN | ACK)) == SYN)
        if len(syn):
            self._open(segments, syn, records, addresses)
        with_data = np.flatnonzero(segments.length > 0)
        if not len(with_data):
            return
        source, target = segments.source[with_data], segments.target[with_data]
        mixed: Any = source.view(np.uint64) * _MIX ^ target.view(np.uint64)
        _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
        sizes = np.bincount(inverse, weights=segments.length[with_data])
        for index, size in zip(with_data[first].tolist(), sizes.tolist(), strict=True):
            opening = self._connection(segments, index, addresses)
            if opening is None:
                continue
            opening.bytes += int(size)
            direction = int(segments.source[index]), int(segments.target[index])
            if direction not in self._begun_directions:
                self._begun_directions.add(direction)
                offset = int(segments.data[index])
                count = min(int(segments.captured[index]), _LONGEST)
                self._read_opening(opening, bytes(records.buffer[offset : offset + count]))

    def _open(self, segments: Segments, syn: Any, records: Records, addresses: Addresses) -> None:
        for index in syn.tolist():
            self._connection(segments, index, addresses)
            client = self._host(int(segments.source[index]) >> 16, addresses)
            if client not in self._opened and len(self._opened) >= _MAX_CONNECTIONS:
                client = OTHERS
            second = int(records.time_ns[segments.record[index]]) // 1_000_000_000
            self._opened[client] += 1
            if len(self._seconds) < _MAX_CONNECTIONS:
                self._seconds[client, second] += 1

    def _host(self, number: int, addresses: Addresses) -> str:
        text = str(ipaddress.ip_address(addresses.address_bytes(number)))
        return text if self._redaction is None else self._redaction.host(text)

    def _connection(
        self, segments: Segments, index: int, addresses: Addresses
    ) -> ConnectionOpening | None:
        source, target = int(segments.source[index]), int(segments.target[index])
        name = self._names.get((source, target))
        if name is None:
            if len(self._names) >= 2 * _MAX_CONNECTIONS:
                self._uncounted += 1
                return None
            ends = sorted(
                (
                    (end & 0xFFFF, addresses.address_bytes(end >> 16), end >> 16)
                    for end in (source, target)
                ),
                reverse=True,
            )
            hosts = [(self._host(number, addresses), port) for port, _, number in ends]
            name = "-".join(
                f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in hosts
            )
            self._names[source, target] = self._names[target, source] = name
        return self._openings.setdefault(name, ConnectionOpening())

    def _read_opening(self, opening: ConnectionOpening, data: bytes) -> None:
        skipped = proxy_header_length(data) or 0
        if skipped:
            opening.proxied = self._client_of_proxy(data[:skipped])
            data = data[skipped:]
        announced = _NAMES[protocol_of(data)]
        if opening.protocol in ("no data", "unknown") or announced in _SURE:
            opening.protocol = announced

    def _client_of_proxy(self, header: bytes) -> str:
        host = "unknown"
        words = header.split()
        if header.startswith(b"PROXY ") and len(words) >= 3:
            host = words[2].decode("ascii", "replace")
        elif len(header) >= 28 and header[13] >> 4 == 1:
            host = str(ipaddress.ip_address(header[16:20]))
        elif len(header) >= 52 and header[13] >> 4 == 2:
            host = str(ipaddress.ip_address(header[16:32]))
        return host if self._redaction is None else self._redaction.host(host)

    # ---- tables

    def _own_tables(self) -> list[Table]:
        kinds: dict[str, list[int]] = {}
        unusual: list[tuple[Any, ...]] = []
        for name, opening in self._openings.items():
            protocol = "RocketMQ" if opening.speaks else opening.protocol
            counts = kinds.setdefault(protocol, [0, 0, 0])
            counts[0] += 1
            counts[1] += opening.proxied is not None
            counts[2] += opening.bytes
            if protocol in (*_SURE, "unknown") or opening.proxied is not None:
                unusual.append((name, protocol, opening.proxied, opening.bytes))
        note = f"{self._resets:,} resets"
        if self._uncounted:
            note += f"; segments of connections beyond {_MAX_CONNECTIONS:,}: {self._uncounted:,}"
        opened = [
            (client, count, self._busiest_second(client))
            for client, count in self._opened.most_common(self._top)
        ]
        rows = [
            (protocol, *counts)
            for protocol, counts in sorted(kinds.items(), key=lambda opening: -opening[1][2])
        ]
        unusual.sort(key=lambda opening: -opening[3])
        return [
            Table("protocols", ("protocol", "connections", "proxied", "payload_bytes"), rows, note),
            Table(
                "unusual",
                ("connection", "protocol", "proxied_for", "payload_bytes"),
                unusual[: self._top],
            ),
            Table("opened", ("client", "connections", "most_in_a_second"), opened),
        ]

    def _busiest_second(self, client: str) -> int:
        return max((count for (who, _), count in self._seconds.items() if who == client), default=0)


MAX_PACKETS: Final = 200_000
"""Packets to read; the first bytes of a connection show whether it is encrypted."""


class _EnoughError(Exception):
    """Enough packets have been read."""


def tls_hint(path: str) -> str | None:
    """Describe the encrypted connections of a capture without frames; None if no connection uses
    TLS, or if the capture cannot be read twice (standard input)."""
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
