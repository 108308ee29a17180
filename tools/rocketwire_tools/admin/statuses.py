"""Exit statuses, and what they are made of.

0 done, 1 refused or failed, 2 the command line or a setting makes no sense, 3 somebody could not be reached or did not answer.
"""

from __future__ import annotations

import signal
from typing import Final

from rocketwire.errors import (
    ChannelError,
    LocalProtocolError,
    NoNameServerError,
    RocketWireError,
    SendFailedError,
)
from rocketwire_tools.admin.command import LineError, RefusedError, StoppedError, UsageError

DONE: Final = 0
REFUSED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
INTERRUPTED: Final = 130

ERRORS: Final = (UsageError, RefusedError, LineError, StoppedError, RocketWireError)
"""What a command may raise; anything else is a mistake in the program."""

NO_NAME_SERVER: Final = (
    "no name server: say -n HOST:PORT, set NAMESRV_ADDR, or put one into a profile"
)


def status_of(error: BaseException) -> int:
    """The exit status that an error of ``ERRORS`` makes."""
    if isinstance(error, StoppedError):
        return 128 + error.number
    if isinstance(error, LineError) and error.__cause__ is not None:
        return status_of(error.__cause__)
    if isinstance(error, SendFailedError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, UsageError | LocalProtocolError | NoNameServerError):
        return USAGE
    return UNREACHABLE if isinstance(error, ChannelError) else REFUSED


def line_of(error: BaseException) -> str:
    """What to say of an error, on one line."""
    if isinstance(error, NoNameServerError):
        return NO_NAME_SERVER
    if isinstance(error, StoppedError):
        return f"stopped by {signal.Signals(error.number).name}"
    if isinstance(error, LineError) and error.__cause__ is not None:
        return f"message {error.number}: {line_of(error.__cause__)}{error.others}"
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, SendFailedError) and error.__cause__ is not None:
        return f"{text}: {line_of(error.__cause__)}"
    return text


def errors_of(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """The errors in a group, however deep."""
    found: list[BaseException] = []

    def note(error: BaseException) -> bool:
        if not isinstance(error, BaseExceptionGroup):
            found.append(error)
        return False

    group.subgroup(note)
    return found
