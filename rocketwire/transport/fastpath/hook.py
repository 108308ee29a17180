"""The only entrance to the fast path, with the switch and the self-check that turn it off.

The fast path reads internals of trio.  It is off if the environment variable
``ROCKETWIRE_FASTPATH`` is ``off``, and if trio lacks any of these internals when this module is
imported.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.errors import IllegalValueError
from rocketwire.transport.fastpath.direct_requests import DirectRequests
from rocketwire.transport.fastpath.epoll_bypass import bypass_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.connection import Connection
    from rocketwire.transport.reader import StreamReader
    from rocketwire.transport.writer import StreamWriter

_LOG: Final = logging.getLogger("rocketwire.channel")

SWITCH: Final = "ROCKETWIRE_FASTPATH"

_RUN_MODULE: Final = "trio._core._run"
_EPOLL_MODULE: Final = "trio._core._io_epoll"
_INTERNALS: Final = {
    (_RUN_MODULE, "GLOBAL_RUN_CONTEXT"): (),
    (_RUN_MODULE, "Runner"): (
        "clock",
        "clock_autojump_threshold",
        "deadlines",
        "instruments",
        "io_manager",
        "is_guest",
        "ki_pending",
        "runq",
        "tasks",
        "waiting_for_idle",
    ),
    (_RUN_MODULE, "Task"): (
        "_cancel_status",
        "_counter",
        "_next_send_fn",
        "_runner",
        "_schedule_points",
    ),
    (_RUN_MODULE, "CancelStatus"): ("effectively_cancelled",),
    (_RUN_MODULE, "Deadlines"): ("_heap",),
    (_EPOLL_MODULE, "EpollIOManager"): ("_epoll",),
}


def missing_internals() -> list[str]:
    missing: list[str] = []
    for (module, name), attributes in _INTERNALS.items():
        owner: Any = getattr(sys.modules.get(module), name, None)
        if owner is None:
            missing.append(f"{module}.{name}")
        missing += [
            f"{name}.{a}" for a in attributes if owner is not None and not hasattr(owner, a)
        ]
    return missing


def is_switched_on(value: str | None) -> bool:
    """Return whether a value of ``ROCKETWIRE_FASTPATH`` turns the fast path on.

    Raises:
        IllegalValueError: the value is neither ``on`` nor ``off``.
    """
    if value not in (None, "", "on", "off"):
        raise IllegalValueError(f"{SWITCH} must be on or off, not {value!r}")
    return value != "off"


def check() -> bool:
    """Return whether the fast path can be used; log trio's missing internals, if any.

    Raises:
        IllegalValueError: as ``is_switched_on``.
    """
    if not is_switched_on(os.environ.get(SWITCH)):
        return False
    missing = missing_internals()
    if missing:
        _LOG.info("the fast path is off: trio %s lacks %s", trio.__version__, ", ".join(missing))
    return not missing


is_on: bool = check()
"""Whether ``attach`` uses the fast path."""


def attach(
    connection: Connection, reader: StreamReader, writer: StreamWriter, clock: Callable[[], float]
) -> DirectRequests | None:
    """Attach the fast path to a channel in the current run of trio.

    Args:
        connection: the protocol's state.
        reader: reader of the channel; gets its ``bypass``.
        writer: writer of the channel.
        clock: returns the time of trio's clock.

    Returns: The channel's direct requests.  None if the fast path is off, if the stream is not
        plain TCP, or if this run of trio does not allow it.
    """
    descriptor = reader.descriptor
    if not is_on or descriptor is None:
        return None
    bypass = reader.bypass = bypass_for(descriptor)
    if bypass is None:
        return None
    return DirectRequests(connection, reader, writer, clock, bypass, descriptor)
