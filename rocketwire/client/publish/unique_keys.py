"""Unique keys of the messages of a process (Java: ``MessageClientIDSetter``)."""

from __future__ import annotations

import ipaddress
import os
import random
import time

from rocketwire.client.net.local_address import local_address
from rocketwire.client.periodic import now_millis
from rocketwire.wire.message.ids import UniqueKeySequence


class UniqueKeys:
    """Generates unique keys; the month in a key is that of the local time zone."""

    __slots__ = ("_month_end", "_sequence")

    def __init__(self, address: bytes, process_id: int, constant: int) -> None:
        self._month_end = 0
        self._sequence = UniqueKeySequence(
            address=address, process_id=process_id, constant=constant, month_start=0
        )

    def next_key(self, now: int | None = None) -> str:
        return self.next_in_ascii(now_millis() if now is None else now).decode()

    def next_in_ascii(self, now: int) -> bytes:
        if now >= self._month_end:
            self._sequence.month_start, self._month_end = month_bounds(now)
        return self._sequence.next_in_ascii(now)


def month_bounds(millis: int) -> tuple[int, int]:
    """Return start and end of the local month of a time, in milliseconds since 1970."""
    local = time.localtime(millis / 1000)
    start = time.mktime((local.tm_year, local.tm_mon, 1, 0, 0, 0, 0, 0, -1))
    end = time.mktime((local.tm_year, local.tm_mon + 1, 1, 0, 0, 0, 0, 0, -1))
    return int(start * 1000), int(end * 1000)


def unique_keys(client_ip: str | None = None) -> UniqueKeys:
    try:
        address = ipaddress.ip_address(client_ip or local_address()).packed
    except ValueError:  # an operator may configure any text as the client's address
        address = ipaddress.ip_address(local_address()).packed
    constant = random.getrandbits(32)
    return UniqueKeys(address, os.getpid(), constant)
