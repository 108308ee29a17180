"""``RouteTable``: the registered brokers, and which topics have queues at them.

Rules of this file: no clock, no socket, no log.  A method is named after the event that it records,
and returns the events that follow. Nothing here awaits, so there are no locks; a registration is a
generator of steps, the table is consistent at every yield, and at most one registration per broker
runs at a time.

Identity: a registration belongs to the connection it came over.  It is not affected by the loss of
another connection, nor by a late request to unregister that comes over an earlier connection of the
same broker.

Java: ``RouteInfoManager`` of 5.5.0.  Different on purpose: an address never stays in a group after
its last live entry has gone, a broker name never stays in a cluster after its group has gone, and a
lost connection takes along every broker that registered over it, not one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING

from rocketwire.flags import Perm
from rocketwire_namesrv.events import (
    BrokerExpired,
    BrokerRegistered,
    BrokerUnregistered,
    ClusterRemoved,
    GroupRemoved,
    Reason,
    RegistrationConflict,
    UnregistrationIgnored,
)
from rocketwire_namesrv.routes.brokers import (
    MASTER_ID,
    BrokerGroup,
    LiveEntry,
    LiveKey,
    Registered,
    RegisteredBody,
    Registration,
)
from rocketwire_namesrv.routes.java_hashmap import ConcurrentHashMap, HashMap
from rocketwire_namesrv.routes.topic_table import TopicTable

if TYPE_CHECKING:
    from rocketwire.messages.registration import DataVersion
    from rocketwire.messages.route import QueueData
    from rocketwire.serving.events import Event


class RouteTable:
    """The routes.  Read it freely; change it only through its methods."""

    def __init__(self) -> None:
        self.topics = TopicTable()
        #: broker name -> group
        self.groups: ConcurrentHashMap[BrokerGroup] = ConcurrentHashMap(256)
        #: cluster name -> broker names
        self.clusters: ConcurrentHashMap[HashMap[str, None]] = ConcurrentHashMap(64)
        self.live: dict[LiveKey, LiveEntry] = {}  #: cluster and address -> live entry
        #: cluster and address -> filter servers, never empty
        self.filter_servers: dict[LiveKey, tuple[str, ...]] = {}
        self.revision = 0  #: grows whenever groups or clusters change
        self._bound: dict[int, dict[LiveKey, None]] = {}
        self._came_over: dict[int, set[LiveKey]] = {}

    # ---------------------------------------- registration

    def register(
        self,
        registration: Registration,
        now: float,
        *,
        delete_absent_topics: bool = False,
        notify: bool = False,
    ) -> Generator[None, None, Registered]:
        """Register a broker, in steps.

        Args:
            registration: its content.
            delete_absent_topics: remove the broker from the topics that it does not name
                (deleteTopicWithBrokerRegistration).
            notify: report a new smallest broker id (notifyMinBrokerIdChanged).

        Returns:
            The result.  A registration whose broker leaves between two steps ends there.
        """
        events: list[Event] = []
        group, first = self._enter(registration)
        smallest = min(group.addresses, default=MASTER_ID)
        self._take_address_from_other_ids(group, registration)
        if self._conflicts(group, registration, events):
            return Registered(True, None, None, events)
        if registration.broker_id not in group.addresses and registration.topic_count == 1:
            return Registered(False, None, None, events)
        first = not group.addresses.get(registration.broker_id) or first
        if group.addresses.get(registration.broker_id) != registration.address:
            group.addresses[registration.broker_id] = registration.address
            self._drop_responses(group.name)
        previous = self.live.get(registration.key)
        everything = first or previous is None or previous.data_version != registration.data_version
        entry = self._bind(registration, previous, now, events)
        keep = group.perms_of(registration)
        losses = 0
        if keep is not None:
            if delete_absent_topics and not registration.mappings:
                events += self.topics.remove_others(group.name, registration.topic_keys)
            losses = self.topics.losses.get(group.name, 0)
            events += yield from self.topics.register(
                registration,
                everything=everything,
                keep=keep,
                is_current=lambda: self.live.get(registration.key) is entry,
            )
            if self.live.get(registration.key) is not entry:
                return Registered(True, None, None, events)
            if everything:
                self.topics.map_statically(registration.mappings)
        if registration.record is not None:
            entry.body = RegisteredBody(registration.record, group.name, keep, losses)
        if notify and registration.broker_id < smallest:
            events.append(group.smallest_joined(registration.ha_address))
        return Registered(True, *self._master_of(group, registration), events)

    def _enter(self, registration: Registration) -> tuple[BrokerGroup, bool]:
        names = self.clusters.get(registration.cluster)
        if names is None:
            names = self.clusters[registration.cluster] = HashMap[str, None]()
        if registration.broker_name not in names:
            self.revision += 1
            names[registration.broker_name] = None
        group = self.groups.get(registration.broker_name)
        first = group is None
        if group is None:
            group = BrokerGroup(registration.cluster, registration.broker_name)
            self.groups[registration.broker_name] = group
        acting = registration.enable_acting_master is True
        if first or (group.enable_acting_master, group.zone_name) != (
            acting,
            registration.zone_name,
        ):
            self._drop_responses(group.name)
        group.enable_acting_master = acting
        group.zone_name = registration.zone_name
        return group, first

    def _drop_responses(self, broker_name: str) -> None:
        self.revision += 1
        self.topics.layouts.forget(broker_name)

    def _take_address_from_other_ids(self, group: BrokerGroup, registration: Registration) -> None:
        for broker_id, address in list(group.addresses.items()):
            if address == registration.address and broker_id != registration.broker_id:
                del group.addresses[broker_id]
                self._drop_responses(group.name)

    def _conflicts(
        self, group: BrokerGroup, registration: Registration, events: list[Event]
    ) -> bool:
        # a live broker with a higher state version keeps the id; the new one loses its live entry
        old_address = group.addresses.get(registration.broker_id)
        if old_address is None or old_address == registration.address:
            return False
        old = self.live.get((registration.cluster, old_address))
        if old is None or old.data_version.state_version <= registration.data_version.state_version:
            return False
        events.append(
            RegistrationConflict(
                cluster=registration.cluster,
                broker_name=registration.broker_name,
                broker_id=registration.broker_id,
                old_address=old_address,
                old_version=old.data_version.state_version,
                new_address=registration.address,
                new_version=registration.data_version.state_version,
            )
        )
        self._release(registration.key, registration.broker_name)
        return True

    def _bind(
        self,
        registration: Registration,
        previous: LiveEntry | None,
        now: float,
        events: list[Event],
    ) -> LiveEntry:
        key = registration.key
        names = {registration.broker_name}
        if previous is None:
            events.append(
                BrokerRegistered(
                    cluster=registration.cluster,
                    address=registration.address,
                    broker_name=registration.broker_name,
                    broker_id=registration.broker_id,
                    ha_address=registration.ha_address,
                )
            )
        else:
            names |= previous.names
            self._unbind(key, previous)
        entry = self.live[key] = LiveEntry(registration, names, now)
        self._bound.setdefault(entry.connection_id, {})[key] = None
        self._came_over.setdefault(entry.connection_id, set()).add(key)
        filter_servers = self.filter_servers.get(key)
        if registration.filter_servers:
            self.filter_servers[key] = tuple(registration.filter_servers)
        elif registration.filter_servers is not None:
            self.filter_servers.pop(key, None)
        if filter_servers != self.filter_servers.get(key):
            self._filter_servers_changed(registration.address)
        return entry

    def part_received(
        self, registration: Registration, now: float
    ) -> tuple[str | None, str | None]:
        """Refresh a broker between two parts; return its master's HA address and address."""
        self.refresh(*registration.key, now)
        group = self.groups.get(registration.broker_name)
        return (None, None) if group is None else self._master_of(group, registration)

    def _filter_servers_changed(self, address: str) -> None:
        # an address can be in groups of other clusters as well
        for group in self.groups.values():
            if address in group.addresses.values():
                self.topics.layouts.forget(group.name)

    def _master_of(
        self, group: BrokerGroup, registration: Registration
    ) -> tuple[str | None, str | None]:
        master = group.addresses.get(MASTER_ID)
        if registration.broker_id == MASTER_ID or master is None:
            return None, None
        live = self.live.get((registration.cluster, master))
        return (None, None) if live is None else (live.ha_address, master)

    def body_record(self, cluster: str | None, address: str | None) -> object:
        if cluster is None or address is None:
            return None
        entry = self.live.get((cluster, address))
        return None if entry is None or entry.body is None else entry.body.record

    def holds_topics_of(self, registration: Registration) -> bool:
        """Return whether the topics of a registration need not be registered: the broker has
        registered the same body in the same role, and has lost none of its topics since."""
        entry = self.live.get(registration.key)
        group = self.groups.get(registration.broker_name)
        if group is None or entry is None or entry.body is None:
            return False
        body = entry.body
        ids = [
            broker_id
            for broker_id, address in group.addresses.items()
            if address == registration.address
        ]
        return (
            body.record is registration.record
            and body.broker_name == group.name
            and entry.data_version == registration.data_version
            and ids == [registration.broker_id]
            and body.keep == group.perms_of(registration)
            and (body.keep is None or body.losses == self.topics.losses.get(group.name, 0))
        )

    def count_brokers_over(self, connection_id: int) -> int:
        """Return how many brokers have registered over a connection, including those that have
        left."""
        return len(self._came_over.get(connection_id, ()))

    # ---------------------------------------- signs of life

    def refresh(self, cluster: str, address: str, now: float) -> None:
        """Refresh a broker; nothing happens if it is not registered."""
        entry = self.live.get((cluster, address))
        if entry is not None:
            entry.last_update = now

    def data_version(self, cluster: str, address: str) -> DataVersion | None:
        entry = self.live.get((cluster, address))
        return None if entry is None else entry.data_version

    def expire(self, now: float, *, notify: bool = False) -> tuple[list[Event], list[int]]:
        # Returns the events, and the brokers' connections, which the caller closes
        expired = [(key, entry) for key, entry in self.live.items() if entry.expired(now)]
        events: list[Event] = [
            BrokerExpired(cluster=key[0], address=key[1], timeout_ms=entry.timeout_ms)
            for key, entry in expired
        ]
        leaving = [(key, name) for key, entry in expired for name in sorted(entry.names)]
        events += self._leave(leaving, Reason.EXPIRED, notify)
        return events, list(dict.fromkeys(entry.connection_id for _, entry in expired))

    # ---------------------------------------- leaving

    def unregister(
        self,
        cluster: str,
        address: str,
        broker_name: str,
        connection_id: int,
        *,
        notify: bool = False,
    ) -> list[Event]:
        """Unregister a broker at the request of ``connection_id``.

        If the broker has registered over that connection before, and is registered over another one
        now, the request is late and the new registration stays. The broker id is ignored.
        """
        key = (cluster, address)
        entry = self.live.get(key)
        came_over_it = key in self._came_over.get(connection_id, ())
        if came_over_it and entry is not None and entry.connection_id != connection_id:
            reason = "registered over another connection since"
        else:
            events = self._leave([(key, broker_name)], Reason.UNREGISTERED, notify)
            if events:
                return events
            reason = "not registered"
        return [
            UnregistrationIgnored(
                cluster=cluster, address=address, broker_name=broker_name, reason=reason
            )
        ]

    def connection_lost(
        self, connection_id: int, reason: str, *, notify: bool = False
    ) -> list[Event]:
        """Unregister every broker whose latest registration came over that connection."""
        self._came_over.pop(connection_id, None)
        leaving = [
            (key, name)
            for key in self._bound.get(connection_id, ())
            for name in sorted(self.live[key].names)
        ]
        return self._leave(leaving, reason, notify)

    def _leave(
        self, leaving: Iterable[tuple[LiveKey, str]], reason: str, notify: bool
    ) -> list[Event]:
        events: list[Event] = []
        reduced: dict[str, str | None] = {}
        for key, name in leaving:
            if self._release(key, name):
                events.append(
                    BrokerUnregistered(
                        cluster=key[0], address=key[1], broker_name=name, reason=reason
                    )
                )
            group = self.groups.get(name)
            if group is None or self._is_held(name, key[1]):
                continue
            smallest = min(group.addresses, default=None)
            gone = [number for number, address in group.addresses.items() if address == key[1]]
            for number in gone:
                del group.addresses[number]
            if not group.addresses:
                reduced.pop(name, None)
                events += self._remove_group(name)
            else:
                self.revision += 1
                reduced[name] = key[1] if smallest in gone else reduced.get(name)
        for name, offline in reduced.items():
            events += self._shrink_group(self.groups[name], offline, notify)
        return events

    def _release(self, key: LiveKey, name: str) -> bool:
        self.topics.layouts.forget(name)
        entry = self.live.get(key)
        if entry is None or name not in entry.names:
            return False
        entry.names.remove(name)
        if not entry.names:
            del self.live[key]
            if self.filter_servers.pop(key, None) is not None:
                self._filter_servers_changed(key[1])
            self._unbind(key, entry)
        return True

    def _unbind(self, key: LiveKey, entry: LiveEntry) -> None:
        bound = self._bound[entry.connection_id]
        del bound[key]
        if not bound:
            del self._bound[entry.connection_id]

    def _is_held(self, name: str, address: str) -> bool:
        return any(
            name in entry.names
            for cluster in self.clusters
            if (entry := self.live.get((cluster, address))) is not None
        )

    def _remove_group(self, name: str) -> list[Event]:
        self.revision += 1
        del self.groups[name]
        topics = self.topics.remove_broker(name)
        events: list[Event] = [GroupRemoved(broker_name=name, topics=topics)]
        for cluster, names in list(self.clusters.items()):
            names.pop(name, None)
            if not names:
                del self.clusters[cluster]
                events.append(ClusterRemoved(cluster=cluster))
        return events

    def _shrink_group(
        self, group: BrokerGroup, offline_address: str | None, notify: bool
    ) -> list[Event]:
        # without a master the topics of the group are not writable
        if not group.enable_acting_master:
            return []
        if MASTER_ID not in group.addresses:
            self.change_perm(group.name, lambda perm: perm & ~Perm.WRITE)
        if not notify or offline_address is None:
            return []
        return [group.smallest_left(offline_address)]

    # ---------------------------------------- administration

    def change_perm(self, broker_name: str, perm: Callable[[int], int]) -> int:
        """Change the permission of all topics of a broker until its data version changes; return
        their number."""
        return self.topics.change_perm(broker_name, perm)

    def delete_topic(self, topic: str, cluster: str | None) -> bool:
        """Delete a topic everywhere, or at the brokers of a cluster (neither None nor empty)."""
        if not cluster:
            return self.topics.delete(topic)
        return self.topics.delete_at(topic, self.clusters.get(cluster, ()))

    def register_topic(self, topic: str, queues: Sequence[QueueData]) -> list[Event]:
        """Register the route of one topic at brokers that are registered (``TopicTable``)."""
        return self.topics.register_route(topic, queues, self.groups)
