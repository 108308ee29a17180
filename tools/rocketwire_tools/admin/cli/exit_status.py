"""Exit statuses, and what they are made of.

0 done, 1 refused or failed, 2 the command line or a setting makes no sense, 3 somebody could not be reached or did not answer,
4 done, with warnings (``doctor`` alone).
"""

from __future__ import annotations

import logging
import signal
from typing import Final

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
from rocketwire_tools.admin.command import LineError, RefusedError, StoppedError, UsageError

_LOG: Final = logging.getLogger("rocketwire.admin")

DONE: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
WARNED: Final = 4
INTERRUPTED: Final = 130

ERRORS: Final = (UsageError, RefusedError, LineError, StoppedError, RocketWireError)
"""What a command may raise; anything else is a mistake in the program."""

NO_NAME_SERVER: Final = (
    "no name server: say -n HOST:PORT, set NAMESRV_ADDR, or put one into a profile"
)

NO_BROKER: Final = "the name server knows no broker"
"""A note on errors about topics without a route."""


def status_of(error: BaseException) -> int:
    """The exit status that an error of ``ERRORS`` makes."""
    if isinstance(error, StoppedError):
        return 128 + error.number
    if isinstance(error, LineError) and error.__cause__ is not None:
        return status_of(error.__cause__)
    if isinstance(error, SendFailedError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(
        error, ChannelError
    ):  # an address that is none as well: of what users say it is found where that is parsed
        return UNREACHABLE
    return (
        USAGE if isinstance(error, UsageError | LocalProtocolError | NoNameServerError) else REFUSED
    )


def line_of(error: BaseException) -> str:
    """What to say of an error, on one line."""
    if isinstance(error, NoNameServerError):
        return NO_NAME_SERVER
    if isinstance(error, StoppedError):
        return f"stopped by {signal.Signals(error.number).name}"
    if isinstance(error, LineError) and error.__cause__ is not None:
        return f"message {error.number}: {line_of(error.__cause__)}{error.others}"
    notes: list[str] = getattr(error, "__notes__", [])
    if NO_BROKER in notes:
        return f"{error}; {NO_BROKER}"
    if isinstance(error, TopicRouteNotFoundError) and is_retry_topic(error.topic):
        group = error.topic.removeprefix(
            RETRY_PREFIX
        )  # brokers create it for a group's first consumer
        return f"no such group {group}: no consumer of it has ever connected ({error})"
    return " ".join(str(error).split()) or type(error).__name__


def is_denied(error: RocketWireError) -> bool:
    """Whether a broker does not know the credentials or does not let their user do this: 16, or 1 from plain ACL of 4.x."""
    if not isinstance(error, BrokerError):
        return False
    return error.code == ResponseCode.NO_PERMISSION or "AclException" in error.remark


def raise_if_denied(error: RocketWireError) -> None:
    """For who goes on where a broker has nothing to tell: whoever may not ask is told so."""
    if is_denied(error):
        raise error


class Denied:
    """What of a list this user may not ask for: it is left out, and told of."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._errors: list[RocketWireError] = []

    def note(self, error: RocketWireError) -> None:
        """Remember why something is left out, if that is why."""
        if is_denied(error):
            self._errors.append(error)

    def tell(self, *, is_empty: bool) -> None:
        """Say so on stderr.

        Raises:
            BrokerError: nothing is left.
        """
        if self._errors and is_empty:
            raise self._errors[0]
        if self._errors:
            many, first = len(self._errors), line_of(self._errors[0])
            _LOG.warning("%d left out, for this user may not ask for all: %s", many, first)


def errors_of(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """The errors in a group, however deep."""
    found: list[BaseException] = []

    def note(error: BaseException) -> bool:
        if not isinstance(error, BaseExceptionGroup):
            found.append(error)
        return False

    group.subgroup(note)
    return found
