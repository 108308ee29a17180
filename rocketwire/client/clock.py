"""Wall time for what goes over the wire, and rounds of upkeep that are made again and again."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_LOG: Final = logging.getLogger("rocketwire.client")


def now_millis() -> int:
    """Milliseconds since 1970; for the wire alone, durations come from trio's clock."""
    return time.time_ns() // 1_000_000


async def every(seconds: float, round_: Callable[[], Awaitable[None]]) -> None:
    """Await ``round_`` again and again, for the first time after ``seconds``; one that fails is logged, and the next one follows."""
    while True:
        await trio.sleep(seconds)
        try:
            await round_()
        except RocketWireError as error:
            _LOG.info("%s: %s", round_, error)
