"""``Asking``: what all subjects of operators' calls share, a time limit and the way to many brokers at once.

Rules of this file: what goes to several brokers goes to all of them, whatever one of them says; the first error is raised when
all have been asked.  Java goes from one to the next and stops.  What only reads may do without those that do not answer (``leaving_out``).

Java: ``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

import trio

from rocketwire.client.net.rpc import SUCCESS
from rocketwire.client.trio_only import trio_only
from rocketwire.errors import ChannelError, RocketWireError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Mapping

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.net.rpc import Response

ADMIN_TIMEOUT: Final = 5.0
"""Seconds for one call (Java: ``DefaultMQAdminExt.timeoutMillis``)."""

AT_ONCE: Final = 32
"""Brokers that are asked at the same time."""

T = TypeVar("T")
Result = TypeVar("Result")

_LEFT_OUT: ContextVar[dict[object, ChannelError] | None] = ContextVar("left out", default=None)


@contextmanager
def leaving_out() -> Generator[Mapping[object, ChannelError]]:
    """For the length of the block, calls that collect what several brokers know do without those that do not answer.

    A call of which nobody answers still fails; nobody who did not answer is asked by another such call.  Calls that change
    something are as ever.

    Yields: why somebody was left out, by address or queue; it grows.
    """
    left_out: dict[object, ChannelError] = {}
    before = _LEFT_OUT.set(left_out)
    try:
        yield left_out
    finally:
        _LEFT_OUT.reset(before)


def leave_out(place: object, error: ChannelError) -> ChannelError:
    """Do without somebody who did not answer, for who asks one after the other.

    Returns the error within ``leaving_out``.

    An error for which somebody was left out already, as a broker, does not leave out somebody else,
    as its topic or group.

    Raises:
        ChannelError: that error, outside of it.
    """
    left_out = _LEFT_OUT.get()
    if left_out is None:
        raise error
    if error not in left_out.values():
        left_out[place] = error
    return error


@trio_only()
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

    def __init_subclass__(cls) -> None:
        """Calls outside of trio are refused, of whatever subject."""
        super().__init_subclass__()
        trio_only()(cls)

    async def ask(
        self,
        address: str,
        code: int,
        header: object | Mapping[str, str] | None = None,
        body: object | bytes | None = None,
        *,
        accepted: Collection[int] = SUCCESS,
        within: float | None = None,
    ) -> Response:
        """Ask one broker anything.

        Arguments, errors and cancellation are those of ``BrokerCalls.call``.

        Args:
            address: ``host:port`` of the broker.
            code: request code; ``rocketwire.messages.operations.registry`` says what it carries,
                there and back.
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
    found, failed = await _asked(order, call)
    for place in order:
        if place in failed:
            raise failed[place]
    return {place: found[place] for place in order}


async def told_by_each(
    places: Iterable[T], call: Callable[[T], Awaitable[Result]]
) -> dict[T, Result]:
    """As ``of_each``, for a call that only reads: without those that do not answer, within ``leaving_out``.

    Raises:
        RocketWireError: the error of the first place that has one that is none of the connection; or of the first at all, where
            nobody answers.
    """
    left_out = _LEFT_OUT.get()
    if left_out is None:
        return await of_each(places, call)
    order = list(dict.fromkeys(places))
    found, failed = await _asked([one for one in order if one not in left_out], call)
    for place, error in failed.items():
        if isinstance(error, ChannelError):
            left_out.setdefault(place, error)  # of several calls at once the first one tells
    for error in failed.values():
        if not isinstance(error, ChannelError):
            raise error
    if order and not found:
        raise left_out[order[0]]
    return {place: found[place] for place in order if place in found}


async def _asked(
    order: list[T], call: Callable[[T], Awaitable[Result]]
) -> tuple[dict[T, Result], dict[T, RocketWireError]]:
    """What a call gives for each place, and where it fails."""
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
    return found, failed
