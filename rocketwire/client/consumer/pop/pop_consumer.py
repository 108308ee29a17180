"""``PopConsumer``: a member of a group whose broker keeps count of each message.

Opened by ``open_pop_consumer``.

No queue belongs to anybody: every member takes what there is, and what it does not acknowledge in
time comes back to any of them.  There is nothing to share out and nothing to store.

Java: ``DefaultMQPushConsumerImpl.popMessage``, ``ConsumeMessagePopConcurrentlyService``.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

import trio

from rocketwire.client.arguments import (
    FLAG,
    MAYBE_TEXT,
    SOME_SECONDS,
    check_config,
    check_settings,
    instance_of,
    seconds,
    whole,
)
from rocketwire.client.consumer.config import check_subscription, parse_subscriptions
from rocketwire.client.consumer.filter_check import check_expression
from rocketwire.client.consumer.pop.ack import Acknowledgements
from rocketwire.client.consumer.pop.pop import InitMode, PopCalls, PopStatus, handle_text
from rocketwire.client.consumer.pulled_messages import ReadReport, build_limits
from rocketwire.client.consumer.rebalance import queue_outage
from rocketwire.client.handlers import async_handler
from rocketwire.client.instance.opening import open_or_reuse_client
from rocketwire.client.log_text import log_text
from rocketwire.client.outages import Outages
from rocketwire.client.periodic import now_millis
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.errors import IllegalHandlerError, MissingPackageError, RocketWireError
from rocketwire.flags import Perm
from rocketwire.messages.callbacks import ConsumeMessageDirectlyResult, ConsumerRunningInfo
from rocketwire.messages.enums import CMResult, ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.subscription import subscription_data
from rocketwire.policy.validation import check_consumer_group, check_topic
from rocketwire.transport.nursery import background
from rocketwire.wire.message.stored import StoredMessage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from rocketwire.client.arguments import Rule
    from rocketwire.client.consumer.config import Filter
    from rocketwire.client.consumer.pop.pop import PopResult
    from rocketwire.client.consumer.trace import ConsumerTrace
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.instance.opening import Client
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.route import TopicRouteData

_LOG: Final = logging.getLogger("rocketwire.client")

POP_DELAY_LEVEL: Final = (
    10,
    30,
    60,
    120,
    180,
    240,
    300,
    360,
    420,
    480,
    540,
    600,
    1200,
    1800,
    3600,
    7200,
)
"""Seconds for which a message is hidden that could not be handled, by the number of tries."""

POP_DELAY_EXCEPTION: Final = 1.0
"""Seconds until a pop is tried again that failed."""

_FULL: Final = "the broker holds too many pops already"

FULL_PATIENCE: Final = 10.0
"""Seconds for which a broker may be too busy for pops without a warning."""

ANSWER_SOON: Final = 1.0
"""Seconds after which a broker that has not answered a pop holds it, as it has no message.

One that was made later may have hidden
some already: whoever closes waits for its answer, and gives them back."""

PopListener: TypeAlias = Callable[[StoredMessage], Awaitable[bool | None]]
"""Handles a message.  False or an exception: the message comes back later.

