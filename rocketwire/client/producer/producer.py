"""``Producer``: sends messages.

Opened by ``open_producer`` (``rocketwire.client.producer.lifecycle``).

Cancelling a send: the message may have been stored or not, as with a lost connection; nothing is
left behind here.

Rules of this file: a call has its time limit here (``ProducerConfig.send_msg_timeout`` unless it
says another), nothing below has one of its own; names of topics and groups are the application's,
those of the wire are made here; what only some producers do is imported where they do it, so that a
first message is sent sooner.

Java: ``DefaultMQProducer``, ``TransactionMQProducer``, ``DefaultMQProducerImpl``.
"""

from __future__ import annotations

import random
from functools import cached_property
from typing import TYPE_CHECKING

import trio

from rocketwire.client.arguments import wrong_type
from rocketwire.client.instance.interfaces import ProducerMember
from rocketwire.client.message import Message
from rocketwire.client.periodic import now_millis
from rocketwire.client.producer.fast_path import PlainSends
from rocketwire.client.producer.request_builder import outgoing, wire_topic
from rocketwire.client.producer.send_result import SendResult
from rocketwire.client.producer.sender import Publishing
from rocketwire.client.producer.unique_keys import unique_keys
from rocketwire.client.trio_only import require_trio, trio_only
from rocketwire.errors import IllegalMessageError, IllegalMessageTypeError, ReplyTimeoutError
from rocketwire.policy.queue_selectors import queue_by_hash
from rocketwire.policy.resource_names import with_namespace
from rocketwire.policy.validation import check_message, check_producer_group

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.producer.config import ProducerConfig
    from rocketwire.client.producer.request_builder import Outgoing
    from rocketwire.client.producer.request_reply import OpenRequests
    from rocketwire.client.producer.trace_records import ProducerTrace
    from rocketwire.client.producer.transaction_checks import Transactions
    from rocketwire.client.producer.transactions import (
        LocalTransaction,
        TransactionCheck,
        TransactionSendResult,
    )
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.messages.route import TopicRouteData
    from rocketwire.messages.send import ReplyMessageRequestHeader
    from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
    from rocketwire.policy.queue_selectors import Key
    from rocketwire.wire.message.stored import StoredMessage

PROBE_SECONDS = 3.0
"""Time between two looks after brokers that were not reachable."""


