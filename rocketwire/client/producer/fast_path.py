"""``PlainSends``: messages with nothing special about them, sent one after the other by a task that is alone.

Rules of this file: what it does is what ``Producer.send`` does, in fewer steps; anything that is not as it mostly is, is left to
that: before anything is sent, or with what was begun (``rocketwire.transport.fastpath.request``).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client.producer.request_builder import Lane, outgoing
from rocketwire.client.producer.send_result import SendResult
from rocketwire.client.producer.sender import FirstTry
from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.messages import message_const as const
from rocketwire.policy.queue_selection import POSITIVE
from rocketwire.policy.resource_names import SEND_FORBIDDEN_TOPICS, is_retry_topic
from rocketwire.policy.retry import SendStatus
from rocketwire.policy.validation import check_topic
from rocketwire.wire.command import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.producer.config import ProducerConfig
    from rocketwire.client.producer.request_builder import Outgoing, Target, Way
    from rocketwire.client.producer.sender import Publishing
    from rocketwire.client.producer.unique_keys import UniqueKeys
    from rocketwire.transport.fastpath.request import AtOnce, Begun
    from rocketwire.transport.reader import Inlet

_SUCCESS: Final = int(ResponseCode.SUCCESS)
_OK: Final = SendStatus.SEND_OK
_ID, _OFFSET, _KEY = "msgId", "queueOffset", "transactionId"
_TOLD: Final = {"queueId", _OFFSET, _ID, const.MSG_REGION, const.TRACE_ON}
"""What brokers tell of a plain message that was stored; from 5.0 on its unique key too."""

_new: Final[Callable[..., Any]] = vars(tuple)["__new__"]
"""What the constructor of a named tuple calls, at a third of its price."""

LONGEST_BODY: Final = 4096
"""Bytes of a body; with larger ones it is these that cost."""

MOST_FORMS: Final = 32
"""Forms of answers that are learnt at most, one for each length of an offset and of a request's number: who answers in more of
them is not understood any sooner."""


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

    def send(
        self, message: Message, within: float
    ) -> SendResult | tuple[Outgoing, FirstTry] | None:
        """Send a message, as ``Producer.send`` does.

        Returns:
            The result; or how ``Publishing.go_on`` goes on, before anything is awaited; or None
            where nothing was done.

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
        if born < keys.month_end:
            key = keys.sequence.next_in_ascii(born)
        else:
            key = keys.next_key(born).encode()
        rotation = target.rotation
        rotation.turn = turn = (rotation.turn + 1) & POSITIVE
        lane = lanes[turn % len(lanes)]
        at_once, way = lane.at_once, lane.way
        if at_once is None or lane.changes != self._pool.changes + self._routes.changes:
            at_once, way = self._looked_up(target, lane)
        begun: Begun | None = None
        if at_once is not None and way is not None:
            form = way.bare if bare else way.form
            values: tuple[object, ...] | None
            values = (born, message.flag, 0, key) if bare else _values(way, message, key, born)
            if form is not None and values is not None:
                begun = at_once.ask(form, values, body, within)
        name, answer = key.decode(), lane.answer
        if begun is None or begun.came is None or answer is None:
            told = None
        else:
            told = answer.values(begun.came, key, begun.opaque)
        if told is None:
            return self._left(message, name, born, target, lane, within, begun)
        msg_id, offset = told
        transaction_id = name if lane.tells_key else None
        stored = (
            _OK,
            name,
            msg_id.decode(),
            lane.queue,
            int(offset),
            transaction_id,
            lane.region,
            lane.is_traced,
            None,
        )
        result: SendResult = _new(SendResult, stored)
        return result

    def _looked_up(self, target: Target, lane: Lane) -> tuple[AtOnce | None, Way | None]:
        """Look for a queue's way and channel, as they are now."""
        queue = lane.queue
        lane.way = way = target.ways.get((queue.broker_name, queue.queue_id))
        lane.changes = self._pool.changes + self._routes.changes
        lane.learnt = 0
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
        lane: Lane,
        within: float,
        begun: Begun | None,
    ) -> tuple[Outgoing, FirstTry]:
        """What is left to ``Publishing``."""
        ready = outgoing(message, key, born, self._config)
        now = trio.current_time()
        if begun is not None:
            now = begun.sent_at
            if begun.came is not None and lane.learnt < MOST_FORMS:
                _learn(lane, begun.came, key)
        return ready, FirstTry(target, lane.queue, now, now + within, begun)


def _learn(lane: Lane, frame: bytes, key: str) -> None:
    """Read the next answer to what is sent to a queue as this one to a message of that key, if that is possible."""
    from rocketwire.wire.response_template import answer_form_of  # no part of a first message

    try:
        answer = decode(frame)
    except DecodeError:
        return
    fields = answer.ext_fields or {}
    if (
        answer.code == _SUCCESS
        and answer.is_response
        and fields.keys() - {_KEY} == _TOLD
        and (fields["queueId"], fields.get(_KEY, key)) == (lane.queue_id, key)
    ):
        lane.learnt += 1
        lane.tells_key = _KEY in fields
        known = _KEY if lane.tells_key else None
        lane.answer = answer_form_of(frame, answer, known, text=_ID, number=_OFFSET)
        lane.region, lane.is_traced = fields[const.MSG_REGION], fields[const.TRACE_ON] != "false"


def _values(way: Way, message: Message, key: bytes, born: int) -> tuple[object, ...] | None:
    """What the form of a way is filled with for a message that is not compressed.

    None where it is not written with a form.
    """
    text = message.few_properties(key.decode())
    if text is None or way.form is None:
        return None
    return way.form.values((born, message.flag, 0), text)
