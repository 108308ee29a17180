"""Selects the name server for the next request; pure, with chance as an argument.

The server that responded last comes first. Servers that failed come last. If the list is replaced,
the current server stays if the new list contains it.

Java: ``NettyRemotingClient`` (``getAndCreateNameserverChannel``, ``updateNameServerAddressList``).
There, a failed request is an error, and only the next request uses another server. Here, the same
request tries the next server.
"""

from __future__ import annotations

from collections.abc import Iterable


class NameServerSelector:
    def __init__(self, addresses: Iterable[str] = (), *, start: int = 0) -> None:
        self._addresses = tuple(addresses)
        self._next = start
        self._current: str | None = None
        self._failed: set[str] = set()

    @property
    def addresses(self) -> tuple[str, ...]:
        return self._addresses

    @property
    def current(self) -> str | None:
        return self._current

    @property
    def failed(self) -> frozenset[str]:
        return frozenset(self._failed)

    def replace(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Set a list, unless it is empty or has the same servers; returns the removed addresses."""
        new = tuple(dict.fromkeys(addresses))
        if not new or set(new) == set(self._addresses):
            return ()
        removed = tuple(address for address in self._addresses if address not in new)
        self._addresses = new
        self._failed &= set(new)
        if self._current not in new:
            self._current = None
        return removed

    def next_order(self) -> tuple[str, ...]:
        """Return the order: the current server, then those after it, then those that failed."""
        order = self.peek_order()
        if self._current is None:
            self._next += 1
        return order

    def peek_order(self) -> tuple[str, ...]:
        if not self._addresses:
            return ()
        if self._current is None:
            start = self._next % len(self._addresses)
        else:
            start = self._addresses.index(self._current)
        rotated = self._addresses[start:] + self._addresses[:start]
        return tuple(sorted(rotated, key=self._failed.__contains__))

    def mark_responded(self, address: str) -> None:
        if address in self._addresses:
            self._failed.discard(address)
            self._current = address

    def mark_reachable(self, address: str) -> None:
        """Note that a connection succeeded; the server may still fail to respond."""
        self._failed.discard(address)

    def mark_failed(self, address: str) -> None:
        if address in self._addresses:
            self._failed.add(address)
        if self._current == address:
            self._current = None


def attempt_timeout(remaining: float, servers: int) -> float:
    """Return the timeout of the next attempt: half of ``remaining``, or all for the last server."""
    return remaining if servers <= 1 else remaining / 2
