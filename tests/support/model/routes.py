"""What a name server's route table does, in the plainest form: dicts, and the steps of chapter 3 of the behaviour catalogue.

Rules of this file: nothing of the product is imported, nothing is fast, nothing is cached.  ``JavaRoutes`` is 5.5.0;
``OurRoutes`` overrides what ``docs/support.md`` lists as different on purpose.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

WRITE = 2
READ_WRITE = 6
DEFAULT_TIMEOUT = 120_000


class Queue(NamedTuple):
    """The queues of a topic at one broker name."""

    queues: int
    perm: int
    flag: int = 0


class Version(NamedTuple):
    """A DataVersion."""

    counter: int
    state: int = 0


@dataclass
class Group:
    """The members of one broker name."""

    cluster: str
    addresses: dict[int, str] = field(default_factory=dict[int, str])
    zone: str | None = None
    acting: bool = False


@dataclass
class Live:
    """A broker that has shown itself."""

    last: float
    timeout: int
    version: Version
    connection: int
    ha: str
    names: set[str]


@dataclass(frozen=True, kw_only=True)
class Registering:
    """One request 103."""

    cluster: str
    address: str
    name: str
    number: int
    connection: int
    version: Version
    topics: dict[str, Queue]
    acting: bool | None = False
    zone: str | None = None
    timeout: int | None = None
    mapped: str | None = None
    filters: tuple[str, ...] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Of the live entry."""
        return self.cluster, self.address

    @property
    def ha(self) -> str:
        """Where its slaves would fetch from."""
        return f"ha-{self.address}"


class Notice(NamedTuple):
    """Request 905: to whom, and the fields."""

    targets: frozenset[str]
    number: int
    address: str
    offline: str | None
    ha: str | None


class Route(NamedTuple):
    """The route of a topic: queues and members by broker name, filter servers by address, mapped broker names."""

    queues: dict[str, Queue]
    members: dict[str, Group]
    filters: dict[str, tuple[str, ...]]
    mapped: frozenset[str]


