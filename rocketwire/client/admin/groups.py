"""Consumer groups on brokers: configuration, what they read and may read, and whether they pull or pop.

Java: ``DefaultMQAdminExtImpl``, ``UpdateSubGroupSubCommand``, ``DeleteSubscriptionGroupCommand``, ``SetConsumeModeSubCommand``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocketwire.client.admin.fanout import Asking, of_each, told_by_each
from rocketwire.client.admin.paging import PAGE_SIZE, Page, all_pages
from rocketwire.codes import RequestCode as Code
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
from rocketwire.policy.resource_names import dlq_topic, retry_topic
from rocketwire.policy.topic_attributes import attribute_changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.client.admin.clusters import Clusters
    from rocketwire.client.admin.topics import Topics
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.enums import MessageRequestMode
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.route import TopicList


class Groups(Asking):
    """Calls about consumer groups; all of them raise what ``Asking.ask`` raises.

    ``broker`` and ``cluster`` are meant as in ``Topics``.
    """

    def __init__(
        self, client: ClientInstance, clusters: Clusters, topics: Topics, within: float
    ) -> None:
        """Nothing is sent yet."""
        super().__init__(client, within)
        self._clusters = clusters
        self._topics = topics

    async def create_or_update(
        self,
        config: SubscriptionGroupConfig,
        *,
        broker: str | None = None,
        cluster: str | None = None,
    ) -> tuple[str, ...]:
        """Create a group, or make it what ``config`` says (code 200).

        Returns the addresses of the brokers that did.

        Java: ``createAndUpdateSubscriptionGroupConfig``.

        Raises:
            BrokerError: 29 for a name that is not allowed.
        """
        return await self._tell(
            broker, cluster, Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, _changed(config)
        )

    async def create_or_update_all(
        self,
        configs: Sequence[SubscriptionGroupConfig],
        *,
        broker: str | None = None,
        cluster: str | None = None,
    ) -> tuple[str, ...]:
        """Create or change several groups in one request (code 225).

        Java: ``createAndUpdateSubscriptionGroupConfigList``.
        """
        body = SubscriptionGroupList(group_config_list=tuple(map(_changed, configs)))
        return await self._tell(
            broker, cluster, Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, body
        )

    async def delete(
        self,
        group: str,
        *,
        broker: str | None = None,
        cluster: str | None = None,
        clean_offset: bool = False,
    ) -> tuple[str, ...]:
        """Delete a group (code 207); returns the addresses.

        Of a cluster the topics of its retries and dead letters go too, as mqadmin does it.  A
        member that is connected makes its group anew with its next heartbeat.  Java:
        ``deleteSubscriptionGroup``, ``DeleteSubscriptionGroupCommand``.

        Args:
            group: which.
            broker: address of one broker.
            cluster: in its place, all masters of a cluster.
            clean_offset: its offsets go with it.
        """
        header = DeleteSubscriptionGroupRequestHeader(group_name=group, clean_offset=clean_offset)
        addresses = await self._clusters.targets(broker, cluster)
        await of_each(
            addresses, lambda address: self.ask(address, Code.DELETE_SUBSCRIPTIONGROUP, header)
        )
        if cluster is not None:
            for topic in (dlq_topic(group), retry_topic(group)):
                await self._topics.delete(topic, cluster)
        return addresses

    async def config(self, address: str, group: str) -> SubscriptionGroupConfig:
        """A group as one broker has it (code 352.

        Java: ``examineSubscriptionGroupConfig``, which asks for all of them).

        A broker that creates groups by itself creates this one.

        Raises:
            BrokerError: 26, the broker does not have it.
        """
        header = GetSubscriptionGroupConfigRequestHeader(group=group)
        found: SubscriptionGroupConfig
        found = await self.body_of(address, Code.GET_SUBSCRIPTIONGROUP_CONFIG, header)
        return found

    async def configs(
        self, address: str, *, page_size: int = PAGE_SIZE
    ) -> Mapping[str, SubscriptionGroupConfig]:
        """Every group of a broker, by name, in pages (code 201.

        Java: ``getAllSubscriptionGroup``).
        """

        async def ask(start: int, version: str) -> Page[SubscriptionGroupConfig]:
            header = GetAllSubscriptionGroupRequestHeader(
                group_seq=start, max_group_num=page_size, data_version=version
            )
            answer = await self.ask(address, Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, header)
            body = answer.body
            total = answer.header.total_group_num
            return Page(body.subscription_group_table or {}, total, body.data_version)

        return (await all_pages(ask)).entries

    # ------------------------------------------------------------------ what they read

    async def topics(self, group: str) -> tuple[str, ...]:
        """Topics that a group reads, from all brokers of its retry topic (code 343.

        Java: ``queryTopicsByConsumer``).

        Raises:
            TopicRouteNotFoundError: no member of the group was ever connected.
        """
        header = QueryTopicsByConsumerRequestHeader(group=group)
        places = await self._clusters.of_topic(retry_topic(group))
        each: dict[str, TopicList | None] = await told_by_each(
            places.values(),
            lambda address: self.body_of(address, Code.QUERY_TOPICS_BY_CONSUMER, header),
        )
        found = (name for one in each.values() if one for name in one.topic_list or () if name)
        return tuple(dict.fromkeys(found))

    async def subscription(self, group: str, topic: str) -> SubscriptionData | None:
        """How a group reads a topic, as the first of its brokers knows.

        None where nobody is connected.

        Code 345; Java: ``querySubscription``.

        Raises:
            TopicRouteNotFoundError: nobody has the topic.
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
        """Allow or forbid a group to read a topic, or only look (code 353).

        Java: ``updateAndGetGroupReadForbidden``.

        Args:
            address: of the broker.
            group: who.
            topic: what.
            readable: from now on; None to leave it as it is.
        """
        header = UpdateGroupForbiddenRequestHeader(group=group, topic=topic, readable=readable)
        found: GroupForbidden
        found = await self.body_of(address, Code.UPDATE_AND_GET_GROUP_FORBIDDEN, header)
        return found

    # ------------------------------------------------------------------ pull or pop

    async def set_request_mode(
        self,
        group: str,
        topic: str,
        mode: MessageRequestMode,
        *,
        pop_share_queue_num: int = 0,
        broker: str | None = None,
        cluster: str | None = None,
    ) -> tuple[str, ...]:
        """Have a group pull or pop a topic (code 401); returns the addresses.

        Java: ``setMessageRequestMode``.

        Args:
            group: who.
            topic: what.
            mode: how.
            pop_share_queue_num: of pops, how many other members' queues each member pops too; -1
                for all.
            broker: address of one broker.
            cluster: in its place, all masters of a cluster.
        """
        body = SetMessageRequestModeRequestBody(
            consumer_group=group, topic=topic, mode=mode, pop_share_queue_num=pop_share_queue_num
        )
        return await self._tell(broker, cluster, Code.SET_MESSAGE_REQUEST_MODE, body)

    async def request_modes(
        self, address: str
    ) -> Mapping[str, Mapping[str, SetMessageRequestModeRequestBody]]:
        """What was set so, by topic and group (code 402); Java's slaves ask their master for it."""
        body: MessageRequestModeSerializeWrapper | None
        body = await self.body_of(address, Code.GET_ALL_MESSAGE_REQUEST_MODE)
        return (body.message_request_mode_map if body else None) or {}

    async def _tell(
        self, broker: str | None, cluster: str | None, code: Code, body: object
    ) -> tuple[str, ...]:
        addresses = await self._clusters.targets(broker, cluster)
        await of_each(addresses, lambda address: self.ask(address, code, None, body))
        return addresses


def _changed(config: SubscriptionGroupConfig) -> SubscriptionGroupConfig:
    return replace(config, attributes=attribute_changes(config.attributes))
