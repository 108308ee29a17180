"""Topics and groups that users created on a broker, for example to copy them to another cluster.

Java: ``DefaultMQAdminExtImpl.getUserTopicConfig``, ``getUserSubscriptionGroup``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.groups import Groups
from rocketwire.client.admin.topics import TopicCalls
from rocketwire.policy.resource_names import (
    PREDEFINED_GROUPS,
    is_dlq_topic,
    is_retry_topic,
    is_system_group,
    is_system_topic,
)

if TYPE_CHECKING:
    from rocketwire.messages.groups import SubscriptionGroupConfig
    from rocketwire.messages.topic_config import TopicConfig

_MOST_PERM: Final = 7
"""All permission bits."""


class Exports(TopicCalls):
    """Requests for users' topics and groups; for errors see ``AdminCalls.ask``."""

    async def topics(self, address: str, *, special: bool = False) -> dict[str, TopicConfig]:
        """Fetch the topics of a broker, without system topics (codes 21, 305).

        Java: ``getUserTopicConfig``.

        Args:
            special: include topics of retries and dead letters.
        """
        system_names = set(await self._topics.system_names(address))
        return {
            name: config
            for name, config in (await self._topics.configs(address)).items()
            if name not in system_names
            and not is_system_topic(name)
            and (special or not (is_retry_topic(name) or is_dlq_topic(name)))
            and 0 <= config.perm <= _MOST_PERM
        }

    async def groups(self, address: str) -> dict[str, SubscriptionGroupConfig]:
        """Fetch the groups of a broker, without predefined groups (code 201).

        Java: ``getUserSubscriptionGroup``.
        """
        return {
            name: config
            for name, config in (await Groups(self.client, self.within).configs(address)).items()
            if not is_system_group(name) and name not in PREDEFINED_GROUPS
        }
