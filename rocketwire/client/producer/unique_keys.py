"""Unique keys of the messages of one process: the clock for ``UniqueKeySequence`` (Java: ``MessageClientIDSetter``)."""

from __future__ import annotations

import ipaddress
import os
import random
import time
from typing import TYPE_CHECKING

from rocketwire.client.net.local_address import local_address
from rocketwire.client.periodic import now_millis
from rocketwire.wire.message.ids import UniqueKeySequence

if TYPE_CHECKING:
    from collections.abc import Callable


class UniqueKeys:
    """One key after the other; the month is that of the local time zone.

    Attributes:
        sequence: gives the keys until the month ends.
        month_end: when that is, milliseconds since 1970; 0 before the first key.
    """

    __slots__ = ("_millis", "month_end", "sequence")

    def __init__(
        self,
        address: bytes,
        process_id: int,
        constant: int,
        millis: Callable[[], int] | None = None,
    ) -> None:
        """A sequence of keys.

        Args:
            address: of this host, 4 or 16 bytes.
            process_id: of this process.
            constant: any 32 bits that two senders on one host do not share.
            millis: the time, milliseconds since 1970; None for the system's clock.
        """
        self._millis = millis or now_millis
        self.month_end = 0
        self.sequence = UniqueKeySequence(
            address=address, process_id=process_id, constant=constant, month_start=0
        )

    def next_key(self, now: int | None = None) -> str:
        """The next key.

        Args:
            now: milliseconds since 1970, from whoever has just looked at the clock.
        """
        if now is None:
            now = self._millis()
        if now >= self.month_end:
            self.sequence.month_start, self.month_end = month_of(now)
        return self.sequence.next_key(now)


def month_of(millis: int) -> tuple[int, int]:
    """When the month of a time began here, and when it ends, milliseconds since 1970."""
    local = time.localtime(millis / 1000)
    start = time.mktime((local.tm_year, local.tm_mon, 1, 0, 0, 0, 0, 0, -1))
    end = time.mktime((local.tm_year, local.tm_mon + 1, 1, 0, 0, 0, 0, 0, -1))
    return int(start * 1000), int(end * 1000)


def unique_keys(client_ip: str | None = None) -> UniqueKeys:
    """Keys of this process.

    Args:
        client_ip: an address of this host; None to find one.
    """
    try:
        address = ipaddress.ip_address(client_ip or local_address()).packed
    except ValueError:  # an operator may call a client whatever he likes
        address = ipaddress.ip_address(local_address()).packed
    constant = random.getrandbits(32)
    return UniqueKeys(address, os.getpid(), constant)
