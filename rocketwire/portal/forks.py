"""Forks: the child has no thread for trio, and must not share the parent's connections.

In the child, the portal is marked, so that its clients raise ``ClientForkedError`` or open
themselves again; and the copies of the sockets are closed. Closing a copy sends nothing: the
parent's connections stay as they are, and end when the parent closes them.

Trio's thread pauses while the parent forks, between two tasks. If it were within an import, the
child would have half a module for ever.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from rocketwire.errors import ChannelClosedError, ClientForkedError
from rocketwire.portal.portal import Portal, current
from rocketwire.transport import dial

if TYPE_CHECKING:
    import socket

plain_sockets: WeakSet[socket.socket] = WeakSet()
"""Sockets of connections without trio."""

PATIENCE: Final = 5.0
"""Seconds for which a fork waits until trio pauses, and which the pause takes, at most."""


class _Pause:
    """A pause of trio's thread, from ``begin`` to ``end``."""

    def __init__(self, portal: Portal) -> None:
        self._has_begun, self._end = threading.Event(), threading.Event()
        portal.post(self._wait)

    def _wait(self) -> None:
        self._has_begun.set()
        self._end.wait(PATIENCE)

    def begin(self) -> None:
        self._has_begun.wait(PATIENCE)

    def end(self) -> None:
        self._end.set()


class _Fork:
    def __init__(self) -> None:
        self.lock = threading.Lock()  # one thread forks at a time
        self.pauses: list[_Pause] = []


_fork: Final = _Fork()


def before_fork() -> None:
    """Pause trio, and let the fork find the portal's lock released."""
    _fork.lock.acquire()
    for portal in {current.portal, *current.ending.copy()}:
        if portal is not None and not portal.is_here:
            with suppress(ChannelClosedError, ClientForkedError):
                _fork.pauses.append(_Pause(portal))
    for pause in _fork.pauses:
        pause.begin()
    current.lock.acquire()


def after_in_parent() -> None:
    """Let trio continue."""
    current.lock.release()
    for pause in _fork.pauses:
        pause.end()
    _fork.pauses.clear()
    _fork.lock.release()


def after_in_child() -> None:
    """Give up the parent's portal and connections."""
    current.lock, _fork.lock = threading.Lock(), threading.Lock()
    _fork.pauses.clear()
    portal, current.portal = current.portal, None
    for other in {portal, *current.ending}:
        if other is not None:
            other.abandon()
    current.ending.clear()
    for trio_socket in list(dial.sockets):
        with suppress(OSError):
            os.close(trio_socket.detach())
    dial.sockets.clear()
    for each in list(plain_sockets):
        with suppress(OSError):
            each.close()
    plain_sockets.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=before_fork, after_in_parent=after_in_parent, after_in_child=after_in_child
    )
