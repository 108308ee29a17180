"""``PopConsumer``: the broker keeps track of each message of the group.

``open_pop_consumer`` opens it.

Each member pops the queues that a broker assigns to it, by default those of all brokers; a message
that is not acknowledged in time is redelivered to any member. The retry topic of the group is
pulled: it has the messages that a push consumer of the group sent back before.

Java: ``DefaultMQPushConsumerImpl.popMessage``, ``ConsumeMessagePopConcurrentlyService``.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from rocketwire.client.arguments import (
    Rule,
    Settings,
    check_config,
    check_settings,
    instance_of,
    integer_in,
    seconds,
)
from rocketwire.client.consumer.config import (
    ConsumeConcurrentlyStatus,
    Filter,
    PushConsumerConfig,
    parse_subscriptions,
)
from rocketwire.client.consumer.member import CachedMessages, GroupMember, Membership, join_group
from rocketwire.client.consumer.offset_store import RemoteBrokerOffsetStore
from rocketwire.client.consumer.pop.pop import (
    ANY_QUEUE,
    Acknowledgements,
    InitMode,
    PopCalls,
    PopResult,
    PopStatus,
    handle_text,
)
from rocketwire.client.consumer.pulled_messages import ReadReport, build_limits
from rocketwire.client.consumer.push.assignment import Assignment
from rocketwire.client.consumer.push.concurrent import ConcurrentConsumption
from rocketwire.client.consumer.push.consumption import PushParts
from rocketwire.client.consumer.queues import QueueLocks
from rocketwire.client.consumer.rebalance import Rebalance, queue_outage
from rocketwire.client.consumer.retry import (
    describe_message,
    report_failed_handler,
    with_real_topic,
)
from rocketwire.client.consumer.stats import ConsumerStats
from rocketwire.client.handlers import async_handler
from rocketwire.client.periodic import now_millis, repeat_every
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.controls import log_text
from rocketwire.errors import IllegalHandlerError, MissingPackageError, RocketWireError
from rocketwire.flags import Perm
from rocketwire.messages.callbacks import (
    ConsumeMessageDirectlyResult,
    ConsumerRunningInfo,
    PopProcessQueueInfo,
)
from rocketwire.messages.enums import (
    CMResult,
    ConsumeFromWhere,
    ConsumeType,
    MessageModel,
    MessageRequestMode,
)
from rocketwire.messages.heartbeat import ConsumerData
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.allocation import AllocateMessageQueueAveragely
from rocketwire.policy.resource_names import is_retry_topic, retry_topic
from rocketwire.policy.subscription import subscription_data
from rocketwire.policy.validation import check_consumer_group
from rocketwire.wire.message.stored import StoredMessage
from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import Client
    from rocketwire.messages.route import TopicRouteData

_LOG: Final = logging.getLogger("rocketwire.client")

# Seconds until a failed message is redelivered, by the number of attempts
POP_DELAY_LEVEL: Final = (10, 30, *range(60, 601, 60), 1200, 1800, 3600, 7200)

POP_DELAY_EXCEPTION: Final = 1.0  # delay in seconds after a failed pop

_POLLING_FULL: Final = "the broker has too many waiting pops"

# Seconds for which a broker may be too busy for pops before a warning is logged
FULL_PATIENCE: Final = 10.0
# Seconds to wait at close for the response to a recent pop, which may have hidden messages. A
# broker that has not responded by then holds the pop because it has no message.
RESPONSE_WAIT: Final = 1.0

_FROM_WHERE: Final = {
    InitMode.MIN: ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
    InitMode.MAX: ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
}

PopListener: TypeAlias = Callable[[StoredMessage], Awaitable[bool | None]]
"""Handles a message. After False or an exception the message is redelivered later.

