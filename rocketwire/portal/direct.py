"""Simple sends without a hop to trio's thread: over a connection that belongs to the sender.

A hop costs as much as a send: two switches between threads and a turn of trio's loop. So a producer
of a facade has connections of its own to the brokers, and encodes simple messages with the fast
path of ``rocketwire.client``. Routes, retries, and whatever is unusual remain in trio.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.producer.fast_path import FastPath
from rocketwire.client.publish.direct_send import DirectSend
from rocketwire.client.publish.unique_keys import unique_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.client.message import Message
    from rocketwire.client.producer.producer import Producer
    from rocketwire.client.publish.direct_send import DirectConnection
    from rocketwire.client.send_result import SendResult

WARM_SENDS: Final = 8
"""Sends of a producer before it opens connections of its own: a short program needs none."""


class DirectPath:
    """The fast path of one sender, with queues and connections of its own."""

    def __init__(
        self, producer: Producer, connect: Callable[[str], DirectConnection | None]
    ) -> None:
        """Start without topics.

        Args:
            connect: returns the sender's connection to an address, or None.
        """
        self._sender = producer.sender
        self._fast_path = FastPath(
            producer.instance,
            producer.sender,
            unique_keys(producer.instance.own_ip),
            producer.config,
            connect=connect,
            shares_turns=False,
        )

    def send(self, message: Message, within: float) -> SendResult | DirectSend | None:
        """Send a message, as ``FastPath.send`` does; returns None if nothing was written.

        Raises:
            IllegalMessageError, EncodeError: see ``Producer.send``.
        """
        hooks = self._sender.hooks
        if hooks is not None and not hooks.is_thread_safe:  # they see each send, in trio
            return None
        sent = self._fast_path.send(message, within)
        if isinstance(sent, DirectSend) and sent.request is None:
            self.forget()
            return None
        return sent

    def forget(self) -> None:
        """Look everything up again, after a connection has ended."""
        self._fast_path.forget()
