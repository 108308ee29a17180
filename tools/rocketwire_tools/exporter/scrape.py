"""``BrokerScrape``: the requests of one collection to one broker, counted and bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import trio

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError, RequestTimeoutError, RocketWireError

if TYPE_CHECKING:
    from rocketwire.client.admin import Admin
    from rocketwire_tools.exporter.families import Samples

CONCURRENT_REQUESTS: Final = 8  # default limit of concurrent requests to one broker
MAX_CHANNEL_ERRORS: Final = 3
"""Errors of the connection after which a broker is not asked any more in this collection."""

T = TypeVar("T")
Item = TypeVar("Item")

_DELETED: Final = frozenset(
    {ResponseCode.TOPIC_NOT_EXIST, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST}
)


class BrokerGoneError(Exception):
    """The broker is not asked any more."""


class Broker(NamedTuple):
    cluster: str  # name of its cluster
    name: str  # name of its group of master and slaves
    address: str  # ``host:port``
    broker_id: int  # 0 for the master
    # whether topics and groups are asked here: the master, or the slave with the lowest id if there
    # is no master
    is_primary: bool

    @property
    def labels(self) -> tuple[str, str, str]:
        """Labels of metrics about the broker itself."""
        return (self.cluster, self.address, self.name)

    def of(self, *labels: str) -> tuple[str, ...]:
        """Labels of metrics about a subject on the broker."""
        return (self.cluster, self.name, *labels)


class BrokerScrape:
    def __init__(
        self,
        admin: Admin,
        broker: Broker,
        samples: Samples,
        *,
        concurrent: int = CONCURRENT_REQUESTS,
    ) -> None:
        self.admin = admin
        self.broker = broker
        self.samples = samples
        # of the broker, as a number of ``MQVersion``; 0 as long as it is not known
        self.version = 0
        self.requests = 0
        # (part, error) -> number of failed requests
        self.failures: Counter[tuple[str, str]] = Counter()
        # parts that have not ended, or in which a request failed
        self.incomplete: dict[str, None] = {}
        self._limit = trio.CapacityLimiter(concurrent)
        self._channel_errors = 0

    async def run(self, part: str, call: Callable[[BrokerScrape], Awaitable[None]]) -> None:
        """Carry out a part; an error or a cancellation leaves it incomplete."""
        self.incomplete[part] = None
        try:
            await call(self)
        except BrokerGoneError:
            return
        except RocketWireError as error:
            self.failures[part, error_name(error)] += 1
        if all(failed != part for failed, _ in self.failures):
            del self.incomplete[part]

    async def ask(self, request: Callable[[], Awaitable[T]]) -> T:
        """Send a request; raises ``BrokerGoneError`` after too many failures of this collection."""
        async with self._limit:
            if self._channel_errors >= MAX_CHANNEL_ERRORS:
                raise BrokerGoneError
            self.requests += 1
            try:
                return await request()
            except ChannelError:
                self._channel_errors += 1
                raise

    async def call_each(
        self, part: str, items: Iterable[Item], call: Callable[[Item], Awaitable[None]]
    ) -> None:
        """Call a function for each item, with the requests of several items at once.

        The failure of one does not end the others. An item that was deleted meanwhile is skipped.
        Raises ``BrokerGoneError`` if the broker is not asked any more.
        """
        waiting = iter(items)
        is_gone = False

        async def work() -> None:
            nonlocal is_gone
            for item in waiting:
                try:
                    await call(item)
                except BrokerGoneError:
                    is_gone = True
                    return
                except RocketWireError as error:
                    if not isinstance(error, BrokerError) or error.code not in _DELETED:
                        self.failures[part, error_name(error)] += 1

        async with trio.open_nursery() as nursery:
            for _ in range(int(self._limit.total_tokens)):
                nursery.start_soon(work)
        if is_gone:
            raise BrokerGoneError


def error_name(error: RocketWireError) -> str:
    """Return the label of an error: of a fixed set, whatever a broker answers."""
    if isinstance(error, BrokerError):
        if "AclException" in error.remark:  # code 1, from the plain ACL of 4.x
            return ResponseCode.NO_PERMISSION.name
        name = error.code.name
        return name if name in ResponseCode.__members__ else "unlisted code"
    if isinstance(error, RequestTimeoutError):
        return "timeout"
    return "connection" if isinstance(error, ChannelError) else "invalid response"
