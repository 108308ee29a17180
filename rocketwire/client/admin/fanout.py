"""``AdminCalls``: requests with a timeout, and calls to many brokers at once.

A call to several brokers is sent to all of them; then the first error is raised. Java stops at the
first error. Calls that only read can skip brokers that do not respond (``leaving_out``).

Java: ``DefaultMQAdminExtImpl``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar, cast

import trio

from rocketwire.client.net.rpc import SUCCESS, Response
from rocketwire.client.trio_only import trio_only
from rocketwire.errors import ChannelError, RocketWireError
from rocketwire.messages import encode_body
from rocketwire.transport.nursery import run_each

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.topic_config import DataVersion

# Timeout of a request in seconds (Java: ``DefaultMQAdminExt.timeoutMillis``)
ADMIN_TIMEOUT: Final = 5.0
MAX_CONCURRENT_CALLS: Final = 32  # maximum concurrent requests of a call

T = TypeVar("T")
Key = TypeVar("Key")
Result = TypeVar("Result")

_LEFT_OUT: ContextVar[dict[object, ChannelError] | None] = ContextVar("left out", default=None)


_WAITS: ContextVar[Counter[str] | None] = ContextVar("waits", default=None)


@contextmanager
def counting_waits() -> Generator[Mapping[str, int]]:
    """Count the requests that wait for an answer, by address, until the end of the block."""
    waits: Counter[str] = Counter()
    token = _WAITS.set(waits)
    try:
        yield waits
    finally:
        _WAITS.reset(token)


@contextmanager
def leaving_out() -> Generator[Mapping[object, ChannelError]]:
    """Let read-only calls to several brokers skip those that do not respond.

    It holds until the end of the block. If no broker responds, the call still fails. A skipped
    broker is skipped by all further calls. Calls that change something do not skip brokers.

    Yields the errors of skipped brokers, by address or queue; it grows.
    """
    left_out: dict[object, ChannelError] = {}
    token = _LEFT_OUT.set(left_out)
    try:
        yield left_out
    finally:
        _LEFT_OUT.reset(token)


def leave_out(target: object, error: ChannelError) -> ChannelError:
    # An error that was recorded for a broker is not recorded again for its topic or group.
    left_out = _LEFT_OUT.get()
    if left_out is None:
        raise error
    if error not in left_out.values():
        left_out[target] = error
    return error


@trio_only()
class AdminCalls:
    """Requests of a subject; for errors see ``ask``."""

    def __init__(self, client: ClientInstance, within: float = ADMIN_TIMEOUT) -> None:
        self.client = client
        self.within = within

    def __init_subclass__(cls) -> None:
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
        """Send a request to a broker. For errors and cancellation see ``BrokerCalls.call``.

        Args:
            code: request code; see ``rocketwire.messages.operations.registry`` for its header and
                body.
            accepted: response codes that are not errors.
            within: timeout in seconds; None for the timeout of this admin.
        """
        waits = _WAITS.get()
        if waits is not None:
            waits[address] += 1
        try:
            return await self.client.brokers.call(
                address,
                code,
                header,
                body,
                within=self.within if within is None else within,
                accepted=accepted,
                vip=True,
            )
        finally:
            if waits is not None:
                waits[address] -= 1

    async def body_of(
        self, address: str, code: int, header: object | None = None, body: object | None = None
    ) -> Any:
        """Send a request; returns the body of the response, None if it has none."""
        return (await self.ask(address, code, header, body)).body

    async def fetch(
        self,
        kind: type[Result],
        address: str,
        code: int,
        header: object | None = None,
        body: object | None = None,
    ) -> Result:
        """Send a request; returns the body, a ``kind``, or raises ``DecodeError`` without one."""
        response = await self.ask(address, code, header, body)
        is_empty = kind is bytes and not response.body
        found: Result = cast("Any", kind)() if is_empty else response.require_body()
        return found

    async def read_from(
        self, kind: type[Result], address: str, code: int, header: object
    ) -> Result:
        """Fetch a body from a broker, unless ``leaving_out`` has skipped the broker before."""
        bodies = await read_from_each((address,), lambda _: self.fetch(kind, address, code, header))
        return bodies[address]


async def call_each(
    targets: Iterable[T], call: Callable[[T], Awaitable[Result]]
) -> dict[T, Result]:
    order = list(dict.fromkeys(targets))
    results, failed = await try_each(order, call)
    for target in order:
        if target in failed:
            raise failed[target]
    return {target: results[target] for target in order}


async def read_from_each(
    targets: Iterable[T], call: Callable[[T], Awaitable[Result]]
) -> dict[T, Result]:
    # Other errors than ``ChannelError`` are raised, and that of the first target if none responds.
    left_out = _LEFT_OUT.get()
    if left_out is None:
        return await call_each(targets, call)
    order = list(dict.fromkeys(targets))
    results, failed = await try_each([p for p in order if p not in left_out], call)
    for target, error in failed.items():
        if isinstance(error, ChannelError):
            left_out.setdefault(target, error)  # concurrent calls: the first error stays
    for error in failed.values():
        if not isinstance(error, ChannelError):
            raise error
    if order and not results:
        raise left_out[order[0]]
    return {target: results[target] for target in order if target in results}


def merge_tables(tables: Iterable[Mapping[Key, Result] | None]) -> dict[Key, Result]:
    return {key: value for table in tables for key, value in (table or {}).items()}


async def try_each(
    targets: Iterable[T],
    call: Callable[[T], Awaitable[Result]],
    *,
    max_calls: int = MAX_CONCURRENT_CALLS,
) -> tuple[dict[T, Result], dict[T, RocketWireError]]:
    """Call a function for each target, ``max_calls`` at once; returns results and errors."""
    results: dict[T, Result] = {}
    failed: dict[T, RocketWireError] = {}
    limit = trio.CapacityLimiter(max_calls)

    async def call_target(target: T) -> None:
        async with limit:
            try:
                results[target] = await call(target)
            except RocketWireError as error:
                failed[target] = error

    await run_each(call_target, targets)
    return results, failed


# Entries of one page (Java: ``ClientConfig.maxPageSizeInGetMetadata``). A broker may return fewer.
PAGE_SIZE: Final = 2000
MAX_RESTARTS: Final = 10  # limit for a broker whose configuration changes all the time

Entry = TypeVar("Entry")


class Page(NamedTuple, Generic[Entry]):
    entries: Mapping[str, Entry]
    total: int | None  # number of all entries; None from brokers that return everything at once
    version: DataVersion | None


async def all_pages(ask: Callable[[int, str], Awaitable[Page[Entry]]]) -> Page[Entry]:
    # ``ask`` gets an index, and the version of the pages before as JSON. If the configuration
    # changes meanwhile, all pages are fetched again. Brokers before 5.3.2 return all at once, and
    # no total. Java's loops can miss the last entry (``MQClientAPIImpl.getAllTopicConfig``).
    page: Page[Entry] = await ask(0, "")
    entries, version, restarts = dict(page.entries), page.version, 0
    while page.total is not None and len(entries) < page.total:
        page = await ask(len(entries), encode_body(version).decode() if version else "")
        if page.version != version and restarts < MAX_RESTARTS:
            restarts += 1
            entries, version = {}, page.version
            page = Page({}, page.total, version)
        elif not page.entries:
            break  # fewer than the total; another request would not help
        entries.update(page.entries)
    return Page(entries, page.total, version)
