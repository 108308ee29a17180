"""Events between brokers, name servers and clients: registrations, heartbeats and route lookups.

A request counts when it is answered, or at the end of the capture. As in Java's name server, a
registration adds topics and removes none; brokers of 5.x register only changed topics. The number
of brokers and topics in memory is bounded.
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
    "time_ns", "connection", "src", "src_port", "dst", "dst_port", "kind", "code", "request_code",
    "opaque", "version", "latency_ns", "header_ok", "body_ok", "ext_fields", "raw_body",
)  # fmt: skip
CHANGES: Final = frozenset({
    Code.REGISTER_BROKER, Code.UNREGISTER_BROKER, Code.BROKER_HEARTBEAT,
    Code.REGISTER_TOPIC_IN_NAMESRV, Code.DELETE_TOPIC_IN_NAMESRV, Code.WIPE_WRITE_PERM_OF_BROKER,
    Code.ADD_WRITE_PERM_OF_BROKER,
})  # fmt: skip
"""Requests that change the state of a name server."""
LOOKUP: Final = Code.GET_ROUTEINFO_BY_TOPIC
_MOST: Final = 100_000
"""Brokers, topics of lookups and unanswered requests that are remembered."""


@dataclass(slots=True, kw_only=True)
class Event:
    """An event.

    Attributes:
        time_ns: time of the request.
        what: ``registered``, ``changed``, ``again``, ``unregistered``, ``heartbeat``, ``topic``,
            ``topic deleted``, ``write permission wiped``, ``write permission added``, ``route``,
            ``no route``.
        name_server: receiver of the request.
        peer: sender of the request.
        cluster: of the broker.
        broker: its name.
        broker_id: its id, 0 for a master.
        broker_addr: its address.
        topic: the topic of the request.
        topics: number of topics in the frame.
        added: new topics, with queues and permission.
        changed: topics with new queues or permission.
        brokers: of an answered lookup, each with its queues and permission.
        answer: name of the response code; None without a response.
        latency_ns: of the response.
        problem: why the body was not read.
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
        """Whether the request was not rejected, as far as the capture shows."""
        return self.answer in (None, ResponseCode.SUCCESS.name)


@dataclass(slots=True)
class Broker:
    """A broker in the view of a name server.

    Attributes:
        first_ns: time of the first registration.
        last_ns: time of the latest frame.
        registrations: number of registrations.
        heartbeats: number of heartbeats.
        changes: registrations with news.
        gone_ns: time of its unregistration; None while it is registered.
        topics: its topics.
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


class RouteWatch:
    """Turns rows into events.

    Attributes:
        brokers: all brokers so far.
    """

    def __init__(self) -> None:
        self.brokers: dict[Key, Broker] = {}
        self._pending: dict[tuple[str, int], tuple[Event, Row]] = {}
        self._routes: dict[tuple[str, str], Topics] = {}

    def take(self, row: Row) -> Iterator[Event]:
        """Process a row with ``FIELDS``."""
        if row["kind"] == "response":
            pending = self._pending.pop((row["connection"], row["opaque"]), None)
            if pending is None:
                return
            event, request = pending
            event.answer = _answer_name(row["code"])
            event.latency_ns = row["latency_ns"]
            yield from self._complete(event, request, row)
            return
        event = _event(row)
        if row["kind"] == "oneway":
            yield from self._complete(event, row, None)
            return
        earlier = self._pending.pop((row["connection"], row["opaque"]), None)
        if earlier is not None or len(self._pending) >= _MOST:
            yield from self._complete(
                *(earlier or self._pending.pop(next(iter(self._pending)))), None
            )
        self._pending[row["connection"], row["opaque"]] = event, row

    def finish(self) -> Iterator[Event]:
        """Process unanswered requests at the end of the capture."""
        for event, request in self._pending.values():
            yield from self._complete(event, request, None)
        self._pending.clear()

    def _complete(self, event: Event, request: Row, response: Row | None) -> Iterator[Event]:
        code = request["code"]
        if code == LOOKUP:
            yield from self._apply_lookup(event, response)
        elif code == Code.REGISTER_BROKER:
            _read_registration(event, request)
            yield self._apply_registration(event)
        elif code == Code.BROKER_HEARTBEAT:
            yield from self._apply_heartbeat(event)
        elif code == Code.UNREGISTER_BROKER:
            broker = self.brokers.get(_key(event))
            if broker is not None and event.accepted:
                broker.gone_ns = broker.last_ns = event.time_ns
            yield event
        else:
            if code == Code.REGISTER_TOPIC_IN_NAMESRV:
                _read_route(event, request)
            elif code == Code.DELETE_TOPIC_IN_NAMESRV and event.accepted:
                self._forget(event)
            yield event

    def _forget(self, event: Event) -> None:
        """Delete a topic of a name server; a later registration adds it again."""
        for key, broker in self.brokers.items():
            if key[0] == event.name_server:
                broker.topics.pop(event.topic or "", None)

    def _broker(self, event: Event) -> Broker:
        key = _key(event)
        broker = self.brokers.get(key)
        if broker is None:
            broker = Broker(event.time_ns, event.time_ns)
            if len(self.brokers) < _MOST:
                self.brokers[key] = broker
        broker.last_ns = event.time_ns
        return broker

    def _apply_registration(self, event: Event) -> Event:
        """Compare a registration with the known topics of the broker."""
        if not event.accepted:
            return event
        broker = self._broker(event)
        is_new = broker.registrations == 0 or broker.gone_ns is not None
        broker.registrations += 1
        broker.gone_ns = None
        registered_topics, known_topics = event.added, broker.topics
        event.changed = {k: v for k, v in registered_topics.items() if known_topics.get(k, v) != v}
        event.added = {k: v for k, v in registered_topics.items() if k not in known_topics}
        known_topics.update(registered_topics)
        if not is_new:
            event.what = "changed" if event.added or event.changed else "again"
        broker.changes += event.what != "again"
        return event

    def _apply_heartbeat(self, event: Event) -> Iterator[Event]:
        """Count a heartbeat; only a broker's first one is an event."""
        broker = self._broker(event)
        broker.heartbeats += 1
        if broker.heartbeats == 1:
            yield event

    def _apply_lookup(self, event: Event, response: Row | None) -> Iterator[Event]:
        """Compare the answer of a lookup with the previous answer."""
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


# ---------------------------------------------------------------------------- reading frames

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
    response_code = ResponseCode(code)
    return response_code.name if response_code.is_known else str(code)


def _read_registration(event: Event, row: Row) -> None:
    """Read the topics of a registration into ``added``."""
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
        name: (topic_config.read_queue_nums, topic_config.write_queue_nums, topic_config.perm)
        for name, topic_config in table.items()
    }


def _read_route(event: Event, row: Row) -> None:
    """Read the brokers of a route into ``brokers``."""
    if not row["body_ok"]:
        event.problem = "the body was not captured whole"
        return
    try:
        route = decode_body(TopicRouteData, row["raw_body"] or b"")
    except CodecError as error:
        event.problem = f"the body cannot be read: {error}"
        return
    for queue_data in (() if route is None else route.queue_datas) or ():
        queues = queue_data.read_queue_nums, queue_data.write_queue_nums, queue_data.perm
        event.brokers[queue_data.broker_name or ""] = queues
