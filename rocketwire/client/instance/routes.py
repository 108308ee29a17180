"""``Routes``: the routes that a client knows and the brokers they lead to; pure, no clock and no I/O.

Rules of this file: a route stays until a newer one comes, also when the name servers are away or the topic is gone; a broker
stays as long as some route leads to it.

Java: ``MQClientInstance`` (``topicRouteTable``, ``brokerAddrTable``, ``cleanOfflineBroker``), ``TopicRouteData``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rocketwire.policy.routing import MASTER_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData


class FoundBroker(NamedTuple):
    """An address of a broker group.

    Attributes:
        address: ``host:port``.
        broker_id: whose it is; 0 is the master.
    """

    address: str
    broker_id: int

    @property
    def is_slave(self) -> bool:
        """Whether it is no master."""
        return self.broker_id != MASTER_ID


class Routes:
    """Routes by topic, and addresses by broker group and broker id.

    Attributes:
        changes: how often addresses may have changed.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.changes = 0
        self._routes: dict[str, TopicRouteData] = {}
        self._brokers: dict[str, dict[int, str]] = {}

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics whose route is known."""
        return tuple(self._routes)

    @property
    def brokers(self) -> Mapping[str, Mapping[int, str]]:
        """Addresses by broker id, by broker group; not to be changed."""
        return self._brokers

    def get(self, topic: str) -> TopicRouteData | None:
        """The route as it was told last."""
        return self._routes.get(topic)

    def put(self, topic: str, route: TopicRouteData) -> bool:
        """Takes note of a route; returns whether it says something new."""
        known = self._routes.get(topic)
        if known is not None and not has_changed(known, route):
            return False
        self._routes[topic] = route
        self.changes += 1
        for broker in route.broker_datas or ():
            if broker.broker_name is not None:
                self._brokers[broker.broker_name] = dict(broker.broker_addrs or {})
        return True

    def forget(self, topic: str) -> None:
        """Drops a route that nobody asks for any more."""
        self._routes.pop(topic, None)

    def drop_unreachable(self) -> tuple[str, ...]:
        """Drops the addresses to which no route leads any more; returns them (Java: ``cleanOfflineBroker``)."""
        routed = {
            address
            for route in self._routes.values()
            for broker in route.broker_datas or ()
            for address in (broker.broker_addrs or {}).values()
        }
        dropped: list[str] = []
        self.changes += 1
        for name, addresses in list(self._brokers.items()):
            kept = {number: one for number, one in addresses.items() if one in routed}
            dropped += (one for one in addresses.values() if one not in routed)
            if kept:
                self._brokers[name] = kept
            else:
                del self._brokers[name]
        return tuple(dropped)

    # ------------------------------------------------------------------ addresses

    def master(self, broker_name: str) -> str | None:
        """Where a broker group is written to (Java: ``findBrokerAddressInPublish``)."""
        return self._brokers.get(broker_name, {}).get(MASTER_ID)

    def replica(
        self, broker_name: str, broker_id: int = MASTER_ID, *, only_this: bool = False
    ) -> FoundBroker | None:
        """Where a broker group is read from (Java: ``findBrokerAddressInSubscribe``).

        The broker of that id; without it, of a slave, the one with the next id; without that, any.

        Args:
            broker_name: the group.
            broker_id: who is wanted, as the last answer suggested.
            only_this: no other one will do.
        """
        addresses = self._brokers.get(broker_name, {})
        if broker_id in addresses:
            return FoundBroker(addresses[broker_id], broker_id)
        wanted: list[int] = []
        if broker_id != MASTER_ID:
            wanted.append(broker_id + 1)
        if not only_this:
            wanted += addresses
        for number in wanted:
            if number in addresses:
                return FoundBroker(addresses[number], number)
        return None

    def any_of_topic(self, topic: str, chance: int) -> str | None:
        """A broker of the topic, its master if it has one (Java: ``findBrokerAddrByTopic``).

        Args:
            topic: whose route is known.
            chance: any number; picks the broker group.
        """
        route = self._routes.get(topic)
        groups = (
            [] if route is None else [one for one in route.broker_datas or () if one.broker_addrs]
        )
        if not groups:
            return None
        return address_of(groups[chance % len(groups)])

    def masters_of_topic(self, topic: str, *, but: str | None = None) -> tuple[str, ...]:
        """The brokers of a topic, the masters where there are some, without one of them."""
        route = self._routes.get(topic)
        each = (address_of(one) for one in (route.broker_datas if route else None) or ())
        return tuple(one for one in each if one is not None and one != but)

    def all_addresses(self, *, slaves: bool = True) -> tuple[tuple[str, str], ...]:
        """Broker group and address of everybody who is known, or of masters alone."""
        return tuple(
            (name, address)
            for name, addresses in self._brokers.items()
            for number, address in addresses.items()
            if slaves or number == MASTER_ID
        )

    def name_of(self, address: str) -> str | None:
        """The broker group that has this address."""
        for name, addresses in self._brokers.items():
            if address in addresses.values():
                return name
        return None


def address_of(broker: BrokerData) -> str | None:
    """A group's master, or the first of its slaves (Java: ``BrokerData.selectBrokerAddr``, which picks any slave)."""
    addresses = broker.broker_addrs or {}
    return addresses.get(MASTER_ID) or next(iter(addresses.values()), None)


def has_changed(old: TopicRouteData, new: TopicRouteData) -> bool:
    """Whether two routes differ in what matters to clients; the order of brokers and queues does not.

    Java: ``TopicRouteData.topicRouteDataChanged``.
    """
    return _essence(old) != _essence(new)


def _essence(route: TopicRouteData) -> tuple[object, ...]:
    mappings = route.topic_queue_mapping_by_broker or {}
    return (
        _sorted_queues(route.queue_datas or ()),
        _sorted_brokers(route.broker_datas or ()),
        route.order_topic_conf,
        sorted((name, info.epoch, info.total_queues) for name, info in mappings.items()),
    )


def _sorted_queues(queues: Iterable[QueueData]) -> list[QueueData]:
    return sorted(queues, key=lambda queue: queue.broker_name or "")


def _sorted_brokers(brokers: Iterable[BrokerData]) -> list[BrokerData]:
    return sorted(brokers, key=lambda broker: broker.broker_name or "")
