"""Attempts of a request until it succeeds, or until the time is over; trio.

A topic without a route is an error at once, as for Java's producer, unless its brokers are away:
then they may come back with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import trio

from rocketwire.client import ProducerConfig
from rocketwire.client.publish.request_builder import wire_topic
from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ChannelError,
    LocalProtocolError,
    NameServerError,
    NoNameServerError,
    RocketWireError,
    SendFailedError,
    TopicRouteNotFoundError,
)
from rocketwire.flags import Perm
from rocketwire_tools.spark.topics.connection import (
    OF_TLS,
    is_about_access,
    is_about_tls,
    session_of,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from rocketwire.client import ClientInstance
    from rocketwire_tools.spark.topics.sink.options import SinkSettings


_PASSING_CODES: Final = frozenset(
    {
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.GO_AWAY,
        ResponseCode.FLUSH_DISK_TIMEOUT,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
        ResponseCode.SLAVE_NOT_AVAILABLE,
    }
)
"""Codes of a broker that may accept the same request later."""


class SinkError(RuntimeError):
    """Rows could not be written."""


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the most specific error of a group: the first ``SinkError``, or the first of all."""
    errors = list(_leaves(group))
    return next((error for error in errors if isinstance(error, SinkError)), errors[0])


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(cast("BaseExceptionGroup[BaseException]", error))
        else:
            yield error


def first_cause(error: RocketWireError) -> RocketWireError:
    cause = error.__cause__
    if isinstance(error, SendFailedError) and isinstance(cause, RocketWireError):
        return cause
    return error


def may_pass(error: RocketWireError) -> bool:
    cause = first_cause(error)
    if isinstance(cause, BrokerError):
        return cause.code in _PASSING_CODES and not is_about_access(cause)
    return isinstance(cause, (ChannelError, BrokerNotFoundError, NameServerError)) and not (
        isinstance(cause, LocalProtocolError)
    )


def describe(
    error: RocketWireError, topic: str, seconds: float | None = None, away: str = ""
) -> str:
    """Describe a failure and give advice, in one line.

    Args:
        error: error of the client.
        topic: topic of the messages.
        seconds: how long the sink has retried; None if it has not.
        away: the servers that it has waited for, if a topic has no route.
    """
    cause = first_cause(error)
    spent = "" if seconds is None else f" after {seconds:.0f} seconds of retries"
    if away:
        advice = "see whether it runs and can be reached, or raise option 'retryTimeout'"
        return f"topic {topic}: {_one_line(cause)}{spent}; waited for {away}: {advice}"
    return f"topic {topic}: {_one_line(cause)}{spent}: {_advice(cause)}"


def _one_line(error: RocketWireError) -> str:
    lines = " ".join(str(error).split())
    return lines if len(lines) <= 300 else f"{lines[:297]}..."


def _advice(error: RocketWireError) -> str:
    if isinstance(error, TopicRouteNotFoundError):
        return (
            "create the topic, let its brokers accept messages (perm), or check its name and"
            " option 'nameServers'"
        )
    if isinstance(error, NoNameServerError):
        return "set option 'nameServers' to host:port;host:port"
    if isinstance(error, BrokerError):
        return _broker_advice(error)
    if is_about_tls(error):
        return OF_TLS
    if isinstance(error, (ChannelError, BrokerNotFoundError, NameServerError)):
        return (
            "check that brokers and name servers run and that executors reach their addresses, "
            "or raise option 'retryTimeout'"
        )
    return "correct the rows"


def _broker_advice(error: BrokerError) -> str:
    if is_about_access(error):
        return "check the credentials, and that they permit to publish to the topic"
    if error.code == ResponseCode.MESSAGE_ILLEGAL and "timer message" in (error.remark or ""):
        return "let rows wait for less time, or raise the broker's timerMaxDelaySec"
    if error.code == ResponseCode.MESSAGE_ILLEGAL:
        return "shorten the rows, or raise the broker's maxMessageSize"
    if error.code == ResponseCode.TOPIC_NOT_EXIST:
        return "create the topic"
    if error.code in _PASSING_CODES:
        return "check the broker's load and log, or raise option 'retryTimeout'"
    return "check the broker's log"


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
    brokers: frozenset[str] | None = None  # names of the brokers; None if no name server answered
    has_route: bool = False  # whether there was a route of the topic of option ``topic``


NOTHING: Final = Present()  # no name server answered when the write was planned


def fetch_present(settings: SinkSettings) -> Present:
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
