"""``Names``: addresses and connections as text, made once for each stream."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rocketwire_tools.pcap.arrow import column, pa

if TYPE_CHECKING:
    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.packets import Addresses

    Array = np.ndarray[Any, Any]

MOST: Final = 1 << 17
"""Streams, and addresses, of which the texts are remembered."""
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
        self._rows: dict[int, int] = {}
        self._texts: tuple[list[str], list[str], list[str]] = ([], [], [])
        self._columns = [column([], pa.string()) for _ in self._texts]

    def rows(self, numbers: Array, sources: Array, targets: Array) -> Array:
        """Where the texts of streams are in ``column``.

        Args:
            numbers: of the streams.
            sources: their senders, as in ``packets.Segments``.
            targets: their receivers.
        """
        if len(self._rows) > MOST:
            self._rows.clear()
            self._texts = ([], [], [])
            self._columns = [column([], pa.string()) for _ in self._texts]
        known = self._rows.get
        keys = numbers.tolist()
        found = [known(key) for key in keys]
        if None in found:
            ends = zip(found, keys, sources.tolist(), targets.tolist(), strict=True)
            found = [
                self._add(key, source, target) if row is None else row
                for row, key, source, target in ends
            ]
        return np.array(found, np.int64)

    def column(self, which: int) -> Column:
        """Texts of all streams that were asked for: of the connection, of the sender's or the receiver's
        address."""
        made, texts = self._columns[which], self._texts[which]
        if len(made) < len(texts):
            new = column(texts[len(made) :], pa.string())
            made = self._columns[which] = pa.concat_arrays([made, new])
        return made

    def _add(self, number: int, source: int, target: int) -> int:
        row = self._rows[number] = len(self._rows)
        texts = (self._connection(source, target), self.host(source >> 16), self.host(target >> 16))
        for column_, text in zip(self._texts, texts, strict=True):
            column_.append(text)
        return row

    def host(self, number: int) -> str:
        """An address as text."""
        text = self._hosts.get(number)
        if text is None:
            if len(self._hosts) > MOST:
                self._hosts.clear()
            text = self._hosts[number] = _host(self._addresses.packed(number))
        return text

    def _connection(self, source: int, target: int) -> str:
        """The same from both sides: the end with the larger port first, which is the client's as a rule."""
        one, other = (
            (end & 0xFFFF, self._addresses.packed(end >> 16), end >> 16) for end in (source, target)
        )
        first, second = (other, one) if one < other else (one, other)
        return f"{_end(first[0], self.host(first[2]))}-{_end(second[0], self.host(second[2]))}"


def _host(packed: bytes) -> str:
    return ".".join(map(str, packed)) if len(packed) == 4 else str(ipaddress.ip_address(packed))


def _end(port: int, host: str) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
