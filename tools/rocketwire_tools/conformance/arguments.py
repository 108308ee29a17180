"""What the commands share: exit statuses, addresses, and the numbers of the cases."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.target import Address

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
        type=Path,
        metavar="DIR",
        help="what every started server finds in its ROCKETMQ_HOME, as conf/",
    )
