"""``PlainSends``: messages with nothing special about them, sent one after the other by a task that is alone.

Rules of this file: what it does is what ``Producer.send`` does, in fewer steps; anything that is not as it mostly is, is left to
that: before anything is sent, or with what was begun (``rocketwire.at_once``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.clock import now_millis
from rocketwire.client.publishing import FirstTry
from rocketwire.client.sending import outgoing, stored_at
from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.policy.names import SEND_FORBIDDEN_TOPICS, is_retry_topic
from rocketwire.policy.retry import SendStatus
from rocketwire.policy.validation import check_topic
from rocketwire.wire.command import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.at_once import Begun
    from rocketwire.channel import Channel
    from rocketwire.client.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.producer_config import ProducerConfig
    from rocketwire.client.publishing import Publishing
    from rocketwire.client.send_result import SendResult
    from rocketwire.client.sending import Outgoing, Target, Way
    from rocketwire.client.unique_keys import UniqueKeys
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.wire.prepared import PreparedRequest

_SUCCESS: Final = int(ResponseCode.SUCCESS)

LONGEST_BODY: Final = 4096
"""Bytes of a body; with larger ones it is these that cost."""

MOST_FORMS: Final = 16
"""Forms of answers that are learnt at most: who answers in more of them is not understood any sooner."""


class PlainSends:
    """Plain messages of one producer."""

    def __init__(
        self,
        instance: ClientInstance,
        publishing: Publishing,
        keys: UniqueKeys,
        config: ProducerConfig,
    ) -> None:
        """Nothing is known yet.

        Args:
            instance: carries the requests.
            publishing: the producer's topics.
            keys: the producer's unique keys.
            config: of the producer.
        """
        client = instance.config
        self._instance = instance
        self._publishing = publishing
        self._keys = keys
        self._config = config
        most = min(config.max_message_size + 1, config.compress_msg_body_over_howmuch)
        usual = publishing.is_plain and not client.namespace and not client.vip_channel_enabled
        self._end_of_bodies = min(most, LONGEST_BODY + 1) if usual else 0
        self._known = publishing.targets
        self._checked: dict[str, Target] = {}
        self._read: Callable[[bytes, int], dict[str, str] | None] = _read_nothing
        self._learnt = 0
        self._last: Channel | None = None

    def send(
        self, message: Message, within: float
    ) -> SendResult | tuple[Outgoing, FirstTry] | None:
        """Send a message, as ``Producer.send`` does.

        Returns:
            The result; or how ``Publishing.go_on`` goes on, before anything is awaited; or None where nothing was done.

        Raises:
            IllegalMessageError, EncodeError: as of ``Producer.send``.

        Cancellation: nothing is sent by who is cancelled.
        """
        topic, body = message.topic, message.body
        target = self._known.get(topic)
        if target is None or not body or len(body) >= self._end_of_bodies:
            return None
        last = self._last
        if last is not None and last.is_open and not last.at_once.is_likely:
            return None
        if message.properties or message.system or self._checked.get(topic) is not target:
            self._check(target)
            return None
        born = now_millis()
        key = self._keys.next_key(born)
        queue = target.rotation.next_queue()
        way = target.ways.get((queue.broker_name, queue.queue_id))
        begun: Begun | None = None
        if way is not None:
            channel = self._channel_to(way.broker_name)
            request = _request(way, message, key, born)
            self._last = channel
            if channel is not None and request is not None:
                found = channel.at_once.ask(request, self._read, within)
                if isinstance(found, dict):
                    return stored_at(SendStatus.SEND_OK, found, key, queue)
                begun = found
        return self._left(message, key, born, target, queue, within, begun)

    def _channel_to(self, broker_name: str) -> Channel | None:
        instance = self._instance
        address = instance.routes.master(broker_name)
        return None if address is None else instance.pool.channel_to(address)

    def _check(self, target: Target) -> None:
        """Look once whether a topic may be sent to in plain messages."""
        topic = target.topic
        if topic not in SEND_FORBIDDEN_TOPICS and not is_retry_topic(topic):
            check_topic(topic)
            self._checked[topic] = target

    def _left(
        self,
        message: Message,
        key: str,
        born: int,
        target: Target,
        queue: MessageQueue,
        within: float,
        begun: Begun | None,
    ) -> tuple[Outgoing, FirstTry]:
        """What is left to ``Publishing``."""
        ready = outgoing(message, key, born, self._config)
        now = trio.current_time()
        if begun is not None:
            now = begun.sent_at
            if begun.came is not None and self._learnt < MOST_FORMS:
                self._learn(begun.came)
        return ready, FirstTry(target, queue, now, now + within, begun)

    def _learn(self, frame: bytes) -> None:
        """Read the next answer as this one, if that is possible."""
        from rocketwire.wire.answer_form import answer_form_of  # no part of a first message

        try:
            answer = decode(frame)
        except DecodeError:
            return
        if answer.code == _SUCCESS and answer.is_response:
            self._learnt += 1
            form = answer_form_of(frame, answer)
            self._read = _read_nothing if form is None else form.fields


def _request(way: Way, message: Message, key: str, born: int) -> PreparedRequest | None:
    """The request that sends a message which is not compressed; None where it is not written with a form."""
    numbers = (born, message.flag, 0)
    if way.bare is not None and message.is_bare:
        return way.bare.request_with(numbers, key.encode(), message.body)
    text = message.few_properties(key)
    if text is None or way.form is None:
        return None
    return way.form.request(numbers, text, message.body)


def _read_nothing(_: bytes, __: int) -> None:
    """Before the first answer was seen."""
