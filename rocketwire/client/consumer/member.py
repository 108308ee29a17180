"""``GroupMember``: the subscriptions of a push, pop or lite pull consumer, and its reports.

Java: ``MQConsumerInner``.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import fields
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import trio

from rocketwire.client.consumer.config import check_subscription
from rocketwire.client.instance.instance import Client, open_or_reuse_client
from rocketwire.client.periodic import now_millis
from rocketwire.client.trio_only import require_trio
from rocketwire.codes import RequestCode
from rocketwire.messages.callbacks import ConsumerRunningInfo
from rocketwire.messages.heartbeat import CheckClientRequestBody, SubscriptionData
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.subscription import TAG, subscription_data
from rocketwire.policy.validation import check_topic
from rocketwire.transport.nursery import background

if TYPE_CHECKING:
    from rocketwire.client.consumer.offset_store import OffsetStore
    from rocketwire.client.hooks import HookChain
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.messages.callbacks import ConsumeStatus, PopProcessQueueInfo
    from rocketwire.messages.enums import ConsumeType
    from rocketwire.messages.heartbeat import SubscriptionData
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.policy.process_queue import ProcessQueue


class CachedMessages(NamedTuple):
    """Messages of a topic that a consumer holds; of pop consumers, inner batches count once."""

    messages: int  # received and not finished
    size: int | None  # bytes of their bodies; None if unknown
    lag: int | None  # behind the ends of the assigned queues at their last pulls, these included


class Membership(NamedTuple):
    instance: ClientInstance
    group: str  # with namespace
    nursery: trio.Nursery  # of the consumer's tasks
    hooks: HookChain | None  # of the client and of the trace


class TraceSettings(Protocol):
    """The settings of a consumer's trace; see ``PushConsumerConfig``."""

    @property
    def enable_trace(self) -> bool: ...
    @property
    def trace_topic(self) -> str | None: ...


@asynccontextmanager
async def join_group(
    client: Client,
    group: str,
    config: TraceSettings,
    call_timeout: float,
    *,
    own_instance: bool = True,
    is_stream: bool = False,
) -> AsyncGenerator[Membership]:
    """Open what a consumer needs; for arguments see ``ConsumerTrace``, ``open_or_reuse_client``."""
    async with (
        open_or_reuse_client(client, own_instance=own_instance, is_stream=is_stream) as instance,
        background() as nursery,
        AsyncExitStack() as stack,
    ):
        name, hooks = with_namespace(instance.config.namespace, group), instance.hooks
        if config.enable_trace:
            from rocketwire.client.consumer.trace import open_consumer_trace

            hooks = await stack.enter_async_context(
                open_consumer_trace(instance, name, config.trace_topic, call_timeout)
            )
        yield Membership(instance, name, nursery, hooks)


