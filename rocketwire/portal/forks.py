"""Forks: the child has no thread for trio, and must not share the parent's connections.

In the child, the portal is marked, so that its clients raise ``ClientForkedError`` or open
themselves again; and the copies of the sockets are closed. Closing a copy sends nothing: the
parent's connections stay as they are, and end when the parent closes them.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet

from rocketwire.portal.portal import current
from rocketwire.transport import dial

if TYPE_CHECKING:
    import socket

    from rocketwire.portal.interfaces import Clearable

plain_sockets: WeakSet[socket.socket] = WeakSet()
"""Sockets of connections without trio."""


inboxes: WeakSet[Clearable] = WeakSet()
"""What has messages of the parent, which the child must not handle."""


def before_fork() -> None:
    """Let the fork find the portal's lock released."""
    current.lock.acquire()


def after_in_parent() -> None:
    """Go on as before."""
    current.lock.release()


def after_in_child() -> None:
    """Give up the parent's portal and connections."""
    current.lock = threading.Lock()
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
    for inbox in list(inboxes):
        inbox.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=before_fork, after_in_parent=after_in_parent, after_in_child=after_in_child
    )
