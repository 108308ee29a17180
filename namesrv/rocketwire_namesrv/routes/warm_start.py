"""``WarmStart``: the wait for the brokers that were registered before the server was restarted.

A name server that has just started has no routes. It would answer that a topic does not exist, and
clients might drop it, although every broker registers again within half a minute. A server that
remembers its brokers answers "not ready" until they are back, and clients keep their routes.

Rules of this file: pure.  A broker is identified by cluster, name and id, not by its address:
containers come back with another one. Only the names are remembered; routes come from registrations
only.

Java has no such feature: ``needWaitForService`` waits for a time, not for brokers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from rocketwire.errors import DecodeError
from rocketwire.wire.json import fastjson

if TYPE_CHECKING:
    from rocketwire_namesrv.routes.route_table import RouteTable


class KnownBroker(NamedTuple):
    cluster: str
    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.cluster}/{self.name}/{self.number}"


class WarmStart:
    """The wait for brokers."""

    def __init__(self, awaited: Iterable[KnownBroker] = (), seconds: float = 0.0) -> None:
        self.awaited = set(awaited)  #: brokers that are not back yet; empty when the wait is over
        self.missed: tuple[KnownBroker, ...] = ()  #: brokers that were not back in time
        self._seconds = seconds

    def is_over(self, table: RouteTable, since_start: float) -> bool:
        """Return whether all brokers are back, or the time is up."""
        self.awaited.difference_update(brokers_of(table))
        if self.awaited and since_start >= self._seconds:
            self.missed = tuple(sorted(self.awaited))
            self.awaited.clear()
        return not self.awaited


def brokers_of(table: RouteTable) -> list[KnownBroker]:
    return [
        KnownBroker(group.cluster, group.name, number)
        for group in table.groups.values()
        for number in group.addresses
    ]


def brokers_document(brokers: Iterable[KnownBroker]) -> bytes:
    return fastjson.dumps(
        {
            "brokers": [
                {
                    "brokerId": broker.number,
                    "brokerName": broker.name,
                    "clusterName": broker.cluster,
                }
                for broker in sorted(set(brokers))
            ]
        }
    )


def read_brokers(content: bytes) -> list[KnownBroker]:
    """Return the brokers in such a file."""
    document = fastjson.loads(content)
    listed = document.get("brokers") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise DecodeError("the list 'brokers' is missing")
    return [_read_broker(value) for value in listed]


def _read_broker(value: fastjson.JsonValue) -> KnownBroker:
    fields = value if isinstance(value, dict) else {}
    cluster, name, number = (fields.get(key) for key in ("clusterName", "brokerName", "brokerId"))
    if not (isinstance(cluster, str) and isinstance(name, str) and isinstance(number, int)):
        raise DecodeError("a broker needs a clusterName, a brokerName and a brokerId")
    return KnownBroker(cluster, name, number)
