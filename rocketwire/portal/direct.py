"""Simple sends without a hop to trio's thread: over a connection that belongs to the sender.

A hop costs as much as a send: two switches between threads and a turn of trio's loop. So a producer
of a facade has connections of its own to the brokers, and encodes simple messages with the fast
path of ``rocketwire.client``. Routes, retries, and whatever is unusual remain in trio.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.producer.fast_path import MAX_RESPONSE_FORMS, FastPath, learn_response
from rocketwire.client.publish.request_builder import (
    QueueFastPath,
    Target,
    build_outgoing_message,
    decode_send_result,
)
from rocketwire.client.publish.sender import FirstAttempt
from rocketwire.client.publish.unique_keys import unique_keys
from rocketwire.errors import BrokerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.client.message import Message
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.publish.request_builder import OutgoingMessage, QueueTemplate
    from rocketwire.client.send_result import SendResult
    from rocketwire.transport.fastpath.direct_requests import StartedRequest
    from rocketwire.wire.command import RemotingCommand

WARM_SENDS: Final = 8
"""Sends of a producer before it opens connections of its own: a short program needs none."""


class DirectPath(FastPath):
    """The fast path of one sender, with queues and connections of its own.

    Attributes:
        producer: the trio producer.
    """

    def __init__(self, producer: Producer, connect: Callable[[str], Any]) -> None:
        """Start without topics.

        Args:
            connect: returns what has the method ``request`` of ``DirectRequests`` for an address,
                or None.
        """
        instance = producer.instance
        keys = unique_keys(instance.own_ip)
        super().__init__(instance, producer.sender, keys, producer.config)
        self.producer = producer
        self._client = instance.config
        self._connect = connect
        self._own: dict[str, Target] = {}
        self._sources: dict[str, Target] = {}
        self._targets = self._own

    def follow(self, topic: str) -> bool:
        """Use the producer's present queues of a topic; returns whether there are any."""
        hooks = self.producer.sender.hooks
        if hooks is not None and not hooks.is_thread_safe:  # they see each send, in trio
            return False
        source = self.producer.sender.targets.get(topic)
        if source is None:
            self._own.pop(topic, None)
            return False
        if self._sources.get(topic) is not source:
            self._sources[topic] = source
            start = time.perf_counter_ns() & 0x7FFFFFFF
            target = self._own[topic] = Target(topic, source.info, start=start)
            self._enable(target)
        return True

    def forget(self) -> None:
        """Look everything up again, after a connection has ended."""
        self._own.clear()
        self._sources.clear()

    def _look_up(
        self, target: Target, fast_queue: QueueFastPath
    ) -> tuple[Any, QueueTemplate | None]:
        template = target.get_template(
            fast_queue.queue, self.producer.group, self._config, self._client
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
    ) -> tuple[OutgoingMessage, FirstAttempt]:
        outgoing = build_outgoing_message(message, key, born, self._config)
        now = time.monotonic()
        if sent_request is not None:
            now = sent_request.sent_at
            if sent_request.data is not None and fast_queue.form_count < MAX_RESPONSE_FORMS:
                learn_response(fast_queue, sent_request.data, key)
        return outgoing, FirstAttempt(target, fast_queue.queue, now, now + within, sent_request)


def read_result(
    response: RemotingCommand, outgoing: OutgoingMessage, first: FirstAttempt, address: str
) -> SendResult:
    """Return the result in a response.

    Raises:
        BrokerError: the broker rejected the message.
        DecodeError: the response is invalid.
    """
    result = decode_send_result(response, outgoing.msg_id, first.queue)
    if result is None:
        raise BrokerError(response.code, response.remark, outgoing.code, address)
    return result
