"""Exit statuses and error lines.

0 success, 1 refused or failed, 2 invalid command line or setting, 3 a server could not be reached
or did not respond, 4 warnings (only ``doctor``).
"""

from __future__ import annotations

import logging
import signal
from typing import Final, cast

from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    ChannelError,
    LocalProtocolError,
    NoNameServerError,
    RocketWireError,
    SendFailedError,
    TopicRouteNotFoundError,
)
from rocketwire.policy.resource_names import RETRY_PREFIX, is_retry_topic
from rocketwire_tools.cli.command import LineError, RefusedError, StoppedError, UsageError

_LOG: Final = logging.getLogger("rocketwire.admin")

DONE: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
WARNED: Final = 4

ERRORS: Final = (UsageError, RefusedError, LineError, StoppedError, RocketWireError)
"""Errors that a command may raise; any other is a bug."""

NO_NAME_SERVER: Final = (
    "no name server: use -n HOST:PORT, set NAMESRV_ADDR, or add one to a profile"
)


def status_of(error: BaseException) -> int:
    if isinstance(error, StoppedError):
        return 128 + error.number
    if isinstance(error, LineError) and error.__cause__ is not None:
        return status_of(error.__cause__)
    if isinstance(error, SendFailedError) and error.__cause__ is not None:
        error = error.__cause__
    # This includes an invalid address that a broker has registered: those of users are validated.
    if isinstance(error, ChannelError):
        return UNREACHABLE
    return (
        USAGE if isinstance(error, UsageError | LocalProtocolError | NoNameServerError) else REFUSED
    )


def line_of(error: BaseException) -> str:
    if isinstance(error, NoNameServerError):
        return NO_NAME_SERVER
    if isinstance(error, StoppedError):
        return f"stopped by {signal.Signals(error.number).name}"
    if isinstance(error, LineError) and error.__cause__ is not None:
        return f"message {error.number}: {line_of(error.__cause__)}{error.details}"
    notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
    if isinstance(error, TopicRouteNotFoundError) and is_retry_topic(error.topic):
        # Brokers create the retry topic when the first consumer of a group connects.
        group = error.topic.removeprefix(RETRY_PREFIX)
        return f"no such group {group}: no consumer of it has ever connected ({error}){notes}"
    return (" ".join(str(error).split()) or type(error).__name__) + notes


def is_denied(error: RocketWireError) -> bool:
    if not isinstance(error, BrokerError):
        return False
    return error.code == ResponseCode.NO_PERMISSION or "AclException" in error.remark


def raise_if_denied(error: RocketWireError) -> None:
    """Raise the error if it denies permission; for callers that ignore other broker errors."""
    if is_denied(error):
        raise error


class Denied:
    """Collects permission errors, for commands that skip the items a user may not see."""

    def __init__(self) -> None:
        self._errors: list[RocketWireError] = []

    def note(self, error: RocketWireError) -> None:
        if is_denied(error):
            self._errors.append(error)

    def report(self, *, is_empty: bool) -> None:
        """Log the number of skipped items; raises a ``BrokerError`` if no item is left."""
        if self._errors and is_empty:
            raise self._errors[0]
        if self._errors:
            count, first = len(self._errors), line_of(self._errors[0])
            _LOG.warning("%d left out, because this user lacks permission: %s", count, first)


def first_error_of(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
