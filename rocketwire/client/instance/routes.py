"""``Routes``: the routes of a client, and broker addresses; pure, no clock and no I/O.

A route stays until a newer one replaces it, also if no name server responds or the topic was
deleted. A broker stays while a route contains it.

Java: ``MQClientInstance`` (``topicRouteTable``, ``brokerAddrTable``, ``cleanOfflineBroker``),
``TopicRouteData``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rocketwire.policy.routing import MASTER_ID

if TYPE_CHECKING:
    from rocketwire.messages.route import BrokerData, TopicRouteData


class BrokerAddress(NamedTuple):
    address: str
    broker_id: int  # id of the broker; 0 is the master

    @property
    def is_slave(self) -> bool:
        return self.broker_id != MASTER_ID


class Routes:
    def __init__(self) -> None:
        self.changes: int = 0  # counter that grows when addresses may have changed
        self._routes: dict[str, TopicRouteData] = {}
        self.brokers: dict[str, dict[int, str]] = {}  # addresses by broker group and broker id

    def get(self, topic: str) -> TopicRouteData | None:
        return self._routes.get(topic)

    def put(self, topic: str, route: TopicRouteData) -> bool:
        previous = self._routes.get(topic)
        if previous is not None and not has_changed(previous, route):
            return False
        self._routes[topic] = route
        self.changes += 1
        for broker in route.broker_datas or ():
            if broker.broker_name is not None:
                self.brokers[broker.broker_name] = dict(broker.broker_addrs or {})
        return True

    def forget(self, topic: str) -> None:
        self._routes.pop(topic, None)

    def drop_unreachable(self) -> tuple[str, ...]:
        """Remove and return the addresses without a route (Java: ``cleanOfflineBroker``)."""
        routed = {
            address
            for route in self._routes.values()
            for broker in route.broker_datas or ()
            for address in (broker.broker_addrs or {}).values()
        }
        removed: list[str] = []
        self.changes += 1
        for name, addresses in list(self.brokers.items()):
            routable = {
                broker_id: address for broker_id, address in addresses.items() if address in routed
            }
            removed += (address for address in addresses.values() if address not in routed)
            if routable:
                self.brokers[name] = routable
            else:
                del self.brokers[name]
        return tuple(removed)

    # ------------------------------------------------------------------ addresses

    def master(self, broker_name: str) -> str | None:
        """Return the address of a group's master (Java: ``findBrokerAddressInPublish``)."""
        return self.brokers.get(broker_name, {}).get(MASTER_ID)

    def replica(
        self, broker_name: str, broker_id: int = MASTER_ID, *, only_this: bool = False
    ) -> BrokerAddress | None:
        # Java: ``findBrokerAddressInSubscribe``. Prefers the broker with that id; for a slave, then
        # the broker with the next id; then any, unless ``only_this``.
        addresses = self.brokers.get(broker_name, {})
        if broker_id in addresses:
            return BrokerAddress(addresses[broker_id], broker_id)
        alternatives: list[int] = []
        if broker_id != MASTER_ID:
            alternatives.append(broker_id + 1)
        if not only_this:
            alternatives += addresses
        for alternative in alternatives:
            if alternative in addresses:
                return BrokerAddress(addresses[alternative], alternative)
        return None

    def pick_broker(self, topic: str, chance: int) -> str | None:
        """Pick a broker of the topic, the master if possible (Java: ``findBrokerAddrByTopic``)."""
        route = self._routes.get(topic)
        brokers = (route.broker_datas if route else None) or ()
        groups = [broker for broker in brokers if broker.broker_addrs]
        if not groups:
            return None
        return select_address(groups[chance % len(groups)])

    def masters_of_topic(self, topic: str, *, but: str | None = None) -> tuple[str, ...]:
        """Return an address of each broker group of a topic, a master if possible, not ``but``."""
        route = self._routes.get(topic)
        addresses = map(select_address, (route.broker_datas if route else None) or ())
        return tuple(a for a in addresses if a is not None and a != but)

    def all_addresses(self, *, slaves: bool = True) -> tuple[tuple[str, str], ...]:
        return tuple(
            (name, address)
            for name, addresses in self.brokers.items()
            for broker_id, address in addresses.items()
            if slaves or broker_id == MASTER_ID
        )

    def broker_name(self, address: str) -> str | None:
        for name, addresses in self.brokers.items():
            if address in addresses.values():
                return name
        return None


def select_address(broker: BrokerData) -> str | None:
    """Return the master's address, or the first slave's (Java: ``BrokerData.selectBrokerAddr``)."""
    addresses = broker.broker_addrs or {}
    return addresses.get(MASTER_ID) or next(iter(addresses.values()), None)


def has_changed(old: TopicRouteData, new: TopicRouteData) -> bool:
    # Java: ``TopicRouteData.topicRouteDataChanged``
    return _normalize(old) != _normalize(new)


def _normalize(route: TopicRouteData) -> tuple[object, ...]:
    mappings = route.topic_queue_mapping_by_broker or {}
    return (
        sorted(route.queue_datas or (), key=lambda queue: queue.broker_name or ""),
        sorted(route.broker_datas or (), key=lambda broker: broker.broker_name or ""),
        route.order_topic_conf,
        sorted((name, info.epoch, info.total_queues) for name, info in mappings.items()),
    )
