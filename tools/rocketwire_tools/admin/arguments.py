"""Types of arguments that several commands take."""

from __future__ import annotations

import argparse
import math


def positive(text: str) -> int:
    """Read a number from 1 on.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def property_pair(text: str) -> tuple[str, str]:
    """Read ``name=value``.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def seconds(text: str) -> float:
    """Read a number of seconds.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return number
