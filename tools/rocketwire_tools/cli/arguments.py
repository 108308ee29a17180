"""Types of arguments for several commands.

Each function raises ``argparse.ArgumentTypeError`` if the argument is invalid.
"""

from __future__ import annotations

import argparse
import math

from rocketwire.client.addresses import split_address
from rocketwire.errors import LocalProtocolError


def host_and_port(text: str) -> str:
    try:
        split_address(text)
    except LocalProtocolError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def hosts_and_ports(text: str) -> tuple[str, ...]:
    addresses = tuple(host_and_port(part.strip()) for part in text.split(";") if part.strip())
    return addresses or (host_and_port(text),)


def property_pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: must be NAME=VALUE")
    return name, value


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a positive number of seconds")
    return number
