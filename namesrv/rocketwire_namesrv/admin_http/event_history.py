"""``Observer``: remembers what happened, for operators: counts without end, events up to a bound.

Rules of this file: it hears everything that the journal records, so a hostile peer decides how much
that is: every container here is bounded, and names that peers chose never become keys of counts.
Values of the key/value configuration are not kept: they may be secrets.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

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
    Level,
    MinBrokerIdChanged,
    NamespaceCreated,
    RegistrationConflict,
    TopicDeleted,
    TopicRouteRegistered,
    TopicsRegistered,
    UnregistrationIgnored,
    WritePermChanged,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_namesrv.events import Event
    from rocketwire_namesrv.protocol.response import Peer

__all__ = ["ENDINGS", "LogEntry", "Observer", "PermissionChange"]

EVENTS: Final = 256
"""Events of each of the two sorts that are kept."""
EVENT_LENGTH: Final = 500
"""Characters of an event that are kept."""
BROKERS: Final = 256
"""Brokers of which the latest change of permissions is kept."""

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
"""How the reason of a connection's end begins -> what it is counted as; anything else is
``other``."""

_TOLD: Final = frozenset(
    {"peer", "server_stop", "idle", "slow_frame", "slow_reader", "no_frame", "refused"}
)
"""Ends that are everyday, or follow an occurrence that is told of."""
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
"""What is told of brokers and their administration; other occurrences are told with the ends of
connections, so that a peer that causes many of them does not wash these away."""
_UNTOLD: Final[frozenset[type[Event]]] = frozenset(
    {ConfigItemDeleted, ConfigItemPut, NamespaceCreated}
)


class Ended(Protocol):
    """A connection that has ended."""

    @property
    def peer(self) -> Peer:
        """Who was on the other side."""
        ...

    @property
    def closing(self) -> str | None:
        """Why."""
        ...


class LogEntry(NamedTuple):
    """Something that happened.

    Attributes:
        at: wall-clock seconds.
        text: one line.
    """

    at: float
    text: str


class PermissionChange(NamedTuple):
    """Who took or gave the permission to write to a broker last.

    Attributes:
        at: wall-clock seconds.
        action: ``wipe`` or ``add``.
        client: whose request it was.
        topics: how many topics the broker had then.
    """

    at: float
    action: str
    client: str
    topics: int


class Observer:
    """Listens to the journal (``journal.Listener``).

    Args:
        wall: gives wall-clock seconds.

    Attributes:
        occurrences: how often each kind of occurrence was, by the name of its class.
        departures: how many brokers left, by reason.
        limits: how often a limit was met, by its name: the attribute ``limit`` of an occurrence.
        endings: how many connections ended, by the values of ``ENDINGS``.
        news: the latest events of brokers and of administration.
        troubles: the latest other events, and ends of connections that are not everyday.
        permissions: broker name -> latest change of the permission to write.
    """

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self.events: Counter[str] = Counter()
        self.departures: Counter[str] = Counter()
        self.limits: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        self.news: deque[LogEntry] = deque(maxlen=EVENTS)
        self.troubles: deque[LogEntry] = deque(maxlen=EVENTS)
        self.permissions: dict[str, PermissionChange] = {}

    def occurred(self, event: Event, address: str | None) -> None:
        """Something happened; ``address`` is the peer that caused it, None without one."""
        kind = type(event)
        self.events[kind.__name__] += 1
        limit = getattr(event, "limit", None)
        if isinstance(limit, str):
            self.limits[limit] += 1
        if isinstance(event, BrokerUnregistered):
            self.departures[event.reason] += 1
        elif isinstance(event, WritePermChanged):
            self._permission(event)
        if kind not in _UNTOLD and event.level >= Level.INFO:
            events = self.news if kind in _NEWS else self.troubles
            events.append(LogEntry(self._wall(), _shortened(event, address)))

    def ended(self, connection: Ended) -> None:
        """A connection has ended, for the reason in ``closing``."""
        why = connection.closing or ""
        ending = ending_of(why)
        self.endings[ending] += 1
        if ending not in _TOLD:
            text = f"connection of {connection.peer.address} ended: {shown(why)[:EVENT_LENGTH]}"
            self.troubles.append(LogEntry(self._wall(), text))

    def _permission(self, event: WritePermChanged) -> None:
        name = shown(event.broker_name)
        self.permissions.pop(name, None)
        if len(self.permissions) >= BROKERS:
            del self.permissions[next(iter(self.permissions))]
        self.permissions[name] = PermissionChange(
            self._wall(), event.action, event.client, event.topics
        )


def _shortened(event: Event, address: str | None) -> str:
    """The line of an occurrence, whose text may be long; the address stays."""
    text = event.text
    return f"{text[:EVENT_LENGTH]}{event.line(address).removeprefix(text)}"


def ending_of(why: str) -> str:
    """What a reason is counted as; reasons hold texts of the system, of which there are many."""
    return next((ending for begin, ending in ENDINGS.items() if why.startswith(begin)), "other")
