"""What connections begin with: RocketMQ, TLS, HTTP/2, a PROXY header, something else; and who opens how many.

Rules of this file: the first captured bytes of a direction decide, unless frames were found on it; what is remembered is
bounded, and connections beyond that are counted only.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.reports.reports import OTHERS, Report, Table
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

_MOST: Final = 100_000
"""Connections and clients that are remembered."""
_LONGEST: Final = 108
"""Bytes that are looked at; a PROXY header of the first version has at most so many."""
_NAMES: Final = {
    Protocol.REMOTING: "RocketMQ", Protocol.TLS: "TLS", Protocol.HTTP2: "HTTP/2", Protocol.OTHER: "unknown",
    Protocol.UNKNOWN: "unknown",
}  # fmt: skip
_SURE: Final = ("HTTP/2", "TLS")
"""What one direction begins with holds for the other, too."""
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(slots=True)
class Opening:
    """A connection.

    Attributes:
        protocol: what its first bytes announce.
        bytes: of payload, in both directions.
        proxied: who stands behind the load balancer, as its PROXY header says.
        speaks: whether frames were found.
    """

    protocol: str = "no data"
    bytes: int = 0
    proxied: str | None = None
    speaks: bool = False


class Openings:
    """Adds to a report what its connections begin with.

    Args:
        report: the report.
        top: lines of a table.
        redact: secret for masks; None for none.
    """

    def __init__(self, report: Report, top: int, redact: str | None) -> None:
        self._report = report
        self._top = top
        self._redaction = None if redact is None else Redaction(redact)
        self.fields = tuple(dict.fromkeys((*report.fields, "connection")))
        self._found: dict[str, Opening] = {}
        self._names: dict[tuple[int, int], str] = {}
        self._begun: set[tuple[int, int]] = set()
        self._beyond = 0
        self._opened: Counter[str] = Counter()
        self._seconds: Counter[tuple[str, int]] = Counter()
        self._resets = 0

    def take(self, batch: Batch) -> None:
        """See ``Report``."""
        self._report.take(batch)
        for name in batch.column("connection").dictionary_encode().dictionary.to_pylist():
            if (found := self._found.get(name)) is not None:
                found.speaks = True

    def tables(self, totals: Sequence[Totals]) -> list[Table]:
        """See ``Report``."""
        return [*self._report.tables(totals), *self._own()]

    def count(self, protocol: Protocol) -> int:
        """How many connections begin with a protocol."""
        name = _NAMES[protocol]
        return sum(one.protocol == name for one in self._found.values())

    # ---- packets

    def watch(self, records: Records, segments: Segments, addresses: Addresses) -> None:
        """Take the segments of a chunk, as ``engine.Options.watch``."""
        self._resets += int(np.count_nonzero(segments.flags & RST))
        syn = np.flatnonzero((segments.flags & (SYN | ACK)) == SYN)
        if len(syn):
            self._open(segments, syn, records, addresses)
        of = np.flatnonzero(segments.length > 0)
        if not len(of):
            return
        source, target = segments.source[of], segments.target[of]
        mixed: Any = source.view(np.uint64) * _MIX ^ target.view(np.uint64)
        _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
        sizes = np.bincount(inverse, weights=segments.length[of])
        for place, size in zip(of[first].tolist(), sizes.tolist(), strict=True):
            found = self._connection(segments, place, addresses)
            if found is None:
                continue
            found.bytes += int(size)
            direction = int(segments.source[place]), int(segments.target[place])
            if direction not in self._begun:
                self._begun.add(direction)
                at = int(segments.data[place])
                count = min(int(segments.captured[place]), _LONGEST)
                self._begin(found, bytes(records.buffer[at : at + count]))

    def _open(self, segments: Segments, syn: Any, records: Records, addresses: Addresses) -> None:
        for place in syn.tolist():
            self._connection(segments, place, addresses)
            client = self._host(int(segments.source[place]) >> 16, addresses)
            if client not in self._opened and len(self._opened) >= _MOST:
                client = OTHERS
            second = int(records.time_ns[segments.record[place]]) // 1_000_000_000
            self._opened[client] += 1
            if len(self._seconds) < _MOST:
                self._seconds[client, second] += 1

    def _host(self, number: int, addresses: Addresses) -> str:
        text = str(ipaddress.ip_address(addresses.packed(number)))
        return text if self._redaction is None else self._redaction.host(text)

    def _connection(self, segments: Segments, place: int, addresses: Addresses) -> Opening | None:
        one, other = int(segments.source[place]), int(segments.target[place])
        name = self._names.get((one, other))
        if name is None:
            if len(self._names) >= 2 * _MOST:
                self._beyond += 1
                return None
            ends = sorted(
                (
                    (each & 0xFFFF, addresses.packed(each >> 16), each >> 16)
                    for each in (one, other)
                ),
                reverse=True,
            )
            hosts = [(self._host(number, addresses), port) for port, _, number in ends]
            name = "-".join(
                f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in hosts
            )
            self._names[one, other] = self._names[other, one] = name
        return self._found.setdefault(name, Opening())

    def _begin(self, found: Opening, data: bytes) -> None:
        """Look at the first bytes of a direction."""
        skipped = proxy_header_length(data) or 0
        if skipped:
            found.proxied = self._proxied(data[:skipped])
            data = data[skipped:]
        announced = _NAMES[protocol_of(data)]
        if found.protocol in ("no data", "unknown") or announced in _SURE:
            found.protocol = announced

    def _proxied(self, header: bytes) -> str:
        """The client that a PROXY header names."""
        host = "unknown"
        words = header.split()
        if header.startswith(b"PROXY ") and len(words) >= 3:
            host = words[2].decode("ascii", "replace")
        elif len(header) >= 28 and header[13] >> 4 == 1:
            host = str(ipaddress.ip_address(header[16:20]))
        elif len(header) >= 52 and header[13] >> 4 == 2:
            host = str(ipaddress.ip_address(header[16:32]))
        return host if self._redaction is None else self._redaction.host(host)

    # ---- what came of it

    def _own(self) -> list[Table]:
        kinds: dict[str, list[int]] = {}
        odd: list[tuple[Any, ...]] = []
        for name, one in self._found.items():
            kind = "RocketMQ" if one.speaks else one.protocol
            counts = kinds.setdefault(kind, [0, 0, 0])
            counts[0] += 1
            counts[1] += one.proxied is not None
            counts[2] += one.bytes
            if kind in (*_SURE, "unknown") or one.proxied is not None:
                odd.append((name, kind, one.proxied, one.bytes))
        note = f"{self._resets:,} resets"
        if self._beyond:
            note += f"; segments of connections beyond {_MOST:,}: {self._beyond:,}"
        opened = [
            (client, count, self._most(client))
            for client, count in self._opened.most_common(self._top)
        ]
        rows = [
            (kind, *counts) for kind, counts in sorted(kinds.items(), key=lambda one: -one[1][2])
        ]
        odd.sort(key=lambda one: -one[3])
        return [
            Table("protocols", ("protocol", "connections", "proxied", "payload_bytes"), rows, note),
            Table(
                "unusual",
                ("connection", "protocol", "proxied_for", "payload_bytes"),
                odd[: self._top],
            ),
            Table("opened", ("client", "connections", "most_in_a_second"), opened),
        ]

    def _most(self, client: str) -> int:
        return max((count for (who, _), count in self._seconds.items() if who == client), default=0)