Anything else acknowledges it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopConsumerConfig:
    """Settings of a pop consumer; times in seconds.

    A value of the wrong type or out of bounds is refused at once.

    Attributes:
        pop_invisible_time: for how long a message is hidden, 5 to 300; a handler that takes longer
            has it given out again.
        poll_time: how long a broker may wait for a message.
        pop_batch_nums: most messages of one pop, 1 to 32.
        pop_threshold: most messages that wait for their acknowledgement, of each topic and broker.
        consume_thread_max: most handlers at once.
        max_body_size: most bytes of one decompressed body.  A larger message counts as not handled,
            with a WARNING.
        max_inflated_size: most bytes of all decompressed bodies of one pop; the other messages come
            back after 10 seconds.
        init_mode: where a group begins that has never popped the topic.
        max_reconsume_times: tries, after which a message is acknowledged although nobody handled
            it.
        await_termination: seconds that handlers are given to end when the consumer is closed.
        refresh_interval: seconds between two looks for new brokers of a topic.
        enable_trace: whether calls of the handler are recorded in the trace topic.
        trace_topic: None for ``RMQ_SYS_TRACE_TOPIC``.

    Raises:
        IllegalTypeError, IllegalValueError: the text names the setting, what is expected and what
            was given.
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
        """Check types and bounds."""
        check_settings(self, _RULES)


_RULES: Final[Mapping[str, Rule]] = {
    "pop_invisible_time": seconds(least=5, most=300),
    "poll_time": seconds(zero=True),
    "pop_batch_nums": whole(least=1, most=32),
    "pop_threshold": whole(least=1),
    "consume_thread_max": whole(least=1),
    "max_body_size": whole(least=1),
    "max_inflated_size": whole(least=1),
    "init_mode": instance_of(InitMode, expected="an InitMode, as InitMode.MIN"),
    "max_reconsume_times": whole(least=0),
    "await_termination": seconds(zero=True),
    "refresh_interval": SOME_SECONDS,
    "enable_trace": FLAG,
    "trace_topic": MAYBE_TEXT,
}
"""What each setting may be."""


@trio_only()
class PopConsumer:
    """A consumer of one group.

    Attributes:
        group: with its namespace.
        config: its settings.
        calls: its pops, for whoever wants to make them by hand.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: PopConsumerConfig,
        listener: PopListener,
        nursery: trio.Nursery,
        trace: ConsumerTrace | None = None,
    ) -> None:
        """Without subscriptions.

        Arguments as of ``open_pop_consumer``, which also starts it and opens ``trace``.
        """
        self.group = group
        self.config = config
        limits = build_limits(config.max_body_size, config.max_inflated_size)
        self.calls = PopCalls(instance, group, limits)
        self._report = ReadReport(group)
        self._acknowledgements = Acknowledgements(self.calls)
        self._outages = Outages(f"group {group}")
        self._instance = instance
        self._listener = listener
        self._traced = listener if trace is None else trace.trace_pop(listener)
        self._nursery = nursery
        self._subscriptions: dict[str, SubscriptionData] = {}
        self._popping: dict[tuple[str, str], trio.CancelScope] = {}
        self._popped_at: dict[tuple[str, str], float] = {}
        self._closing = False
        self._handlers = trio.CapacityLimiter(config.consume_thread_max)
        self._waiting: dict[tuple[str, str], int] = {}
        self._waiting_for_handlers: set[trio.CancelScope] = set()
        self._soon = trio.Event()
        self._calm = trio.lowlevel.ParkingLot()
        self._started_millis = now_millis()

    def subscribe(
        self, topic: str, expression: str | None = None, *, expression_type: str | None = None
    ) -> None:
        """Want messages of a topic; as of ``PushConsumer.subscribe``."""
        require_trio()
        check_subscription(topic, expression, expression_type)
        check_topic(topic)
        name = with_namespace(self._instance.config.namespace, topic)
        self._subscriptions[name] = subscription_data(
            name, expression, expression_type=expression_type, version=now_millis()
        )
        self.rebalance_soon()

    @property
    def unreadable_messages(self) -> int:
        """How many messages could not be read so far, each time that they came."""
        return self._report.unreadable

    # ------------------------------------------------------------------ a member of the instance

    def topics(self) -> tuple[str, ...]:
        """As ``ConsumerMember``."""
        return tuple(self._subscriptions)

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """As ``ConsumerMember``."""
        del topic, route
        self.rebalance_soon()

    def heartbeat(self) -> ConsumerData:
        """As ``ConsumerMember``."""
        return ConsumerData(
            group_name=self.group,
            consume_type=ConsumeType.CONSUME_POP,
            message_model=MessageModel.CLUSTERING,
            consume_from_where=ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
            subscription_data_set=tuple(self._subscriptions.values()),
        )

    def rebalance_soon(self) -> None:
        """As ``ConsumerMember``; there may be a broker more."""
        self._soon.set()

    async def reset_offsets(self, topic: str, offsets: Mapping[MessageQueue, int]) -> None:
        """As ``ConsumerMember``: nothing to do, the broker keeps the offsets."""

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        """As ``ConsumerMember``: none."""
        del topic
        return {}

    def running_info(self) -> ConsumerRunningInfo:
        """As ``ConsumerMember``."""
        return ConsumerRunningInfo(
            properties={
                "PROP_CONSUMEORDERLY": "false",
                "PROP_CONSUME_TYPE": ConsumeType.CONSUME_POP.value,
                "PROP_THREADPOOL_CORE_SIZE": str(self.config.consume_thread_max),
                "PROP_CONSUMER_START_TIMESTAMP": str(self._started_millis),
                "PROP_UNREADABLE_MESSAGES": str(self.unreadable_messages),
            },
            subscription_set=tuple(self._subscriptions.values()),
        )

    async def consume_directly(
        self, message: StoredMessage, broker_name: str
    ) -> ConsumeMessageDirectlyResult:
        """As ``ConsumerMember``."""
        del broker_name
        started = trio.current_time()
        handled = await self._is_handled(message, self._listener)
        return ConsumeMessageDirectlyResult(
            consume_result=CMResult.CR_SUCCESS if handled else CMResult.CR_LATER,
            spent_time_mills=round((trio.current_time() - started) * 1000),
        )

    # ------------------------------------------------------------------ background

    async def check(self) -> None:
        """Ask brokers whether they understand the expressions; ``open_pop_consumer`` does.

        Raises:
            BrokerError, ClientError, ChannelError: as of ``check_expression``.
        """
        for subscription in self._subscriptions.values():
            await check_expression(self._instance, self.group, subscription)

    async def run(self) -> None:
        """Pop every topic at each of its brokers, and look for new ones again and again."""
        while True:
            self._soon = trio.Event()
            for topic in list(self._subscriptions):
                try:
                    route = await self._instance.route(topic)
                except RocketWireError as error:
                    self._outages.report_route(topic, error)
                    continue
                self._outages.end_route(topic)
                names = {one.broker_name for one in route.broker_datas or () if one.broker_name}
                self._pop_at(topic, names)
                self._judge(topic, route)
            with trio.move_on_after(self.config.refresh_interval):
                await self._soon.wait()

    def _judge(self, topic: str, route: TopicRouteData) -> None:
        """Warn if no queue of a topic may be read."""
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

    def _pop_at(self, topic: str, names: set[str]) -> None:
        for key, scope in list(self._popping.items()):
            if key[0] == topic and key[1] not in names:
                scope.cancel()
                del self._popping[key]
        for name in names:
            if (topic, name) not in self._popping:
                scope = self._popping[topic, name] = trio.CancelScope()
                self._nursery.start_soon(self._pop_on, topic, name, scope)

    async def _pop_on(self, topic: str, broker_name: str, scope: trio.CancelScope) -> None:
        config, key = self.config, (topic, broker_name)
        subject = f"pops of topic {topic} from broker {broker_name}"
        with scope:
            while not self._closing:
                while self._waiting.get(key, 0) >= config.pop_threshold:
                    await self._calm.park()
                self._popped_at[key] = trio.current_time()
                try:
                    result = await self.calls.pop(
                        topic,
                        broker_name,
                        max_msg_nums=config.pop_batch_nums,
                        invisible_time=config.pop_invisible_time,
                        poll_time=config.poll_time,
                        subscription=self._subscriptions[topic],
                        init_mode=config.init_mode,
                    )
                except MissingPackageError:
                    raise
                except RocketWireError as error:
                    self._outages.report(subject, error)
                    await trio.sleep(POP_DELAY_EXCEPTION)
                    continue
                finally:
                    del self._popped_at[key]
                    self._calm.unpark_all()
                if result.status is PopStatus.POLLING_FULL:
                    self._outages.report(subject, _FULL, patience=FULL_PATIENCE)
                    await trio.sleep(POP_DELAY_EXCEPTION)
                elif self._outages:
                    self._outages.end(subject)
                self._return_unread(key, result)
                hidden_until = trio.current_time() + config.pop_invisible_time
                for _, messages in groupby(result.messages, key=handle_text):
                    self._waiting[key] = self._waiting.get(key, 0) + 1
                    self._nursery.start_soon(self._consume, key, [*messages], hidden_until)

    def _return_unread(self, key: tuple[str, str], result: PopResult) -> None:
        """Settle the messages of a pop that no handler gets."""
        place = f"{key[0]} at {key[1]}"
        self._report.report_unreadable(place, result.unreadable, "counts as not handled")
        if result.stopped_by is not None:
            seconds = POP_DELAY_LEVEL[0]
            then = f"{len(result.left_out)} come back after {seconds} seconds"
            self._report.report_limit(place, result.stopped_by, len(result.messages), then)
        acknowledge, hide = self._acknowledgements.ack, self.calls.change_invisible_time
        unread = [message.stored for message in result.unreadable if message.stored is not None]
        settling: list[tuple[StoredMessage, Callable[[], Awaitable[object]]]] = [
            *((m, partial(acknowledge, m)) for m in result.filtered),
            *((m, partial(self._finish, m, handled=False)) for m in unread),
            *((m, partial(hide, m, POP_DELAY_LEVEL[0])) for m in result.left_out),
        ]
        for message, settle in settling:
            self._waiting[key] = self._waiting.get(key, 0) + 1
            self._nursery.start_soon(self._settle, key, message, settle)

    async def _settle(
        self, key: tuple[str, str], message: StoredMessage, settle: Callable[[], Awaitable[object]]
    ) -> None:
        try:
            await settle()
        except RocketWireError as error:
            _LOG.warning(
                "%s: message %s comes back: %s", self.group, log_text(message.msg_id), error
            )
        finally:
            self._waiting[key] -= 1
            self._calm.unpark_all()

    async def _consume(
        self, key: tuple[str, str], messages: Sequence[StoredMessage], hidden_until: float
    ) -> None:
        """Have the messages of one handle handled: one, or those of an inner batch, of which all come back if one was not handled."""
        message, handled = messages[0], True
        try:
            if not await self._begun():
                await self.calls.change_invisible_time(message, POP_DELAY_LEVEL[0])
                return
            try:
                for message in messages:
                    if trio.current_time() >= hidden_until:
                        return  # another client may have it by now
                    handled = await self._is_handled(message, self._traced) and handled
            finally:
                self._handlers.release()
            await self._finish(message, handled=handled)
        except IllegalHandlerError:
            raise
        except RocketWireError as error:
            _LOG.warning(
                "%s: message %s comes back: %s", self.group, log_text(message.msg_id), error
            )
        finally:
            self._waiting[key] -= 1
            self._calm.unpark_all()

    async def _begun(self) -> bool:
        """Wait for a place among the handlers, or until the consumer is closed.

        Returns whether there is one, to be released.
        """
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

    async def _is_handled(self, message: StoredMessage, listener: PopListener) -> bool:
        try:
            return await listener(message) is not False
        except IllegalHandlerError:  # ends the consumer: it would fail on every message
            raise
        except Exception:  # noqa: BLE001 - the application's own; the message comes back and the log has it
            _LOG.exception(
                "%s: a handler failed on message %s", self.group, log_text(message.msg_id)
            )
            return False

    async def _finish(self, message: StoredMessage, *, handled: bool) -> None:
        tries = message.reconsume_times
        if handled or tries >= self.config.max_reconsume_times:
            await self._acknowledgements.ack(message)
            return
        # whoever sends a message can say how often it was tried, also less than never
        seconds = POP_DELAY_LEVEL[max(0, min(tries, len(POP_DELAY_LEVEL) - 1))]
        await self.calls.change_invisible_time(message, seconds)

    async def close(self) -> None:
        """Pop nothing more, let handlers end, give back what none has begun, say goodbye.

        ``open_pop_consumer`` does.
        """
        self._closing = True
        for key, scope in self._popping.items():
            scope.deadline = self._popped_at.get(key, -math.inf) + ANSWER_SOON
        for scope in self._waiting_for_handlers:
            scope.cancel()
        with trio.move_on_after(self.config.await_termination, shield=True):
            while self._popped_at or any(self._waiting.values()):
                await self._calm.park()
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
    """A pop consumer for the length of the block; brokers of 5.0 and newer can be popped.

    Args:
        client: as of ``open_push_consumer``.
        group: its name.
        subscriptions: as of ``open_push_consumer``.
        listener: a coroutine function of (message) that handles one message.
        config: settings.

    Raises:
        IllegalHandlerError, IllegalTypeError, NotInTrioError: as of ``open_push_consumer``.
        LocalProtocolError: a name or an expression that cannot be, or a second consumer of the
            group.
        BrokerError: the broker does not understand an expression.
        ClientError, ChannelError: it cannot be asked.

    Closing: handlers get ``await_termination`` to end; what was popped and none of them has begun
    is given back at once and comes after 10 seconds, the rest that is not acknowledged when its
    time is up.

    Cancellation: handlers are cancelled, and what is not acknowledged comes when its time is up.
    """
    require_trio()
    check_consumer_group(group)
    check_config(config, PopConsumerConfig)
    parse_subscriptions(subscriptions)
    listener = async_handler("listener", listener, "message")
    settings = config or PopConsumerConfig()
    async with (
        open_or_reuse_client(client) as instance,
        background() as nursery,
        AsyncExitStack() as stack,
    ):
        name = with_namespace(instance.config.namespace, group)
        trace: ConsumerTrace | None = None
        if settings.enable_trace:
            from rocketwire.client.consumer.trace import open_consumer_trace

            late = settings.pop_invisible_time
            opened = open_consumer_trace(instance, name, settings.trace_topic, late, nursery)
            trace = await stack.enter_async_context(opened)
        consumer = PopConsumer(instance, name, settings, listener, nursery, trace)
        for topic, expression, expression_type in parse_subscriptions(subscriptions):
            consumer.subscribe(topic, expression, expression_type=expression_type)
        await consumer.check()
        instance.add_consumer(consumer)
        try:
            nursery.start_soon(consumer.run)
            yield consumer
        finally:
            await consumer.close()