class JavaRoutes:
    """The tables of 5.5.0, and what happens to them.

    Attributes:
        notices: the 905s of the latest event.
    """

    def __init__(self, *, notify: bool, act: bool, authoritative: bool) -> None:
        self.topics: dict[str, dict[str, Queue]] = {}
        self.groups: dict[str, Group] = {}
        self.clusters: dict[str, set[str]] = {}
        self.live: dict[tuple[str, str], Live] = {}
        self.filters: dict[tuple[str, str], tuple[str, ...]] = {}
        self.mapped: dict[str, set[str]] = {}
        self.notices: list[Notice] = []
        self._notify = notify
        self._act = act
        self._authoritative = authoritative

    # ---- 3.3

    def register(self, r: Registering, now: float) -> tuple[bool, str | None]:
        """Returns whether it is accepted, and the master's address where there is one to tell of."""
        self.notices = []
        self.clusters.setdefault(r.cluster, set()).add(r.name)
        first = r.name not in self.groups
        group = self.groups.setdefault(r.name, Group(r.cluster))
        group.acting, group.zone = r.acting is True, r.zone
        least = min(group.addresses, default=0)
        for number, address in list(group.addresses.items()):
            if address == r.address and number != r.number:
                del group.addresses[number]
        if self._loses_to_another(group, r):
            return True, None
        if r.number not in group.addresses and len(r.topics) == 1:
            return False, None
        first = first or r.number not in group.addresses
        group.addresses[r.number] = r.address
        before = self.live.get(r.key)
        speaks = r.number == 0 or (r.acting is not None and r.number == min(group.addresses))
        if speaks:
            self._take_topics(group, r, before, first=first)
        names = {r.name} if before is None else {r.name} | before.names
        timeout = r.timeout or DEFAULT_TIMEOUT
        self.live[r.key] = Live(now, timeout, r.version, r.connection, r.ha, names)
        if r.filters:
            self.filters[r.key] = r.filters
        elif r.filters is not None:
            self.filters.pop(r.key, None)
        if r.number < least and self._notify:
            self._joined(group, r.ha)
        master = group.addresses.get(0)
        known = r.number != 0 and master is not None and (r.cluster, master) in self.live
        return True, master if known else None

    def _loses_to_another(self, group: Group, r: Registering) -> bool:
        """Whether a living broker of a higher state version has the place."""
        old_address = group.addresses.get(r.number)
        if old_address is None or old_address == r.address:
            return False
        old = self.live.get((r.cluster, old_address))
        if old is None or old.version.state <= r.version.state:
            return False
        self._forget(r.key, r.name)
        return True

    def _forget(self, key: tuple[str, str], name: str) -> None:
        self.live.pop(key, None)

    def _take_topics(
        self, group: Group, r: Registering, before: Live | None, *, first: bool
    ) -> None:
        if self._authoritative and not r.mapped:
            for topic in [topic for topic in self.topics if topic not in r.topics]:
                self._drop(topic, r.name)
        whole = first or before is None or before.version != r.version
        for topic, queue in r.topics.items():
            if whole or r.name not in self.topics.get(topic, {}):
                perm = queue.perm & ~WRITE if r.number != 0 and group.acting else queue.perm
                self.topics.setdefault(topic, {})[r.name] = queue._replace(perm=perm)
        if r.mapped and whole:
            self.mapped.setdefault(r.mapped, set()).add(r.name)

    def _drop(self, topic: str, name: str) -> None:
        self.topics[topic].pop(name, None)
        if not self.topics[topic]:
            del self.topics[topic]

    def _joined(self, group: Group, ha: str) -> None:
        least = min(group.addresses)
        others = {address for number, address in group.addresses.items() if number != least}
        address = group.addresses[least]
        self.notices.append(Notice(frozenset(others or {address}), least, address, None, ha))

    # ---- 3.5, 3.6

    def unregister(
        self, cluster: str, address: str, name: str, number: int, connection: int
    ) -> None:
        """Request 104."""
        self.notices = []
        self._leave([(cluster, address, name, number)])

    def lost(self, connection: int) -> None:
        """A connection has ended: the first live entry bound to it goes."""
        self.notices = []
        found = [key for key, live in self.live.items() if live.connection == connection]
        self._leave(self._of_address(*found[0]) if found else [])

    def expire(self, now: float) -> set[int]:
        """The scan; returns the connections that are closed."""
        self.notices = []
        silent = {k: v for k, v in self.live.items() if v.last + v.timeout / 1000 < now}
        self._leave([item for key in silent for item in self._of_address(*key)])
        return {live.connection for live in silent.values()}

    def _of_address(self, cluster: str, address: str) -> list[tuple[str, str, str, int]]:
        for name, group in self.groups.items():
            for number, other in group.addresses.items():
                if group.cluster == cluster and other == address:
                    return [(cluster, address, name, number)]
        return []

    def _leave(self, items: list[tuple[str, str, str, int]]) -> None:
        reduced: dict[str, str | None] = {}
        for cluster, address, name, number in items:
            self._forget((cluster, address), name)
            self.filters.pop((cluster, address), None)
            group = self.groups.get(name)
            if group is None:
                continue
            least = bool(group.addresses) and number == min(group.addresses)
            group.addresses = {n: a for n, a in group.addresses.items() if a != address}
            if group.addresses:
                reduced[name] = address if least else reduced.get(name)
            else:
                reduced.pop(name, None)
                self._remove(name, [cluster])
        for name, offline in reduced.items():
            self._reduced(self.groups[name], name, offline)

    def _remove(self, name: str, clusters: list[str]) -> None:
        del self.groups[name]
        for topic in list(self.topics):
            self._drop(topic, name)
        for cluster in clusters:
            if cluster in self.clusters:
                self.clusters[cluster].discard(name)
                if not self.clusters[cluster]:
                    del self.clusters[cluster]

    def _reduced(self, group: Group, name: str, offline: str | None) -> None:
        if not group.acting:
            return
        if 0 not in group.addresses:
            self._set_perm(name, lambda perm: perm & ~WRITE)
        if offline is not None and self._notify:
            least = min(group.addresses)
            targets = frozenset(group.addresses.values())
            self.notices.append(Notice(targets, least, group.addresses[least], offline, None))

    def refresh(self, cluster: str, address: str, now: float) -> Version | None:
        """Requests 904 and 322; returns the version that is known."""
        self.notices = []
        live = self.live.get((cluster, address))
        if live is None:
            return None
        live.last = now
        return live.version

    # ---- 3.4, 3.9 and code 216

    def wipe(self, name: str) -> int:
        """Request 205."""
        return self._set_perm(name, lambda perm: perm & ~WRITE)

    def add(self, name: str) -> int:
        """Request 327."""
        return self._set_perm(name, lambda _: READ_WRITE)

    def _set_perm(self, name: str, change: Callable[[int], int]) -> int:
        hits = [queues for queues in self.topics.values() if name in queues]
        for queues in hits:
            queues[name] = queues[name]._replace(perm=change(queues[name].perm))
        return len(hits)

    def delete(self, topic: str, cluster: str | None) -> None:
        """Request 216."""
        if not cluster:
            self.topics.pop(topic, None)
        for name in self.clusters.get(cluster or "", set()):
            if topic in self.topics:
                self._drop(topic, name)

    def register_topic(self, topic: str, queues: list[tuple[str, Queue]]) -> None:
        """Request 217."""
        if topic not in self.topics and any(name not in self.groups for name, _ in queues):
            return
        for name, queue in queues:
            if name not in self.groups:
                return
            self.topics.setdefault(topic, {})[name] = queue

    # ---- 3.8 and 2.3

    def route(self, topic: str, zone: str | None = None) -> Route | None:
        """What request 105 finds, in a zone or everywhere."""
        queues = self.topics.get(topic)
        if queues is None:
            return None
        members = {name: copy.deepcopy(self.groups[name]) for name in queues}
        found = {
            address: self.filters.get((members[name].cluster, address))
            for name in sorted(members, key=_bucket)
            for address in members[name].addresses.values()
        }
        filters = {address: names for address, names in found.items() if names is not None}
        if self._act:
            for name, group in members.items():
                masterless = group.addresses and 0 not in group.addresses
                if masterless and group.acting and not queues[name].perm & WRITE:
                    group.addresses[0] = group.addresses.pop(min(group.addresses))
        route = Route(dict(queues), members, filters, frozenset(self.mapped.get(topic, ())))
        return route if zone is None else _in_zone(route, zone)