Any other result acknowledges it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopConsumerConfig(Settings):
    """Settings of a pop consumer; times in seconds.

    A value with a wrong type or out of range is rejected when the config is created.

    Attributes:
        pop_invisible_time: for how long a message is hidden, 5 to 300; if its handler takes longer,
            it is redelivered.
        poll_time: how long a broker may wait for a message.
        pop_batch_nums: maximum number of messages of a pop, 1 to 32.
        pop_threshold: maximum number of unacknowledged messages of a queue, or, without an
            assignment, of a topic and broker.
        consume_thread_max: maximum number of concurrent handler calls.
        max_body_size: largest decompressed body in bytes; a larger message counts as not handled,
            with a WARNING.
        max_inflated_size: maximum bytes of decompressed bodies of a pop; the other messages are
            redelivered after 10 seconds.
        init_mode: where a group starts that has never popped the topic.
        max_reconsume_times: attempts after which a failing message is acknowledged.
        await_termination: seconds that running handlers get when the consumer closes.
        refresh_interval: seconds between two checks for new brokers of a topic.
        enable_trace: record handler calls in the trace topic.
        trace_topic: the trace topic; None for ``RMQ_SYS_TRACE_TOPIC``.

    Raises:
        IllegalTypeError, IllegalValueError: the text has the setting, the expected and the actual
            value.
    """

    pop_invisible_time: float = 60.0
    poll_time: float = 15.0
    pop_batch_nums: int = 32
    pop_threshold: int = 96
    consume_thread_max: int = 20
    max_body_size: int = 8 << 20
    max_inflated_size: int = 32 << 20
    init_mode: InitMode = InitMode.MIN
    max_reconsume_times: int = 16
    await_termination: float = 15.0
    refresh_interval: float = 20.0
    enable_trace: bool = False
    trace_topic: str | None = None

    def __post_init__(self) -> None:
        check_settings(self, _RULES)


# The checks of settings that are not those of their type
_RULES: Final[Mapping[str, Rule]] = {
    "pop_invisible_time": seconds(minimum=5, maximum=300),
    "poll_time": seconds(zero=True),
    "pop_batch_nums": integer_in(minimum=1, maximum=32),
    "init_mode": instance_of(InitMode, expected="an InitMode, for example InitMode.MIN"),
    "max_reconsume_times": integer_in(minimum=0),
    "await_termination": seconds(zero=True),
}


