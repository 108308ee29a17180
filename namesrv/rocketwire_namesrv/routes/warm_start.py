"""``WarmStart``: which brokers were there before the server was started again.

A name server that has just started knows no route.  A client that asks then is told that its topic
does not exist, and may give it up, though every broker will have registered half a minute later.
Who remembers the brokers can say "not ready" until they are back, which makes clients keep what
they know.

Rules of this file: pure.  A broker is known by cluster, name and id, not by its address: containers
come back with another one.  What is remembered are names alone; routes are only what brokers say.

Java has nothing like it: ``needWaitForService`` waits for a time, not for brokers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.wire.json import fastjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire_namesrv.routes.route_table import RouteTable

__all__ = ["KnownBroker", "WarmStart", "brokers_document", "brokers_of", "read_brokers"]


class KnownBroker(NamedTuple):
    """A broker as it is known over restarts."""

    cluster: str
    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.cluster}/{self.name}/{self.number}"


class WarmStart:
    """The wait for brokers.

    Args:
        awaited: who was there before.
        seconds: after the start, when the wait ends in any case.

    Attributes:
        awaited: who is not back yet; empty when the wait is over.
        missed: who had not come back when the time was up.
    """

    def __init__(self, awaited: Iterable[KnownBroker] = (), seconds: float = 0.0) -> None:
        self.awaited = set(awaited)
        self.missed: tuple[KnownBroker, ...] = ()
        self._seconds = seconds

    def is_over(self, table: RouteTable, since_start: float) -> bool:
        """Whether all are back, or the time is up.

        Args:
            table: as it is between two registrations.
            since_start: seconds.
        """
        self.awaited.difference_update(brokers_of(table))
        if self.awaited and since_start >= self._seconds:
            self.missed = tuple(sorted(self.awaited))
            self.awaited.clear()
        return not self.awaited


def brokers_of(table: RouteTable) -> list[KnownBroker]:
    """Who is registered."""
    return [
        KnownBroker(group.cluster, group.name, number)
        for group in table.groups.values()
        for number in group.addresses
    ]


def brokers_document(brokers: Iterable[KnownBroker]) -> bytes:
    """The content of the file that remembers brokers."""
    return fastjson.dumps(
        {
            "brokers": [
                {"brokerId": each.number, "brokerName": each.name, "clusterName": each.cluster}
                for each in sorted(set(brokers))
            ]
        }
    )


def read_brokers(content: bytes) -> list[KnownBroker]:
    """The brokers that such a file names.

    Raises:
        DecodeError: it is no such file.
    """
    document = fastjson.loads(content)
    listed = document.get("brokers") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise DecodeError("there is no list named brokers in it")
    return [_read_broker(each) for each in listed]


def _read_broker(value: fastjson.JsonValue) -> KnownBroker:
    fields = value if isinstance(value, dict) else {}
    cluster, name, number = (fields.get(key) for key in ("clusterName", "brokerName", "brokerId"))
    if not (isinstance(cluster, str) and isinstance(name, str) and isinstance(number, int)):
        raise DecodeError("a broker has a clusterName, a brokerName and a brokerId")
    return KnownBroker(cluster, name, number)
