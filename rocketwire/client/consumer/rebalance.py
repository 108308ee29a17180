"""Which queues of a topic a consumer has now, and where it begins in a queue that it gets.

Java: ``RebalanceImpl``, ``RebalancePushImpl.computePullFromWhereWithException``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from rocketwire.client.consumer.queues import queues_of, replica_of
from rocketwire.client.outages import Outages
from rocketwire.client.periodic import now_millis
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, ChannelError, RocketWireError
from rocketwire.messages.allocation import QueryAssignmentRequestBody, QueryAssignmentResponseBody
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.policy.allocation import of_all_places, sorted_client_ids, sorted_queues
from rocketwire.policy.resource_names import RETRY_PREFIX, is_retry_topic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.allocation import MessageQueueAssignment
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.allocation import AllocateMessageQueueStrategy

T = TypeVar("T")

_NAMES: Final = "client id"

_LOG: Final = logging.getLogger("rocketwire.client")

CONSUME_TIMESTAMP_BEFORE: Final = 30 * 60 * 1000
"""Milliseconds before the start of a consumer at which ``CONSUME_FROM_TIMESTAMP`` begins unless told otherwise."""


HEARTBEAT_PATIENCE: Final = 3.0
"""Seconds after which a broker should list the members of a group that have just sent their first heartbeats."""


def queues_subject(topic: str) -> str:
    """The subject of warnings about the queues of a topic."""
    return f"queues of topic {topic}"


class Rebalance:
    """Shares the queues of topics out among the members of one group.

    Attributes:
        outages: warns when there is no queue for this member.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        model: MessageModel,
        strategy: AllocateMessageQueueStrategy,
    ) -> None:
        """Nothing is asked yet.

        Args:
            instance: knows routes and carries the requests.
            group: with its namespace.
            model: whether the members share the queues, or each has them all.
            strategy: how they are shared; the same for all members.
        """
        self._instance = instance
        self._group = group
        self._model = model
        self._strategy = strategy
        self._broker_cannot: set[str] = set()
        self.outages = Outages(f"group {group}")

    async def has_route(self, topic: str) -> bool:
        """Whether the route of a topic is known, or a name server tells it now; warns if not."""
        try:
            await self._instance.route(topic)
        except RocketWireError as error:
            self.outages.report_route(topic, error)
            return False
        self.outages.end_route(topic)
        return True

    async def assigned(self, topic: str) -> list[MessageQueue] | None:
        """The queues of a topic that are this member's; None where that cannot be told now.

        Raises:
            ClientError, ChannelError: name server or broker do not answer.
            LocalProtocolError: the strategy cannot work with what there is.
        """
        queues = sorted_queues(await queues_of(self._instance, topic))
        if self._model is MessageModel.BROADCASTING:
            self._judge(topic, queues, queues)
            return queues
        members = await self.members(topic)
        if not members or not queues:
            self._judge(topic, queues, (), members)
            return None
        own = members.count(self._instance.client_id)
        if not own:
            self._judge(topic, queues, (), members)
            return []
        strategy = self._strategy
        if own > 1 and self._instance.has_own_name:
            _LOG.info("%s: the broker knows %d connections of this client", self._group, own)
            strategy = of_all_places(strategy)
        elif own > 1:
            client_id = self._instance.client_id
            self.outages.report(
                _NAMES,
                f"{own} clients are called {client_id}: they get the same queues, and some queues get nobody",
                "give each its own instance_name",
                part=topic,
            )
        if own == 1 or self._instance.has_own_name:
            self.outages.end(_NAMES, topic)
        allocated = strategy.allocate(self._instance.client_id, queues, sorted_client_ids(members))
        self._judge(topic, queues, allocated, members)
        return allocated

    def _judge(
        self,
        topic: str,
        queues: Sequence[MessageQueue],
        allocated: Sequence[MessageQueue],
        members: Sequence[str] = (),
    ) -> None:
        """Warn if a topic has no queue for this member, with the reason.

        A retry topic may have few queues.
        """
        subject = queues_subject(topic)
        if allocated or is_retry_topic(topic):
            self.outages.end(subject)
        elif not queues:
            self.outages.report(
                subject,
                "there is no queue with the permission to read",
                "check the permissions of the topic and of its brokers",
            )
        elif not members:
            self.outages.report(
                subject,
                "the broker does not know the group, or lists no member of it",
                "create the group, as with rocketwire-admin updateSubGroup, and look for refused heartbeats",
                patience=HEARTBEAT_PATIENCE,
            )
        elif self._instance.client_id not in members:
            self.outages.report(
                subject,
                f"the broker does not list this client among the {len(members)} members of the group",
                "look for refused heartbeats",
                patience=HEARTBEAT_PATIENCE,
            )
        else:
            self.outages.report(
                subject,
                f"{len(members)} members share {len(queues)} queues, and none is left for this one",
                "add queues to the topic, or start fewer members",
            )

    async def members(self, topic: str) -> tuple[str, ...]:
        """Client ids of the group, as some broker of the topic knows them.

        Raises:
            ClientError, ChannelError: it does not answer.
        """
        return await self._of_any(
            topic, lambda address: self._instance.brokers.consumer_ids(address, self._group)
        )

    async def _of_any(self, topic: str, ask: Callable[[str], Awaitable[T]]) -> T:
        """What some broker of the topic says, another one if that does not answer.

        Java tries again later, at any of them.

        Raises:
            ClientError: as of ``any_broker``, or of the call.
            ChannelError: two of them do not answer, or the only one.
        """
        address = await self._instance.any_broker(topic)
        try:
            return await ask(address)
        except ChannelError as error:
            others = self._instance.routes.masters_of_topic(topic, but=address)
            if not others:
                raise
            _LOG.debug("%s: asking %s instead: %s", self._group, others[0], error)
            return await ask(others[0])

    async def assigned_by_broker(self, topic: str) -> tuple[MessageQueueAssignment, ...] | None:
        """What the broker says is this member's (code 400).

        None from a broker of 4.x, which cannot.

        Raises:
            ClientError, ChannelError: it does not answer.
        """
        if topic in self._broker_cannot:
            return None
        body = QueryAssignmentRequestBody(
            client_id=self._instance.client_id,
            consumer_group=self._group,
            message_model=self._model,
            strategy_name=self._strategy.name,
            topic=topic,
        )
        try:
            answer = await self._of_any(
                topic,
                lambda address: self._instance.brokers.call(
                    address, RequestCode.QUERY_ASSIGNMENT, None, body
                ),
            )
        except BrokerError as error:
            if error.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                raise
            self._broker_cannot.add(topic)
            return None
        told: QueryAssignmentResponseBody | None = answer.body
        return () if told is None else told.message_queue_assignments or ()


