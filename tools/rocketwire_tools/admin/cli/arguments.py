"""Types of arguments that several commands take."""

from __future__ import annotations

import argparse
import math

from rocketwire.client.addresses import split_address
from rocketwire.errors import LocalProtocolError


def host_and_port(text: str) -> str:
    """Read ``host:port``.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        split_address(text)
    except LocalProtocolError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def hosts_and_ports(text: str) -> tuple[str, ...]:
    """Read ``host:port;host:port``.

    Raises:
        argparse.ArgumentTypeError: one of them is none, or there is none.
    """
    found = tuple(host_and_port(one.strip()) for one in text.split(";") if one.strip())
    return found or (host_and_port(text),)


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
