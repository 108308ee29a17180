"""Simple sends without a hop to trio's thread: over a connection that belongs to the sender.

A hop costs as much as a send: two switches between threads and a turn of trio's loop. So a producer
of a facade has connections of its own to the brokers, and encodes simple messages with the fast
path of ``rocketwire.client``. Routes, retries, and unusual messages remain in trio.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.producer.fast_path import MAX_RESPONSE_FORMS, FastPath, learn_response
from rocketwire.client.producer.producer import Producer, check_message_type
from rocketwire.client.publish.request_builder import (
    QueueFastPath,
    Target,
    build_outgoing_message,
    decode_send_result,
)
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.client.send_result import SendResult
from rocketwire.errors import BrokerError
from rocketwire.policy.retry import SendStatus
from rocketwire.portal.methods import Facade, delegate

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.client.hooks import HookChain, SendMessageContext
    from rocketwire.client.message import Message
    from rocketwire.client.publish.request_builder import OutgoingMessage, QueueTemplate
    from rocketwire.errors import RocketWireError
    from rocketwire.transport.fastpath.direct_requests import StartedRequest
    from rocketwire.wire.command import RemotingCommand

WARM_SENDS: Final = 8
"""Sends of a producer before it opens connections of its own: a short program needs none."""

MAX_RESPONSE: Final = 1 << 20
"""Most bytes of the response to a send."""

MAX_OPAQUE: Final = 2**31 - 1
"""Number of the last request before they start again with 1."""

_OK: Final = SendStatus.SEND_OK


class ProducerMethods(Facade, of=Producer):
    send_to: Final = delegate(Producer.send_to)
    send_by: Final = delegate(Producer.send_by)
    send_ordered: Final = delegate(Producer.send_ordered)
    send_oneway: Final = delegate(Producer.send_oneway)
    queues: Final = delegate(Producer.queues)
    send_many: Final = delegate(Producer.send_many)
    send_batch: Final = delegate(Producer.send_batch)
    send_batches: Final = delegate(Producer.send_batches)
    request: Final = delegate(Producer.request)
    recall: Final = delegate(Producer.recall)


class Attempt:
    """The first attempt of a send, over a connection of the sender; ``Producer`` makes others."""

    def __init__(
        self,
        message: Message,
        key: str,
        born: int,
        target: Target,
        fast_queue: QueueFastPath,
        config: Any,
        within: float,
        started: StartedRequest,
    ) -> None:
        self._message = message
        self._key = key
        self._born = born
        self._target = target
        self._fast_queue = fast_queue
        self._config = config
        self._within = within
        self.started: StartedRequest = started
        self.connection: Any = fast_queue.at_once
        self.future: Any = None  # a future of asyncio, which gets the result

    @property
    def deadline(self) -> float:
        """End of all attempts, on the monotonic clock."""
        return self.started.sent_at + self._within

    def read_usual(self, frame: bytes) -> SendResult | None:
        """Return the result in a response of the usual form; None if it has another form."""
        queue, key = self._fast_queue, self._key
        form = queue.response_form
        values = None if form is None else form.values(frame, key.encode(), self.started.opaque)
        if values is None:
            return None
        msg_id, offset = values
        return SendResult(
            _OK,
            key,
            msg_id.decode(),
            queue.queue,
            int(offset),
            key if queue.has_transaction_id else None,
            queue.region,
            queue.is_traced,
        )

    def read(self, response: RemotingCommand, frame: bytes) -> SendResult:
        """Return the result in a response of any form, and learn the form.

        Raises:
            BrokerError: the broker rejected the message.
            DecodeError: the response is invalid.
        """
        queue = self._fast_queue
        if queue.form_count < MAX_RESPONSE_FORMS:
            learn_response(queue, frame, self._key)
        result = decode_send_result(response, self._key, queue.queue)
        if result is None:
            address = self.connection.address
            raise BrokerError(response.code, response.remark, self.request_code, address)
        return result

    @property
    def request_code(self) -> int:
        return self._outgoing().code

    def _outgoing(self) -> OutgoingMessage:
        return build_outgoing_message(self._message, self._key, self._born, self._config)

    async def send_again(self, producer: Producer, error: RocketWireError) -> SendResult:
        """Make further attempts after this one has failed, as ``Producer.send`` does; in trio."""
        return await producer.sender.send_after_failure(
            self._message.topic,
            self._outgoing(),
            self._target,
            self._fast_queue.queue,
            error,
            max(0.0, self.deadline - time.monotonic()),
        )


class DirectPath(FastPath):
    """The fast path of one sender, with queues and connections of its own.

    It sends as ``FastPath``, but returns an ``Attempt`` if the response was not read yet. Its
    connections have the method ``request`` of ``DirectRequests``.
    """

    def __init__(self, producer: Producer, connect: Callable[[str], Any]) -> None:
        """Start without topics; ``connect`` returns the connection to an address, or None."""
        instance = producer.instance
        keys = unique_keys(instance.own_ip)
        super().__init__(instance, producer.sender, keys, producer.config)
        self._producer = producer
        self._client = instance.config
        self._connect = connect
        self._sources: dict[str, Target] = {}  # the producer's, of which ours are copies
        self._targets = self._own = dict[str, Target]()

    def follow(self, topic: str) -> bool:
        """Use the producer's present queues of a topic; returns whether there are any."""
        sender = self._producer.sender
        if sender.hooks is not None and not sender.hooks.is_thread_safe:  # they are called in trio
            return False
        source = sender.targets.get(topic)
        if source is None:
            self._own.pop(topic, None)
            return False
        if self._sources.get(topic) is not source:
            self._sources[topic] = source
            start = time.perf_counter_ns() & 0x7FFFFFFF
            target = self._own[topic] = Target(topic, source.info, start=start)
            self._enable(target)
        return True

    def _look_up(
        self, target: Target, fast_queue: QueueFastPath
    ) -> tuple[Any, QueueTemplate | None]:
        template = target.get_template(
            fast_queue.queue, self._producer.group, self._config, self._client
        )
        fast_queue.template = template
        fast_queue.changes = self._pool.changes + self._routes.changes
        fast_queue.form_count = 0
        address = self._routes.master(template.broker_name)
        fast_queue.at_once = at_once = None if address is None else self._connect(address)
        return at_once, template

    def _fall_back(
        self,
        message: Message,
        key: str,
        born: int,
        target: Target,
        fast_queue: QueueFastPath,
        within: float,
        sent_request: StartedRequest | None,
    ) -> Any:
        if sent_request is None:
            connection: Any = fast_queue.at_once
            if connection is not None and not connection.is_open:
                fast_queue.at_once = None  # the next send looks it up again
            return None
        return Attempt(message, key, born, target, fast_queue, self._config, within, sent_request)


@contextmanager
def call_hooks(
    hooks: HookChain, producer: Producer, message: Message
) -> Generator[SendMessageContext]:
    """Let hooks see a send, as ``HookChain.send`` does, in the sender's thread.

    The block sends the message of the context, and sets the result there.

    Raises:
        IllegalMessageTypeError: the message is not a ``Message``; no hook is called.
    """
    from rocketwire.client.hooks import SendMessageContext

    check_message_type(message)
    context = SendMessageContext(producer.instance, producer.group, (message,))
    hooks.send_before(context)
    try:
        yield context
    except BaseException as error:
        context.exception = error
        raise
    finally:
        hooks.send_after(context)
