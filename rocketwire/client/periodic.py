"""Wall-clock time for the wire, and periodic background tasks."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import trio

from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from rocketwire.client.outages import Outages


def now_millis() -> int:
    """Return milliseconds since 1970; only for the wire, use trio's clock for durations."""
    return time.time_ns() // 1_000_000


async def repeat_every(
    seconds: float,
    round_: Callable[[], Awaitable[None]],
    outages: Outages | None = None,
    subject: str = "background task",
) -> None:
    """Await ``round_`` in every interval; an error is reported, and the next round follows."""
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
