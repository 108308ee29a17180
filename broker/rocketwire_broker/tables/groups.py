"""The consumer groups of a broker, as configuration; ``members`` has who is connected.

Java: ``SubscriptionGroupManager``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.connection.guards import exceeds
from rocketwire.errors import IllegalNameError
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.topic_config import DataVersion
from rocketwire.policy.validation import check_group

if TYPE_CHECKING:
    from rocketwire_broker.config import Config

SYSTEM_GROUPS: Final = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    "CID_RMQ_SYS_TRANS",
)


class Groups:
    def __init__(self, config: Config, now: int) -> None:
        self.version: DataVersion = DataVersion(counter=0, state_version=0, timestamp=now)
        # topics that a group may not read, by group (code 353)
        self.forbidden: dict[str, set[str]] = {}
        self.config = config  # the settings that are valid now
        self._groups = {
            name: SubscriptionGroupConfig(
                group_name=name, consume_broadcast_enable=name != "SELF_TEST_C_GROUP"
            )
            for name in SYSTEM_GROUPS
        }

    def __contains__(self, name: str) -> bool:
        return name in self._groups

    def __iter__(self) -> Iterator[SubscriptionGroupConfig]:
        return iter(self._groups.values())

    def __len__(self) -> int:
        return len(self._groups)

    @staticmethod
    def is_system(name: str) -> bool:
        return name in SYSTEM_GROUPS

    @property
    def is_full(self) -> bool:
        return exceeds(len(self) + 1, self.config.max_groups)

    def get(self, name: str) -> SubscriptionGroupConfig | None:
        return self._groups.get(name)

    def put(self, group: SubscriptionGroupConfig, now: int) -> None:
        name = str(group.group_name)
        if self._groups.get(name) != group:
            self._groups[name] = group
            self._advance(now)

    def restore(
        self,
        groups: Mapping[str, SubscriptionGroupConfig],
        forbidden: Mapping[str, Mapping[str, int]],
        version: DataVersion | None,
    ) -> None:
        """Go on with the groups of an earlier run; what they may not read has bits of ``Perm``."""
        self._groups.update(groups)
        for name, topics in forbidden.items():
            self.forbidden[name] = {topic for topic, bits in topics.items() if bits}
        if version is not None:
            self.version = version

    def delete(self, name: str, now: int) -> None:
        self.forbidden.pop(name, None)
        if self._groups.pop(name, None) is not None:
            self._advance(now)

    def find_or_create(self, name: str, now: int) -> SubscriptionGroupConfig | None:
        """Return a group, created with defaults if it is missing.

        None means that its name is invalid, that groups are not created, or that there are too
        many.
        """
        group = self._groups.get(name)
        if group is not None:
            return group
        if not self.config.auto_create_groups or self.is_full:
            return None
        try:
            check_group(name)
        except IllegalNameError:
            return None
        group = SubscriptionGroupConfig(group_name=name)
        self.put(group, now)
        return group

    def forbid(self, name: str, topic: str, now: int, *, readable: bool) -> None:
        topics = self.forbidden.setdefault(name, set())
        (topics.discard if readable else topics.add)(topic)
        self._advance(now)

    def is_forbidden(self, name: str, topic: str) -> bool:
        return topic in self.forbidden.get(name, ())

    def _advance(self, now: int) -> None:
        counter = (self.version.counter or 0) + 1
        self.version = replace(self.version, counter=counter, timestamp=now)