@trio_only("send")
class Producer(ProducerMember):
    """A producer of one group; made by ``open_producer``.

    Attributes:
        instance: the client that it is part of.
        config: its settings.
        trace: what it tells of its sends; None without tracing.
    """

    def __init__(
        self,
        instance: ClientInstance,
        group: str,
        config: ProducerConfig,
        *,
        check: TransactionCheck | None = None,
        chance: random.Random | None = None,
    ) -> None:
        """A producer that brokers have not heard of yet.

        Args:
            instance: carries its requests.
            group: as the application calls it.
            config: its settings.
            check: tells what became of a transaction when a broker asks; None to leave that
                unanswered.
            chance: where turns begin.

        Raises:
            IllegalNameError: the group cannot be called that.
        """
        check_producer_group(group)
        self.instance = instance
        self.config = config
        self.trace: ProducerTrace | None = None
        self._group = with_namespace(instance.config.namespace, group)
        self._chance = chance or random.Random()  # noqa: S311 - spreads load, hides nothing
        self._publishing = Publishing(instance, self._group, config, self._chance)
        self._keys = unique_keys(instance.own_ip)
        self._plain = PlainSends(instance, self._publishing, self._keys, config)
        self._check = check

    @cached_property
    def _requests(self) -> OpenRequests:
        from rocketwire.client.producer.request_reply import OpenRequests

        return OpenRequests()

    @cached_property
    def _transactions(self) -> Transactions:
        from rocketwire.client.producer.transaction_checks import Transactions

        return Transactions(self.instance, self._group, self._check)

    # ------------------------------------------------------------------ sending one message

    async def send(self, message: Message, *, within: float | None = None) -> SendResult:
        """Send a message to whichever queue has its turn, and to another broker if that fails.

        Args:
            message: what to send.
            within: seconds for all tries; None for ``ProducerConfig.send_msg_timeout``.

        Raises:
            IllegalMessageTypeError: it is not a ``Message``.
            NotInTrioError: the caller does not run in trio.
            IllegalMessageError, IllegalNameError: it cannot be sent as it is.
            TopicRouteNotFoundError: there is no such topic, and none is created.
            BrokerError: the broker refused for good.
            SendFailedError: several tries failed.
            RequestTimeoutError, ChannelError: the only try failed.

        Cancellation: it may have been stored or not.
        """
        require_trio()
        limit = self.config.send_msg_timeout if within is None else within
        trace = self.trace
        try:
            if trace is None:
                sent = self._plain.send(message, limit)
                if isinstance(sent, SendResult):
                    return sent
                if sent is not None:
                    ready, first = sent
                    return await self._publishing.go_on(message.topic, ready, first)
            ready = self._ready(message)
            if trace is None:
                return await self._publishing.send(message.topic, ready, limit)
        except AttributeError:
            _check_type(message)
            raise
        started = now_millis()
        result = await self._publishing.send(message.topic, ready, limit)
        trace.sent(message, result, started)
        return result

    async def send_to(
        self, message: Message, queue: MessageQueue, *, within: float | None = None
    ) -> SendResult:
        """Send a message to one queue, once (Java: ``send(msg, mq)``).

        Arguments and errors otherwise as of ``send``.

        Raises:
            IllegalMessageError: also when the queue is of another topic.
        """
        _check_type(message)
        if queue.topic != message.topic:
            raise IllegalMessageError(f"a message to {message.topic} in a queue of {queue.topic}")
        ready = self._ready(message)
        limit = self.config.send_msg_timeout if within is None else within
        deadline = trio.current_time() + limit
        started = now_millis()
        target = await self._publishing.target(wire_topic(self.instance.config, message.topic))
        result = await self._publishing.exchange(message.topic, target, queue, ready, deadline)
        if self.trace is not None:
            self.trace.sent(message, result, started)
        return result

    async def send_by(
        self,
        message: Message,
        choose: Callable[[Sequence[MessageQueue]], MessageQueue],
        *,
        within: float | None = None,
    ) -> SendResult:
        """Send a message to the queue that a function picks, once (Java: ``send(msg, selector, arg)``).

        Args:
            message: what to send.
            choose: the topic's queues -> one of them.
            within: seconds; None for ``ProducerConfig.send_msg_timeout``.

        Raises:
            IllegalHandlerError: ``choose`` is async, or cannot be called with the queues.

        Other errors: as of ``send_to``.
        """
        from rocketwire.client.handlers import sync_function

        _check_type(message)
        sync_function("choose", choose, "queues")
        return await self.send_to(message, choose(await self.queues(message.topic)), within=within)

    async def send_ordered(
        self, message: Message, key: Key, *, within: float | None = None
    ) -> SendResult:
        """Send a message to the queue of its key, where a consumer that keeps order gets it after those before it.

        Java: ``SelectMessageQueueByHash``; the same key goes to the same queue from both.  Errors: as of ``send_to``.
        """
        _check_type(message)
        queues = await self.queues(message.topic)
        return await self.send_to(message, queue_by_hash(queues, key), within=within)

    async def send_oneway(self, message: Message, queue: MessageQueue | None = None) -> str:
        """Send a message and do not ask what became of it.

        Returns its unique key when its bytes are with the system.

        Errors: as of ``send``, but nothing is tried twice.
        """
        _check_type(message)
        ready = self._ready(message)
        target = await self._publishing.target(wire_topic(self.instance.config, message.topic))
        await self._publishing.tell(target, queue or target.rotation.next_queue(), ready)
        return ready.msg_id

    async def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """The queues that a topic is published to, as the application calls it (Java: ``fetchPublishMessageQueues``).

        Raises:
            TopicRouteNotFoundError: there is no such topic, and none is created.
        """
        target = await self._publishing.target(wire_topic(self.instance.config, topic))
        if target.topic == topic:
            return target.info.queues
        return tuple(_renamed(queue, topic) for queue in target.info.queues)

    def _ready(self, message: Message) -> Outgoing:
        check_message(
            message.topic, message.body, message.properties, max_size=self.config.max_message_size
        )
        born = now_millis()
        key = self._keys.next_key(born)
        return outgoing(message, key, born, self.config, self.instance.config.namespace)

    # ------------------------------------------------------------------ several messages

    async def send_batch(
        self,
        messages: Sequence[Message],
        *,
        queue: MessageQueue | None = None,
        within: float | None = None,
    ) -> SendResult:
        """Send messages of one topic in one request, to be stored one after the other.

        Args:
            messages: neither delayed nor transactional; not compressed.
            queue: where to; None for whichever has its turn.
            within: seconds for all tries.

        Raises:
            IllegalMessageError: they cannot be one batch, or are too large together; see
                ``send_batches``.

        Other errors: as of ``send``.
        """
        from rocketwire.client.producer.batch import check_batch, outgoing_batch

        for message in messages:
            _check_type(message)
        check_batch(messages, self.config)
        namespace = self.instance.config.namespace
        topic = messages[0].topic
        limit = self.config.send_msg_timeout if within is None else within
        started = now_millis()
        deadline = trio.current_time() + limit
        target = await self._publishing.target(wire_topic(self.instance.config, topic))
        named = not await self._publishing.is_anywhere_before_5(target)
        ready = outgoing_batch(
            messages, self._keys, now_millis(), self.config, namespace, named=named
        )
        if queue is None:
            result = await self._publishing.send(topic, ready, limit)
        else:
            result = await self._publishing.exchange(topic, target, queue, ready, deadline)
        if self.trace is not None:
            self.trace.sent(messages[0], result, started)
        return result

    async def send_batches(
        self,
        messages: Sequence[Message],
        *,
        max_size: int = 1 << 20,
        queue: MessageQueue | None = None,
        within: float | None = None,
    ) -> list[SendResult]:
        """Send as many batches as it takes, one after the other.

        Args:
            messages: as of ``send_batch``.
            max_size: most bytes of one batch.
            queue: where all of them go; None for whichever has its turn, batch by batch.
            within: seconds for each.

        Errors: as of ``send_batch``; those before the one that failed are stored.
        """
        from rocketwire.client.producer.batch import split

        return [
            await self.send_batch(part, queue=queue, within=within)
            for part in split(messages, min(max_size, self.config.max_message_size))
        ]

    # ------------------------------------------------------------------ transactions

    async def send_in_transaction(
        self, message: Message, execute: LocalTransaction, *, within: float | None = None
    ) -> TransactionSendResult:
        """Send a message that is delivered only if ``execute`` says so.

        The message is stored and held back; then ``execute(message, result)`` does what it tells of
        and says how that ended. When nobody can tell, or the broker does not hear of it, the broker
        asks a producer of the group (``check``).

        Args:
            message: without a delay level.
            execute: the local transaction, a function or coroutine function of (message, result);
                when it raises, the outcome is unknown and the error is told the broker and raised
                here.
            within: seconds for the half message.

        Errors: as of ``send``, and whatever ``execute`` raises.

        Cancellation: the outcome stays unknown, until the broker asks.
        """
        from rocketwire.client.handlers import check_callable
        from rocketwire.client.producer.transactions import TransactionSendResult, half_message

        _check_type(message)
        check_callable("execute", execute, "message, result")
        half = half_message(message, self._group)
        result = await self.send(half, within=within)
        broker = self._broker_of(message.topic, result.message_queue)
        topic = wire_topic(self.instance.config, message.topic)
        state = await self._transactions.run(half, result, broker, topic, execute)
        if self.trace is not None:
            self.trace.transaction_ended(half, result, state)
        return TransactionSendResult(result, state)

    def _broker_of(self, topic: str, queue: MessageQueue) -> str:
        name = wire_topic(self.instance.config, topic)
        target = self._publishing.known(name)
        wired = queue if name == topic else _renamed(queue, name)
        return target.info.broker_name(wired) if target else queue.broker_name or ""

    # ------------------------------------------------------------------ request and reply

    async def request(self, message: Message, *, within: float | None = None) -> StoredMessage:
        """Send a message and wait for the reply of whoever consumes it.

        Args:
            message: what to ask.
            within: seconds for all of it; None for ``ProducerConfig.send_msg_timeout``.

        Raises:
            ReplyTimeoutError: it was sent, and no reply came in time.

        Other errors: as of ``send``.

        Cancellation: the reply, if one comes, is dropped.
        """
        import uuid

        from rocketwire.client.producer.request_reply import request_message

        _check_type(message)
        limit = self.config.send_msg_timeout if within is None else within
        correlation_id = str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        name = wire_topic(self.instance.config, message.topic)
        self._requests.begin(correlation_id)
        try:
            with trio.move_on_after(limit):
                if self._publishing.known(name) is None:
                    await self._publishing.target(name)
                    await self.instance.send_heartbeats()
                asked = request_message(message, correlation_id, self.instance.client_id, limit)
                await self.send(asked, within=limit)
                return await self._requests.wait(correlation_id)
        finally:
            self._requests.end(correlation_id)
        raise ReplyTimeoutError(correlation_id)

    # ------------------------------------------------------------------ delayed messages

    async def recall(self, topic: str, recall_handle: str, *, within: float | None = None) -> str:
        """Take back a message with a timer before its time has come; returns its unique key.

        Args:
            topic: where it was sent.
            recall_handle: ``SendResult.recall_handle``.
            within: seconds.

        Raises:
            IllegalMessageError: not a handle.
            BrokerError: code 16 where the broker does not allow it, 604 when it is too late.
            BrokerNotFoundError, ChannelError: its broker cannot be asked.
        """
        from rocketwire.client.producer.background import recall_on

        limit = self.config.send_msg_timeout if within is None else within
        name = wire_topic(self.instance.config, topic)
        msg_id = await recall_on(self.instance, self._group, name, recall_handle, limit)
        if self.trace is not None:
            self.trace.recalled(topic, msg_id)
        return msg_id

    # ------------------------------------------------------------------ for the instance

    @property
    def group(self) -> str:
        """Its group, on the wire."""
        return self._group

    def topics(self) -> tuple[str, ...]:
        """Topics that were sent to, on the wire."""
        return self._publishing.topics

    def route_changed(self, topic: str, route: TopicRouteData) -> None:
        """One of its topics lives elsewhere now."""
        self._publishing.route_changed(topic, route)

    async def check_transaction(
        self, address: str, header: CheckTransactionStateRequestHeader, message: StoredMessage
    ) -> None:
        """A broker asks what became of a transaction."""
        await self._transactions.answer(address, header, message)

    def reply_received(self, header: ReplyMessageRequestHeader, body: bytes) -> bool:
        """A reply has come; returns whether this producer asked for it."""
        return self._requests.received(header, body, now_millis())

    async def look_after_brokers(self) -> None:
        """Ask brokers that were not reachable whether they are, until cancelled."""
        from rocketwire.client.producer.background import keep_looking

        await keep_looking(self.instance, self._publishing, PROBE_SECONDS)


def _check_type(message: object) -> None:
    """Raises ``IllegalMessageTypeError`` unless it is a message."""
    if not isinstance(message, Message):
        raise IllegalMessageTypeError(str(wrong_type("message", "a Message", message)))


def _renamed(queue: MessageQueue, topic: str) -> MessageQueue:
    return type(queue)(topic=topic, broker_name=queue.broker_name, queue_id=queue.queue_id)
