"""Simple sends without a hop to trio's thread: over a connection that belongs to the sender.

A hop costs as much as a send: two switches between threads and a turn of trio's loop. So a producer
of a facade has connections of its own to the brokers, and encodes simple messages with the fast
path of ``rocketwire.client``. Routes, retries, and whatever is unusual remain in trio.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from rocketwire.client.producer.fast_path import FastPath
from rocketwire.client.publish.request_builder import Target
from rocketwire.client.publish.unique_keys import unique_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.client.message import Message
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.publish.direct_send import DirectConnection, DirectSend

WARM_SENDS: Final = 8
"""Sends of a producer before it opens connections of its own: a short program needs none."""


class DirectPath:
    """The fast path of one sender, with queues and connections of its own.

    Attributes:
        producer: the trio producer.
    """

    def __init__(
        self, producer: Producer, connect: Callable[[str], DirectConnection | None]
    ) -> None:
        """Start without topics.

        Args:
            connect: returns the sender's connection to an address, or None.
        """
        self.producer = producer
        self._targets: dict[str, Target] = {}
        self._sources: dict[str, Target] = {}
        self._fast_path = FastPath(
            producer.instance,
            producer.sender,
            unique_keys(producer.instance.own_ip),
            producer.config,
            targets=self._targets,
            connect=connect,
        )

    def start(self, message: Message, within: float) -> DirectSend | None:
        """Start to send a message; returns None if nothing was written.

        Raises:
            IllegalMessageError, EncodeError: see ``Producer.send``.
        """
        self._follow(message.topic)
        send = self._fast_path.start(message, within)
        if send is None or send.request is not None:
            return send
        self.forget()
        return None

    def _follow(self, topic: str) -> None:
        """Use the producer's present queues of a topic."""
        sender = self.producer.sender
        source = sender.targets.get(topic)
        if sender.hooks is not None and not sender.hooks.is_thread_safe:
            source = None  # hooks see each send, in trio
        if source is None:
            self._targets.pop(topic, None)
            self._sources.pop(topic, None)
        elif self._sources.get(topic) is not source:
            self._sources[topic] = source
            start = time.perf_counter_ns() & 0x7FFFFFFF
            self._targets[topic] = Target(topic, source.info, start=start)

    def forget(self) -> None:
        """Look everything up again, after a connection has ended."""
        self._targets.clear()
        self._sources.clear()
