"""Which name server to ask next: pure decisions; chance comes in as a number.

Rules of this file: who answered last is asked first; who failed goes behind those who did not; a list that is set anew
keeps the chosen server if it is still among them.

Java: ``NettyRemotingClient`` (``getAndCreateNameserverChannel``, ``updateNameServerAddressList``), where a call that fails is
an error of that call and only the next one goes elsewhere.  Here a call goes round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class NameServerChoice:
    """The name servers, the one that is used, and those that failed."""

    def __init__(self, addresses: Iterable[str] = (), *, start: int = 0) -> None:
        """Nobody is chosen yet.

        Args:
            addresses: ``host:port`` each.
            start: any number; says where the first round begins.
        """
        self._addresses = tuple(addresses)
        self._next = start
        self._chosen: str | None = None
        self._down: set[str] = set()

    @property
    def addresses(self) -> tuple[str, ...]:
        """All of them, as they were set."""
        return self._addresses

    @property
    def chosen(self) -> str | None:
        """Who is asked first as long as it answers; None before the first answer and after a failure."""
        return self._chosen

    @property
    def down(self) -> frozenset[str]:
        """Those that failed and have not answered since."""
        return frozenset(self._down)

    def replace(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Sets a new list; an empty one, or the same in another order, changes nothing.

        Returns:
            The addresses that are gone; their channels have no use any more.
        """
        new = tuple(dict.fromkeys(addresses))
        if not new or set(new) == set(self._addresses):
            return ()
        gone = tuple(address for address in self._addresses if address not in new)
        self._addresses = new
        self._down &= set(new)
        if self._chosen not in new:
            self._chosen = None
        return gone

    def order(self) -> tuple[str, ...]:
        """Everybody, in the order in which to ask: the chosen one, those in order from where the round stands, those that failed."""
        order = self.next_order()
        if self._chosen is None:
            self._next += 1
        return order

    def next_order(self) -> tuple[str, ...]:
        """What ``order`` will say next."""
        if not self._addresses:
            return ()
        if self._chosen is None:
            start = self._next % len(self._addresses)
        else:
            start = self._addresses.index(self._chosen)
        turned = self._addresses[start:] + self._addresses[:start]
        return tuple(sorted(turned, key=self._down.__contains__))

    def answered(self, address: str) -> None:
        """That one works; it is asked first from now on."""
        if address in self._addresses:
            self._down.discard(address)
            self._chosen = address

    def came_back(self, address: str) -> None:
        """That one can be connected to again; nothing says yet that it answers."""
        self._down.discard(address)

    def failed(self, address: str) -> None:
        """That one does not work now."""
        if address in self._addresses:
            self._down.add(address)
        if self._chosen == address:
            self._chosen = None


def share_of(remaining: float, left: int) -> float:
    """Seconds for the next of ``left`` servers out of those that remain: half for the next, but all for the last one."""
    return remaining if left <= 1 else remaining / 2
