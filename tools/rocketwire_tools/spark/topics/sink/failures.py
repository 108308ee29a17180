"""Errors of the sink: one line with the failure, its place, and advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

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
from rocketwire_tools.spark.topics.connection import OF_TLS, is_about_access, is_about_tls

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """Return the error of the last attempt, if an error stands for several attempts."""
    cause = error.__cause__
    if isinstance(error, SendFailedError) and isinstance(cause, RocketWireError):
        return cause
    return error


def may_pass(error: RocketWireError) -> bool:
    """Return whether the same request may succeed later."""
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
