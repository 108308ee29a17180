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

from rocketwire.client.producer.fast_path import FastPath
from rocketwire.client.producer.producer import Producer, check_message_type
from rocketwire.client.publish.direct_send import DirectSend
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.codes import RequestCode
from rocketwire.portal.methods import ClientUser, delegate

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.client.hooks import HookChain, SendMessageContext
    from rocketwire.client.message import Message
    from rocketwire.client.send_result import SendResult
    from rocketwire.errors import RocketWireError
    from rocketwire.transport.fastpath.direct_requests import StartedRequest
    from rocketwire.wire.command import RemotingCommand

# Sends of a producer before it opens connections of its own: a short program needs none
WARM_SENDS: Final = 8
MAX_RESPONSE: Final = 1 << 20  # maximum bytes of the response to a send
MAX_OPAQUE: Final = 2**31 - 1  # number of the last request before they start again with 1


class ProducerMethods(ClientUser, of=Producer):
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

    def __init__(self, send: DirectSend, request: StartedRequest, within: float) -> None:
        self._send = send
        self._within = within
        self.started: StartedRequest = request
        self.connection: Any = send.direct_queue.connection
        self.future: Any = None  # a future of asyncio, which gets the result

    @property
    def deadline(self) -> float:
        return self.started.sent_at + self._within

    def read_usual(self, frame: bytes) -> SendResult | None:
        return self._send.read(frame)

    def read(self, response: RemotingCommand, frame: bytes) -> SendResult:
        # and learn the form of the response
        self._send.learn(frame)
        return self._send.decode(response, self.connection.address)

    @property
    def request_code(self) -> int:
        return RequestCode.SEND_MESSAGE_V2

    async def send_again(self, producer: Producer, error: RocketWireError) -> SendResult:
        # in trio, as ``Producer.send`` does
        remaining = max(0.0, self.deadline - time.monotonic())
        topic = self._send.message.topic
        return await producer.sender.send_after_failure(topic, self._send, error, remaining)


class DirectPath:
    def __init__(self, producer: Producer, connect: Callable[[str], Any]) -> None:
        self._sender = producer.sender
        self._fast_path = FastPath(
            producer.instance,
            producer.sender,
            unique_keys(producer.instance.own_ip),
            producer.config,
            connect=connect,
            shares_turns=False,
        )

    def send(self, message: Message, within: float) -> SendResult | Attempt | None:
        hooks = self._sender.hooks
        if hooks is not None and not hooks.is_thread_safe:  # they are called in trio
            return None
        sent = self._fast_path.send(message, within)
        if not isinstance(sent, DirectSend):
            return sent
        if sent.request is not None:
            return Attempt(sent, sent.request, within)
        queue = sent.direct_queue
        connection: Any = queue.connection
        if connection is not None and not connection.is_open:
            queue.connection = None  # the next send looks it up again
        return None


@contextmanager
def call_hooks(
    hooks: HookChain, producer: Producer, message: Message
) -> Generator[SendMessageContext]:
    # as ``HookChain.send`` does, in the sender's thread; the block sets the result of the context
    from rocketwire.client.hooks import SendMessageContext

    check_message_type(message)
    context = SendMessageContext(producer.instance, producer.group, (message,))
    with hooks.watch(context):
        yield context
