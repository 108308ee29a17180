"""The topics of a broker.

Java: ``TopicConfigManager``, ``TopicValidator``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.connection.guards import exceeds
from rocketwire.flags import Perm
from rocketwire.messages.topic_config import DataVersion, TopicConfig
from rocketwire.policy.resource_names import is_dlq_topic, is_retry_topic, is_system_topic

if TYPE_CHECKING:
    from rocketwire_broker.config import Config

TEMPLATE_TOPIC: Final = "TBW102"
"""Topic whose settings created topics get (Java: ``AUTO_CREATE_TOPIC_KEY_TOPIC``)."""

NOT_COUNTED: Final = ("TRANS_CHECK_MAX_TIME_TOPIC", "CHECKPOINT_TOPIC")
"""System topics without queues."""

MAX_QUEUES: Final = 65_536  # maximum queues of a topic: statistics name each of them

_READ_WRITE: Final = int(Perm.READ | Perm.WRITE)
_INHERIT: Final = int(Perm.INHERIT)
_ALL: Final = _READ_WRITE | _INHERIT


def new_topic(
    name: str, queues: int, perm: int = _READ_WRITE, *, order: bool = False, sys_flag: int = 0
) -> TopicConfig:
    return TopicConfig(
        topic_name=name,
        read_queue_nums=queues,
        write_queue_nums=queues,
        perm=perm,
        order=order,
        topic_sys_flag=sys_flag,
        attributes={},
    )


class Topics:
    def __init__(self, config: Config, now: int) -> None:
        self.version: DataVersion = DataVersion(counter=0, state_version=0, timestamp=now)
        # topics to be registered at the name servers, by name, since the owner has emptied it
        self.changed: dict[str, TopicConfig] = {}
        self.removed: set[str] = set()  # names of deleted topics, to be unregistered
        # for each deleted topic the physical offset up to which its messages are gone
        self.deleted: dict[str, int] = {}
        # called after each change; if it raises ``UnwritableError``, the topics are as before
        self.save: Callable[[], None] = lambda: None
        self.config = config  # the settings that are valid now
        self._topics = {str(topic.topic_name): topic for topic in _system_topics(config)}
        self._system = frozenset(self._topics) | set(NOT_COUNTED)

    def __contains__(self, name: str) -> bool:
        return name in self._topics

    def __iter__(self) -> Iterator[TopicConfig]:
        return iter(self._topics.values())

    def __len__(self) -> int:
        return len(self._topics)

    @property
    def system(self) -> frozenset[str]:
        return self._system

    @property
    def is_full(self) -> bool:
        return exceeds(len(self) + 1, self.config.max_topics)

    def configure(self, config: Config, now: int) -> None:
        self.config = config
        self.put(_delay_topic(config), now)
        if config.auto_create_topics and TEMPLATE_TOPIC not in self:
            self.put(_template(config), now)

    def get(self, name: str) -> TopicConfig | None:
        return self._topics.get(name)

    def is_system(self, name: str) -> bool:
        """Return whether a topic must not be created or deleted by clients."""
        return name in self._system or is_system_topic(name)

    def put(self, topic: TopicConfig, now: int) -> None:
        """Add or change a topic; the same topic again changes nothing."""
        name = str(topic.topic_name)
        if self._topics.get(name) != topic:
            self._change(name, topic, now)
            self.changed[name] = topic

    def restore(self, topics: Mapping[str, TopicConfig], version: DataVersion | None) -> None:
        self._topics.update(topics)
        if version is not None:
            self.version = version

    def delete(self, name: str, now: int, *, end: int = 0) -> bool:
        """Delete a topic whose messages end at a physical offset; return whether it existed."""
        if name not in self._topics:
            return False
        deleted = self.deleted
        if end:
            self.deleted = {**deleted, name: end}
        try:
            self._change(name, None, now)
        except BaseException:
            self.deleted = deleted
            raise
        self.changed.pop(name, None)
        self.removed.add(name)
        return True

    def create_by_send(
        self, name: str, template_name: str, queues: int, sys_flag: int, now: int
    ) -> TopicConfig | None:
        """Create the unknown topic of a send; return None if its template does not allow it."""
        template = self._topics.get(template_name)
        if template_name == TEMPLATE_TOPIC and not self.config.auto_create_topics:
            return None
        if template is None or not template.perm & _INHERIT or self.is_full:
            return None
        count = min(queues, template.write_queue_nums) if queues > 0 else template.write_queue_nums
        topic = new_topic(name, count, template.perm & ~_INHERIT, sys_flag=sys_flag)
        self.put(topic, now)
        return topic

    def create_for_group(
        self, name: str, queues: int, now: int, *, order: bool = False
    ) -> TopicConfig | None:
        """Return a retry or dead-letter topic, created if missing; None if there are too many."""
        topic = self._topics.get(name)
        if topic is None:
            if self.is_full:
                return None
            topic = new_topic(name, min(queues, MAX_QUEUES), order=order)
            self.put(topic, now)
        return topic

    def create_again(self, name: str, queue_ids: Iterable[int], now: int) -> None:
        """Create a topic whose configuration is lost, with the queues that have messages."""
        is_of_group = is_retry_topic(name) or is_dlq_topic(name)
        minimum = 1 if is_of_group else self.config.default_topic_queues
        queues = max(minimum, 1 + max(queue_ids, default=0))
        self.put(new_topic(name, min(queues, MAX_QUEUES)), now)

    def _change(self, name: str, topic: TopicConfig | None, now: int) -> None:
        previous, version = self._topics.get(name), self.version
        self._set(name, topic)
        self.version = replace(version, counter=(version.counter or 0) + 1, timestamp=now)
        try:
            self.save()
        except BaseException:
            self._set(name, previous)
            self.version = version
            raise

    def _set(self, name: str, topic: TopicConfig | None) -> None:
        if topic is None:
            self._topics.pop(name, None)
        else:
            self._topics[name] = topic


def _template(config: Config) -> TopicConfig:
    return new_topic(TEMPLATE_TOPIC, config.default_topic_queues, _ALL)


def _delay_topic(config: Config) -> TopicConfig:
    return new_topic("SCHEDULE_TOPIC_XXXX", len(config.delays_ms()))


def _system_topics(config: Config) -> Iterator[TopicConfig]:
    # Java: the constructor of ``TopicConfigManager``
    cluster, broker = config.cluster_name, config.broker_name
    yield new_topic("SELF_TEST_TOPIC", 1)
    if config.auto_create_topics:
        yield _template(config)
    yield new_topic("BenchmarkTest", 1024)
    yield new_topic(cluster, 16, _ALL)
    yield new_topic(broker, 1, _ALL)
    yield new_topic("OFFSET_MOVED_EVENT", 1)
    yield _delay_topic(config)
    if config.trace_topic:
        yield new_topic("RMQ_SYS_TRACE_TOPIC", 1)
    yield new_topic(f"{cluster}_REPLY_TOPIC", 1)
    yield new_topic(f"rmq_sys_REVIVE_LOG_{cluster}", 8)
    yield new_topic(f"rmq_sys_SYNC_BROKER_MEMBER_{broker}", 1, _INHERIT)
    yield new_topic("RMQ_SYS_TRANS_HALF_TOPIC", 1)
    yield new_topic("RMQ_SYS_TRANS_OP_HALF_TOPIC", 1)
    yield new_topic("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", 1)
    yield new_topic("RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC", 1)
    if config.timer_enabled:
        yield new_topic("rmq_sys_wheel_timer", 1)