@trio_only()
class PopConsumer(GroupMember):
    """A pop consumer of a group."""

    def __init__(
        self, membership: Membership, config: PopConsumerConfig, listener: PopListener
    ) -> None:
        super().__init__(membership)
        instance, group, nursery, hooks = membership
        self.config = config
        limits = build_limits(config.max_body_size, config.max_inflated_size)
        #: pop requests, also for direct use
        self.calls: PopCalls = PopCalls(instance, group, limits)
        self._report = ReadReport(group)
        self._acknowledgements = Acknowledgements(self.calls)
        self._listener = listener
        self._hooked = listener
        if hooks is not None:
            from rocketwire.client.consumer.hooked_listeners import hook_pop

            self._hooked = hook_pop(listener, hooks, instance, group)
        self._pop_scopes: dict[MessageQueue, trio.CancelScope] = {}
        self._pop_started: dict[MessageQueue, float] = {}
        self._closing = False
        self._handlers = trio.CapacityLimiter(config.consume_thread_max)
        self._unacknowledged: dict[MessageQueue, int] = {}
        self._last_pops: dict[MessageQueue, int] = {}
        self._waiting_for_handlers: set[trio.CancelScope] = set()
        self._refresh_due = trio.Event()
        self._progress = trio.lowlevel.ParkingLot()
        self._stats = ConsumerStats()
        self._offsets = RemoteBrokerOffsetStore(instance, group)
        name = retry_topic(group)
        self._subscriptions[name] = subscription_data(name, version=now_millis())
        retries = PushConsumerConfig(
            consume_thread_max=config.consume_thread_max,
            max_body_size=config.max_body_size,
            max_inflated_size=config.max_inflated_size,
            max_reconsume_times=config.max_reconsume_times,
        )
        parts = PushParts(
            instance,
            group,
            retries,
            {name: self._subscriptions[name]},
            self._offsets,
            QueueLocks(instance, group),
            self._stats,
            nursery,
        )
        self._retried = ConcurrentConsumption(parts, self._consume_retried, hooks)
        self._rebalance = Rebalance(
            instance,
            group,
            MessageModel.CLUSTERING,
            AllocateMessageQueueAveragely(),
            by_broker=True,
        )
        self._outages = self._rebalance.outages
        self._retries = Assignment(parts, self._retried, instance.send_heartbeats, self._rebalance)

    def subscriptions_changed(self) -> None:
        """Apply the subscriptions; the next heartbeat announces them."""
        self.rebalance_soon()

    @property
    def unreadable_messages(self) -> int:
        """Number of unreadable messages, counted at each delivery."""
        return self._report.unreadable + self._retries.pulls.report.unreadable

    # ------------------------------------------------------------------ interface for the instance

    def heartbeat(self) -> ConsumerData:
        return ConsumerData(
            group_name=self.group,
            consume_type=ConsumeType.CONSUME_PASSIVELY,
            message_model=MessageModel.CLUSTERING,
            consume_from_where=_FROM_WHERE[self.config.init_mode],
            unit_mode=self._instance.config.unit_mode,
            subscription_data_set=tuple(self._subscriptions.values()),
        )

    def rebalance_soon(self) -> None:
        """Check for new brokers."""
        self._refresh_due.set()
        self._retries.rebalance_soon()

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """Set offsets of the retry topic; the broker keeps those of popped topics."""
        await self._retries.reset({q: o for q, o in offsets.items() if q.topic == topic})

    def cached_messages(self) -> Mapping[str, CachedMessages]:
        counts = dict.fromkeys(self._subscriptions, 0)
        for queue, count in self._unacknowledged.items():
            counts[queue.topic or ""] = counts.get(queue.topic or "", 0) + count
        popped = {topic: CachedMessages(count, None, None) for topic, count in counts.items()}
        return popped | self._sum_cached(self._retries.process_queues().items())

    def running_info(self) -> ConsumerRunningInfo:
        now, retries = trio.current_time(), self._retries.process_queues()
        return self._running_info(
            self.config,
            ConsumeType.CONSUME_PASSIVELY,
            self.unreadable_messages,
            [(queue, process, self._offsets.get(queue)) for queue, process in retries.items()],
            threads=self.config.consume_thread_max,
            status_table={topic: self._stats.status(topic, now) for topic in self._subscriptions},
            pops={
                queue: PopProcessQueueInfo(
                    wait_ack_count=self._unacknowledged.get(queue, 0),
                    last_pop_timestamp=self._last_pops.get(queue, self._started_millis),
                )
                for queue in self._pop_scopes
            },
        )

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        del broker_name
        started = trio.current_time()
        handled = await self._handle(message, self._listener)
        return ConsumeMessageDirectlyResult(
            consume_result=CMResult.CR_SUCCESS if handled else CMResult.CR_LATER,
            spent_time_mills=round((trio.current_time() - started) * 1000),
        )

    # ------------------------------------------------------------------ background tasks

    async def start(self) -> None:
        """Let brokers check the expressions, and start; ``open_pop_consumer`` calls it."""
        for topic in self._subscriptions:
            await self._rebalance.has_route(topic)
        await self._check_expressions()
        self._instance.add_consumer(self)
        await self._instance.send_heartbeats()
        self._retried.start()
        self._nursery.start_soon(self.run)
        self._nursery.start_soon(self._retries.keep_balanced)
        interval = self._instance.config.persist_consumer_offset_interval
        self._nursery.start_soon(
            repeat_every, interval, self._retries.persist, self._outages, "storing of offsets"
        )

    async def run(self) -> None:
        """Pop the assigned queues of every topic, and check for new ones, until cancelled."""
        while True:
            self._refresh_due = trio.Event()
            for topic in [name for name in self._subscriptions if not is_retry_topic(name)]:
                try:
                    route = await self._instance.route(topic)
                except RocketWireError as error:
                    self._outages.report_route(topic, error)
                    continue
                self._outages.end_route(topic)
                await self._update_pops(topic, route)
                self._report_permissions(topic, route)
            with trio.move_on_after(self.config.refresh_interval):
                await self._refresh_due.wait()

    def _report_permissions(self, topic: str, route: TopicRouteData) -> None:
        subject = queue_outage(topic)
        queues = route.queue_datas
        if queues and not any((queue.perm or 0) & Perm.READ for queue in queues):
            self._outages.report(
                subject,
                "the topic has no queue with read permission",
                "check the permissions of the topic and of its brokers",
            )
        else:
            self._outages.end(subject)

    async def _update_pops(self, topic: str, route: TopicRouteData) -> None:
        # without an assignment for pops, which a group gets by setConsumeMode, all are popped
        current = {queue for queue in self._pop_scopes if queue.topic == topic}
        try:
            assignments = await self._rebalance.query_assignment(topic) or ()
        except RocketWireError as error:
            _LOG.debug("%s: no assignment of topic %s: %s", self.group, topic, error)
            if current:
                return
            assignments = ()
        queues = {
            queue
            for assignment in assignments
            if assignment.mode == MessageRequestMode.POP
            and (queue := assignment.message_queue)
            and queue.topic == topic
        } or {
            MessageQueue(topic=topic, broker_name=broker.broker_name, queue_id=ANY_QUEUE)
            for broker in route.broker_datas or ()
            if broker.broker_name
        }
        for queue in current - queues:
            self._pop_scopes.pop(queue).cancel()
        for queue in queues - current:
            scope = self._pop_scopes[queue] = trio.CancelScope()
            self._nursery.start_soon(self._keep_popping, queue, scope)

    async def _keep_popping(self, key: MessageQueue, scope: trio.CancelScope) -> None:
        config, topic, broker_name = self.config, key.topic or "", key.broker_name or ""
        subject = f"pops of topic {topic} from broker {broker_name}"
        with scope:
            while not self._closing:
                while self._unacknowledged.get(key, 0) >= config.pop_threshold:
                    await self._progress.park()
                self._pop_started[key] = trio.current_time()
                self._last_pops[key] = now_millis()
                try:
                    result = await self._pop(key)
                except MissingPackageError:
                    raise
                except RocketWireError as error:
                    self._outages.report(subject, error)
                    await trio.sleep(POP_DELAY_EXCEPTION)
                    continue
                finally:
                    del self._pop_started[key]
                    self._progress.unpark_all()
                if result.status is PopStatus.POLLING_FULL:
                    self._outages.report(subject, _POLLING_FULL, patience=FULL_PATIENCE)
                    await trio.sleep(POP_DELAY_EXCEPTION)
                elif self._outages:
                    self._outages.end(subject)
                self._settle_unhandled(key, result)
                hidden_until = trio.current_time() + config.pop_invisible_time
                for _, group in groupby(result.messages, key=handle_text):
                    messages = [*group]
                    consume = partial(self._consume, messages, hidden_until)
                    self._start_settling(key, messages[0], consume)

    async def _pop(self, queue: MessageQueue) -> PopResult:
        config, topic, broker_name = self.config, queue.topic or "", queue.broker_name or ""
        started = trio.current_time()
        messages: Sequence[StoredMessage] = ()
        failure: RocketWireError | None = None
        try:
            result = await self.calls.pop(
                topic,
                broker_name,
                queue_id=queue.queue_id,
                max_msg_nums=config.pop_batch_nums,
                invisible_time=config.pop_invisible_time,
                poll_time=config.poll_time,
                subscription=self._subscriptions[topic],
                init_mode=config.init_mode,
            )
            messages = result.messages
            now = trio.current_time()
            self._stats.add_pulled(topic, len(messages), now - started, now)
            return result
        except RocketWireError as error:
            failure = error
            raise
        finally:
            hooks = self._instance.hooks
            if hooks is not None and (messages or failure):
                seconds = trio.current_time() - started
                hooks.receive(self._instance, self.group, "pop", queue, messages, seconds, failure)

    def _settle_unhandled(self, key: MessageQueue, result: PopResult) -> None:
        # acknowledge or return the messages of a pop that no handler gets
        source = f"{key.topic} at {key.broker_name}"
        self._report.report_unreadable(source, result.unreadable, "counts as not handled")
        if result.stopped_by is not None:
            seconds = POP_DELAY_LEVEL[0]
            consequence = f"{len(result.left_out)} are redelivered after {seconds} seconds"
            accepted = len(result.messages)
            self._report.report_limit(source, result.stopped_by, accepted, consequence)
        acknowledge, hide = self._acknowledgements.ack, self.calls.change_invisible_time
        unread = [message.stored for message in result.unreadable if message.stored is not None]
        settling: list[tuple[StoredMessage, Callable[[], Awaitable[object]]]] = [
            *((m, partial(acknowledge, m)) for m in result.filtered),
            *((m, partial(self._finish, m, handled=False)) for m in unread),
            *((m, partial(hide, m, POP_DELAY_LEVEL[0])) for m in result.left_out),
        ]
        for message, settle in settling:
            self._start_settling(key, message, settle)

    def _start_settling(
        self, key: MessageQueue, message: StoredMessage, settle: Callable[[], Awaitable[object]]
    ) -> None:
        self._unacknowledged[key] = self._unacknowledged.get(key, 0) + 1
        self._nursery.start_soon(self._settle, key, message, settle)

    async def _settle(
        self, key: MessageQueue, message: StoredMessage, settle: Callable[[], Awaitable[object]]
    ) -> None:
        try:
            await settle()
        except IllegalHandlerError:  # it would fail for every message, so it ends the consumer
            raise
        except RocketWireError as error:
            _LOG.warning(
                "%s: message %s is redelivered: %s", self.group, log_text(message.msg_id), error
            )
        finally:
            self._unacknowledged[key] -= 1
            self._progress.unpark_all()

    async def _consume(self, messages: Sequence[StoredMessage], hidden_until: float) -> None:
        # the messages of a handle: if one of an inner batch fails, all are redelivered
        message, handled = messages[0], True
        if not await self._acquire_handler():
            await self.calls.change_invisible_time(message, POP_DELAY_LEVEL[0])
            return
        try:
            for message in messages:
                if trio.current_time() >= hidden_until:
                    return  # another client may have it now
                started = trio.current_time()
                succeeded = await self._handle(message, self._hooked)
                now = trio.current_time()
                if succeeded:
                    self._stats.add_consumed(message.topic, 1, now - started, now)
                else:
                    self._stats.add_failed(message.topic, 1, now)
                handled = succeeded and handled
        finally:
            self._handlers.release()
        await self._finish(message, handled=handled)

    async def _consume_retried(
        self, messages: Sequence[StoredMessage], _context: object
    ) -> ConsumeConcurrentlyStatus:
        # handle a message that a push consumer of the group sent back
        async with self._handlers:
            handled = [await self._handle(message, self._listener) for message in messages]
        if all(handled):
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS
        return ConsumeConcurrentlyStatus.RECONSUME_LATER

    async def _acquire_handler(self) -> bool:
        # returns False if the consumer closes; otherwise the caller must release the handler
        if self._closing:
            return False
        scope = trio.CancelScope()
        self._waiting_for_handlers.add(scope)
        try:
            with scope:
                await self._handlers.acquire()
        finally:
            self._waiting_for_handlers.remove(scope)
        if self._closing and not scope.cancelled_caught:
            self._handlers.release()
        return not self._closing

    async def _handle(self, message: StoredMessage, listener: PopListener) -> bool:
        try:
            namespace = self._instance.config.namespace
            return await listener(with_real_topic(message, self.group, namespace)) is not False
        except IllegalHandlerError:  # it would fail for every message, so it ends the consumer
            raise
        except Exception:  # noqa: BLE001 - of the application; logged and redelivered
            report_failed_handler(message, self.group)
            return False

    async def _finish(self, message: StoredMessage, *, handled: bool) -> None:
        attempts = message.reconsume_times
        max_attempts = self.config.max_reconsume_times
        if not handled and attempts >= max_attempts:
            described = describe_message(message, self.group)
            _LOG.error(
                "%s: message %s of %d: not redelivered again",
                self.group,
                described,
                max_attempts + 1,
            )
        if handled or attempts >= max_attempts:
            await self._acknowledgements.ack(message)
            return
        # the sender can set the number of attempts, also to a negative number
        seconds = POP_DELAY_LEVEL[max(0, min(attempts, len(POP_DELAY_LEVEL) - 1))]
        await self.calls.change_invisible_time(message, seconds)

    async def close(self) -> None:
        """Stop popping, let handlers finish, return unhandled messages, and unregister.

        ``open_pop_consumer`` calls it.
        """
        self._closing = True
        for key, scope in self._pop_scopes.items():
            scope.deadline = self._pop_started.get(key, -math.inf) + RESPONSE_WAIT
        for scope in self._waiting_for_handlers:
            scope.cancel()
        with trio.move_on_after(self.config.await_termination, shield=True):
            while self._pop_started or any(self._unacknowledged.values()):
                await self._progress.park()
        with trio.move_on_after(self.config.await_termination + 3, shield=True):
            await self._retries.close(self.config.await_termination)
        with trio.move_on_after(3, shield=True):
            await self._instance.remove_consumer(self)


