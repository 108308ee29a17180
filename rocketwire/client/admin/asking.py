"""``Asking``: what all subjects of operators' calls share, a time limit and the way to many brokers at once.

Rules of this file: what goes to several brokers goes to all of them, whatever one of them says; the first error is raised when
all have been asked.  Java goes from one to the next and stops.

Java: ``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import trio

from rocketwire.client.calls import SUCCESS
from rocketwire.errors import RocketWireError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping

    from rocketwire.client.calls import Answer
    from rocketwire.client.instance import ClientInstance

ADMIN_TIMEOUT: Final = 5.0
"""Seconds for one call (Java: ``DefaultMQAdminExt.timeoutMillis``)."""

AT_ONCE: Final = 32
"""Brokers that are asked at the same time."""

T = TypeVar("T")
Result = TypeVar("Result")


class Asking:
    """Calls of one subject; all of them raise what ``ask`` raises.

    Attributes:
        client: carries the requests.
        within: seconds for one call.
    """

    def __init__(self, client: ClientInstance, within: float = ADMIN_TIMEOUT) -> None:
        """Nothing is sent yet.

        Args:
            client: carries the requests.
            within: seconds for one call.
        """
        self.client = client
        self.within = within

    async def ask(
        self,
        address: str,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        accepted: Collection[int] = SUCCESS,
        within: float | None = None,
    ) -> Answer:
        """Ask one broker anything; arguments, errors and cancellation are those of ``BrokerCalls.call``.

        Args:
            address: ``host:port`` of the broker.
            code: request code; ``rocketwire.messages.registry`` says what it carries, there and back.
            header: as there.
            body: as there.
            accepted: answers that are no error.
            within: seconds; None for the limit of this admin.

        Raises:
            BrokerError, ChannelError, EncodeError, DecodeError: as there.
        """
        return await self.client.brokers.call(
            address,
            code,
            header,
            body,
            within=self.within if within is None else within,
            accepted=accepted,
            vip=True,
        )

    async def body_of(
        self, address: str, code: int, header: object | None = None, body: object | None = None
    ) -> Any:
        """The body of an answer, as ``ask``; None where it has none."""
        return (await self.ask(address, code, header, body)).body


async def of_each(places: Iterable[T], call: Callable[[T], Awaitable[Result]]) -> dict[T, Result]:
    """What a call gives for each place, asked at the same time, in the order of the places.

    Raises:
        RocketWireError: the error of the first place that has one, when all have been asked.
    """
    order = list(dict.fromkeys(places))
    found: dict[T, Result] = {}
    failed: dict[T, RocketWireError] = {}
    limit = trio.CapacityLimiter(AT_ONCE)

    async def one(place: T) -> None:
        async with limit:
            try:
                found[place] = await call(place)
            except RocketWireError as error:
                failed[place] = error

    async with trio.open_nursery() as nursery:
        for place in order:
            nursery.start_soon(one, place)
    for place in order:
        if place in failed:
            raise failed[place]
    return {place: found[place] for place in order}
