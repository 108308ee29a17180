"""Lite topics: the readers of their LMQs (light message queues), and events of new messages.

A message of a lite topic makes an event for one client of each group that subscribes to it. The
client's next pop, or the one that waits, reads the queues of its events.

Java: ``LiteEventDispatcher``, ``LiteSubscriptionRegistryImpl``, ``AbstractLiteLifecycleManager``,
``LiteShardingImpl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from rocketwire.codes import RequestCode
from rocketwire.messages.enums import OffsetOptionType
from rocketwire.messages.lite import OffsetOption
from rocketwire.policy.java_strings import string_hash
from rocketwire.policy.resource_names import LITE_PREFIX, lite_names, lite_queue
from rocketwire_broker.tables.lite import LiteEvents, LiteSubscriptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.messages.groups import SubscriptionGroupConfig
    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire_broker.config import Config
    from rocketwire_broker.state.schedule import Schedule
    from rocketwire_broker.state.waits import TopicQueue
    from rocketwire_broker.storage.store import Store
    from rocketwire_broker.tables.groups import Groups
    from rocketwire_broker.tables.members import Peer
    from rocketwire_broker.tables.offsets import Offsets
    from rocketwire_broker.tables.pops import PopOrders
    from rocketwire_broker.tables.routes import Routes
    from rocketwire_broker.tables.topics import Topics

LITE: Final = "LITE"  # type of the messages of a topic with lite topics

BIND_TOPIC: Final = "lite.bind.topic"
_MODEL: Final = "lite.sub.model"
_RESET_EXCLUSIVE: Final = "lite.sub.reset.offset.exclusive"
_RESET_UNSUBSCRIBE: Final = "lite.sub.reset.offset.unsubscribe"
_MAX_EVENTS: Final = "lite.sub.client.max.event.cnt"
_WILDCARD: Final = "lite.sub.wildcard"
"""Attributes of groups (Java: ``SubscriptionGroupAttributes``)."""

EXPIRATION: Final = "lite.topic.expiration"
"""Attribute of a topic: minutes after which a lite topic without new messages is deleted."""

_MIN_VALUE: Final = 1
_MAX_VALUE: Final = 2  # values of an offset option of type POLICY

_FROM_START: Final = OffsetOption(type=OffsetOptionType.POLICY, value=_MIN_VALUE)
_BLACKLIST_MS: Final = 10_000
_WILDCARD_DELAY_MS: Final = 5_000


def wake_key(client_id: str) -> TopicQueue:
    """Return the key of a client's waiting pops; no topic has such a name."""
    return f"${client_id}", 0


def is_lite(topic: TopicConfig) -> bool:
    return (topic.attributes or {}).get("message.type", "").upper() == LITE


def expiration_minutes(topic: TopicConfig) -> int:
    """Return after how many minutes lite topics of a topic are deleted; -1 for never."""
    return _integer((topic.attributes or {}).get(EXPIRATION))


def _integer(text: str | None) -> int:
    try:
        return int(text or "")
    except ValueError:
        return -1


class Home(Protocol):
    config: Config
    store: Store
    topics: Topics
    groups: Groups
    offsets: Offsets
    pop_orders: PopOrders
    routes: Routes
    schedule: Schedule

    def notify(self, peer: Peer, code: int, ext_fields: Mapping[str, str]) -> None: ...


