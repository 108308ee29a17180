"""``PushConsumer``: a member of a group that receives messages as they arrive.

``open_push_consumer`` opens it. Stored offsets are those of handled messages. However a consumer
ends, it lets its handlers finish, stores its offsets, unlocks its queues and unregisters, so that
other members continue there.

Java: ``DefaultMQPushConsumerImpl``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.arguments import check_config
from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
    Filter,
    MessageListenerConcurrently,
    MessageListenerOrderly,
    PushConsumerConfig,
    parse_subscriptions,
)
from rocketwire.client.consumer.member import GroupMember, Membership, join_group
from rocketwire.client.consumer.offset_store import LocalFileOffsetStore, RemoteBrokerOffsetStore
from rocketwire.client.consumer.push.assignment import Assignment
from rocketwire.client.consumer.push.concurrent import ConcurrentConsumption
from rocketwire.client.consumer.push.consumption import PushParts
from rocketwire.client.consumer.push.lending import LentConsumption
from rocketwire.client.consumer.push.orderly import OrderlyConsumption
from rocketwire.client.consumer.queues import LOCK_INTERVAL, QueueLocks
from rocketwire.client.consumer.retry import with_real_topic
from rocketwire.client.consumer.stats import ConsumerStats
from rocketwire.client.handlers import async_handler, check_listeners
from rocketwire.client.periodic import now_millis, repeat_every
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.errors import LocalProtocolError
from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult
from rocketwire.messages.enums import CMResult, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData, SubscriptionData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import retry_topic, with_namespace
from rocketwire.policy.subscription import subscription_data, with_version
from rocketwire.policy.validation import check_consumer_group

if TYPE_CHECKING:
    from rocketwire.client.consumer.member import CachedMessages
    from rocketwire.client.consumer.push.lending import Borrower
    from rocketwire.client.instance.instance import Client
    from rocketwire.messages.callbacks import ConsumerRunningInfo
    from rocketwire.wire.message.stored import StoredMessage

# Result for the operator by the result of a handler
_RESULT = {
    ConsumeConcurrentlyStatus.CONSUME_SUCCESS: CMResult.CR_SUCCESS,
    ConsumeConcurrentlyStatus.RECONSUME_LATER: CMResult.CR_LATER,
    ConsumeOrderlyStatus.SUCCESS: CMResult.CR_SUCCESS,
    ConsumeOrderlyStatus.COMMIT: CMResult.CR_COMMIT,
    ConsumeOrderlyStatus.ROLLBACK: CMResult.CR_ROLLBACK,
    ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT: CMResult.CR_LATER,
    None: CMResult.CR_SUCCESS,
}

# Seconds for storing offsets and unlocking queues, and again for unregistering
CLOSE_TIMEOUT: Final = 5.0


class Delivery:
    """A message that the application handles."""

    __slots__ = ("_retry_level", "_settled", "message", "message_queue")

    def __init__(self, message: StoredMessage, message_queue: MessageQueue) -> None:
        self.message: StoredMessage = message  #: the message
        self.message_queue: MessageQueue = message_queue  #: queue of the message
        self._settled = trio.Event()
        self._retry_level: int | None = None

    @property
    def retry_level(self) -> int | None:
        """Delay level of ``reconsume_later``; None if the message was handled."""
        return self._retry_level

    def ack(self) -> None:
        """Acknowledge the message; requesting the next one does the same."""
        self._settled.set()

    def reconsume_later(self, delay_level: int = 0) -> None:
        """Let the broker redeliver the message later; -1 makes it a dead letter.

        An orderly queue waits until the message is handled, and ignores the level.
        """
        if not self._settled.is_set():
            self._retry_level = delay_level
            self._settled.set()

    async def wait(self) -> None:
        """Wait until the application acknowledges or rejects the message."""
        await self._settled.wait()


class DeliveryChannel:
    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[Delivery](0)
        self._last: Delivery | None = None

    async def concurrently(
        self, messages: Sequence[StoredMessage], context: ConsumeConcurrentlyContext
    ) -> ConsumeConcurrentlyStatus:
        for index, message in enumerate(messages):
            delivery = await self._deliver(message, context.message_queue)
            if delivery.retry_level is not None:
                context.delay_level_when_next_consume = delivery.retry_level
                context.ack_index = index - 1
                break
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS

    async def orderly(
        self, messages: Sequence[StoredMessage], context: ConsumeOrderlyContext
    ) -> ConsumeOrderlyStatus:
        for message in messages:
            delivery = await self._deliver(message, context.message_queue)
            if delivery.retry_level is not None:
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
        return ConsumeOrderlyStatus.SUCCESS

    async def _deliver(self, message: StoredMessage, queue: MessageQueue) -> Delivery:
        delivery = Delivery(message, queue)
        await self._send.send(delivery)
        await delivery.wait()
        return delivery

    async def next(self) -> Delivery:
        if self._last is not None:
            self._last.ack()
            self._last = None
        self._last = await self._receive.receive()
        return self._last


@trio_only()
class PushConsumer(GroupMember):
    """A push consumer of a group."""

    def __init__(
        self,
        membership: Membership,
        config: PushConsumerConfig,
        listener: MessageListenerConcurrently | None,
        orderly_listener: MessageListenerOrderly | None,
        *,
        orderly: bool,
        borrower: Borrower | None = None,
    ) -> None:
        """See ``open_push_consumer``, which also starts the consumer."""
        super().__init__(membership)
        instance, group, nursery, hooks = membership
        self.config = config
        self._announced: dict[str, SubscriptionData] | None = None
        self._stats = ConsumerStats()
        if config.message_model is MessageModel.BROADCASTING:
            self._offsets = LocalFileOffsetStore(
                instance.client_id, group, config.local_offset_store_dir
            )
        else:
            self._offsets = RemoteBrokerOffsetStore(instance, group, never_zero=config.exact_start)
        deliveries = DeliveryChannel()
        self._is_iterated = borrower is not None and not borrower.handles
        self._deliveries = None if listener or orderly_listener else deliveries
        parts = PushParts(
            instance,
            group,
            config,
            self._subscriptions,
            self._offsets,
            QueueLocks(instance, group),
            self._stats,
            nursery,
        )
        #: what handles the messages
        self.consumption: ConcurrentConsumption | OrderlyConsumption
        if orderly:
            ordered = orderly_listener or deliveries.orderly
            self.consumption = OrderlyConsumption(parts, ordered, hooks)
        elif (
            borrower is not None
            and listener is not None
            and (
                hooks is None or not borrower.handles  # hooks see each call of a handler
            )
        ):
            self.consumption = LentConsumption(parts, listener, borrower, hooks)
        else:
            concurrent = listener or deliveries.concurrently
            self.consumption = ConcurrentConsumption(parts, concurrent, hooks)
        self.assignment: Assignment = Assignment(
            parts, self.consumption, self._announce_subscriptions
        )

    # ------------------------------------------------------------------ interface for the
    # application

    @property
    def unreadable_messages(self) -> int:
        """Number of messages that were skipped because they are unreadable."""
        return self.assignment.pulls.report.unreadable

    def __aiter__(self) -> PushConsumer:
        return self

    async def __anext__(self) -> Delivery:
        """Acknowledge the previous message and return the next; for a consumer without listener.

        Raises:
            LocalProtocolError: the consumer has a listener.

        Cancellation: safe; messages that were not handled are redelivered.
        """
        require_trio()
        if self._deliveries is None:
            raise LocalProtocolError("the consumer has a handler (listener): it cannot be iterated")
        return await self._deliveries.next()

    def unsubscribe(self, topic: str) -> None:
        """Unsubscribe from a topic."""
        require_trio()
        name = with_namespace(self._instance.config.namespace, topic)
        if self._subscriptions.pop(name, None) is not None:
            self.subscriptions_changed()

    @property
    def assigned(self) -> tuple[MessageQueue, ...]:
        """The queues that are assigned now."""
        return self.assignment.queues

    def suspend(self) -> None:
        """Suspend pulling until ``resume``; messages that were pulled are still handled."""
        require_trio()
        self.assignment.pulls.suspended = True

    def resume(self) -> None:
        """Resume pulling."""
        require_trio()
        self.assignment.pulls.suspended = False

    # ------------------------------------------------------------------ interface for the instance

    def heartbeat(self) -> ConsumerData:
        return ConsumerData(
            group_name=self.group,
            consume_type=ConsumeType.CONSUME_PASSIVELY,
            message_model=self.config.message_model,
            consume_from_where=self.config.consume_from_where,
            unit_mode=self.config.unit_mode or self._instance.config.unit_mode,
            subscription_data_set=tuple((self._announced or self._subscriptions).values()),
        )

    def rebalance_soon(self) -> None:
        self.assignment.rebalance_soon()

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """Set offsets; handlers get ``await_termination`` to finish before."""
        await self.assignment.reset({q: o for q, o in offsets.items() if q.topic == topic})

    def cached_messages(self) -> Mapping[str, CachedMessages]:
        return self._sum_cached(self.assignment.process_queues().items())

    def running_info(self) -> ConsumerRunningInfo:
        now, queues = trio.current_time(), self.assignment.process_queues()
        return self._running_info(
            self.config,
            ConsumeType.CONSUME_PASSIVELY,
            self.unreadable_messages,
            [(queue, process, self._offsets.get(queue)) for queue, process in queues.items()],
            is_orderly=self.consumption.is_orderly,
            threads=self.config.consume_thread_max,
            status_table={topic: self._stats.status(topic, now) for topic in self._subscriptions},
        )

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        # independent of the process queue
        message = with_real_topic(message, self.group, self._instance.config.namespace)
        queue = MessageQueue(
            topic=message.topic, broker_name=broker_name, queue_id=message.queue_id
        )
        started = trio.current_time()
        auto_commit, remark = True, None
        result, consumption = CMResult.CR_THROW_EXCEPTION, self.consumption
        try:
            if isinstance(consumption, OrderlyConsumption):
                orderly = ConsumeOrderlyContext(message_queue=queue)
                result = _RESULT[await consumption.listener([message], orderly)]
                auto_commit = orderly.auto_commit
            else:
                context = ConsumeConcurrentlyContext(message_queue=queue)
                result = _RESULT[await consumption.listener([message], context)]
        except Exception as error:  # noqa: BLE001 - of the application; sent to the operator
            remark = f"{type(error).__name__}: {error}"
        return ConsumeMessageDirectlyResult(
            order=consumption.is_orderly,
            auto_commit=auto_commit,
            consume_result=result,
            remark=remark,
            spent_time_mills=round((trio.current_time() - started) * 1000),
        )

    # ------------------------------------------------------------------ background tasks

    async def start(self, subscriptions: Mapping[str, Filter]) -> None:
        """Subscribe, and start the tasks; ``open_push_consumer`` calls it."""
        for topic, expression, expression_type in parse_subscriptions(subscriptions):
            self.subscribe(topic, expression, expression_type=expression_type)
        if self.config.message_model is not MessageModel.BROADCASTING:
            name = retry_topic(self.group)
            self._subscriptions[name] = subscription_data(name, version=now_millis())
        for topic in self._subscriptions:
            await self.assignment.has_route(topic)
        await self._check_expressions()
        self._instance.add_consumer(self)
        await self._instance.send_heartbeats()
        self.consumption.start()
        interval = self._instance.config.persist_consumer_offset_interval
        start = self._nursery.start_soon
        start(self.assignment.keep_balanced)
        outages = self.assignment.outages
        start(repeat_every, interval, self.assignment.persist, outages, "storing of offsets")
        start(repeat_every, LOCK_INTERVAL, self.assignment.renew_locks, outages, "renewal of locks")
        start(
            repeat_every,
            self.config.consume_timeout,
            self.assignment.send_back_expired,
            outages,
            "expiry of messages",
        )

    async def close(self) -> None:
        within = self.config.await_termination
        with trio.move_on_after(within + CLOSE_TIMEOUT, shield=True):
            if self._deliveries is not None:
                await trio.lowlevel.checkpoint()  # applies what the loop has acknowledged
                within = 0
            elif self._is_iterated:
                within = 0
            await self.assignment.close(within)
        with trio.move_on_after(CLOSE_TIMEOUT, shield=True):
            await self._instance.remove_consumer(self)

    async def _announce_subscriptions(self) -> None:
        # Brokers compare subscriptions with a new version with those of other members (Java:
        # messageQueueChanged). Pulls use it only when brokers have it, because they reject an
        # unknown version.
        version = now_millis()
        announced = {
            topic: with_version(subscription, version)
            for topic, subscription in self._subscriptions.items()
        }
        self._announced = announced
        await self._instance.send_heartbeats()
        self._announced = None
        for topic in self._subscriptions.keys() & announced.keys():
            if (self._subscriptions[topic].sub_version or 0) < version:
                self._subscriptions[topic] = announced[topic]


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
    borrower: Borrower | None = None,
) -> AsyncGenerator[PushConsumer]:
    """Open a push consumer until the end of the block.

    Args:
        client: an open client; or settings or name servers (``host:port;host:port``) of a new one,
            which is closed with the consumer. A client has at most one consumer of a group.
        subscriptions: filter by topic: tags as ``a || b``, ``*`` for all, or expression and type,
            for example ``("a > 5", "SQL92")``.
        listener: a coroutine function of (messages, context) that handles messages in any order.
            Without a listener the consumer is an iterator.
        orderly_listener: a coroutine function of (messages, context) that handles the messages of
            each queue in order.
        orderly: whether the iterator keeps order; implied by ``orderly_listener``.
        borrower: handles messages outside of trio, for facades; ``listener`` then only handles
            messages that an operator sends directly, and all of them if they are traced.

    Raises:
        IllegalHandlerError: a listener is not async, or does not take two arguments. A listener
            that cannot be checked in advance, for example a lambda, ends the block with this error
            when it returns something that cannot be awaited.
        IllegalTypeError: an argument has the wrong type.
        LocalProtocolError: a name or an expression is invalid, there are two listeners, or the
            client already has a consumer of the group.
        BrokerError: the broker rejects an expression.
        ClientError, ChannelError: the broker is not reachable.

    Closing: pulls end, handlers get ``await_termination`` to finish, offsets are stored, queues are
    unlocked, and the consumer is unregistered. Messages that were not handled are redelivered, here
    or to another member.

    Cancellation: as closing, but handlers are cancelled at once, and their messages are
    redelivered.
    """
    require_trio()
    check_consumer_group(group)
    check_config(config, PushConsumerConfig)
    parse_subscriptions(subscriptions)
    listener, orderly_listener = check_listeners(
        async_handler, listener, orderly_listener, orderly=orderly
    )
    settings = config or PushConsumerConfig()
    is_clustering = settings.message_model is not MessageModel.BROADCASTING
    async with join_group(
        client, group, settings, settings.consume_timeout, own_instance=is_clustering
    ) as membership:
        consumer = PushConsumer(
            membership,
            settings,
            listener,
            orderly_listener,
            orderly=orderly or orderly_listener is not None,
            borrower=borrower,
        )
        try:
            await consumer.start(subscriptions)
            yield consumer
        finally:
            await consumer.close()
