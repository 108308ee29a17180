"""Wall time for what goes over the wire, and tasks of upkeep that run in rounds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import trio

from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rocketwire.client.outages import Outages


def now_millis() -> int:
    """Milliseconds since 1970; for the wire alone, durations come from trio's clock."""
    return time.time_ns() // 1_000_000


async def every(
    seconds: float,
    round_: Callable[[], Awaitable[None]],
    outages: Outages | None = None,
    subject: str = "background task",
) -> None:
    """Await ``round_`` again and again, for the first time after ``seconds``; an error is reported, and the next round follows.

    Args:
        seconds: between two rounds.
        round_: one round.
        outages: takes the errors; None for new ones.
        subject: names the rounds in a warning.
    """
    if outages is None:
        from rocketwire.client.outages import Outages

        outages = Outages()
    while True:
        await trio.sleep(seconds)
        try:
            await round_()
        except RocketWireError as error:
            outages.report(subject, error)
        else:
            outages.end(subject)
