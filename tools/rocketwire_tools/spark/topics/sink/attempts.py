"""Attempts of a request until it succeeds, or until the time is over; trio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client import ProducerConfig
from rocketwire.errors import RocketWireError
from rocketwire_tools.spark.topics.sink.failures import SinkError, describe, may_pass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rocketwire_tools.spark.topics.sink.options import SinkSettings

FIRST_PAUSE: Final = 0.1
"""Seconds before the second attempt; they double up to ``LONGEST_PAUSE``."""

LONGEST_PAUSE: Final = 5.0
NO_COMPRESSION: Final = 1 << 30


async def with_retries(attempt: Callable[[], Awaitable[Any]], topic: str, seconds: float) -> Any:
    """Return the result of the first attempt that succeeds.

    Args:
        attempt: makes an attempt.
        topic: topic of the messages, for errors.
        seconds: how long to try again.

    Raises:
        SinkError: the error cannot pass, or the time is over.
    """
    start = trio.current_time()
    pause = FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except RocketWireError as error:
            spent = trio.current_time() - start
            if not may_pass(error):
                raise SinkError(describe(error, topic)) from error
            if spent + pause > seconds:
                raise SinkError(describe(error, topic, spent)) from error
        await trio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def producer_config(settings: SinkSettings) -> ProducerConfig:
    """Return the settings of the producer."""
    above = settings.compress_above
    return ProducerConfig(
        send_msg_timeout=settings.send_timeout,
        compress_msg_body_over_howmuch=NO_COMPRESSION if above is None else above + 1,
        max_message_size=max(settings.max_message_size, settings.batch_size),
    )
