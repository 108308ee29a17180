"""Writes the file of registered brokers for the next start, and logs when all of them are back.

Only with ``rocketwire.warmStartSeconds``. The file is updated once a second: changes in the last
second before a crash may be missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire_namesrv.routes.warm_start import brokers_document, brokers_of
from rocketwire_namesrv.runtime.durable_file import DurableFile
from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from rocketwire_namesrv.protocol.state import State

LOOK_SECONDS: Final = 1.0
"""Time between two checks of the table."""


class Remembering(Protocol):
    """The server, as this module uses it."""

    @property
    def state(self) -> State: ...


async def remember_for_ever(server: Remembering) -> None:
    """Keep the file of known brokers up to date, until cancelled."""
    state = server.state
    if state.config.warm_start_seconds <= 0:
        return
    file = DurableFile(
        "the list of known brokers",
        lambda: state.config.known_brokers_path,
        lambda: _document(state),
    )
    written: object = None
    waiting = bool(state.warm_start.awaited)
    if waiting:
        LOGGER.info(
            "routes are not returned before %d brokers are back", len(state.warm_start.awaited)
        )
    while True:
        if waiting and state.is_ready(trio.current_time()):
            waiting = False
            _log_end_of_wait(state)
        present = (state.table.revision, len(state.warm_start.awaited))
        if present != written:
            written = present
            await file.save()
        await trio.sleep(LOOK_SECONDS)


def _document(state: State) -> bytes:
    return brokers_document([*brokers_of(state.table), *state.warm_start.awaited])


def _log_end_of_wait(state: State) -> None:
    missed = state.warm_start.missed
    if missed:
        names = ", ".join(map(str, missed[:10]))
        LOGGER.warning("routes are returned now, without %d brokers: %s", len(missed), names)
    else:
        LOGGER.info("routes are returned now, all brokers are back")