@asynccontextmanager
async def open_pop_consumer(
    client: Client,
    group: str,
    subscriptions: Mapping[str, Filter],
    listener: PopListener,
    *,
    config: PopConsumerConfig | None = None,
) -> AsyncGenerator[PopConsumer]:
    """Open a pop consumer until the end of the block; requires brokers of 5.0 or newer.

    Args:
        client: see ``open_push_consumer``.
        subscriptions: see ``open_push_consumer``.
        listener: a coroutine function of (message) that handles a message.

    Raises:
        IllegalHandlerError, IllegalTypeError, NotInTrioError: see ``open_push_consumer``.
        LocalProtocolError: a name or an expression is invalid, or the client already has a consumer
            of the group.
        BrokerError: the broker rejects an expression.
        ClientError, ChannelError: the broker is not reachable.

    Closing: running handlers get ``await_termination`` to finish. Messages without a handler are
    returned at once and redelivered after 10 seconds; others that are not acknowledged are
    redelivered when their time is up.

    Cancellation: handlers are cancelled, and their messages are redelivered when their time is up.
    """
    require_trio()
    check_consumer_group(group)
    check_config(config, PopConsumerConfig)
    parse_subscriptions(subscriptions)
    listener = async_handler("handler (listener)", listener, "message")
    settings = config or PopConsumerConfig()
    timeout = settings.pop_invisible_time
    async with join_group(client, group, settings, timeout) as membership:
        consumer = PopConsumer(membership, settings, listener)
        for topic, expression, expression_type in parse_subscriptions(subscriptions):
            consumer.subscribe(topic, expression, expression_type=expression_type)
        await consumer.start()
        try:
            yield consumer
        finally:
            await consumer.close()
