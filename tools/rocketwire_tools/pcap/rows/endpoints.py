"""``Names``: addresses and connections as text, made once for each stream, many at once."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.arrow import column, pa, strung, taken

if TYPE_CHECKING:
    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.packets.packets import Addresses

    Array = np.ndarray[Any, Any]

MOST: Final = 1 << 17
"""Streams, and addresses, of which the texts are remembered."""
_FEW: Final = 4096
"""Fewer ports than that are made texts one by one.  All 65,536 take longer."""
CONNECTION: Final = 0
SOURCE: Final = 1
TARGET: Final = 2


class Names:
    """Texts of streams.

    Args:
        addresses: numbers of addresses.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._hosts: dict[int, str] = {}
        self._ports = column([], pa.string())
        self._forget()

    def _forget(self) -> None:
        self._numbers: Array = np.zeros(0, np.int64)
        self._rows: Array = np.zeros(0, np.int64)
        self._columns = [column([], pa.string()) for _ in (CONNECTION, SOURCE, TARGET)]

    def rows(self, numbers: Array, sources: Array, targets: Array) -> Array:
        """Where the texts of streams are in ``column``.

        Args:
            numbers: of the streams, no two of which are the same.
            sources: their senders, as in ``packets.Segments``.
            targets: their receivers.
        """
        if len(self._numbers) > MOST:
            self._forget()
        at = self._places(numbers)
        new = np.flatnonzero(self._numbers[at] != numbers) if len(self._numbers) else slice(None)
        if len(numbers[new]):
            self._add(numbers[new], sources[new], targets[new])
            at = self._places(numbers)
        found: Array = self._rows[at]
        return found

    def _places(self, numbers: Array) -> Array:
        at: Array = np.searchsorted(self._numbers, numbers)
        return np.minimum(at, max(len(self._numbers) - 1, 0))

    def column(self, which: int) -> Column:
        """Texts of all streams that were asked for: of the connection, of the sender's or the receiver's
        address."""
        return self._columns[which]

    def _add(self, numbers: Array, sources: Array, targets: Array) -> None:
        known = np.append(self._numbers, numbers)
        rows = np.append(self._rows, np.arange(len(self._rows), len(known)))
        order = np.argsort(known, kind="stable")
        self._numbers, self._rows = known[order], rows[order]
        hosts, of = _distinct(np.append(sources, targets) >> 16)
        source, target = of[: len(sources)], of[len(sources) :]
        texts = [self.host(number) for number in hosts.tolist()]
        plain = column(texts, pa.string())
        parts = (
            self._connections(hosts, texts, (sources, targets), (source, target)),
            taken(plain, column(source)),
            taken(plain, column(target)),
        )
        self._columns = [
            pa.concat_arrays([made, part]) for made, part in zip(self._columns, parts, strict=True)
        ]

    def _connections(
        self, hosts: Array, texts: list[str], ends: tuple[Array, Array], of: tuple[Array, Array]
    ) -> Column:
        """The same from both sides: the end with the larger port first, which is the client's as a rule.

        Args:
            hosts: numbers of addresses.
            texts: of them.
            ends: senders and receivers.
            of: which of the addresses these have.
        """
        packed = [self._addresses.packed(number) for number in hosts.tolist()]
        rank = np.empty(len(hosts), np.int64)
        rank[sorted(range(len(hosts)), key=packed.__getitem__)] = np.arange(len(hosts))
        one, other = ((end & 0xFFFF) << 32 | rank[host] for end, host in zip(ends, of, strict=True))
        swapped = one < other
        fronts = column(
            [f"[{text}]:" if ":" in text else f"{text}:" for text in texts], pa.string()
        )
        dashed = column([f"-{text}" for text in fronts.to_pylist()], pa.string())
        first, second = np.where(swapped, of[::-1], of)
        port, behind = np.where(swapped, ends[::-1], ends) & 0xFFFF
        return strung(
            taken(fronts, column(first)),
            self._port(port),
            taken(dashed, column(second)),
            self._port(behind),
        )

    def _port(self, ports: Array) -> Column:
        """Ports as texts."""
        if len(ports) < _FEW:
            return column([str(port) for port in ports.tolist()], pa.string())
        if not len(self._ports):
            self._ports = column([str(port) for port in range(1 << 16)], pa.string())
        return taken(self._ports, column(ports))

    def host(self, number: int) -> str:
        """An address as text."""
        text = self._hosts.get(number)
        if text is None:
            if len(self._hosts) > MOST:
                self._hosts.clear()
            text = self._hosts[number] = _host(self._addresses.packed(number))
        return text


def _distinct(values: Array) -> tuple[Array, Array]:
    """As ``np.unique``, which imports all of ``numpy.ma``: the distinct values, and which of them each value is."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    new = np.ones(len(values), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    of = np.empty(len(values), np.int64)
    of[order] = np.cumsum(new) - 1
    return ordered[new], of


def _host(packed: bytes) -> str:
    return ".".join(map(str, packed)) if len(packed) == 4 else str(ipaddress.ip_address(packed))
