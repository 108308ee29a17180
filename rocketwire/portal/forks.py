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
from functools import partial
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from rocketwire.errors import ChannelClosedError, ClientForkedError
from rocketwire.portal.portal import current
from rocketwire.transport import dial

if TYPE_CHECKING:
    import socket

plain_sockets: WeakSet[socket.socket] = WeakSet()  # sockets of connections without trio
# Seconds for which a fork waits until trio pauses, and which the pause takes, at most
PATIENCE: Final = 5.0


class _Fork:
    def __init__(self) -> None:
        self.lock = threading.Lock()  # one thread forks at a time
        self.over = threading.Event()  # ends the pauses of trio


_fork: Final = _Fork()


def before_fork() -> None:
    """Pause trio, and let the fork find the portal's lock released."""
    _fork.lock.acquire()
    over = _fork.over = threading.Event()
    pauses: list[threading.Event] = []
    for portal in {current.portal, *current.ending.copy()}:
        if portal is not None and not portal.is_here:
            has_begun = threading.Event()
            with suppress(ChannelClosedError, ClientForkedError):
                portal.post(partial(_pause, has_begun, over))
                pauses.append(has_begun)
    for has_begun in pauses:
        has_begun.wait(PATIENCE)
    current.lock.acquire()


def _pause(has_begun: threading.Event, over: threading.Event) -> None:
    has_begun.set()
    over.wait(PATIENCE)


def after_in_parent() -> None:
    """Let trio continue."""
    current.lock.release()
    _fork.over.set()
    _fork.lock.release()


def after_in_child() -> None:
    """Give up the parent's portal and connections."""
    current.lock, _fork.lock = threading.Lock(), threading.Lock()
    portal, current.portal = current.portal, None
    for abandoned in {portal, *current.ending}:
        if abandoned is not None:
            abandoned.abandon()
    current.ending.clear()
    for trio_socket in list(dial.sockets):
        with suppress(OSError):
            os.close(trio_socket.detach())
    dial.sockets.clear()
    for plain_socket in list(plain_sockets):
        with suppress(OSError):
            plain_socket.close()
    plain_sockets.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=before_fork, after_in_parent=after_in_parent, after_in_child=after_in_child
    )
