"""What a command is, and what it may return.

Rules of this file: a command returns values and prints nothing, unless its output is a stream; it raises ``UsageError`` for
what is wrong with its arguments, ``RefusedError`` for a failure that no error of the library tells of, and lets the library's
errors through.  ``exit_status.py`` makes exit statuses of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import argparse

    from rocketwire.client import ClientConfig

Value: TypeAlias = (
    str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"] | None
)  # what JSON has
"""What a cell or a member of a record may be."""


class UsageError(Exception):
    """The arguments make no sense together; exit status 2."""


class RefusedError(Exception):
    """It was not done, and the text says why; exit status 1."""


class LineError(Exception):
    """A line of the input could not be dealt with; the cause says why, and makes the exit status.

    Attributes:
        number: of the line, or of the message, from 1 on.
        others: what is to be said of others; empty for nothing.
    """

    def __init__(self, number: int) -> None:
        """Nothing is to be said of others yet."""
        super().__init__(number)
        self.number = number
        self.others = ""


class StoppedError(Exception):
    """A signal ended it before it was done; exit status 128 and the signal's number."""

    def __init__(self, number: int) -> None:
        """Args: number: of the signal."""
        super().__init__(number)
        self.number = number


class Kind(Enum):
    """How the cells of a column are shown in a table; JSON and CSV have the values as they are."""

    TEXT = "text"
    NUMBER = "number"  # to the right
    TIME = "time"  # milliseconds since 1970; shown as UTC
    BYTES = "bytes"  # a number of bytes; shown with a unit
    VALUE = "value"  # a list or an object; shown as JSON


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: its heading, and the name of its member in JSON: camelCase, as Java's.
        kind: how its cells are shown.
    """

    name: str
    kind: Kind = Kind.TEXT


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that have the same columns.

    Attributes:
        columns: a text is a column of texts.
        rows: a value for each column; None for nothing.
        failed: whether the rows say that something went wrong: exit status 1.
        warned: whether the rows have warnings, and nothing worse: exit status 4.
    """

    columns: Sequence[Column | str]
    rows: Sequence[Sequence[Value]]
    failed: bool = False
    warned: bool = False

    @property
    def typed(self) -> tuple[Column, ...]:
        """The columns."""
        return tuple(Column(one) if isinstance(one, str) else one for one in self.columns)


@dataclass(frozen=True, slots=True)
class Record:
    """One thing with members; in a table and in CSV a line for each.

    Attributes:
        members: by name.
        failed: as of ``Table``.
    """

    members: Mapping[str, Value]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Incomplete:
    """Less than was asked for, as somebody did not answer, which was said on stderr: exit status 3.

    Attributes:
        told: what the others said.
    """

    told: Table | Record | str | None


class NotFoundError(RefusedError):
    """It is nowhere where it could be; exit status 3 where somebody did not answer who may have it.

    Attributes:
        told: the rest of what was asked for, which is shown then.
    """

    def __init__(self, text: str, told: Table | None = None) -> None:
        """Args: text: what is nowhere."""
        super().__init__(text)
        self.told = told


Output: TypeAlias = Table | Record | Incomplete | str | None
"""What a command returns: a text is printed as it is (in JSON: as a text), None prints nothing."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a command is run with.

    Attributes:
        arguments: its own, parsed.
        config: how to connect: name servers, credentials, TLS.  Its ``namesrv_addr`` is empty where none was named.
        request_timeout: seconds for a call, as the user wants it.
    """

    arguments: argparse.Namespace
    config: ClientConfig
    request_timeout: float


def no_arguments(parser: argparse.ArgumentParser) -> None:
    """For commands that take none."""
    del parser


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command.

    Options that a command adds come before the program's own of the same name (``-o`` of mqadmin's ``updateTopic``);
    the long ones, as ``--output``, should stay free.

    Attributes:
        name: by which it is called.
        help: one line.
        run: does it.
        add_arguments: adds its own arguments to its parser.
        aliases: other names.
        description: what ``--help`` says; None for ``help``.
        epilog: what ``--help`` says at its end.
        group: under which heading the list of all commands has it.
        offline: whether it connects to nobody, and takes none of the options for that.
        streams: whether it writes by itself: JSON lines, or what is no output in this sense.
    """

    name: str
    help: str
    run: Callable[[Context], Awaitable[Output]]
    add_arguments: Callable[[argparse.ArgumentParser], None] = no_arguments
    aliases: tuple[str, ...] = ()
    description: str | None = None
    epilog: str | None = None
    group: str = "other commands"
    offline: bool = False
    streams: bool = False