class Beginning(Protocol):
    """The settings that say where a consumer begins; attributes as of ``PushConsumerConfig``."""

    @property
    def consume_from_where(self) -> ConsumeFromWhere:
        """Where to begin in a queue of which no offset is known."""
        ...

    @property
    def consume_timestamp_millis(self) -> int | None:
        """For ``CONSUME_FROM_TIMESTAMP``."""
        ...

    @property
    def begin_as_told(self) -> bool:
        """Whether ``consume_from_where`` holds for young topics too."""
        ...


async def offset_to_begin_at(
    instance: ClientInstance,
    group: str,
    config: Beginning,
    offsets: OffsetStore,
    queue: MessageQueue,
) -> int:
    """The offset that is stored for a group, or the one that its settings say.

    Raises:
        ClientError, ChannelError: the broker does not tell.
    """
    stored = await offsets.fetch(queue)
    if stored is not None and stored >= 0:
        return stored
    return await first_offset(
        instance,
        queue,
        config.consume_from_where,
        config.consume_timestamp_millis,
        exact_for=group if config.begin_as_told else None,
    )


async def first_offset(
    instance: ClientInstance,
    queue: MessageQueue,
    where: ConsumeFromWhere,
    timestamp_millis: int | None = None,
    *,
    exact_for: str | None = None,
) -> int:
    """Where to begin in a queue of which the group has no offset.

    Args:
        instance: carries the request.
        queue: which.
        where: of the settings; the three obsolete values are ``CONSUME_FROM_LAST_OFFSET``, as in
            Java.
        timestamp_millis: for ``CONSUME_FROM_TIMESTAMP``; None for half an hour ago.
        exact_for: the group, if brokers before 5.0 are not to be believed (``offset_lookup.py``).

    Raises:
        ClientError, ChannelError: the broker does not tell.
    """
    is_retry = (queue.topic or "").startswith(RETRY_PREFIX)
    if where is ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET:
        return 0
    by_time = where is ConsumeFromWhere.CONSUME_FROM_TIMESTAMP
    if is_retry and not by_time:
        return 0
    address = (await replica_of(instance, queue)).address
    if is_retry or not by_time:
        return await instance.brokers.max_offset(address, queue)
    if timestamp_millis is None:
        timestamp_millis = now_millis() - CONSUME_TIMESTAMP_BEFORE
    if exact_for is not None:
        from rocketwire.client.consumer.offset_lookup import offset_at

        return await offset_at(instance, exact_for, queue, timestamp_millis)
    return await instance.brokers.search_offset(address, queue, timestamp_millis)
