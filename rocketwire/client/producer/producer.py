"""``Producer``: sends messages; ``open_producer`` opens it.

If a send is cancelled, the message may have been stored or not, as after a lost connection.

Each method sets the deadline (``ProducerConfig.send_msg_timeout`` by default); the layers below
have none. Topic and group names are the application's; this module translates them to names on the
wire. Code that only some producers use is imported in the function that uses it, so that a first
message is sent sooner.

Java: ``DefaultMQProducer``, ``TransactionMQProducer``, ``DefaultMQProducerImpl``.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import trio

from rocketwire.client.arguments import type_error
from rocketwire.client.message import Message
from rocketwire.client.periodic import now_millis
from rocketwire.client.producer.fast_path import FastPath
from rocketwire.client.publish.request_builder import build_outgoing_message, wire_topic
from rocketwire.client.publish.sender import MessageSender
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.client.send_result import SendResult
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.errors import IllegalMessageError, IllegalMessageTypeError, ReplyTimeoutError
from rocketwire.policy.queue_selectors import queue_by_hash
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.validation import check_message, check_producer_group

if TYPE_CHECKING:
    from rocketwire.client.hooks import HookChain
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.producer.request_reply import PendingRequests
    from rocketwire.client.producer.trace import ProducerTrace
    from rocketwire.client.producer.transactions import (
        LocalTransaction,
        TransactionCheck,
        Transactions,
        TransactionSendResult,
    )
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.client.publish.request_builder import OutgoingMessage
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.messages.send import ReplyMessageRequestHeader
    from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
    from rocketwire.policy.queue_selectors import Key
    from rocketwire.wire.message.stored import StoredMessage

DETECT_INTERVAL = 3.0  # seconds between two checks of unreachable brokers


@trio_only("send", "send_unhooked")
class Producer:
    """A producer of a group; ``open_producer`` creates it."""

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: ProducerConfig,
        *,
        check: TransactionCheck | None = None,
        chance: random.Random | None = None,
    ) -> None:
        """See ``open_producer``, which also registers the producer."""
        check_producer_group(group)
        self.instance = instance
        self.config = config
        #: records of its transactions and recalls; None without tracing
        self.trace: ProducerTrace | None = None
        self._group = with_namespace(instance.config.namespace, group)
        self._chance = chance or random.Random()  # noqa: S311 - spreads load, hides nothing
        self.sender: MessageSender = MessageSender(instance, self._group, config, self._chance)
        self._keys = unique_keys(instance.own_ip)
        self._fast_path = FastPath(
            instance,
            self.sender,
            self._keys,
            config,
            connect=instance.pool.direct_requests,
            shares_turns=True,
        )
        self._check = check
        self._hooks: HookChain | None = None
        if instance.hooks is not None:
            self.use_hooks(instance.hooks)

    def use_hooks(self, hooks: HookChain) -> None:
        """Let hooks see the sends from now on."""
        self._hooks = self.sender.hooks = hooks

    @cached_property
    def _pending_requests(self) -> PendingRequests:
        from rocketwire.client.producer.request_reply import PendingRequests

        return PendingRequests()

    @cached_property
    def _transactions(self) -> Transactions:
        from rocketwire.client.producer.transactions import Transactions

        return Transactions(self.instance, self._group, self._check)

    # ------------------------------------------------------------------ sending one message

    async def send(self, message: Message, *, within: float | None = None) -> SendResult:
        """Send a message to the next queue, and to another broker if that fails.

        Args:
            within: timeout of all attempts in seconds; None for
                ``ProducerConfig.send_msg_timeout``.

        Raises:
            IllegalMessageTypeError: the argument is not a ``Message``.
            IllegalMessageError, IllegalNameError: the message or its topic name is invalid.
            TopicRouteNotFoundError: the topic does not exist and is not created.
            BrokerError: the broker rejected the message finally.
            SendFailedError: several attempts failed.
            RequestTimeoutError, ChannelError: the only attempt failed.

        Cancellation: the message may have been stored or not.
        """
        limit = self.config.send_msg_timeout if within is None else within
        if self._hooks is None:
            return await self.send_unhooked(message, limit)
        require_trio()
        check_message_type(message)
        return await self._hooks.send(
            self.instance,
            self._group,
            (message,),
            lambda messages: self.send_unhooked(messages[0], limit),
        )

    async def send_unhooked(self, message: Message, limit: float) -> SendResult:
        """Send as ``send`` does within ``limit`` seconds, but hooks do not see it."""
        require_trio()
        if message.__class__ is not Message:
            check_message_type(message)
        sent = self._fast_path.send(message, limit)
        if isinstance(sent, SendResult):
            return sent
        outgoing = self._build_outgoing(message) if sent is None else sent.outgoing()
        return await self.sender.send(message.topic, outgoing, limit, sent)

    async def _send_with_hooks(
        self,
        messages: Sequence[Message],
        send: Callable[[Sequence[Message]], Awaitable[SendResult]],
    ) -> SendResult:
        hooks = self._hooks
        if hooks is None:
            return await send(messages)
        return await hooks.send(self.instance, self._group, messages, send)

    async def send_to(
        self, message: Message, queue: MessageQueue, *, within: float | None = None
    ) -> SendResult:
        """Send a message to a queue, without retries (Java: ``send(msg, mq)``).

        A broker that accepts no connection is waited for (``ProducerConfig.retry_interval``).

        For other arguments and errors see ``send``.

        Raises:
            IllegalMessageError: also if the queue belongs to another topic.
        """
        check_message_type(message)
        if queue.topic != message.topic:
            raise IllegalMessageError(
                f"message to topic {message.topic}: the queue belongs to topic {queue.topic}"
            )
        limit = self.config.send_msg_timeout if within is None else within
        deadline = trio.current_time() + limit

        async def send(messages: Sequence[Message]) -> SendResult:
            topic = messages[0].topic
            outgoing = self._build_outgoing(messages[0])
            target = await self.sender.find_target(wire_topic(self.instance.config, topic))
            return await self.sender.send_to_queue(topic, target, queue, outgoing, deadline)

        return await self._send_with_hooks((message,), send)

    async def send_by(
        self,
        message: Message,
        choose: Callable[[Sequence[MessageQueue]], MessageQueue],
        *,
        within: float | None = None,
    ) -> SendResult:
        """Send a message to the queue that a function selects (Java: ``send(msg, selector, arg)``).

        Args:
            choose: function of the topic's queues that returns one of them.
            within: timeout in seconds; None for ``ProducerConfig.send_msg_timeout``.

        Raises:
            IllegalHandlerError: ``choose`` is async, or cannot be called with the queues.

        For other errors see ``send_to``.
        """
        from rocketwire.client.handlers import sync_function

        check_message_type(message)
        sync_function("choose", choose, "queues")
        return await self.send_to(message, choose(await self.queues(message.topic)), within=within)

    async def send_ordered(
        self, message: Message, key: Key, *, within: float | None = None
    ) -> SendResult:
        """Send a message to the queue of its key; orderly consumers get messages of a key in order.

        A key selects the same queue as in Java (``SelectMessageQueueByHash``). For errors see
        ``send_to``.
        """
        check_message_type(message)
        queues = await self.queues(message.topic)
        return await self.send_to(message, queue_by_hash(queues, key), within=within)

    async def send_oneway(self, message: Message, queue: MessageQueue | None = None) -> str:
        """Send a message one-way; returns its unique key when the system has its bytes.

        For errors see ``send``; there are no retries.
        """
        check_message_type(message)

        async def send(messages: Sequence[Message]) -> str:
            outgoing = self._build_outgoing(messages[0])
            topic = wire_topic(self.instance.config, messages[0].topic)
            target = await self.sender.find_target(topic)
            await self.sender.send_oneway(target, queue or target.rotation.next_queue(), outgoing)
            return outgoing.msg_id

        if self._hooks is None:
            return await send((message,))
        return await self._hooks.send(self.instance, self._group, (message,), send, is_oneway=True)

    async def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """Return the writable queues of a topic (Java: ``fetchPublishMessageQueues``).

        Raises:
            TopicRouteNotFoundError: the topic does not exist and is not created.
        """
        target = await self.sender.find_target(wire_topic(self.instance.config, topic))
        if target.topic == topic:
            return target.info.queues
        return tuple(_with_topic(queue, topic) for queue in target.info.queues)

    def _build_outgoing(self, message: Message) -> OutgoingMessage:
        check_message(
            message.topic, message.body, message.properties, max_size=self.config.max_message_size
        )
        born = now_millis()
        key = self._keys.next_key(born)
        return build_outgoing_message(
            message, key, born, self.config, self.instance.config.namespace
        )

    # ------------------------------------------------------------------ several messages

    async def send_many(
        self, messages: Sequence[Message], *, within: float | None = None
    ) -> list[SendResult]:
        """Send messages, each in its own request, many at a time; the results are in their order.

        The broker may store the messages in another order. See ``send_batch`` for one request.

        Args:
            messages: messages of any topics.
            within: timeout of each message in seconds.

        Raises:
            IllegalMessageTypeError: a message is not a ``Message``; nothing was sent.
            SendManyError: messages failed; all others are stored.

        Cancellation: each message may have been stored or not.
        """
        from rocketwire.client.producer.batch import send_many

        for message in messages:
            check_message_type(message)
        return await send_many(messages, partial(self.send, within=within))

    async def send_batch(
        self,
        messages: Sequence[Message],
        *,
        queue: MessageQueue | None = None,
        within: float | None = None,
    ) -> SendResult:
        """Send messages of a topic in one request; the broker stores them one after another.

        Args:
            messages: messages that are neither delayed nor transactional; they are not compressed.
            queue: the queue; None for the next one.
            within: timeout of all attempts in seconds.

        Raises:
            IllegalMessageError: the messages cannot form a batch, or exceed its size; see
                ``send_batches``.

            For other errors see ``send``.
        """
        from rocketwire.client.producer.batch import build_outgoing_batch, check_batch

        for message in messages:
            check_message_type(message)
        check_batch(messages, self.config)
        namespace = self.instance.config.namespace
        topic = messages[0].topic
        limit = self.config.send_msg_timeout if within is None else within
        deadline = trio.current_time() + limit

        async def send(messages: Sequence[Message]) -> SendResult:
            target = await self.sender.find_target(wire_topic(self.instance.config, topic))
            outgoing = build_outgoing_batch(
                messages,
                self._keys,
                now_millis(),
                self.config,
                namespace,
                has_unique_key=not await self.sender.has_broker_before_5(target),
            )
            if queue is None:
                return await self.sender.send(topic, outgoing, limit)
            return await self.sender.send_to_queue(topic, target, queue, outgoing, deadline)

        return await self._send_with_hooks(messages, send)

    async def send_batches(
        self,
        messages: Sequence[Message],
        *,
        max_size: int = 1 << 20,
        queue: MessageQueue | None = None,
        within: float | None = None,
    ) -> list[SendResult]:
        """Send messages in as many batches as necessary, one after another.

        Args:
            messages: see ``send_batch``.
            max_size: largest batch in bytes.
            queue: the queue of all batches; None for the next queue for each batch.
            within: timeout of each batch in seconds.

        For errors see ``send_batch``; the batches before the failed one are stored.
        """
        from rocketwire.client.producer.batch import split_into_batches

        return [
            await self.send_batch(part, queue=queue, within=within)
            for part in split_into_batches(messages, min(max_size, self.config.max_message_size))
        ]

    # ------------------------------------------------------------------ transactions

    async def send_in_transaction(
        self, message: Message, execute: LocalTransaction, *, within: float | None = None
    ) -> TransactionSendResult:
        """Send a message that is delivered only if ``execute`` commits its transaction.

        The broker stores the message and holds it back; then ``execute(message, result)`` runs the
        local transaction and returns its state. If the state is unknown, or does not reach the
        broker, the broker checks it with a producer of the group (``check``).

        Args:
            message: message without a delay level.
            execute: the local transaction, a function or coroutine function of (message, result).
                If it raises, the state is unknown; the error is sent to the broker and raised here.
            within: timeout of the half message in seconds.

            For errors see ``send``; errors of ``execute`` are raised too.

            Cancellation: the state stays unknown until the broker checks it.
        """
        from rocketwire.client.handlers import check_callable
        from rocketwire.client.producer.transactions import (
            TransactionSendResult,
            build_half_message,
        )

        check_message_type(message)
        check_callable("execute", execute, "message, result")
        half = build_half_message(message, self._group)
        result = await self.send(half, within=within)
        broker = self._broker_name(message.topic, result.message_queue)
        topic = wire_topic(self.instance.config, message.topic)
        state = await self._transactions.run(half, result, broker, topic, execute)
        if self.trace is not None:
            self.trace.record_end_transaction(half, result, state)
        return TransactionSendResult(result, state)

    def _broker_name(self, topic: str, queue: MessageQueue) -> str:
        name = wire_topic(self.instance.config, topic)
        target = self.sender.targets.get(name)
        wire_queue = queue if name == topic else _with_topic(queue, name)
        return target.info.broker_name(wire_queue) if target else queue.broker_name or ""

    # ------------------------------------------------------------------ request and reply

    async def request(self, message: Message, *, within: float | None = None) -> StoredMessage:
        """Send a message and wait for the reply of its consumer.

        Args:
            message: the request.
            within: timeout in seconds for request and reply; None for
                ``ProducerConfig.send_msg_timeout``.

        Raises:
            ReplyTimeoutError: the request was sent, but no reply arrived in time.

        For other errors see ``send``.

        Cancellation: a later reply is ignored.
        """
        import uuid

        from rocketwire.client.producer.request_reply import build_request

        check_message_type(message)
        limit = self.config.send_msg_timeout if within is None else within
        correlation_id = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        name = wire_topic(self.instance.config, message.topic)
        self._pending_requests.add(correlation_id)
        try:
            with trio.move_on_after(limit):
                if self.sender.targets.get(name) is None:
                    await self.sender.find_target(name)
                    await self.instance.send_heartbeats()
                client_id = self.instance.client_id
                await self.send(
                    build_request(message, correlation_id, client_id, limit), within=limit
                )
                return await self._pending_requests.wait(correlation_id)
        finally:
            self._pending_requests.remove(correlation_id)
        raise ReplyTimeoutError(correlation_id)

    # ------------------------------------------------------------------ delayed messages

    async def recall(self, topic: str, recall_handle: str, *, within: float | None = None) -> str:
        """Recall a delayed message before it is delivered; returns its unique key.

        Args:
            recall_handle: ``SendResult.recall_handle``.
            within: timeout in seconds.

        Raises:
            IllegalMessageError: the handle is invalid.
            BrokerError: code 16 if the broker does not allow it, 604 if it is too late.
            BrokerNotFoundError, ChannelError: the broker is not reachable.
        """
        from rocketwire.client.producer.background import recall_message

        limit = self.config.send_msg_timeout if within is None else within
        name = wire_topic(self.instance.config, topic)
        msg_id = await recall_message(self.instance, self._group, name, recall_handle, limit)
        if self.trace is not None:
            self.trace.record_recall(topic, msg_id)
        return msg_id

    # ------------------------------------------------------------------ interface for facades

    @property
    def allows_direct_sends(self) -> bool:
        """Whether simple messages may be sent over other connections, without this producer.

        Not if sends are traced, requests are changed, connections are not plain TCP, or the fast
        path is off (``ROCKETWIRE_FASTPATH``).
        """
        return self._fast_path.is_enabled and self.trace is None and self.instance.pool.is_plain

    # ------------------------------------------------------------------ interface for the instance

    @property
    def group(self) -> str:
        """The producer group, with namespace."""
        return self._group

    def topics(self) -> tuple[str, ...]:
        """Return the topics that messages were sent to, with namespace."""
        return self.sender.topics

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """Use a changed route of a topic."""
        self.sender.set_route(topic, route)

    async def check_transaction(
        self, address: str, header: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> None:
        """Handle a broker's check of a transaction."""
        state = await self._transactions.check(address, header, message)
        if self.trace is not None and state is not None:
            self.trace.record_checked_transaction(address, message, state)

    def reply_received(self, header: ReplyMessageRequestHeader, body: bytes) -> bool:
        """Handle a reply; returns whether this producer has sent the request."""
        return self._pending_requests.handle_reply(header, body, now_millis())

    async def detect_brokers(self) -> None:
        """Check periodically whether unreachable brokers are reachable again, until cancelled."""
        from rocketwire.client.producer.background import detect_brokers

        await detect_brokers(self.instance, self.sender, DETECT_INTERVAL)


def check_message_type(message: object) -> None:
    if not isinstance(message, Message):
        raise IllegalMessageTypeError(str(type_error("message", "a Message", message)))


def _with_topic(queue: MessageQueue, topic: str) -> MessageQueue:
    return type(queue)(topic=topic, broker_name=queue.broker_name, queue_id=queue.queue_id)
