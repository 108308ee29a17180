"""``PlainSends``: messages with nothing special about them, sent one after the other by a task that is alone.

Rules of this file: what it does is what ``Producer.send`` does, in fewer steps; anything that is not as it mostly is, is left to
that: before anything is sent, or with what was begun (``rocketwire.at_once``).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.at_once import Begun
from rocketwire.client.publishing import FirstTry
from rocketwire.client.send_result import SendResult
from rocketwire.client.sending import Lane, outgoing, stored_at
from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.messages import message_const as const
from rocketwire.policy.names import SEND_FORBIDDEN_TOPICS, is_retry_topic
from rocketwire.policy.retry import SendStatus
from rocketwire.policy.selection import POSITIVE
from rocketwire.policy.validation import check_topic
from rocketwire.wire.command import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.at_once import AtOnce
    from rocketwire.client.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.producer_config import ProducerConfig
    from rocketwire.client.publishing import Publishing
    from rocketwire.client.sending import Outgoing, Target, Way
    from rocketwire.client.unique_keys import UniqueKeys
    from rocketwire.inlet import Inlet
    from rocketwire.messages.message_queue import MessageQueue

_SUCCESS: Final = int(ResponseCode.SUCCESS)
_OK: Final = SendStatus.SEND_OK
_TOLD: Final = ("queueId", "queueOffset", "msgId", "transactionId", const.MSG_REGION, const.TRACE_ON)  # fmt: skip
"""What brokers tell of a plain message that was stored, in one order or another."""

_new: Final[Callable[..., Any]] = vars(tuple)["__new__"]
"""What the constructor of a named tuple calls, at a third of its price."""

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
        self._publishing = publishing
        self._keys = keys
        self._config = config
        most = min(config.max_message_size + 1, config.compress_msg_body_over_howmuch)
        usual = publishing.is_plain and not client.namespace and not client.vip_channel_enabled
        self._end_of_bodies = min(most, LONGEST_BODY + 1) if usual else 0
        self._pool, self._routes = instance.pool, instance.routes
        self._known = publishing.targets
        self._inlet: Inlet | None = None
        self._read: Callable[[bytes, int], tuple[str, ...] | None] = _read_nothing
        self._learnt = 0

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
        target, body = self._known.get(message.topic), message.body
        if target is None or not body or len(body) >= self._end_of_bodies:
            return None
        inlet = self._inlet
        if inlet is not None and not inlet.is_free and not inlet.is_over:
            return None
        bare = message.is_bare()
        lanes = target.lanes
        if lanes is None or (not bare and (message.properties or message.system)):
            self._check(target)
            return None
        born = time.time_ns() // 1_000_000
        keys = self._keys
        key = keys.sequence.next_key(born) if born < keys.month_end else keys.next_key(born)
        rotation = target.rotation
        rotation.turn = turn = (rotation.turn + 1) & POSITIVE
        lane = lanes[turn % len(lanes)]
        at_once, way = lane.at_once, lane.way
        if at_once is None or lane.changes != self._pool.changes + self._routes.changes:
            at_once, way = self._looked_up(target, lane)
        found: tuple[str, ...] | Begun | None = None
        if at_once is not None and way is not None:
            form = way.bare if bare else way.form
            values: tuple[object, ...] | None
            values = (born, message.flag, 0, key.encode()) if bare else _values(way, message, key, born)  # fmt: skip
            if form is not None and values is not None:
                found = at_once.ask(form, values, body, self._read, within)
        if found is None or isinstance(found, Begun):
            return self._left(message, key, born, target, lane.queue, within, found)
        queue_id, offset, msg_id, transaction_id, region, trace_on, _ = found
        if queue_id != lane.queue_id or not offset.isdecimal():
            return stored_at(_OK, dict(zip(_TOLD, found, strict=False)), key, lane.queue)
        on = trace_on != "false"
        stored = (_OK, key, msg_id, lane.queue, int(offset), transaction_id, region, on, None)
        result: SendResult = _new(SendResult, stored)
        return result

    def _looked_up(self, target: Target, lane: Lane) -> tuple[AtOnce | None, Way | None]:
        """Look for a queue's way and channel, as they are now."""
        queue = lane.queue
        lane.way = way = target.ways.get((queue.broker_name, queue.queue_id))
        lane.changes = self._pool.changes + self._routes.changes
        address = None if way is None else self._routes.master(way.broker_name)
        channel = None if address is None else self._pool.channel_to(address)
        lane.at_once = at_once = None if channel is None else channel.at_once
        if at_once is not None:
            self._inlet = at_once.inlet
        return at_once, way

    def _check(self, target: Target) -> None:
        """Look once whether a topic may be sent to in plain messages."""
        topic = target.topic
        if (
            target.lanes is None
            and topic not in SEND_FORBIDDEN_TOPICS
            and not is_retry_topic(topic)
        ):
            check_topic(topic)
            target.lanes = [Lane(queue) for queue in target.rotation.queues]

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
            form = answer_form_of(frame, answer, _TOLD)
            self._read = _read_nothing if form is None else form.values


def _values(way: Way, message: Message, key: str, born: int) -> tuple[object, ...] | None:
    """What the form of a way is filled with for a message that is not compressed; None where it is not written with a form."""
    text = message.few_properties(key)
    if text is None or way.form is None:
        return None
    return way.form.values((born, message.flag, 0), text)


def _read_nothing(_: bytes, __: int) -> None:
    """Before the first answer was seen."""