class GroupMember(ABC):
    """A member of a group, with the parts of ``ConsumerMember`` that all consumers share."""

    _offsets: OffsetStore

    def __init__(self, membership: Membership) -> None:
        self.group: str = membership.group  #: consumer group with namespace
        self._instance, self._nursery = membership.instance, membership.nursery
        self._subscriptions: dict[str, SubscriptionData] = {}
        self._started_millis = now_millis()

    def subscribe(
        self, topic: str, expression: str | None = None, *, expression_type: str | None = None
    ) -> None:
        """Subscribe to a topic, or replace its subscription; the next rebalance applies it.

        All members of a group must have the same subscriptions: the broker uses the last that it
        receives.

        Args:
            topic: the topic.
            expression: tags as ``a || b``, or an expression of another type; None for all messages.
            expression_type: None or ``TAG``, ``SQL92``, or another type that the broker supports.

        Raises:
            IllegalTypeError: an argument is not a ``str``.
            IllegalValueError: the expression is SQL92, and the type is None.
            LocalProtocolError: the topic name is invalid, or the expression contains no tag, or is
                missing for another type.
        """
        require_trio()
        check_subscription(topic, expression, expression_type)
        check_topic(topic)
        name = with_namespace(self._instance.config.namespace, topic)
        self._subscriptions[name] = subscription_data(
            name, expression, expression_type=expression_type, version=now_millis()
        )
        self.subscriptions_changed()

    def subscriptions_changed(self) -> None:
        """Announce the subscriptions, and apply them."""
        self._instance.heartbeat_soon()
        self.rebalance_soon()

    async def _check_expressions(self) -> None:
        for subscription in self._subscriptions.values():
            await check_expression(self._instance, self.group, subscription)

    def topics(self) -> tuple[str, ...]:
        return tuple(self._subscriptions)

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        self.rebalance_soon()

    @abstractmethod
    def rebalance_soon(self) -> None: ...

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        return self._offsets.snapshot(topic)

    @abstractmethod
    def cached_messages(self) -> Mapping[str, CachedMessages]:
        """Return what the consumer holds, by topic; ``RuntimeError`` if that changes meanwhile."""

    @staticmethod
    def _sum_cached(
        queues: Iterable[tuple[MessageQueue, ProcessQueue]],
    ) -> dict[str, CachedMessages]:
        cached: dict[str, CachedMessages] = {}
        for queue, process in queues:
            messages, size, lag = cached.get(queue.topic or "", (0, 0, 0))
            # the end of a queue is the offset after its newest message
            behind = process.count + max(0, process.backlog - 1)
            cached[queue.topic or ""] = CachedMessages(
                messages + process.count, (size or 0) + process.size, (lag or 0) + behind
            )
        return cached

    def _running_info(
        self,
        config: object,
        consume_type: ConsumeType,
        unreadable: int,
        queues: Iterable[tuple[MessageQueue, ProcessQueue, int | None]] = (),
        *,
        is_orderly: bool = False,
        threads: int | None = None,
        status_table: Mapping[str, ConsumeStatus] | None = None,
        pops: Mapping[MessageQueue, PopProcessQueueInfo] | None = None,
    ) -> ConsumerRunningInfo:
        now, millis = trio.current_time(), time.time() * 1000
        pool = {} if threads is None else {"PROP_THREADPOOL_CORE_SIZE": str(threads)}
        return ConsumerRunningInfo(
            properties={
                **_settings(self._instance.config),
                **_settings(config),
                "consumerGroup": self.group,
                "PROP_CONSUMEORDERLY": str(is_orderly).lower(),
                "PROP_CONSUME_TYPE": consume_type.value,
                **pool,
                "PROP_CONSUMER_START_TIMESTAMP": str(self._started_millis),
                "PROP_UNREADABLE_MESSAGES": str(unreadable),
            },
            subscription_set=tuple(self._subscriptions.values()),
            mq_table={
                queue: process.info(offset or 0, lambda at: round(millis - (now - at) * 1000))
                for queue, process, offset in queues
            },
            mq_pop_table=pops or {},
            status_table=status_table or {},
        )


def _settings(config: Any) -> dict[str, str]:
    # times are in milliseconds, consumeTimeout in minutes, as Java writes them
    settings: dict[str, str] = {}
    for field in fields(config):
        value = getattr(config, field.name)
        if isinstance(value, float):
            value = round(value / 60 if field.name == "consume_timeout" else value * 1000)
        elif isinstance(value, Enum):
            value = value.name
        elif not isinstance(value, (int, str)):
            continue
        first, *others = field.name.split("_")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        settings[first + "".join(map(str.capitalize, others))] = text
    return settings


async def check_expression(
    instance: ClientInstance, group: str, subscription: SubscriptionData
) -> None:
    # the broker of another expression than tags compiles it (code 46)
    if subscription.expression_type in (None, TAG):
        return
    body = CheckClientRequestBody(
        client_id=instance.client_id,
        group=group,
        namespace=instance.config.namespace or None,
        subscription_data=subscription,
    )
    address = await instance.any_broker(subscription.topic or "")
    await instance.brokers.call(address, RequestCode.CHECK_CLIENT_CONFIG, None, body)
