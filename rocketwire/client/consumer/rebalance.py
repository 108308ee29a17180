"""Allocates queues to a consumer, and finds its start offset in a new queue.

Java: ``RebalanceImpl``, ``RebalancePushImpl.computePullFromWhereWithException``.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from rocketwire.client.consumer.pull import PullCalls, PullRequest, PullStatus
from rocketwire.client.consumer.queues import find_replica, get_queues
from rocketwire.client.outages import Outages
from rocketwire.client.periodic import now_millis
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import BrokerError, ChannelError, RocketWireError
from rocketwire.messages.allocation import QueryAssignmentRequestBody, QueryAssignmentResponseBody
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.policy.allocation import sorted_client_ids, sorted_queues, use_all_positions
from rocketwire.policy.resource_names import RETRY_PREFIX, is_retry_topic
from rocketwire.policy.subscription import subscription_data

if TYPE_CHECKING:
    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.allocation import MessageQueueAssignment
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.policy.allocation import AllocateMessageQueueStrategy

T = TypeVar("T")

_CLIENT_ID_OUTAGE: Final = "client id"

_LOG: Final = logging.getLogger("rocketwire.client")

# Default start of ``CONSUME_FROM_TIMESTAMP``: milliseconds before the consumer starts
CONSUME_TIMESTAMP_BEFORE: Final = 30 * 60 * 1000
# Seconds after the first heartbeat within which a broker should list a member of a group
HEARTBEAT_PATIENCE: Final = 3.0


def queue_outage(topic: str) -> str:
    return f"queues of topic {topic}"


class Rebalance:
    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        model: MessageModel,
        strategy: AllocateMessageQueueStrategy,
        *,
        by_broker: bool = False,  # let a broker allocate (Java: ``clientRebalance`` is false)
    ) -> None:
        self._by_broker = by_broker
        self._instance = instance
        self._group = group
        self._model = model
        self._strategy = strategy
        self._topics_of_4x: set[str] = set()
        # logs warnings if there is no queue for this member
        self.outages: Final = Outages(f"group {group}")

    async def has_route(self, topic: str) -> bool:
        """Return whether the topic has a route; fetch it, and log a warning without one."""
        try:
            await self._instance.route(topic)
        except RocketWireError as error:
            self.outages.report_route(topic, error)
            return False
        self.outages.end_route(topic)
        return True

    async def allocate(self, topic: str) -> list[MessageQueue] | None:
        """Return the queues of a topic for this member; None if that is unknown now."""
        if self._by_broker and (assigned := await self.query_assignment(topic)) is not None:
            return [each.message_queue for each in assigned if each.message_queue]
        queues = sorted_queues(await get_queues(self._instance, topic))
        if self._model is MessageModel.BROADCASTING:
            self._report_allocation(topic, queues, queues)
            return queues
        members = await self.fetch_members(topic)
        if not members or not queues:
            self._report_allocation(topic, queues, (), members)
            return None
        own_count = members.count(self._instance.client_id)
        if not own_count:
            self._report_allocation(topic, queues, (), members)
            return []
        strategy = self._strategy
        if own_count > 1 and self._instance.has_own_name:
            _LOG.info("%s: the broker lists %d connections of this client", self._group, own_count)
            strategy = use_all_positions(strategy)
        elif own_count > 1:
            client_id = self._instance.client_id
            self.outages.report(
                _CLIENT_ID_OUTAGE,
                f"{own_count} clients have the client id {client_id}: they get the same queues, and"
                " some queues get no consumer",
                "give each client its own instance_name",
                part=topic,
            )
        if own_count == 1 or self._instance.has_own_name:
            self.outages.end(_CLIENT_ID_OUTAGE, topic)
        allocated = strategy.allocate(self._instance.client_id, queues, sorted_client_ids(members))
        self._report_allocation(topic, queues, allocated, members)
        return allocated

    def _report_allocation(
        self,
        topic: str,
        queues: Sequence[MessageQueue],
        allocated: Sequence[MessageQueue],
        members: Sequence[str] = (),
    ) -> None:
        # not for retry topics, which may have few queues
        subject = queue_outage(topic)
        if allocated or is_retry_topic(topic):
            self.outages.end(subject)
        elif not queues:
            self.outages.report(
                subject,
                "the topic has no queue with read permission",
                "check the permissions of the topic and of its brokers",
            )
        elif not members:
            self.outages.report(
                subject,
                "the broker does not have the group, or lists no member of it",
                "create the group, for example with rocketwire-admin updateSubGroup, and check"
                " whether brokers reject heartbeats",
                patience=HEARTBEAT_PATIENCE,
            )
        elif self._instance.client_id not in members:
            self.outages.report(
                subject,
                f"the broker does not list this client among the {len(members)} members",
                "check whether brokers reject heartbeats",
                patience=HEARTBEAT_PATIENCE,
            )
        else:
            self.outages.report(
                subject,
                f"{len(members)} members share {len(queues)} queues, and this member gets none",
                "add queues to the topic, or start fewer members",
            )

    async def fetch_members(self, topic: str) -> tuple[str, ...]:
        return await self._call_any_broker(
            topic, lambda address: self._instance.brokers.consumer_ids(address, self._group)
        )

    async def _call_any_broker(self, topic: str, call: Callable[[str], Awaitable[T]]) -> T:
        # a second broker if the first does not respond; Java tries any of them again later
        address = await self._instance.any_broker(topic)
        try:
            return await call(address)
        except ChannelError as error:
            alternatives = self._instance.routes.masters_of_topic(topic, but=address)
            if not alternatives:
                raise
            _LOG.debug("%s: calling %s instead: %s", self._group, alternatives[0], error)
            return await call(alternatives[0])

    async def query_assignment(self, topic: str) -> tuple[MessageQueueAssignment, ...] | None:
        """Query the assignment of this member (code 400); None from brokers of 4.x, without it."""
        if topic in self._topics_of_4x:
            return None
        body = QueryAssignmentRequestBody(
            client_id=self._instance.client_id,
            consumer_group=self._group,
            message_model=self._model,
            strategy_name=self._strategy.name,
            topic=topic,
        )
        try:
            response = await self._call_any_broker(
                topic,
                lambda address: self._instance.brokers.call(
                    address, RequestCode.QUERY_ASSIGNMENT, None, body
                ),
            )
        except BrokerError as error:
            if error.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
                raise
            self._topics_of_4x.add(topic)
            return None
        assignment: QueryAssignmentResponseBody | None = response.body
        return (assignment.message_queue_assignments if assignment else None) or ()


class StartSettings(Protocol):
    """Where a group starts; see ``PushConsumerConfig``."""

    @property
    def consume_from_where(self) -> ConsumeFromWhere: ...
    @property
    def consume_timestamp_millis(self) -> int | None: ...
    @property
    def exact_start(self) -> bool: ...


async def find_start_offset(
    instance: ClientInstance,
    group: str,
    config: StartSettings,
    offsets: OffsetStore,
    queue: MessageQueue,
) -> int:
    stored = await offsets.fetch(queue)
    if stored is not None and stored >= 0:
        return stored
    return await find_initial_offset(
        instance,
        queue,
        config.consume_from_where,
        config.consume_timestamp_millis,
        exact_for=group if config.exact_start else None,
    )


async def find_initial_offset(
    instance: ClientInstance,
    queue: MessageQueue,
    where: ConsumeFromWhere,
    timestamp_millis: int | None = None,
    *,
    exact_for: str | None = None,
) -> int:
    """Return the offset where a group without a stored offset starts.

    The three deprecated values of ``where`` mean ``CONSUME_FROM_LAST_OFFSET``, as in Java; a
    missing time means half an hour ago. With ``exact_for``, the group, results of brokers before
    5.0 are corrected.
    """
    is_retry = (queue.topic or "").startswith(RETRY_PREFIX)
    if where is ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET:
        return 0
    by_time = where is ConsumeFromWhere.CONSUME_FROM_TIMESTAMP
    if is_retry and not by_time:
        return 0
    address = (await find_replica(instance, queue)).address
    if is_retry or not by_time:
        return await instance.brokers.max_offset(address, queue)
    if timestamp_millis is None:
        timestamp_millis = now_millis() - CONSUME_TIMESTAMP_BEFORE
    if exact_for is not None:
        return await find_offset_at(instance, exact_for, queue, timestamp_millis)
    return await instance.brokers.search_offset(address, queue, timestamp_millis)


# Maximum pulls of messages that are too old; enough for two thousand in a millisecond
_PULLS: Final = 64


async def find_offset_at(
    instance: ClientInstance, group: str, queue: MessageQueue, timestamp_millis: int
) -> int:
    # Brokers before 5.0 return the message whose store time is nearest, which may be older, or any
    # message of that millisecond; Java's consumers start there
    # (``ConsumeQueue.getOffsetInQueueByTime`` of 4.9.4).
    # One millisecond earlier, so that no message of the millisecond itself is missed.
    search_millis = max(timestamp_millis - 1, 0)
    address = (await find_replica(instance, queue)).address
    offset = await instance.brokers.search_offset(address, queue, search_millis)
    pulls = PullCalls(instance)
    for _ in range(_PULLS):
        result = await pulls.pull(
            PullRequest(
                queue=queue,
                offset=offset,
                group=group,
                subscription=subscription_data(queue.topic or "", version=0),
                suspend_timeout=0,
                send_subscription=True,
            )
        )
        for message in result.messages:
            if message.store_timestamp >= timestamp_millis:
                return message.queue_offset
        if result.status is PullStatus.NO_NEW_MSG or result.next_begin_offset <= offset:
            break
        offset = result.next_begin_offset
    return offset
