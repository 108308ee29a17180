"""Static topics: create, add queues, move queues between brokers.

``rocketwire.policy.static_topics`` plans the changes; this module reads the state of the brokers
and sends them the plan in the order that loses no message.

Java: ``MQAdminUtils``, ``UpdateStaticTopicSubCommand``, ``RemappingStaticTopicSubCommand``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.fanout import read_from_each
from rocketwire.client.admin.topics import TopicCalls, create_header
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
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.topics import (
        TopicConfigAndQueueMapping,
        TopicOffset,
        TopicRemappingDetailWrapper,
    )


# Answers of brokers that have no part in a static topic; those before 5.0 know no such thing
_NO_PART: Final = (ResponseCode.TOPIC_NOT_EXIST, ResponseCode.REQUEST_CODE_NOT_SUPPORTED)


class StaticTopics(TopicCalls):
    """Requests for static topics.

    A change goes to several brokers; if one of them fails, repeat the call. With ``force`` changes
    are sent that brokers consider outdated too. ``BrokerNotFoundError``: a broker has no master.
    """

    async def configs(self, topic: str) -> dict[str, TopicConfigAndQueueMapping]:
        """Fetch each broker's configuration of a topic, by broker name (codes 106, 351).

        Java: ``examineTopicConfigAll``.
        """

        async def ask(address: str) -> TopicConfigAndQueueMapping | None:
            try:
                return await self._topics.config(address, topic)
            except BrokerError as error:
                if error.code not in _NO_PART:
                    raise
                return None

        masters = await self._masters()
        configs_by_address = await read_from_each(masters.values(), ask)
        configs = {name: configs_by_address.get(address) for name, address in masters.items()}
        return {name: config for name, config in configs.items() if config is not None}

    async def create_or_update(
        self,
        topic: str,
        queue_nums: int,
        brokers: Collection[str],
        *,
        force: bool = False,
        dry_run: bool = False,
    ) -> TopicRemappingDetailWrapper:
        """Create a static topic, or give it more logical queues (codes 106, 351, 513).

        ``brokers`` are the names of those for the queues. Returns the executed plan, or with
        ``dry_run`` the plan.

        Raises:
            LocalProtocolError: the topic has that number of queues or more, is not static, or
                brokers disagree about it.
        """
        configs = await self.configs(topic)
        plan = plan_creation(topic, queue_nums, brokers, configs, now_ms=now_millis())
        return plan if dry_run else await self.carry_out(plan, force=force)

    async def remap(
        self, topic: str, brokers: Collection[str], *, force: bool = False, dry_run: bool = False
    ) -> TopicRemappingDetailWrapper:
        """Move logical queues so that these brokers share them (codes 106, 351, 202, 513).

        Returns the executed plan. For errors see ``create_or_update``.
        """
        plan = plan_remapping(topic, brokers, await self.configs(topic), now_ms=now_millis())
        return plan if dry_run else await self.carry_out(plan, force=force)

    async def carry_out(
        self, plan: TopicRemappingDetailWrapper, *, force: bool = False
    ) -> TopicRemappingDetailWrapper:
        """Execute a plan (codes 106, 202, 513); returns the executed plan.

        New leaders get it first, so that they accept writes; then the old ones, which stop
        accepting them; then the new ones get their first logical offset; then all others.
        """
        plan = add_other_brokers(plan, await self._neighbours(plan))
        map_in, map_out = plan.broker_to_map_in or (), plan.broker_to_map_out or ()
        await self.tell(plan, map_in, force=force)
        await self.tell(plan, map_out, force=force)
        masters = await self._masters()
        ends: dict[MessageQueue, int] = {}
        for broker in map_out:
            stats = await self._topics.stats_of(masters[broker], plan.topic or "")
            ends |= {
                queue: topic_offset.max_offset
                for queue, topic_offset in (stats.offset_table or {}).items()
            }
        plan = with_logic_offsets(plan, ends)
        await self.tell(plan, map_in, force=force)
        remaining = [
            name for name in plan.broker_config_map or {} if name not in (*map_in, *map_out)
        ]
        await self.tell(plan, remaining, force=force)
        return plan

    async def tell(
        self,
        plan: TopicRemappingDetailWrapper,
        brokers: Iterable[str] | None = None,
        *,
        force: bool = False,
    ) -> None:
        """Send brokers, by default all of the plan, their part (code 513).

        If one has no master, nothing is sent. Java: ``createStaticTopic``.
        """
        parts = plan.broker_config_map or {}
        masters = await self._masters()
        names = list(parts if brokers is None else brokers)
        for name in names:
            if name not in masters:
                raise BrokerNotFoundError(name)
        for name in names:
            part = parts[name]
            header = replace(create_header(part, force=force), attributes=None)
            await self.ask(
                masters[name], Code.UPDATE_AND_CREATE_STATIC_TOPIC, header, part.mapping_detail
            )

    async def stats(self, topic: str) -> dict[MessageQueue, TopicOffset]:
        """Fetch the offsets of the logical queues of a static topic (codes 105, 351, 202).

        Java: ``examineTopicStats``.
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
        table = (await self._clusters.info()).cluster_addr_table or {}
        meant = set(plan.broker_config_map or {})
        return [
            name
            for brokers in table.values()
            if meant.intersection(brokers)
            for name in brokers
            if name is not None
        ]
