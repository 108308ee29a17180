"""Several sends at a time: ``Producer.send_many``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.errors import RocketWireError, SendManyError

if TYPE_CHECKING:
    from rocketwire.client.message import Message
    from rocketwire.client.send_result import SendResult

IN_FLIGHT: Final = 64  # maximum messages of a call that wait for the broker


async def send_many(
    messages: Sequence[Message], send: Callable[[Message], Awaitable[SendResult]]
) -> list[SendResult]:
    """Send messages, several at a time; see ``Producer.send_many``."""
    results: list[SendResult | RocketWireError | None] = [None] * len(messages)
    numbers = iter(range(len(messages)))
    failed = False

    async def send_some() -> None:
        nonlocal failed
        for number in numbers:
            try:
                results[number] = await send(messages[number])
            except RocketWireError as error:
                results[number] = error
                failed = True

    async with trio.open_nursery() as nursery:
        for _ in range(min(IN_FLIGHT, len(messages))):
            nursery.start_soon(send_some)
    complete = [result for result in results if result is not None]
    sent = [result for result in complete if not isinstance(result, RocketWireError)]
    if failed:
        raise SendManyError(complete)
    return sent
