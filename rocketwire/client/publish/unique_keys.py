"""Unique keys of the messages of a process (Java: ``MessageClientIDSetter``)."""

from __future__ import annotations

import ipaddress
import os
import random
import time
from collections.abc import Callable

from rocketwire.client.net.local_address import local_address
from rocketwire.client.periodic import now_millis
from rocketwire.wire.message.ids import UniqueKeySequence


class UniqueKeys:
    """Generates unique keys; the month in a key is that of the local time zone.

    Attributes:
        sequence: generates the keys until the month ends.
        month_end: end of the month, milliseconds since 1970; 0 before the first key.
    """

    __slots__ = ("_millis", "month_end", "sequence")

    def __init__(
        self,
        address: bytes,
        process_id: int,
        constant: int,
        millis: Callable[[], int] | None = None,
    ) -> None:
        """Create a generator.

        Args:
            address: address of this host, 4 or 16 bytes.
            process_id: id of this process.
            constant: 32 random bits that differ between generators of a host.
            millis: returns the time in milliseconds since 1970; None for the system's clock.
        """
        self._millis = millis or now_millis
        self.month_end: int = 0
        self.sequence: UniqueKeySequence = UniqueKeySequence(
            address=address, process_id=process_id, constant=constant, month_start=0
        )

    def next_key(self, now: int | None = None) -> str:
        """Return the next key.

        Args:
            now: current time in milliseconds since 1970, if the caller has it.
        """
        if now is None:
            now = self._millis()
        if now >= self.month_end:
            self.sequence.month_start, self.month_end = month_bounds(now)
        return self.sequence.next_key(now)


def month_bounds(millis: int) -> tuple[int, int]:
    """Return start and end of the local month of a time, in milliseconds since 1970."""
    local = time.localtime(millis / 1000)
    start = time.mktime((local.tm_year, local.tm_mon, 1, 0, 0, 0, 0, 0, -1))
    end = time.mktime((local.tm_year, local.tm_mon + 1, 1, 0, 0, 0, 0, 0, -1))
    return int(start * 1000), int(end * 1000)


def unique_keys(client_ip: str | None = None) -> UniqueKeys:
    """Create a generator for this process.

    Args:
        client_ip: address of this host; None to look it up.
    """
    try:
        address = ipaddress.ip_address(client_ip or local_address()).packed
    except ValueError:  # an operator may configure any text as the client's address
        address = ipaddress.ip_address(local_address()).packed
    constant = random.getrandbits(32)
    return UniqueKeys(address, os.getpid(), constant)