class LiteTopics:
    def __init__(self, broker: Home, now: int) -> None:
        self.subscriptions = LiteSubscriptions()  # clients and their LMQs
        self.events: dict[str, LiteEvents] = {}
        self._broker = broker
        self._started = now
        self._wildcards: dict[str, dict[str, None]] = {}  # groups by parent topic
        self._banned: dict[str, int] = {}  # clients that were silent, until a time
        self._full: dict[str, tuple[int, str]] = {}  # when to look at all queues of whom, and why
        self._turn = 0
        config = broker.config
        broker.schedule.repeat_every(config.lite_event_check_ms, self._scan, now)
        broker.schedule.repeat_every(config.lite_client_check_ms, self._drop_silent, now)
        broker.schedule.repeat_every(config.lite_expiry_check_ms, self._expire, now)

    # ------------------------------------------------------------------ groups

    def _group(self, name: str) -> Mapping[str, str]:
        group = self._broker.groups.get(name)
        return {} if group is None or group.attributes is None else group.attributes

    def is_wildcard(self, group: str) -> bool:
        """Return whether clients of a group read all lite topics of its parent topic."""
        return _WILDCARD in self._group(group)

    def groups_by_parent(self) -> dict[str, list[SubscriptionGroupConfig]]:
        bound: dict[str, list[SubscriptionGroupConfig]] = {}
        for group in self._broker.groups:
            parent = (group.attributes or {}).get(BIND_TOPIC)
            if parent is not None:
                bound.setdefault(parent, []).append(group)
        return bound

    def readers(self, queue: str) -> dict[str, Sequence[str]]:
        subscriptions = self.subscriptions
        readers = {
            group: subscriptions.clients_of(queue, group)
            for group in subscriptions.groups_of(queue)
        }
        names = lite_names(queue)
        for group in () if names is None else self._wildcards.get(names[0], ()):
            clients = self._wildcard_clients(names[0] if names else "", group)
            if clients:
                readers.setdefault(group, clients)
        return readers

    def _wildcard_clients(self, parent: str, group: str) -> Sequence[str]:
        return self.subscriptions.clients_of(f"{parent}@{group}", group)

    # ------------------------------------------------------------------ subscriptions

    def subscribe(
        self,
        client_id: str,
        group: str,
        parent: str,
        queue: str,
        option: OffsetOption | None,
        now: int,
    ) -> None:
        """Subscribe a client to an LMQ; in an exclusive group it takes it from others."""
        if self._group(group).get(_MODEL) == "Exclusive":
            self._exclude(group, queue, now)
        subscription = self.subscriptions.of_client(client_id, group, parent, now)
        self._reset(subscription.group, queue, option, now)
        self._add(client_id, subscription.group, queue, now)

    def subscribe_exactly(
        self, client_id: str, group: str, parent: str, queues: Sequence[str], now: int
    ) -> None:
        """Make these a client's only subscriptions; a group with wildcards gets all queues."""
        if self.is_wildcard(group):
            queues = (f"{parent}@{group}",)
            self._wildcards.setdefault(parent, {})[group] = None
        subscription = self.subscriptions.of_client(client_id, group, parent, now)
        for queue in subscription.queues.keys() - set(queues):
            self.subscriptions.remove(client_id, queue)
        for queue in queues:
            self._add(client_id, subscription.group, queue, now)

    def _add(self, client_id: str, group: str, queue: str, now: int) -> None:
        if not self.subscriptions.add(client_id, queue):
            return
        if self.is_wildcard(group):
            self._plan(f"${group}$", group, now + _WILDCARD_DELAY_MS)
        elif self._broker.store.max_offset(queue, 0) > 0:
            self.dispatch(queue, group, now)

    def unsubscribe(self, client_id: str, group: str, parent: str, queue: str, now: int) -> None:
        subscription = self.subscriptions.of_client(client_id, group, parent, now)
        is_reset = self._group(group).get(_RESET_UNSUBSCRIBE, "").lower() == "true"
        if self.subscriptions.remove(client_id, queue) and is_reset:
            self._reset(subscription.group, queue, _FROM_START, now)

    def unsubscribe_all(self, client_id: str, now: int) -> None:
        if self.subscriptions.remove_client(client_id) is None:
            return
        self._give_away(client_id, now)

    def _exclude(self, group: str, queue: str, now: int) -> None:
        is_reset = self._group(group).get(_RESET_EXCLUSIVE, "").lower() == "true"
        for client_id in self.subscriptions.clients_of(queue, group):
            subscription = self.subscriptions.get(client_id)
            names = lite_names(queue)
            if subscription is not None and subscription.peer is not None and names is not None:
                fields = {"liteTopic": names[1], "consumerGroup": group, "clientId": client_id}
                code = RequestCode.NOTIFY_UNSUBSCRIBE_LITE
                self._broker.notify(subscription.peer, code, fields)
            self.subscriptions.remove(client_id, queue)
            self.subscriptions.remove_if_empty(client_id)
            if is_reset:
                self._reset(group, queue, _FROM_START, now)

    def _reset(self, group: str, queue: str, option: OffsetOption | None, now: int) -> None:
        if option is None:
            return
        broker = self._broker
        offset = broker.offsets.get(group, queue, 0)
        target: int | None = None
        if option.type == OffsetOptionType.POLICY:
            end = broker.store.max_offset(queue, 0)
            target = {_MIN_VALUE: 0, _MAX_VALUE: end}.get(option.value)
        elif option.type == OffsetOptionType.OFFSET:
            target = option.value
        elif option.type == OffsetOptionType.TAIL_N and offset is not None and offset >= 0:
            target = max(0, offset - option.value)
        if target is not None and target >= 0 and target != (-1 if offset is None else offset):
            broker.offsets.reset(group, queue, 0, target, now)
            broker.pop_orders.forget((group, queue, 0))

    def _drop_silent(self, now: int) -> None:
        for client_id in self.subscriptions.silent(now - self._broker.config.lite_client_expiry_ms):
            self.unsubscribe_all(client_id, now)

    # ------------------------------------------------------------------ events

    def note_arrivals(self, arrivals: set[TopicQueue], now: int) -> None:
        if self.subscriptions.count:
            for queue, _ in [arrival for arrival in arrivals if arrival[0].startswith(LITE_PREFIX)]:
                for group, clients in self.readers(queue).items():
                    self._choose(queue, group, clients, None, now)

    def dispatch(self, queue: str, group: str, now: int, exclude: str | None = None) -> None:
        """Make an event for one client of a group, if it can be another one than ``exclude``."""
        names = lite_names(queue)
        if self.is_wildcard(group):
            clients = self._wildcard_clients(names[0] if names else "", group)
        else:
            clients = self.subscriptions.clients_of(queue, group)
        self._choose(queue, group, clients, exclude, now)

    def dispatch_at(self, queue: str, group: str, due: int) -> None:
        self._broker.schedule.at(due, lambda now: self.dispatch(queue, group, now))

    def _choose(
        self, queue: str, group: str, clients: Sequence[str], exclude: str | None, now: int
    ) -> bool:
        if not clients:
            return True
        self._turn += 1
        start = self._turn % len(clients)
        is_wildcard = self.is_wildcard(group)
        others: list[str] = []
        for client_id in (*clients[start:], *clients[:start]):
            if client_id == exclude:
                others.append(client_id)
            elif self._banned.get(client_id, 0) > now:
                if not is_wildcard:
                    others.append(client_id)
            elif self._offer(queue, client_id, group, now, is_planned=not is_wildcard):
                return True
        for client_id in others:
            if self._offer(queue, client_id, group, now, is_planned=not is_wildcard):
                return True
        if is_wildcard:
            self._plan(f"${group}$", group, now + self._broker.config.lite_full_dispatch_ms)
        return False

    def _offer(self, queue: str, client_id: str, group: str, now: int, *, is_planned: bool) -> bool:
        # if there are too many events, all queues of the client are looked at later
        if self._events_of(client_id, group, now).offer(queue):
            self._broker.store.arrivals.add(wake_key(client_id))
            return True
        if is_planned:
            self._plan(client_id, group, now + self._broker.config.lite_full_dispatch_ms)
        return False

    def _events_of(self, client_id: str, group: str, now: int) -> LiteEvents:
        events = self.events.get(client_id)
        if events is None:
            limit = _integer(self._group(group).get(_MAX_EVENTS))
            if limit <= 0:
                limit = self._broker.config.max_lite_events
            events = self.events[client_id] = LiteEvents(group, limit, now)
        return events

    def _plan(self, name: str, group: str, due: int) -> None:
        self._full.setdefault(name, (due, group))

    def _give_away(self, client_id: str, now: int) -> None:
        events = self.events.pop(client_id, None)
        while events is not None and (queue := events.take(now)) is not None:
            self.dispatch(queue, events.group, now, exclude=client_id)

    def _scan(self, now: int) -> None:
        self._banned = {name: until for name, until in self._banned.items() if until > now}
        for client_id in [name for name, events in self.events.items() if events.is_silent(now)]:
            self._banned[client_id] = now + _BLACKLIST_MS
            self._give_away(client_id, now)
        for name in [name for name, (due, _) in self._full.items() if due <= now]:
            _, group = self._full.pop(name)
            if self.is_wildcard(group):
                self._dispatch_all_of_wildcard(group, now)
            else:
                self.dispatch_all_of_client(name, group, now)

    # ------------------------------------------------------------------ all queues

    def dispatch_all_of_group(self, group: str, now: int) -> None:
        if self.is_wildcard(group):
            self._dispatch_all_of_wildcard(group, now)
            return
        for client_id in self.subscriptions.clients_of_group(group):
            self.dispatch_all_of_client(client_id, group, now)

    def dispatch_all_of_client(self, client_id: str, group: str, now: int) -> None:
        subscription = self.subscriptions.get(client_id)
        if subscription is None or not subscription.queues:
            return
        events = self._events_of(client_id, group, now)
        again = now + self._broker.config.lite_full_dispatch_ms
        if events.is_silent(now) or not events.is_low:
            self._plan(client_id, group, again)
            return
        for queue in subscription.queues:
            if self._has_rest(group, queue) and not events.offer(queue):
                self._plan(client_id, group, again)
                break
        self._broker.store.arrivals.add(wake_key(client_id))

    def _dispatch_all_of_wildcard(self, group: str, now: int) -> None:
        parent = self._group(group).get(BIND_TOPIC)
        clients = () if parent is None else self._wildcard_clients(parent, group)
        for queue in self.queues_of(parent or "") if clients else ():
            is_unread = self._has_rest(group, queue)
            if is_unread and not self._choose(queue, group, clients, None, now):
                return

    def _has_rest(self, group: str, queue: str) -> bool:
        return (self._broker.offsets.get(group, queue, 0) or 0) < self._broker.store.max_offset(
            queue, 0
        )

    # ------------------------------------------------------------------ lite topics

    def queues_of(self, parent: str) -> list[str]:
        prefix = lite_queue(parent, "")
        return [name for name in self._broker.store.lmqs if name.startswith(prefix)]

    def delete_all(self, parent: str) -> None:
        for queue in self.queues_of(parent):
            self._delete(parent, queue)

    def _delete(self, parent: str, queue: str) -> None:
        broker = self._broker
        broker.offsets.delete_topic(queue)
        broker.pop_orders.discard(topic=queue)
        broker.store.delete_topic(queue)
        for group in list(self.subscriptions.groups_of(queue)):
            for client_id in self.subscriptions.clients_of(queue, group):
                self.subscriptions.remove(client_id, queue)

    def _expire(self, now: int) -> None:
        config, store = self._broker.config, self._broker.store
        if now - self._started < config.lite_min_ttl_ms:
            return
        for queue in list(store.lmqs):
            names = lite_names(queue)
            topic = None if names is None else self._broker.topics.get(names[0])
            minutes = -1 if topic is None else expiration_minutes(topic)
            last = store.queue(queue, 0)
            if names is None or last is None or minutes <= 0:
                continue
            silence = now - (last.store_time(last.max_offset - 1) or 0)
            if silence >= config.lite_min_ttl_ms and silence > minutes * 60_000:
                self._delete(names[0], queue)


_FACTOR: Final = 2_862_933_555_777_941_757
_MASK: Final = (1 << 64) - 1


def consistent_hash(number: int, buckets: int) -> int:
    """Return the bucket of a number (Guava: ``Hashing.consistentHash``)."""
    state, candidate = number & _MASK, 0
    while True:
        state = (_FACTOR * state + 1) & _MASK
        fraction = ((state >> 33) + 1) / (1 << 31)
        following = int((candidate + 1) / fraction)
        if following >= buckets:
            return candidate
        candidate = following


def broker_of(broker: Home, parent: str, lite_topic: str) -> str:
    queues = sorted(
        broker.routes.queues(parent),
        key=lambda queue: (queue.broker_name or "", queue.queue_id or 0),
    )
    if not queues or not lite_topic:
        return broker.config.broker_name
    return queues[consistent_hash(string_hash(lite_topic), len(queues))].broker_name or ""


def has_lite_topic(broker: Home, parent: str, lite_topic: str, queue: str) -> bool:
    """Return whether a broker has, or will have, messages of a lite topic."""
    if broker_of(broker, parent, lite_topic) == broker.config.broker_name:
        return True
    return broker.store.max_offset(queue, 0) > 0
