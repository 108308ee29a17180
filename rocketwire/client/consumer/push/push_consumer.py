"""``PushConsumer``: a member of a group that gets messages as they come.

Opened by ``open_push_consumer``.

Rules of this file: offsets are of what was handled.  However a consumer ends, cancelled or not, it
lets its handlers end, stores its offsets, unlocks its queues and says goodbye, so that others go on
where it stopped.

Java: ``DefaultMQPushConsumerImpl``.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.arguments import check_config
from rocketwire.client.consumer.config import (
    PushConsumerConfig,
    check_subscription,
    parse_subscriptions,
)
from rocketwire.client.consumer.filter_check import check_expression
from rocketwire.client.consumer.offset_store import LocalFileOffsetStore, RemoteBrokerOffsetStore
from rocketwire.client.consumer.push.assignment import Assignment
from rocketwire.client.consumer.push.concurrent import ConcurrentConsumption
from rocketwire.client.consumer.push.iteration import Deliveries, Delivery
from rocketwire.client.consumer.push.operator_requests import consumed_directly, described
from rocketwire.client.consumer.push.orderly import OrderlyConsumption
from rocketwire.client.consumer.queue_locks import LOCK_INTERVAL, QueueLocks
from rocketwire.client.consumer.stats import ConsumerStats
from rocketwire.client.handlers import async_handler
from rocketwire.client.instance.opening import open_or_reuse_client
from rocketwire.client.periodic import every, now_millis
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.errors import LocalProtocolError
from rocketwire.messages.enums import ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData
from rocketwire.policy.resource_names import retry_topic, with_namespace
from rocketwire.policy.subscription import subscription_data, with_version
from rocketwire.policy.validation import check_consumer_group, check_topic
from rocketwire.transport.nursery import background

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from rocketwire.client.consumer.config import (
        Filter,
        MessageListenerConcurrently,
        MessageListenerOrderly,
    )
    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.consumer.trace import ConsumerTrace
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.instance.opening import Client
    from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult, ConsumerRunningInfo
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.wire.message.stored import StoredMessage

GOODBYE: Final = 5.0
"""Seconds beside ``await_termination`` in which a consumer that closes stores offsets, unlocks queues and tells brokers."""


@trio_only()
class PushConsumer:
    """A consumer of one group.

    Attributes:
        group: with its namespace.
        config: its settings.
        assignment: the queues that it has.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: PushConsumerConfig,
        listener: MessageListenerConcurrently | None,
        orderly_listener: MessageListenerOrderly | None,
        *,
        orderly: bool,
        nursery: trio.Nursery,
        trace: ConsumerTrace | None = None,
    ) -> None:
        """Without subscriptions.

        Arguments as of ``open_push_consumer``, which also starts it and opens ``trace``.
        """
        self.group = group
        self.config = config
        self._instance = instance
        self._nursery = nursery
        self._subscriptions: dict[str, SubscriptionData] = {}
        self._told: dict[str, SubscriptionData] | None = None
        self._stats = ConsumerStats()
        self._offsets: OffsetStore
        if config.message_model is MessageModel.BROADCASTING:
            self._offsets = LocalFileOffsetStore(
                instance.client_id, group, config.local_offset_store_dir
            )
        else:
            self._offsets = RemoteBrokerOffsetStore(
                instance, group, never_zero=config.begin_as_told
            )
        deliveries = Deliveries()
        self._deliveries = None if listener or orderly_listener else deliveries
        locks = QueueLocks(instance, group)
        self._consumption: ConcurrentConsumption | OrderlyConsumption
        if orderly:
            heard = orderly_listener or deliveries.orderly
            self._consumption = OrderlyConsumption(
                instance, group, config, heard, self._offsets, locks, self._stats, nursery, trace
            )
        else:
            told = listener or deliveries.concurrently
            self._consumption = ConcurrentConsumption(
                instance, group, config, told, self._offsets, self._stats, nursery, trace
            )
        self.assignment = Assignment(
            instance,
            group,
            config,
            self._subscriptions,
            self._offsets,
            locks,
            self._stats,
            self._consumption,
            nursery,
            self._queues_changed,
        )
        self._started_millis = now_millis()

    # ------------------------------------------------------------------ for the application

    @property
    def unreadable_messages(self) -> int:
        """How many messages were skipped so far because they cannot be read."""
        return self.assignment.pulls.report.unreadable

    def __aiter__(self) -> PushConsumer:
        """The consumer itself."""
        return self

    async def __anext__(self) -> Delivery:
        """The next message, of a consumer that was opened without a listener.

        The one before counts as handled.

        Raises:
            LocalProtocolError: the messages go to a listener.
            NotInTrioError: the caller does not run in trio.

        Cancellation: nothing is lost; what was not handled comes back.
        """
        require_trio()
        if self._deliveries is None:
            raise LocalProtocolError("the messages of this consumer go to its listener")
        return await self._deliveries.next()

    def subscribe(
        self, topic: str, expression: str | None = None, *, expression_type: str | None = None
    ) -> None:
        """Want messages of a topic, from the next sharing of queues on.

        Replaces an earlier subscription of it.

        All members of a group have to want the same: the broker goes by whoever spoke last.

        Args:
            topic: its name.
            expression: tags as ``a || b``; None for all; of other types whatever they are.
            expression_type: None or ``TAG``, ``SQL92``, or another that the broker knows.

        Raises:
            NotInTrioError: the caller does not run in trio.
            IllegalTypeError: an argument is not a text.
            LocalProtocolError: not a name of a topic, no tag in the expression, or none of another
                type.
        """
        require_trio()
        check_subscription(topic, expression, expression_type)
        check_topic(topic)
        name = with_namespace(self._instance.config.namespace, topic)
        self._subscriptions[name] = subscription_data(
            name, expression, expression_type=expression_type, version=now_millis()
        )
        self._instance.heartbeat_soon()
        self.rebalance_soon()

    def unsubscribe(self, topic: str) -> None:
        """Want nothing of the topic any more."""
        require_trio()
        name = with_namespace(self._instance.config.namespace, topic)
        if self._subscriptions.pop(name, None) is not None:
            self._instance.heartbeat_soon()
            self.rebalance_soon()

    @property
    def assigned(self) -> tuple[MessageQueue, ...]:
        """The queues that it has now."""
        return self.assignment.queues

    def suspend(self) -> None:
        """Pull nothing until ``resume``; what has come is still handled."""
        require_trio()
        self.assignment.pulls.suspended = True

    def resume(self) -> None:
        """Pull again."""
        require_trio()
        self.assignment.pulls.suspended = False

    # ------------------------------------------------------------------ a member of the instance

    def topics(self) -> tuple[str, ...]:
        """As ``ConsumerMember``."""
        return tuple(self._subscriptions)

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """As ``ConsumerMember``."""
        self.rebalance_soon()

    def heartbeat(self) -> ConsumerData:
        """As ``ConsumerMember``."""
        return ConsumerData(
            group_name=self.group,
            consume_type=ConsumeType.CONSUME_PASSIVELY,
            message_model=self.config.message_model,
            consume_from_where=self.config.consume_from_where,
            unit_mode=self.config.unit_mode,
            subscription_data_set=tuple((self._told or self._subscriptions).values()),
        )

    def rebalance_soon(self) -> None:
        """As ``ConsumerMember``."""
        self.assignment.rebalance_soon()

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """As ``ConsumerMember``.

        Handlers get ``await_termination`` to end before the offsets count.
        """
        await self.assignment.reset({q: at for q, at in offsets.items() if q.topic == topic})

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        """As ``ConsumerMember``."""
        return self._offsets.snapshot(topic)

    def running_info(self) -> ConsumerRunningInfo:
        """As ``ConsumerMember``."""
        return described(
            self._subscriptions,
            self.assignment.windows(),
            self._offsets,
            self._stats,
            is_orderly=self._consumption.is_orderly,
            threads=self.config.consume_thread_max,
            started_millis=self._started_millis,
            unreadable=self.unreadable_messages,
        )

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        """As ``ConsumerMember``."""
        return await consumed_directly(self._consumption, message, broker_name, self.group)

    # ------------------------------------------------------------------ background

    async def start(self, subscriptions: Mapping[str, Filter]) -> None:
        """Subscribe, and start the tasks; ``open_push_consumer`` does."""
        for topic, expression, expression_type in parse_subscriptions(subscriptions):
            self.subscribe(topic, expression, expression_type=expression_type)
        if self.config.message_model is not MessageModel.BROADCASTING:
            name = retry_topic(self.group)
            self._subscriptions[name] = subscription_data(name, version=now_millis())
        await self._learn_routes()
        for subscription in self._subscriptions.values():
            await check_expression(self._instance, self.group, subscription)
        self._instance.add_consumer(self)
        await self._instance.send_heartbeats()
        self._consumption.start()
        interval = self._instance.config.persist_consumer_offset_interval
        start = self._nursery.start_soon
        start(self.assignment.keep_balanced)
        outages = self.assignment.outages
        start(every, interval, self.assignment.persist, outages, "storing of offsets")
        start(every, LOCK_INTERVAL, self.assignment.renew_locks, outages, "renewal of locks")
        start(
            every,
            self.config.consume_timeout,
            self.assignment.give_up_expired,
            outages,
            "expiry of messages",
        )

    async def close(self) -> None:
        """Give everything up in good order; ``open_push_consumer`` does."""
        within = self.config.await_termination
        with trio.move_on_after(within + GOODBYE, shield=True):
            if self._deliveries is not None:
                await trio.lowlevel.checkpoint()  # what the loop has acknowledged counts
                within = 0
            await self.assignment.close(within)
        with trio.move_on_after(GOODBYE, shield=True):
            await self._instance.remove_consumer(self)

    async def _learn_routes(self) -> None:
        for topic in self._subscriptions:
            await self.assignment.has_route(topic)

    async def _queues_changed(self) -> None:
        """Says everything anew, so that brokers compare it with the other members' (Java: ``messageQueueChanged``).

        Pulls carry the new version only once brokers know it: they refuse one that they have not heard of.
        """
        version = now_millis()
        told = {topic: with_version(one, version) for topic, one in self._subscriptions.items()}
        self._told = told
        await self._instance.send_heartbeats()
        self._told = None
        for topic in self._subscriptions.keys() & told.keys():
            if (self._subscriptions[topic].sub_version or 0) < version:
                self._subscriptions[topic] = told[topic]


