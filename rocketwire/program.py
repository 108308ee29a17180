"""The command line of a program: an error is one line that says what to do."""

from __future__ import annotations

import argparse
from typing import Any, Final, NoReturn

from rocketwire.nearest import did_you_mean

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
