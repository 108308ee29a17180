"""The command line, the output and the log of a program.

An error is one line that says what to do. Nothing that a peer wrote changes a terminal or forges a
line of the log. A reader of the output may go first, as in ``program | head``.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

from rocketwire.controls import escape_controls, escape_lines
from rocketwire.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Generator

USAGE: Final = 2  # exit status of an invalid command line


class ProgramParser(argparse.ArgumentParser):
    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        parsed, unknown = super().parse_known_args(*arguments, **options)
        near = [
            did_you_mean(each.partition("=")[0], self._option_string_actions) for each in unknown
        ]
        if any(near):
            self.error(f"unrecognized arguments: {' '.join(unknown)}{next(filter(None, near))}")
        return parsed, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: error: {message}; see {self.prog} --help\n")


def port(text: str) -> int:
    """Read a port for ``add_argument``: a number from 0 to 65535.

    Raises:
        argparse.ArgumentTypeError: it is not.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a port from 0 to 65535")
    return int(text)


def forget_output() -> None:
    """Redirect the output to the null device, so that buffered data does not fail at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def reader_may_go() -> Generator[None]:
    """Leave the block silently if nobody reads the output any more; the rest of it is discarded.

    The output is written to its end before the block ends, whatever ends it.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # closed by the parent process
                sys.stdout.flush()
    except BrokenPipeError:
        forget_output()


class EscapingFormatter(logging.Formatter):
    """One record, one line: control characters are escaped; only tracebacks have line breaks."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = escape_controls(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return escape_lines(super().format(record))


def log_to_stderr(layout: str, *, is_verbose: bool = False) -> None:
    """Log to standard error: warnings, or informative lines too.

    Args:
        layout: form of a line, as ``logging.Formatter`` has it.
        is_verbose: whether the level is INFO.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(EscapingFormatter(layout))
    logging.basicConfig(level=logging.INFO if is_verbose else logging.WARNING, handlers=[handler])
