"""What brokers tell name servers, and name servers tell who asks: events out of the frames of a capture.

Rules of this file: what a broker says counts once it is answered, or at the end of the capture; a registration adds topics and
takes none away, as in Java's name server, which brokers of 5.x tell of changed topics alone.  State is kept for a bounded
number of brokers and topics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import CodecError
from rocketwire.messages import decode_body
from rocketwire.messages.registration import decode_register_broker_body
from rocketwire.messages.route import TopicRouteData

if TYPE_CHECKING:
    from collections.abc import Iterator

    Row = dict[str, Any]
    Topics = dict[str, tuple[int, int, int]]
    """Read queues, write queues and permission by topic."""

FIELDS: Final = (
    "time_ns", "connection", "src", "src_port", "dst", "dst_port", "kind", "code", "request_code", "opaque", "version",
    "latency_ns", "header_ok", "body_ok", "ext_fields", "raw_body",
)  # fmt: skip
WATCHED: Final = frozenset({
    Code.REGISTER_BROKER, Code.UNREGISTER_BROKER, Code.BROKER_HEARTBEAT, Code.REGISTER_TOPIC_IN_NAMESRV,
    Code.DELETE_TOPIC_IN_NAMESRV, Code.WIPE_WRITE_PERM_OF_BROKER, Code.ADD_WRITE_PERM_OF_BROKER,
})  # fmt: skip
"""Requests that change what a name server knows."""
LOOKUP: Final = Code.GET_ROUTEINFO_BY_TOPIC
_MOST: Final = 100_000
"""Brokers, topics of lookups and requests without an answer that are remembered."""


@dataclass(slots=True, kw_only=True)
class Event:
    """Something that happened.

    Attributes:
        time_ns: when it was asked for.
        what: ``registered``, ``changed``, ``again``, ``unregistered``, ``heartbeat``, ``topic``, ``topic deleted``,
            ``write permission wiped``, ``write permission added``, ``route``, ``no route``.
        name_server: who was told or asked.
        peer: who told or asked.
        cluster: of the broker.
        broker: its name.
        broker_id: its number, 0 for a master.
        broker_addr: its address.
        topic: the topic, where it is about one.
        topics: how many topics the frame says.
        added: topics that were not known, with queues and permission.
        changed: topics that were known otherwise.
        brokers: of an answered lookup, each with its queues and permission.
        answer: name of the answer's code; None without an answer.
        latency_ns: of the answer.
        problem: what could not be read.
    """

    time_ns: int
    what: str
    name_server: str
    peer: str
    cluster: str | None = None
    broker: str | None = None
    broker_id: str | None = None
    broker_addr: str | None = None
    topic: str | None = None
    topics: int | None = None
    added: Topics = field(default_factory=dict[str, "tuple[int, int, int]"])
    changed: Topics = field(default_factory=dict[str, "tuple[int, int, int]"])
    brokers: Topics = field(default_factory=dict[str, "tuple[int, int, int]"])
    answer: str | None = None
    latency_ns: int | None = None
    problem: str | None = None

    @property
    def accepted(self) -> bool:
        """Whether it was not refused, as far as is known."""
        return self.answer in (None, ResponseCode.SUCCESS.name)


@dataclass(slots=True)
class Broker:
    """A broker as a name server knows it.

    Attributes:
        first_ns: when it registered first.
        last_ns: when it was heard of last.
        registrations: how many there were.
        heartbeats: likewise.
        changes: registrations that said something new.
        gone_ns: when it unregistered; None while it is registered.
        topics: what it has.
    """

    first_ns: int
    last_ns: int
    registrations: int = 0
    heartbeats: int = 0
    changes: int = 0
    gone_ns: int | None = None
    topics: Topics = field(default_factory=dict[str, "tuple[int, int, int]"])


Key = tuple[str, str, str, str, str]
"""Name server, cluster, broker name, broker id and address."""


class Watch:
    """Makes events of rows.

    Attributes:
        brokers: all that have been heard of.
    """

    def __init__(self) -> None:
        self.brokers: dict[Key, Broker] = {}
        self._asked: dict[tuple[str, int], tuple[Event, Row]] = {}
        self._routes: dict[tuple[str, str], Topics] = {}

    def take(self, row: Row) -> Iterator[Event]:
        """Take a row with ``FIELDS``."""
        if row["kind"] == "response":
            asked = self._asked.pop((row["connection"], row["opaque"]), None)
            if asked is None:
                return
            event, request = asked
            event.answer = _answer_name(row["code"])
            event.latency_ns = row["latency_ns"]
            yield from self._done(event, request, row)
            return
        event = _event(row)
        if row["kind"] == "oneway":
            yield from self._done(event, row, None)
            return
        earlier = self._asked.pop((row["connection"], row["opaque"]), None)
        if earlier is not None or len(self._asked) >= _MOST:
            yield from self._done(*(earlier or self._asked.pop(next(iter(self._asked)))), None)
        self._asked[row["connection"], row["opaque"]] = event, row

    def finish(self) -> Iterator[Event]:
        """The capture ends: what was not answered."""
        for event, request in self._asked.values():
            yield from self._done(event, request, None)
        self._asked.clear()

    def _done(self, event: Event, request: Row, response: Row | None) -> Iterator[Event]:
        code = request["code"]
        if code == LOOKUP:
            yield from self._looked_up(event, response)
        elif code == Code.REGISTER_BROKER:
            _read_registration(event, request)
            yield self._registered(event)
        elif code == Code.BROKER_HEARTBEAT:
            yield from self._beat(event)
        elif code == Code.UNREGISTER_BROKER:
            known = self.brokers.get(_key(event))
            if known is not None and event.accepted:
                known.gone_ns = known.last_ns = event.time_ns
            yield event
        else:
            if code == Code.REGISTER_TOPIC_IN_NAMESRV:
                _read_route(event, request)
            elif code == Code.DELETE_TOPIC_IN_NAMESRV and event.accepted:
                self._forget(event)
            yield event

    def _forget(self, event: Event) -> None:
        """A name server forgets a topic; what registers it again adds it."""
        for key, broker in self.brokers.items():
            if key[0] == event.name_server:
                broker.topics.pop(event.topic or "", None)

    def _broker(self, event: Event) -> Broker:
        key = _key(event)
        found = self.brokers.get(key)
        if found is None:
            found = Broker(event.time_ns, event.time_ns)
            if len(self.brokers) < _MOST:
                self.brokers[key] = found
        found.last_ns = event.time_ns
        return found

    def _registered(self, event: Event) -> Event:
        """A registration against what was known of the broker."""
        if not event.accepted:
            return event
        broker = self._broker(event)
        came = broker.registrations == 0 or broker.gone_ns is not None
        broker.registrations += 1
        broker.gone_ns = None
        said, known = event.added, broker.topics
        event.changed = {k: v for k, v in said.items() if known.get(k, v) != v}
        event.added = {k: v for k, v in said.items() if k not in known}
        known.update(said)
        if not came:
            event.what = "changed" if event.added or event.changed else "again"
        broker.changes += event.what != "again"
        return event

    def _beat(self, event: Event) -> Iterator[Event]:
        """A heartbeat; only the first of a broker is an event."""
        broker = self._broker(event)
        broker.heartbeats += 1
        if broker.heartbeats == 1:
            yield event

    def _looked_up(self, event: Event, response: Row | None) -> Iterator[Event]:
        """An answered lookup, if it says something else than the one before."""
        if response is None:
            return
        if event.accepted:
            _read_route(event, response)
        else:
            event.what = "no route"
        place = event.name_server, event.topic or ""
        if self._routes.get(place) != event.brokers or event.problem:
            if len(self._routes) < _MOST:
                self._routes[place] = event.brokers
            yield event


# ---------------------------------------------------------------------------- what frames say

_WHATS: Final[dict[int, str]] = {
    Code.REGISTER_BROKER: "registered",
    Code.UNREGISTER_BROKER: "unregistered",
    Code.BROKER_HEARTBEAT: "heartbeat",
    Code.REGISTER_TOPIC_IN_NAMESRV: "topic",
    Code.DELETE_TOPIC_IN_NAMESRV: "topic deleted",
    Code.WIPE_WRITE_PERM_OF_BROKER: "write permission wiped",
    Code.ADD_WRITE_PERM_OF_BROKER: "write permission added",
    LOOKUP: "route",
}


def _end(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _event(row: Row) -> Event:
    fields: dict[str, str | None] = msgspec.json.decode(row["ext_fields"] or "{}")
    return Event(
        time_ns=row["time_ns"],
        what=_WHATS[row["code"]],
        name_server=_end(row["dst"], row["dst_port"]),
        peer=_end(row["src"], row["src_port"]),
        cluster=fields.get("clusterName"),
        broker=fields.get("brokerName"),
        broker_id=fields.get("brokerId"),
        broker_addr=fields.get("brokerAddr"),
        topic=fields.get("topic"),
    )


def _key(event: Event) -> Key:
    return (
        event.name_server,
        event.cluster or "",
        event.broker or "",
        event.broker_id or "",
        event.broker_addr or "",
    )


def _answer_name(code: int) -> str:
    found = ResponseCode(code)
    return found.name if found.is_known else str(code)


def _read_registration(event: Event, row: Row) -> None:
    """Put the topics of a registration into ``added``."""
    if not row["body_ok"]:
        event.problem = "the body was not captured whole"
        return
    fields: dict[str, str | None] = msgspec.json.decode(row["ext_fields"] or "{}")
    compressed = (fields.get("compressed") or "").lower() == "true"
    try:
        body = decode_register_broker_body(
            row["raw_body"], compressed=compressed, version=row["version"]
        )
    except CodecError as error:
        event.problem = f"the body cannot be read: {error}"
        return
    wrapper = None if body is None else body.topic_config_serialize_wrapper
    table = {} if wrapper is None else wrapper.topic_config_table or {}
    event.topics = len(table)
    event.added = {
        name: (one.read_queue_nums, one.write_queue_nums, one.perm) for name, one in table.items()
    }


def _read_route(event: Event, row: Row) -> None:
    """Put the brokers of a route into ``brokers``."""
    if not row["body_ok"]:
        event.problem = "the body was not captured whole"
        return
    try:
        route = decode_body(TopicRouteData, row["raw_body"] or b"")
    except CodecError as error:
        event.problem = f"the body cannot be read: {error}"
        return
    for one in (() if route is None else route.queue_datas) or ():
        queues = one.read_queue_nums, one.write_queue_nums, one.perm
        event.brokers[one.broker_name or ""] = queues
