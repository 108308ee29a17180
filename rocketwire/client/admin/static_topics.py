"""Static topics: creating them, adding queues, moving queues between brokers.

Rules of this file: what to do is planned by ``rocketwire.policy.static_topics``; here brokers are
asked what they know and told what is planned, in the order that loses no message.

Java: ``MQAdminUtils``, ``UpdateStaticTopicSubCommand``, ``RemappingStaticTopicSubCommand``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import Asking, told_by_each
from rocketwire.client.admin.topics import create_header
from rocketwire.client.periodic import now_millis
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, BrokerNotFoundError
from rocketwire.policy.routing import MASTER_ID
from rocketwire.policy.static_topics import (
    add_other_brokers,
    logical_offsets,
    plan_creation,
    plan_remapping,
    with_logic_offsets,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.admin.topics import Topics
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.topics import (
        TopicConfigAndQueueMapping,
        TopicOffset,
        TopicRemappingDetailWrapper,
    )


_NO_PART: Final = (ResponseCode.TOPIC_NOT_EXIST, ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
"""Answers of brokers that have no part in a static topic; those before 5.0 know no such thing."""


class StaticTopics(Asking):
    """Calls about static topics; all of them raise what ``Asking.ask`` raises.

    A change goes to several brokers; where one of them fails in the middle, the same call makes it
    good.
    """

    def __init__(
        self, client: ClientInstance, clusters: Clusters, topics: Topics, within: float
    ) -> None:
        """Nothing is sent yet."""
        super().__init__(client, within)
        self._clusters = clusters
        self._topics = topics

    async def configs(self, topic: str) -> dict[str, TopicConfigAndQueueMapping]:
        """What each broker knows of a topic, by broker name (codes 106, 351.

        Java: ``examineTopicConfigAll``).
        """

        async def ask(address: str) -> TopicConfigAndQueueMapping | None:
            try:
                return await self._topics.config(address, topic)
            except BrokerError as error:
                if error.code not in _NO_PART:
                    raise
                return None

        masters = await self._masters()
        each = await told_by_each(masters.values(), ask)
        found = {name: each.get(address) for name, address in masters.items()}
        return {name: config for name, config in found.items() if config is not None}

    async def create_or_update(
        self, topic: str, queue_nums: int, brokers: Collection[str], *, force: bool = False
    ) -> TopicRemappingDetailWrapper:
        """Create a static topic, or give it more logical queues (codes 106, 351, 513).

        Returns what was told.

        Args:
            topic: its name.
            queue_nums: logical queues in all; there cannot be fewer than there are.
            brokers: names of the brokers to have them.
            force: tell brokers also what they think is old.

        Raises:
            LocalProtocolError: it has that many queues already, is no static topic, or brokers
                disagree about it.
            BrokerNotFoundError: a broker has no master.
        """
        configs = await self.configs(topic)
        plan = plan_creation(topic, queue_nums, brokers, configs, now_ms=now_millis())
        return await self.carry_out(plan, force=force)

    async def remap(
        self, topic: str, brokers: Collection[str], *, force: bool = False
    ) -> TopicRemappingDetailWrapper:
        """Move logical queues so that these brokers share them (codes 106, 351, 202, 513).

        Returns what was told.

        Args:
            topic: a static topic.
            brokers: names of the brokers to have its queues.
            force: tell brokers also what they think is old.

        Raises:
            LocalProtocolError: as of ``create_or_update``.
            BrokerNotFoundError: a broker has no master.
        """
        plan = plan_remapping(topic, brokers, await self.configs(topic), now_ms=now_millis())
        return await self.carry_out(plan, force=force)

    async def carry_out(
        self, plan: TopicRemappingDetailWrapper, *, force: bool = False
    ) -> TopicRemappingDetailWrapper:
        """Tell brokers a plan that was made before (codes 106, 202, 513); returns what was told.

        New leaders first, so that they can be written to; then the old ones, which take no more;
        then the new ones learn at which logical offset they begin; then everybody else.

        Args:
            plan: what is meant to be.
            force: tell brokers also what they think is old.

        Raises:
            BrokerNotFoundError: a broker has no master.
        """
        plan = add_other_brokers(plan, await self._neighbours(plan))
        map_in, map_out = plan.broker_to_map_in or (), plan.broker_to_map_out or ()
        await self.tell(plan, map_in, force=force)
        await self.tell(plan, map_out, force=force)
        masters = await self._masters()
        ends: dict[MessageQueue, int] = {}
        for broker in map_out:
            stats = await self._topics.stats_of(masters[broker], plan.topic or "")
            ends |= {queue: one.max_offset for queue, one in (stats.offset_table or {}).items()}
        plan = with_logic_offsets(plan, ends)
        await self.tell(plan, map_in, force=force)
        others = [name for name in plan.broker_config_map or {} if name not in (*map_in, *map_out)]
        await self.tell(plan, others, force=force)
        return plan

    async def tell(
        self,
        plan: TopicRemappingDetailWrapper,
        brokers: Iterable[str] | None = None,
        *,
        force: bool = False,
    ) -> None:
        """Tell brokers their part of a plan (code 513; Java: ``createStaticTopic``).

        Args:
            plan: what is meant to be.
            brokers: names; None for all of the plan.
            force: also what they think is old.

        Raises:
            BrokerNotFoundError: one of them has no master; nobody is told.
        """
        parts = plan.broker_config_map or {}
        masters = await self._masters()
        names = list(parts if brokers is None else brokers)
        for name in names:
            if name not in masters:
                raise BrokerNotFoundError(name)
        for name in names:
            part = parts[name]
            header = create_header(replace(part, attributes={}), force=force)
            await self.ask(
                masters[name], Code.UPDATE_AND_CREATE_STATIC_TOPIC, header, part.mapping_detail
            )

    async def stats(self, topic: str) -> dict[MessageQueue, TopicOffset]:
        """Offsets of the logical queues of a static topic (codes 105, 351, 202.

        Java: ``examineTopicStats``).
        """
        physical = (await self._topics.stats(topic)).offset_table or {}
        return logical_offsets(topic, await self.configs(topic), physical)

    async def _masters(self) -> Mapping[str, str]:
        table = (await self._clusters.info()).broker_addr_table or {}
        return {
            name: group.broker_addrs[MASTER_ID]
            for name, group in table.items()
            if group.broker_addrs and MASTER_ID in group.broker_addrs
        }

    async def _neighbours(self, plan: TopicRemappingDetailWrapper) -> list[str]:
        """Every broker of the clusters that the brokers of a plan belong to."""
        table = (await self._clusters.info()).cluster_addr_table or {}
        meant = set(plan.broker_config_map or {})
        return [
            name
            for brokers in table.values()
            if meant.intersection(brokers)
            for name in brokers
            if name is not None
        ]
