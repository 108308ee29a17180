"""``RouteTable``: who is registered, and which topics have queues where.

Rules of this file: no clock, no socket, no log.  A method is named after the event it records and
returns what happened. Nothing here awaits, so nothing here is locked; a registration is a generator
of steps, the table is consistent at every yield, and at most one registration per broker runs at a
time.

Identity: a registration belongs to the connection it came over.  The loss of another connection
does not touch it; nor does a request to unregister that comes over a connection over which the same
broker registered earlier, for that one is late.

Java: ``RouteInfoManager`` of 5.5.0.  Different on purpose: an address never stays in a group after
its last live entry has gone, a broker name never stays in a cluster after its group has gone, and a
lost connection takes along every broker that registered over it, not one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.flags import Perm
from rocketwire_namesrv.events import (
    BrokerExpired,
    BrokerRegistered,
    BrokerUnregistered,
    ClusterRemoved,
    GroupRemoved,
    Occurrence,
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
from rocketwire_namesrv.routes.topic_batches import drop_foreign_names
from rocketwire_namesrv.routes.topic_table import TopicTable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from rocketwire.messages.registration import DataVersion
    from rocketwire.messages.route import QueueData


class RouteTable:
    """The routes.  Read it freely; change it only through its methods.

    Attributes:
        topics: the topics and their shapes.
        groups: broker name -> group.
        clusters: cluster name -> broker names.
        live: cluster and address -> live entry.
        filter_servers: cluster and address -> filter servers, never empty.
        revision: grows whenever groups or clusters change.
    """

    def __init__(self) -> None:
        self.topics = TopicTable()
        self.groups: ConcurrentHashMap[BrokerGroup] = ConcurrentHashMap(256)
        self.clusters: ConcurrentHashMap[HashMap[str, None]] = ConcurrentHashMap(64)
        self.live: dict[LiveKey, LiveEntry] = {}
        self.filter_servers: dict[LiveKey, tuple[str, ...]] = {}
        self.revision = 0
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
        """Registers a broker, in steps.

        Args:
            registration: what it says.
            now: monotonic seconds.
            delete_absent_topics: the broker loses the topics it does not name
                (deleteTopicWithBrokerRegistration).
            notify: report a new smallest broker id (notifyMinBrokerIdChanged).

        Returns:
            What it led to.  A registration whose broker leaves between two steps ends there.
        """
        happened: list[Occurrence] = []
        group, first = self._enter(registration)
        least = min(group.addresses, default=MASTER_ID)
        self._take_address_from_other_ids(group, registration)
        if self._conflicts(group, registration, happened):
            return Registered(True, None, None, happened)
        if registration.broker_id not in group.addresses and len(registration.topics) == 1:
            return Registered(False, None, None, happened)
        first = not group.addresses.get(registration.broker_id) or first
        if group.addresses.get(registration.broker_id) != registration.address:
            group.addresses[registration.broker_id] = registration.address
            self._changed(group.name)
        before = self.live.get(registration.key)
        everything = first or before is None or before.data_version != registration.data_version
        entry = self._bind(registration, before, now, happened)
        keep = group.perms_of(registration)
        losses = 0
        if keep is not None:
            if delete_absent_topics and not registration.mappings:
                happened += self.topics.remove_others(group.name, registration.topic_keys)
            losses = self.topics.losses.get(group.name, 0)
            happened += yield from self.topics.register(
                registration,
                everything=everything,
                keep=keep,
                is_current=lambda: self.live.get(registration.key) is entry,
            )
            if self.live.get(registration.key) is not entry:
                return Registered(True, None, None, happened)
            if everything:
                self.topics.map_statically(registration.mappings)
        if registration.record is not None:
            drop_foreign_names(registration.topics)
            entry.body = RegisteredBody(registration.record, group.name, keep, losses)
        if notify and registration.broker_id < least:
            happened.append(group.joined_as_least(registration.ha_address))
        return Registered(True, *self._master_of(group, registration), happened)

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
            self._changed(group.name)
        group.enable_acting_master = acting
        group.zone_name = registration.zone_name
        return group, first

    def _changed(self, broker_name: str) -> None:
        """What is said about a broker in answers is no longer true."""
        self.revision += 1
        self.topics.shapes.forget(broker_name)

    def _take_address_from_other_ids(self, group: BrokerGroup, registration: Registration) -> None:
        for broker_id, address in list(group.addresses.items()):
            if address == registration.address and broker_id != registration.broker_id:
                del group.addresses[broker_id]
                self._changed(group.name)

    def _conflicts(
        self, group: BrokerGroup, registration: Registration, happened: list[Occurrence]
    ) -> bool:
        """Whether a living broker of a higher state version has the place; the newcomer then loses
        its live entry."""
        old_address = group.addresses.get(registration.broker_id)
        if old_address is None or old_address == registration.address:
            return False
        old = self.live.get((registration.cluster, old_address))
        if old is None or old.data_version.state_version <= registration.data_version.state_version:
            return False
        happened.append(
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
        before: LiveEntry | None,
        now: float,
        happened: list[Occurrence],
    ) -> LiveEntry:
        key = registration.key
        names = {registration.broker_name}
        if before is None:
            happened.append(
                BrokerRegistered(
                    cluster=registration.cluster,
                    address=registration.address,
                    broker_name=registration.broker_name,
                    broker_id=registration.broker_id,
                    ha_address=registration.ha_address,
                )
            )
        else:
            names |= before.names
            self._unbind(key, before)
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
        """Notes a sign of life of a broker whose registration is not complete yet.

        Returns:
            What it is answered: its master's HA address and address.
        """
        self.refresh(*registration.key, now)
        group = self.groups.get(registration.broker_name)
        return (None, None) if group is None else self._master_of(group, registration)

    def _filter_servers_changed(self, address: str) -> None:
        """What is said of an address is no longer true, whichever groups it is in: they need not be
        those that it registered with in that cluster."""
        for group in self.groups.values():
            if address in group.addresses.values():
                self.topics.shapes.forget(group.name)

    def _master_of(
        self, group: BrokerGroup, registration: Registration
    ) -> tuple[str | None, str | None]:
        master = group.addresses.get(MASTER_ID)
        if registration.broker_id == MASTER_ID or master is None:
            return None, None
        live = self.live.get((registration.cluster, master))
        return (None, None) if live is None else (live.ha_address, master)

    def body_record(self, cluster: str | None, address: str | None) -> object:
        """Returns the record of the body that a broker registered last, or None."""
        if cluster is None or address is None:
            return None
        entry = self.live.get((cluster, address))
        return None if entry is None or entry.body is None else entry.body.record

    def holds_topics_of(self, registration: Registration) -> bool:
        """Returns whether the topics of a registration need not be registered: the broker has
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

    def came_over(self, connection_id: int) -> int:
        """How many brokers have registered over a connection, those included that have left."""
        return len(self._came_over.get(connection_id, ()))

    # ---------------------------------------- signs of life

    def refresh(self, cluster: str, address: str, now: float) -> None:
        """Notes a sign of life of a broker; nothing happens if it is not registered."""
        entry = self.live.get((cluster, address))
        if entry is not None:
            entry.last_update = now

    def data_version(self, cluster: str, address: str) -> DataVersion | None:
        """The version of the topics that a broker registered last."""
        entry = self.live.get((cluster, address))
        return None if entry is None else entry.data_version

    def expire(self, now: float, *, notify: bool = False) -> tuple[list[Occurrence], list[int]]:
        """Removes the brokers that have been silent for too long.

        Returns:
            What happened, and the ids of their connections, which are to be closed.
        """
        expired = [(key, entry) for key, entry in self.live.items() if entry.expired(now)]
        happened: list[Occurrence] = [
            BrokerExpired(cluster=key[0], address=key[1], timeout_ms=entry.timeout_ms)
            for key, entry in expired
        ]
        leaving = [(key, name) for key, entry in expired for name in sorted(entry.names)]
        happened += self._leave(leaving, Reason.EXPIRED, notify)
        return happened, list(dict.fromkeys(entry.connection_id for _, entry in expired))

    # ---------------------------------------- leaving

    def unregister(
        self,
        cluster: str,
        address: str,
        broker_name: str,
        connection_id: int,
        *,
        notify: bool = False,
    ) -> list[Occurrence]:
        """Unregisters a broker at the request of ``connection_id``.

        If the broker has ever registered over that connection, and is registered over another by
        now, the request is late and the new registration stays.  The broker id does not select
        anything.
        """
        key = (cluster, address)
        entry = self.live.get(key)
        came_over_it = key in self._came_over.get(connection_id, ())
        if came_over_it and entry is not None and entry.connection_id != connection_id:
            reason = "registered over another connection since"
        else:
            happened = self._leave([(key, broker_name)], Reason.UNREGISTERED, notify)
            if happened:
                return happened
            reason = "not registered"
        return [
            UnregistrationIgnored(
                cluster=cluster, address=address, broker_name=broker_name, reason=reason
            )
        ]

    def connection_lost(
        self, connection_id: int, reason: str, *, notify: bool = False
    ) -> list[Occurrence]:
        """Unregisters every broker whose latest registration came over that connection."""
        self._came_over.pop(connection_id, None)
        leaving = [
            (key, name)
            for key in self._bound.get(connection_id, ())
            for name in sorted(self.live[key].names)
        ]
        return self._leave(leaving, reason, notify)

    def _leave(
        self, leaving: Iterable[tuple[LiveKey, str]], reason: str, notify: bool
    ) -> list[Occurrence]:
        happened: list[Occurrence] = []
        reduced: dict[str, str | None] = {}
        for key, name in leaving:
            if self._release(key, name):
                happened.append(
                    BrokerUnregistered(
                        cluster=key[0], address=key[1], broker_name=name, reason=reason
                    )
                )
            group = self.groups.get(name)
            if group is None or self._is_held(name, key[1]):
                continue
            least = min(group.addresses, default=None)
            gone = [number for number, address in group.addresses.items() if address == key[1]]
            for number in gone:
                del group.addresses[number]
            if not group.addresses:
                reduced.pop(name, None)
                happened += self._remove_group(name)
            else:
                self.revision += 1
                reduced[name] = key[1] if least in gone else reduced.get(name)
        for name, offline in reduced.items():
            happened += self._reduced(self.groups[name], offline, notify)
        return happened

    def _release(self, key: LiveKey, name: str) -> bool:
        """Takes a broker name from a live entry, and the entry away with its last one."""
        self.topics.shapes.forget(name)
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
        """Whether the address is registered under that name in some cluster."""
        return any(
            name in entry.names
            for cluster in self.clusters
            if (entry := self.live.get((cluster, address))) is not None
        )

    def _remove_group(self, name: str) -> list[Occurrence]:
        self.revision += 1
        del self.groups[name]
        topics = self.topics.remove_broker(name)
        happened: list[Occurrence] = [GroupRemoved(broker_name=name, topics=topics)]
        for cluster, names in list(self.clusters.items()):
            names.pop(name, None)
            if not names:
                del self.clusters[cluster]
                happened.append(ClusterRemoved(cluster=cluster))
        return happened

    def _reduced(
        self, group: BrokerGroup, offline_address: str | None, notify: bool
    ) -> list[Occurrence]:
        """A group lost members and lives on: without a master nobody may write to it."""
        if not group.enable_acting_master:
            return []
        if MASTER_ID not in group.addresses:
            self.change_perm(group.name, lambda perm: perm & ~Perm.WRITE)
        if not notify or offline_address is None:
            return []
        return [group.left_by_least(offline_address)]

    # ---------------------------------------- administration

    def change_perm(self, broker_name: str, perm: Callable[[int], int]) -> int:
        """Changes the permission of all topics of a broker until its data version changes; counts
        them."""
        return self.topics.change_perm(broker_name, perm)

    def delete_topic(self, topic: str, cluster: str | None) -> bool:
        """Deletes a topic everywhere, or at the brokers of a cluster (neither None nor empty)."""
        if not cluster:
            return self.topics.delete(topic)
        return self.topics.delete_at(topic, self.clusters.get(cluster, ()))

    def register_topic(self, topic: str, queues: Sequence[QueueData]) -> list[Occurrence]:
        """Registers the route of one topic at brokers that are registered (``TopicTable``)."""
        return self.topics.register_route(topic, queues, self.groups)
