"""``Observer``: the history for operators: counts of all events, and the latest events.

Rules of this file: it receives all events of the journal, and a hostile peer can cause many: every
container here is bounded, and names chosen by peers are never keys of counts. Values of the
key/value configuration are not kept: they may be secrets.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from rocketwire.serving.events import Level, count_limit, format_value
from rocketwire_namesrv.events import (
    BrokerExpired,
    BrokerRegistered,
    BrokerUnregistered,
    ClusterRemoved,
    ConfigItemDeleted,
    ConfigItemPut,
    ConfigUpdated,
    ConfigUpdateRefused,
    GroupRemoved,
    MinBrokerIdChanged,
    NamespaceCreated,
    RegistrationConflict,
    TopicDeleted,
    TopicRouteRegistered,
    TopicsRegistered,
    UnregistrationIgnored,
    WritePermChanged,
)

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.protocol.response import Peer

EVENTS: Final = 256
"""Maximum number of entries in each of the two lists."""
EVENT_LENGTH: Final = 500
"""Maximum characters of an entry."""
BROKERS: Final = 256
"""Maximum number of brokers whose latest change of permissions is kept."""

ENDINGS: Final = {
    "closed by the peer": "peer",
    "broken": "broken",
    "idle for": "idle",
    "a frame took longer": "slow_frame",
    "responses were not read": "slow_reader",
    "without a frame": "no_frame",
    "invalid command": "bad_bytes",
    "refused before its first frame": "refused",
    "closed at the request": "on_request",
    "its broker has been silent": "expired",
    "the server stops": "server_stop",
    "failed": "failure",
}
"""First words of the reason of a connection's end -> its name in the counts; any other reason is
``other``."""

_ORDINARY_ENDS: Final = frozenset(
    {"peer", "server_stop", "idle", "slow_frame", "slow_reader", "no_frame", "refused"}
)
"""Ordinary ends, and ends after an event that has its own entry."""
_NEWS: Final[frozenset[type[Event]]] = frozenset(
    {
        BrokerExpired,
        BrokerRegistered,
        BrokerUnregistered,
        ClusterRemoved,
        ConfigUpdateRefused,
        ConfigUpdated,
        GroupRemoved,
        MinBrokerIdChanged,
        RegistrationConflict,
        TopicDeleted,
        TopicRouteRegistered,
        TopicsRegistered,
        UnregistrationIgnored,
        WritePermChanged,
    }
)
"""Events of brokers and their administration; other events share a list with the ends of
connections, so that a peer that causes many of them does not push these out."""
_NO_ENTRY: Final[frozenset[type[Event]]] = frozenset(
    {ConfigItemDeleted, ConfigItemPut, NamespaceCreated}
)


class Ended(Protocol):
    @property
    def peer(self) -> Peer: ...

    @property
    def closing(self) -> str | None: ...


class LogEntry(NamedTuple):
    time: float  #: wall-clock seconds
    text: str  #: one line


class PermissionChange(NamedTuple):
    """The latest change of the write permission of a broker."""

    time: float  #: wall-clock seconds
    action: str  #: ``wipe`` or ``add``
    client: str  #: address of the requester
    topics: int  #: number of topics of the broker at that time


class Observer:
    """Listens to the journal (``journal.Listener``)."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self.events: Counter[str] = Counter()  #: number of events by the name of their class
        self.departures: Counter[str] = Counter()  #: number of brokers that left, by reason
        #: number of exceeded limits by the name of their setting
        self.limits: Counter[str] = Counter()
        #: number of ended connections, by the values of ``ENDINGS``
        self.endings: Counter[str] = Counter()
        #: the latest events of brokers and of administration
        self.news: deque[LogEntry] = deque(maxlen=EVENTS)
        #: the latest other events, and unusual ends of connections
        self.troubles: deque[LogEntry] = deque(maxlen=EVENTS)
        #: broker name -> latest change of the permission to write
        self.permissions: dict[str, PermissionChange] = {}

    def record_event(self, event: Event, address: str | None) -> None:
        event_type = type(event)
        self.events[event_type.__name__] += 1
        count_limit(self.limits, event)
        if isinstance(event, BrokerUnregistered):
            self.departures[event.reason] += 1
        elif isinstance(event, WritePermChanged):
            self._permission(event)
        if event_type not in _NO_ENTRY and event.level >= Level.INFO:
            events = self.news if event_type in _NEWS else self.troubles
            events.append(LogEntry(self._wall(), _shorten(event, address)))

    def record_end(self, connection: Ended) -> None:
        why = connection.closing or ""
        ending = ending_of(why)
        self.endings[ending] += 1
        if ending not in _ORDINARY_ENDS:
            reason = format_value(why)[:EVENT_LENGTH]
            text = f"connection of {connection.peer.address} ended: {reason}"
            self.troubles.append(LogEntry(self._wall(), text))

    def _permission(self, event: WritePermChanged) -> None:
        name = format_value(event.broker_name)
        self.permissions.pop(name, None)
        if len(self.permissions) >= BROKERS:
            del self.permissions[next(iter(self.permissions))]
        self.permissions[name] = PermissionChange(
            self._wall(), event.action, event.client, event.topics
        )


def _shorten(event: Event, address: str | None) -> str:
    text = event.text
    return f"{text[:EVENT_LENGTH]}{event.line(address).removeprefix(text)}"


def ending_of(why: str) -> str:
    """Return the name of a reason in the counts; reasons contain various texts of the system."""
    return next((ending for begin, ending in ENDINGS.items() if why.startswith(begin)), "other")
