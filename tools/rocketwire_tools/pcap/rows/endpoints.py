"""``StreamNames``: addresses and connections as text, made once for each stream."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

import numpy as np

from rocketwire_tools.pcap.arrow import column, concatenate_columns, pa, take

if TYPE_CHECKING:
    from rocketwire_tools.pcap.arrow import Column
    from rocketwire_tools.pcap.files.records import Array
    from rocketwire_tools.pcap.packets.packets import Addresses

MAX_TEXTS: Final = 1 << 17  # Streams, and addresses, whose texts are cached
_FEW: Final = 4096  # Fewer ports are converted one by one; to convert all 65,536 takes longer
CONNECTION: Final = 0
SOURCE: Final = 1
TARGET: Final = 2


class StreamNames:
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
        """Find the rows of streams in ``column``; adds missing streams."""
        if len(self._numbers) > MAX_TEXTS:
            self._forget()
        indexes = self._indexes_of(numbers)
        new = (
            np.flatnonzero(self._numbers[indexes] != numbers) if len(self._numbers) else slice(None)
        )
        if len(numbers[new]):
            self._add(numbers[new], sources[new], targets[new])
            indexes = self._indexes_of(numbers)
        return self._rows[indexes]

    def _indexes_of(self, numbers: Array) -> Array:
        indexes: Array = np.searchsorted(self._numbers, numbers)
        return np.minimum(indexes, max(len(self._numbers) - 1, 0))

    def column(self, which: int) -> Column:
        """Texts of all streams that ``rows`` has seen: of the connection, or of the sender's or
        the receiver's address."""
        return self._columns[which]

    def _add(self, numbers: Array, sources: Array, targets: Array) -> None:
        all_numbers = np.append(self._numbers, numbers)
        rows = np.append(self._rows, np.arange(len(self._rows), len(all_numbers)))
        order = np.argsort(all_numbers, kind="stable")
        self._numbers, self._rows = all_numbers[order], rows[order]
        hosts, host_indexes = np.unique(np.append(sources, targets) >> 16, return_inverse=True)
        source, target = host_indexes[: len(sources)], host_indexes[len(sources) :]
        texts = [self.host(number) for number in hosts.tolist()]
        host_column = column(texts, pa.string())
        parts = (
            self._connections(hosts, texts, (sources, targets), (source, target)),
            take(host_column, column(source)),
            take(host_column, column(target)),
        )
        self._columns = [
            pa.concat_arrays([old, part]) for old, part in zip(self._columns, parts, strict=True)
        ]

    def _connections(
        self,
        hosts: Array,  # numbers of addresses
        texts: list[str],  # of the addresses
        ends: tuple[Array, Array],  # senders and receivers
        host_indexes: tuple[Array, Array],  # indices of the addresses of ``ends``
    ) -> Column:
        # Texts of connections, the same for both directions: the end with the larger port, usually
        # the client's, comes first
        packed = [self._addresses.address_bytes(number) for number in hosts.tolist()]
        rank = np.empty(len(hosts), np.int64)
        rank[sorted(range(len(hosts)), key=packed.__getitem__)] = np.arange(len(hosts))
        source_rank, target_rank = (
            (end & 0xFFFF) << 32 | rank[host] for end, host in zip(ends, host_indexes, strict=True)
        )
        swapped = source_rank < target_rank
        fronts = column(
            [f"[{text}]:" if ":" in text else f"{text}:" for text in texts], pa.string()
        )
        dashed = column([f"-{text}" for text in fronts.to_pylist()], pa.string())
        first, second = np.where(swapped, host_indexes[::-1], host_indexes)
        first_port, second_port = np.where(swapped, ends[::-1], ends) & 0xFFFF
        return concatenate_columns(
            take(fronts, column(first)),
            self._port(first_port),
            take(dashed, column(second)),
            self._port(second_port),
        )

    def _port(self, ports: Array) -> Column:
        if len(ports) < _FEW:
            return column([str(port) for port in ports.tolist()], pa.string())
        if not len(self._ports):
            self._ports = column([str(port) for port in range(1 << 16)], pa.string())
        return take(self._ports, column(ports))

    def host(self, number: int) -> str:
        text = self._hosts.get(number)
        if text is None:
            if len(self._hosts) > MAX_TEXTS:
                self._hosts.clear()
            text = self._hosts[number] = _host(self._addresses.address_bytes(number))
        return text


def _host(packed: bytes) -> str:
    return ".".join(map(str, packed)) if len(packed) == 4 else str(ipaddress.ip_address(packed))
