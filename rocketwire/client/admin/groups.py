"""Consumer groups: configuration, subscriptions, read permission, request mode; exports.

Java: ``DefaultMQAdminExtImpl``, ``UpdateSubGroupSubCommand``, ``DeleteSubscriptionGroupCommand``,
``SetConsumeModeSubCommand``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.changes import (
    Change,
    Edit,
    Target,
    delete_value,
    name_target,
    replace_config,
    start_from,
    with_attribute_changes,
)
from rocketwire.client.admin.fanout import PAGE_SIZE, Page, all_pages, read_from_each
from rocketwire.client.admin.topics import TopicCalls
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, TopicRouteNotFoundError
from rocketwire.messages.allocation import (
    MessageRequestModeSerializeWrapper,
    SetMessageRequestModeRequestBody,
)
from rocketwire.messages.groups import (
    DeleteSubscriptionGroupRequestHeader,
    GetAllSubscriptionGroupRequestHeader,
    GetSubscriptionGroupConfigRequestHeader,
    GroupForbidden,
    QuerySubscriptionByConsumerRequestHeader,
    QuerySubscriptionResponseBody,
    QueryTopicsByConsumerRequestHeader,
    SubscriptionGroupConfig,
    SubscriptionGroupList,
    UpdateGroupForbiddenRequestHeader,
)
from rocketwire.messages.route import TopicList
from rocketwire.policy.resource_names import (
    PREDEFINED_GROUPS,
    dlq_topic,
    is_dlq_topic,
    is_retry_topic,
    is_system_group,
    is_system_topic,
    retry_topic,
)

if TYPE_CHECKING:
    from typing import Unpack

    from rocketwire.messages.enums import MessageRequestMode
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.topic_config import TopicConfig

_MAX_PERM: Final = 7  # all permission bits


class Groups(TopicCalls):
    """Requests for consumer groups; for ``broker`` and ``cluster`` see ``Topics``."""

    async def create_or_update(
        self,
        config: SubscriptionGroupConfig,
        *,
        broker: str | None = None,
        cluster: str | None = None,
    ) -> tuple[str, ...]:
        """Create a group, or replace its whole configuration (code 200); returns the addresses.

        Values that you leave out become the defaults of ``SubscriptionGroupConfig``, and a paused
        group consumes again: to change a group use ``update``. Only attributes are changed one by
        one. Java: ``createAndUpdateSubscriptionGroupConfig``.

        Raises:
            BrokerError: 29, the name is invalid.
        """
        edits = {config.group_name or "": partial(replace_config, config)}
        changes = await self.update(
            edits, new=SubscriptionGroupConfig(), broker=broker, cluster=cluster
        )
        return tuple(change.address for change in changes)

    @name_target
    async def update(
        self,
        edits: Mapping[str, Edit[SubscriptionGroupConfig]],
        *,
        new: SubscriptionGroupConfig | None = None,
        **target: Unpack[Target],
    ) -> list[Change[SubscriptionGroupConfig]]:
        """Change groups and keep all values that ``edits`` keep (codes 201, 200; 225 for several).

        For example ``update({"g": lambda group: replace(group, retry_max_times=5)}, cluster="c")``.
        Returns the configuration of each broker and group before and after.

        Args:
            edits: by group, what returns the new configuration for that of a broker.
            new: what an edit gets of a broker without the group; None: each must have it.

        Raises:
            BrokerError: 26, a broker does not have the group; 29, the name is invalid.
        """

        async def read(address: str) -> Mapping[str, SubscriptionGroupConfig]:
            found = await self.configs(address)  # code 352 would create a group
            for name in edits if new is None else ():
                if name not in found:
                    code, remark = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"no group {name}"
                    raise BrokerError(code, remark, Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, address)
            return found

        start = start_from(
            edits, lambda name: replace(new or SubscriptionGroupConfig(), group_name=name)
        )
        return await self._change_each(read, start, self._write, **target)

    async def _write(
        self, address: str, changes: Sequence[Change[SubscriptionGroupConfig]]
    ) -> None:
        configs = with_attribute_changes(changes)
        if len(configs) == 1:
            await self.ask(address, Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, None, configs[0])
            return
        body = SubscriptionGroupList(group_config_list=configs)
        await self.ask(address, Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, None, body)

    @name_target
    async def delete(
        self, group: str, *, clean_offset: bool = False, **target: Unpack[Target]
    ) -> list[Change[SubscriptionGroupConfig]]:
        """Delete a group (codes 201, 207); returns the configuration of each broker that had it.

        With ``cluster``, the topics of its retries and dead letters are deleted too, as by mqadmin.
        A connected member creates its group again with its next heartbeat, and a broker of 5.5.0
        that creates groups does so itself, unless ``clean_offset`` deletes the offsets too.
        Java: ``deleteSubscriptionGroup``, ``DeleteSubscriptionGroupCommand``.
        """
        header = DeleteSubscriptionGroupRequestHeader(group_name=group, clean_offset=clean_offset)
        changes = await self._change_each(
            self.configs,
            {group: delete_value},
            lambda address, _: self.ask(address, Code.DELETE_SUBSCRIPTIONGROUP, header),
            **target,
        )
        cluster, dry_run = target.get("cluster"), target.get("dry_run", False)
        if cluster is not None:
            for topic in (dlq_topic(group), retry_topic(group)):
                with suppress(TopicRouteNotFoundError):
                    await self._topics.delete(topic, cluster, dry_run=dry_run)
        return changes

    async def config(self, address: str, group: str) -> SubscriptionGroupConfig:
        """Fetch the configuration of a group from a broker (code 352).

        A broker with automatic creation of groups creates the group; others raise ``BrokerError``
        26. Java: ``examineSubscriptionGroupConfig``, which fetches all groups.
        """
        header = GetSubscriptionGroupConfigRequestHeader(group=group)
        return await self.fetch(
            SubscriptionGroupConfig, address, Code.GET_SUBSCRIPTIONGROUP_CONFIG, header
        )

    async def configs(
        self, address: str, *, page_size: int = PAGE_SIZE
    ) -> Mapping[str, SubscriptionGroupConfig]:
        """Fetch groups by name, in pages (code 201; Java: ``getAllSubscriptionGroup``)."""

        async def ask(start: int, version: str) -> Page[SubscriptionGroupConfig]:
            header = GetAllSubscriptionGroupRequestHeader(
                group_seq=start, max_group_num=page_size, data_version=version
            )
            answer = await self.ask(address, Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, header)
            body = answer.require_body()
            total = answer.header.total_group_num
            return Page(body.subscription_group_table or {}, total, body.data_version)

        return (await all_pages(ask)).entries

    # ------------------------------------------------------------------ subscriptions

    async def topics(self, group: str) -> tuple[str, ...]:
        """Fetch the topics of a group, from all brokers of its retry topic (code 343).

        Java: ``queryTopicsByConsumer``. ``TopicRouteNotFoundError``: no member was ever connected.
        """
        header = QueryTopicsByConsumerRequestHeader(group=group)
        addresses = await self._clusters.of_topic(retry_topic(group))
        topic_lists = await read_from_each(
            addresses.values(),
            lambda address: self.fetch(TopicList, address, Code.QUERY_TOPICS_BY_CONSUMER, header),
        )
        names = (name for topics in topic_lists.values() for name in topics.topic_list or ())
        return tuple(dict.fromkeys(name for name in names if name))

    async def subscription(self, group: str, topic: str) -> SubscriptionData | None:
        """Fetch the subscription of a group to a topic, from the first broker that has it.

        None if no member is connected. Code 345; Java: ``querySubscription``.
        """
        header = QuerySubscriptionByConsumerRequestHeader(group=group, topic=topic)
        for address in (await self._clusters.of_topic(topic)).values():
            body: QuerySubscriptionResponseBody | None
            body = await self.body_of(address, Code.QUERY_SUBSCRIPTION_BY_CONSUMER, header)
            if body is not None:
                return body.subscription_data
        return None

    async def read_forbidden(
        self, address: str, group: str, topic: str, *, readable: bool | None = None
    ) -> GroupForbidden:
        """Allow or forbid a group to read a topic; or read the setting, if ``readable`` is None.

        Code 353; Java: ``updateAndGetGroupReadForbidden``.
        """
        header = UpdateGroupForbiddenRequestHeader(group=group, topic=topic, readable=readable)
        return await self.fetch(
            GroupForbidden, address, Code.UPDATE_AND_GET_GROUP_FORBIDDEN, header
        )

    # ------------------------------------------------------------------ pull or pop

    @name_target
    async def set_request_mode(
        self,
        group: str,
        topic: str,
        mode: MessageRequestMode,
        *,
        pop_share_queue_num: int | None = None,
        **target: Unpack[Target],
    ) -> list[Change[SetMessageRequestModeRequestBody]]:
        """Let a group pull or pop a topic (codes 402, 401); returns both modes of each broker.

        Java: ``setMessageRequestMode``.

        Args:
            pop_share_queue_num: for pop, number of other members' queues that each member pops
                too; -1 for all; None keeps the number, which is 0 at first.
        """

        async def read(address: str) -> dict[str, SetMessageRequestModeRequestBody]:
            found = (await self.request_modes(address)).get(topic, {}).get(group)
            return {} if found is None else {group: found}

        def edit(
            present: SetMessageRequestModeRequestBody | None,
        ) -> SetMessageRequestModeRequestBody:
            kept = present.pop_share_queue_num if present else 0
            return SetMessageRequestModeRequestBody(
                consumer_group=group,
                topic=topic,
                mode=mode,
                pop_share_queue_num=kept if pop_share_queue_num is None else pop_share_queue_num,
            )

        async def write(
            address: str, changes: Sequence[Change[SetMessageRequestModeRequestBody]]
        ) -> None:
            await self.ask(address, Code.SET_MESSAGE_REQUEST_MODE, None, changes[0].after)

        return await self._change_each(read, {group: edit}, write, **target)

    async def request_modes(
        self, address: str
    ) -> Mapping[str, Mapping[str, SetMessageRequestModeRequestBody]]:
        """Fetch the request modes by topic and group (code 402); Java's slaves use it."""
        modes = await self.fetch(
            MessageRequestModeSerializeWrapper, address, Code.GET_ALL_MESSAGE_REQUEST_MODE
        )
        return modes.message_request_mode_map or {}


class Exports(TopicCalls):
    """Requests for users' topics and groups."""

    async def topics(self, address: str, *, special: bool = False) -> dict[str, TopicConfig]:
        """Fetch topics without system topics (codes 21, 305; Java: ``getUserTopicConfig``).

        Those of retries and dead letters are included if ``special``.
        """
        system_names = set(await self._topics.system_names(address))
        return {
            name: config
            for name, config in (await self._topics.configs(address)).items()
            if name not in system_names
            and not is_system_topic(name)
            and (special or not (is_retry_topic(name) or is_dlq_topic(name)))
            and 0 <= config.perm <= _MAX_PERM
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
