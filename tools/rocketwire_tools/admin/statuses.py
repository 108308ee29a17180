"""Exit statuses, and what they are made of.

0 done, 1 refused or failed, 2 the command line or a setting makes no sense, 3 somebody could not be reached or did not answer.
"""

from __future__ import annotations

from typing import Final, cast

from rocketwire.errors import (
    ChannelError,
    LocalProtocolError,
    NoNameServerError,
    RocketWireError,
    SendFailedError,
)
from rocketwire_tools.admin.command import RefusedError, UsageError

DONE: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
INTERRUPTED: Final = 130

ERRORS: Final = (UsageError, RefusedError, RocketWireError)
"""What a command may raise; anything else is a mistake in the program."""

NO_NAME_SERVER: Final = (
    "no name server: say -n HOST:PORT, set NAMESRV_ADDR, or put one into a profile"
)


def status_of(error: BaseException) -> int:
    """The exit status that an error of ``ERRORS`` makes."""
    if isinstance(error, SendFailedError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, UsageError | LocalProtocolError | NoNameServerError):
        return USAGE
    return UNREACHABLE if isinstance(error, ChannelError) else REFUSED


def line_of(error: BaseException) -> str:
    """What to say of an error, on one line."""
    if isinstance(error, NoNameServerError):
        return NO_NAME_SERVER
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, SendFailedError) and error.__cause__ is not None:
        return f"{text}: {line_of(error.__cause__)}"
    return text


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in a group of them, however deep."""
    first: BaseException = group
    while isinstance(first, BaseExceptionGroup):
        first = cast("BaseExceptionGroup[BaseException]", first).exceptions[0]
    return first
