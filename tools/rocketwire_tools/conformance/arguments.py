"""What the commands share: exit statuses, addresses, and the numbers of the cases."""

from __future__ import annotations

import argparse
import math
import shlex
from pathlib import Path
from typing import Final

from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.run.target import Address

PASSED: Final = 0
FAILED: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3

NUMBERS: Final = {case.id: number for number, case in enumerate(ALL)}
"""A number for each address, of which its names are made."""


def address(text: str) -> Address:
    """Read ``host:port``.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return Address(host.strip("[]"), int(port))


def option(text: str) -> tuple[str, str]:
    """Read ``name=value``.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def factor(text: str) -> float:
    """Read a positive number.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def folder(text: str) -> Path:
    """Read the path of a folder that exists.

    Raises:
        argparse.ArgumentTypeError: there is none.
    """
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    return path


def output(text: str) -> Path:
    """Read the path of a file to write, in a folder that exists: a long run shall not end without its report.

    Raises:
        argparse.ArgumentTypeError: its folder does not exist, or it is a folder itself.
    """
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written")
    return path


def start_command(text: str) -> str:
    """Read a command that starts a server.

    Raises:
        argparse.ArgumentTypeError: it is empty, or its quotes do not match.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a command: {error}") from error
    if not words:
        raise argparse.ArgumentTypeError("the command is empty")
    return text


def add_patience(parser: argparse.ArgumentParser) -> None:
    """Add ``--patience``."""
    parser.add_argument(
        "--patience",
        type=factor,
        default=1.0,
        metavar="FACTOR",
        help="factor for all time limits, that of the server's start included",
    )


def add_start_options(parser: argparse.ArgumentParser) -> None:
    """Add what is about starting servers."""
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=option,
        metavar="NAME=VALUE",
        help="a property of every server that is started",
    )
    parser.add_argument(
        "--home",
        type=folder,
        metavar="DIR",
        help="what every started server finds in its ROCKETMQ_HOME, as conf/",
    )