@asynccontextmanager
async def open_push_consumer(
    client: Client,
    group: str,
    subscriptions: Mapping[str, Filter],
    listener: MessageListenerConcurrently | None = None,
    *,
    orderly_listener: MessageListenerOrderly | None = None,
    orderly: bool = False,
    config: PushConsumerConfig | None = None,
) -> AsyncGenerator[PushConsumer]:
    """A push consumer for the length of the block.

    Args:
        client: an open client; or settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the consumer.  A client has at most one consumer of a group.
        group: its name.
        subscriptions: by topic the tags that are wanted as ``a || b``, ``*`` for all, or expression
            and type, as ``("a > 5", "SQL92")``.
        listener: a coroutine function of (messages, context) that handles messages in any order.
            Without a listener the consumer is an iterator.
        orderly_listener: a coroutine function of (messages, context) that handles the messages of
            each queue in order.
        orderly: whether the iterator keeps order; implied by ``orderly_listener``.
        config: settings.

    Raises:
        IllegalHandlerError: a listener is not async, or does not take two arguments.  A listener
            that cannot be judged in advance, as a lambda, ends the block with this error when it
            returns something that cannot be awaited.
        IllegalTypeError: an argument has the wrong type.
        NotInTrioError: the caller does not run in trio.
        LocalProtocolError: a name or an expression that cannot be, two listeners, or a second
            consumer of the group.
        BrokerError: the broker does not understand an expression.
        ClientError, ChannelError: it cannot be asked.

    Closing: pulls end, handlers get ``await_termination`` to end, offsets are stored, queues
    unlocked and brokers told; what was not handled comes back, here or to another member.

    Cancellation: the same; handlers are not waited for but cancelled, and their messages come back.
    """
    require_trio()
    check_consumer_group(group)
    check_config(config, PushConsumerConfig)
    parse_subscriptions(subscriptions)
    if listener is not None and orderly_listener is not None:
        raise LocalProtocolError("two listeners")
    if listener is not None:
        listener = async_handler("listener", listener, "messages, context")
    if orderly_listener is not None:
        orderly_listener = async_handler("orderly_listener", orderly_listener, "messages, context")
    settings = config or PushConsumerConfig()
    shares = settings.message_model is not MessageModel.BROADCASTING
    async with (
        open_or_reuse_client(client, own_instance=shares) as instance,
        background() as nursery,
        AsyncExitStack() as stack,
    ):
        name = with_namespace(instance.config.namespace, group)
        trace: ConsumerTrace | None = None
        if settings.enable_trace:
            from rocketwire.client.consumer.trace import open_consumer_trace

            late = settings.consume_timeout
            opened = open_consumer_trace(instance, name, settings.trace_topic, late, nursery)
            trace = await stack.enter_async_context(opened)
        consumer = PushConsumer(
            instance,
            name,
            settings,
            listener,
            orderly_listener,
            orderly=orderly or orderly_listener is not None,
            nursery=nursery,
            trace=trace,
        )
        try:
            await consumer.start(subscriptions)
            yield consumer
        finally:
            await consumer.close()
