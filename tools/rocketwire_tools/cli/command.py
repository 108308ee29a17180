"""The command model: ``Command``, its ``Context`` and the outputs and errors of commands.

A command returns values and prints nothing, unless its output is a stream. It raises ``UsageError``
for invalid arguments and ``RefusedError`` for a failure that the library has no error for. The
library's own errors pass through. ``cli/exit_status.py`` maps errors to exit statuses.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import argparse

    from rocketwire.client import ClientConfig

Value: TypeAlias = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"] | None
"""The type of a cell or of a record's member: any JSON value."""


class UsageError(Exception):
    """Invalid or contradictory arguments; exit status 2."""


class RefusedError(Exception):
    """The command failed for the reason in the text; exit status 1."""


class LineError(Exception):
    """A message could not be processed; ``__cause__`` is the reason and sets the exit status."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number  # number of the input line or message, from 1
        self.details = ""  # text about further messages; empty if there is none


class StoppedError(Exception):
    """A signal ended the command; exit status 128 + the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class CellType(Enum):
    """How a table shows the cells of a column; JSON and CSV contain the raw values."""

    TEXT = "text"
    NUMBER = "number"  # right-aligned
    TIME = "time"  # milliseconds since 1970, shown in UTC
    BYTES = "bytes"  # a number of bytes, shown with a unit
    VALUE = "value"  # a list or an object, shown as JSON
    CHANGE = "change"  # an object with ``old`` and ``new``, shown as ``old -> new``


@dataclass(frozen=True, slots=True)
class Column:
    name: str  # heading and JSON member name, in camelCase as in Java
    cell_type: CellType = CellType.TEXT  # how its cells are shown


def columns(text: str) -> tuple[Column, ...]:
    """Columns of names separated by spaces; ``name:type`` has another ``CellType`` than text."""
    words = (word.partition(":") for word in text.split())
    return tuple(Column(name, CellType(cell_type or "text")) for name, _, cell_type in words)


@dataclass(frozen=True, slots=True)
class Table:
    # the columns, or a text for ``columns``; a plain name is a text column
    columns: str | Sequence[Column | str]
    rows: Sequence[Sequence[Value]]  # one value per column; None for an empty cell
    failed: bool = False  # whether the rows report a failure: exit status 1
    warned: bool = False  # whether the rows report warnings: exit status 4 unless ``failed``
    # what there is none of if there are no rows: printed to stderr, exit status 1
    searched: str | None = None
    footer: str | None = None  # a line below the rows, in the form for people only
    document: Value = None  # what JSON has instead of the rows

    @property
    def typed(self) -> tuple[Column, ...]:
        if isinstance(self.columns, str):
            return columns(self.columns)
        return tuple(Column(c) if isinstance(c, str) else c for c in self.columns)


@dataclass(frozen=True, slots=True)
class Listing:
    head: Table  # the table without its rows; printed as it is if there are none
    rows: AsyncGenerator[Sequence[Value]]  # the rows; closed when ``limit`` are printed
    limit: int  # how many to print; 0 for all
    # returns what to say if there are more; None for nothing
    more: Callable[[], Awaitable[str]] | None


@dataclass(frozen=True, slots=True)
class Record:
    """One object; a table or CSV has a line for each member."""

    members: Mapping[str, Value]  # values by name
    failed: bool = False  # as in ``Table``


def record(*, failed: bool = False, **members: Value) -> Record:
    return Record(members, failed)


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A partial output, because a server did not respond (reported on stderr): exit status 3."""

    output: Table | Record | str | None  # the results of the servers that responded


class NotFoundError(RefusedError):
    """The requested object does not exist; exit status 3 if a server that may have it is silent."""

    def __init__(
        self, text: str, *, kind: str | None = None, name: str = "", partial: Table | None = None
    ) -> None:
        super().__init__(text)
        # ``topic``, ``group``, ``cluster`` or ``broker`` if similar names shall be shown
        self.kind = kind
        self.name = name  # the name that does not exist
        self.partial = partial  # the objects that do exist, to be shown if a server is silent


Output: TypeAlias = Table | Record | Incomplete | str | None
"""A command's result. Text is printed unchanged (in JSON: as a string), None prints nothing."""


@dataclass(frozen=True, slots=True)
class Context:
    arguments: argparse.Namespace  # its parsed arguments
    # client configuration; ``namesrv_addr`` is empty if the user set no name server
    config: ClientConfig
    request_timeout: float  # timeout of a call in seconds


Option: TypeAlias = Callable[[Any], object]
"""Adds an argument to a parser, or to a group of arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command.

    A command's short option replaces the program's option of the same name (``-o`` of mqadmin's
    ``updateTopic``). Long names such as ``--output`` must stay unused.
    """

    name: str  # its name on the command line
    help: str  # one line of help
    run: Callable[[Context], Awaitable[Output]]  # the function to run
    options: Sequence[Option] = ()  # its options and positional arguments
    epilog: str | None = None  # text at the end of ``--help``
    group: str = "other commands"  # its heading in the list of commands
    offline: bool = False  # whether it opens no connection and has no connection options
    streams: bool = False  # whether it writes its output itself, for example JSON lines
