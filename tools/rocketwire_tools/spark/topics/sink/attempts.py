"""Attempts of a request until it succeeds, or until the time is over; trio.

A topic without a route is an error at once, as for Java's producer, unless its brokers are away:
then they may come back with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client import ProducerConfig
from rocketwire.client.publish.request_builder import wire_topic
from rocketwire.errors import RocketWireError, TopicRouteNotFoundError
from rocketwire.flags import Perm
from rocketwire_tools.spark.topics.connection import session_of
from rocketwire_tools.spark.topics.sink.failures import SinkError, describe, first_cause, may_pass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rocketwire.client import ClientInstance
    from rocketwire_tools.spark.topics.sink.options import SinkSettings

FIRST_PAUSE: Final = 0.1  # Seconds before the second attempt; they double up to ``LONGEST_PAUSE``

LONGEST_PAUSE: Final = 5.0
NO_COMPRESSION: Final = 1 << 30


async def with_retries(
    attempt: Callable[[], Awaitable[Any]],  # makes an attempt
    topic: str,  # topic of the messages, for errors
    seconds: float,  # how long to try again
    # names the missing servers if a topic has no route, or ""; None to give up at once
    absence: Callable[[str], Awaitable[str]] | None = None,
) -> Any:
    """Return the result of the first attempt that succeeds."""
    start = trio.current_time()
    pause = FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except RocketWireError as error:
            away = ""
            if absence is not None and isinstance(first_cause(error), TopicRouteNotFoundError):
                away = await absence(topic)
            spent = trio.current_time() - start
            if not away and not may_pass(error):
                raise SinkError(describe(error, topic)) from error
            if spent + pause > seconds:
                raise SinkError(describe(error, topic, spent, away)) from error
        await trio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


@dataclass(frozen=True, slots=True)
class Present:
    """Brokers and route at the name servers when a write was planned."""

    brokers: frozenset[str] | None = None  # names of the brokers; None if no name server answered
    has_route: bool = False  # whether there was a route of the topic of option ``topic``


NOTHING: Final = Present()  # no name server answered when the write was planned


def fetch_present(settings: SinkSettings) -> Present:
    """Ask the name servers what there is, in the driver."""

    async def ask(client: ClientInstance) -> Present:
        present = NOTHING
        with trio.move_on_after(settings.connection.request_timeout):
            try:
                present = Present(await _brokers(client))
                if settings.topic is not None:
                    await client.name_servers.route(wire_topic(client.config, settings.topic))
                    return Present(present.brokers, has_route=True)
            except RocketWireError:
                return present
        return present

    return session_of(settings.connection).call(ask)


async def absence_of(client: ClientInstance, topic: str, present: Present) -> str:
    """Name the missing servers if a topic has no route; "" if none is: it does not exist."""
    servers = f"name servers {client.config.namesrv_addr}"
    try:
        brokers = await _brokers(client)
    except RocketWireError:
        return f"{servers}, which do not answer"
    if not brokers:
        return f"a broker: none is registered at {servers}"
    try:
        route = await client.name_servers.route(wire_topic(client.config, topic))
    except TopicRouteNotFoundError:
        missing = (present.brokers or frozenset()) - brokers
        if missing:
            names = ", ".join(sorted(missing))
            return f"broker {names}, which was registered when the write was planned"
        if present.has_route:
            return "the route of the topic, which was there when the write was planned"
        return "" if present.brokers else "a broker with the topic"
    except RocketWireError:
        return f"{servers}, which do not answer"
    names = ", ".join(data.broker_name or "" for data in route.queue_datas or ())
    if any(data.perm & Perm.WRITE and data.write_queue_nums for data in route.queue_datas or ()):
        return f"a master of broker {names}"
    return ""


async def _brokers(client: ClientInstance) -> frozenset[str]:
    return frozenset((await client.name_servers.cluster_info()).broker_addr_table or {})


def producer_config(settings: SinkSettings) -> ProducerConfig:
    above = settings.compress_above
    return ProducerConfig(
        send_msg_timeout=settings.send_timeout,
        compress_msg_body_over_howmuch=NO_COMPRESSION if above is None else above + 1,
        max_message_size=max(settings.max_message_size, settings.batch_size),
    )
