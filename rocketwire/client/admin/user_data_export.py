"""What users made on a broker, without what is the broker's own: what is worth carrying to another cluster.

Java: ``DefaultMQAdminExtImpl.getUserTopicConfig``, ``getUserSubscriptionGroup``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.trio_only import trio_only
from rocketwire.policy.resource_names import (
    PREDEFINED_GROUPS,
    is_dlq_topic,
    is_retry_topic,
    is_system_group,
    is_system_topic,
)

if TYPE_CHECKING:
    from rocketwire.client.admin.groups import Groups
    from rocketwire.client.admin.topics import Topics
    from rocketwire.messages.groups import SubscriptionGroupConfig
    from rocketwire.messages.topic_config import TopicConfig

_MOST_PERM: Final = 7
"""All bits that a permission may have."""


@trio_only()
class Exports:
    """Calls about users' topics and groups; all of them raise what ``Asking.ask`` raises."""

    def __init__(self, topics: Topics, groups: Groups) -> None:
        """Nothing is sent yet."""
        self._topics = topics
        self._groups = groups

    async def topics(self, address: str, *, special: bool = False) -> dict[str, TopicConfig]:
        """Topics of a broker that are neither its own nor the tools' (codes 21, 305.

        Java: ``getUserTopicConfig``).

        Args:
            address: of the broker.
            special: with those of retries and dead letters.
        """
        own = set(await self._topics.system_names(address))
        return {
            name: config
            for name, config in (await self._topics.configs(address)).items()
            if name not in own
            and not is_system_topic(name)
            and (special or not (is_retry_topic(name) or is_dlq_topic(name)))
            and 0 <= config.perm <= _MOST_PERM
        }

    async def groups(self, address: str) -> dict[str, SubscriptionGroupConfig]:
        """Groups of a broker that not every broker has (code 201.

        Java: ``getUserSubscriptionGroup``).
        """
        return {
            name: config
            for name, config in (await self._groups.configs(address)).items()
            if not is_system_group(name) and name not in PREDEFINED_GROUPS
        }