def _bucket(name: str) -> int:
    """Where a HashSet of a few short names has it; of an address in two groups the last one's filter servers count."""
    code = 0
    for letter in name:
        code = 31 * code + ord(letter)
    return code & 15


def _in_zone(route: Route, zone: str) -> Route:
    hidden = {
        name: group
        for name, group in route.members.items()
        if 0 in group.addresses and (group.zone or "").lower() != zone.lower()
    }
    gone = {address for group in hidden.values() for address in group.addresses.values()}
    return Route(
        {name: queue for name, queue in route.queues.items() if name not in hidden},
        {name: group for name, group in route.members.items() if name not in hidden},
        {address: names for address, names in route.filters.items() if address not in gone},
        route.mapped,
    )


class OurRoutes(JavaRoutes):
    """The same with the differences on purpose: who leaves, leaves completely, and nothing late takes anything away."""

    def __init__(self, *, notify: bool, act: bool, authoritative: bool) -> None:
        super().__init__(notify=notify, act=act, authoritative=authoritative)
        self._came_over: dict[tuple[str, str], set[int]] = {}

    def register(self, r: Registering, now: float) -> tuple[bool, str | None]:
        result = super().register(r, now)
        if r.key in self.live and self.live[r.key].connection == r.connection:
            self._came_over.setdefault(r.key, set()).add(r.connection)
        return result

    def unregister(
        self, cluster: str, address: str, name: str, number: int, connection: int
    ) -> None:
        self.notices = []
        live = self.live.get((cluster, address))
        late = connection in self._came_over.get((cluster, address), ())
        if live is None or live.connection == connection or not late:
            self._leave([(cluster, address, name, number)])

    def lost(self, connection: int) -> None:
        self.notices = []
        found = [key for key, live in self.live.items() if live.connection == connection]
        self._leave([item for key in found for item in self._of_address(*key)])

    def _of_address(self, cluster: str, address: str) -> list[tuple[str, str, str, int]]:
        names = sorted(self.live[cluster, address].names)
        return [(cluster, address, name, -1) for name in names]

    def _forget(self, key: tuple[str, str], name: str) -> None:
        live = self.live.get(key)
        if live is not None:
            live.names.discard(name)
            if not live.names:
                del self.live[key]
                self.filters.pop(key, None)

    def _leave(self, items: list[tuple[str, str, str, int]]) -> None:
        reduced: dict[str, str | None] = {}
        for cluster, address, name, _ in items:
            self._forget((cluster, address), name)
            elsewhere = [key for key, live in self.live.items() if name in live.names]
            group = self.groups.get(name)
            if group is None or address in {other for _, other in elsewhere}:
                continue
            gone = {number for number, other in group.addresses.items() if other == address}
            least = bool(gone) and min(group.addresses) in gone
            for number in gone:
                del group.addresses[number]
            if group.addresses:
                reduced[name] = address if least else reduced.get(name)
            else:
                reduced.pop(name, None)
                self._remove(name, list(self.clusters))
        for name, offline in reduced.items():
            self._reduced(self.groups[name], name, offline)
