"""``FastPath``: sends messages without special properties in fewer steps.

It behaves like ``Producer.send``. Whatever is unusual is left to the normal path, either before
anything is sent or together with the request that was sent already
(``rocketwire.transport.fastpath.direct_requests``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.client.publish.request_builder import QueueFastPath, build_outgoing_message
from rocketwire.client.publish.sender import FirstAttempt
from rocketwire.client.send_result import SendResult
from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.messages import message_const as const
from rocketwire.policy.queue_selection import POSITIVE
from rocketwire.policy.resource_names import SEND_FORBIDDEN_TOPICS, is_retry_topic
from rocketwire.policy.retry import SendStatus
from rocketwire.policy.validation import check_topic
from rocketwire.wire.command import decode

if TYPE_CHECKING:
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.client.message import Message
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.client.publish.request_builder import OutgoingMessage, QueueTemplate, Target
    from rocketwire.client.publish.sender import MessageSender
    from rocketwire.client.publish.unique_keys import UniqueKeys
    from rocketwire.transport.fastpath.direct_requests import DirectRequests, StartedRequest
    from rocketwire.transport.reader import StreamReader

_SUCCESS: Final = int(ResponseCode.SUCCESS)
_OK: Final = SendStatus.SEND_OK
_ID, _OFFSET, _KEY = "msgId", "queueOffset", "transactionId"
_RESPONSE_FIELDS: Final = {"queueId", _OFFSET, _ID, const.MSG_REGION, const.TRACE_ON}
"""Ext fields of the response to a simple message; 5.0 and later add the unique key."""

_new: Final[Callable[..., Any]] = vars(tuple)["__new__"]
"""``tuple.__new__``: a third of the time of the named tuple's constructor."""

MAX_BODY_SIZE: Final = 4096
"""Larger bodies take the normal path, because the body then dominates the cost."""

MAX_PROPERTIES_SIZE: Final = 4096
"""Longer properties take the normal path, which checks the size of their bytes."""

MAX_RESPONSE_FORMS: Final = 32
"""Limit of learned response forms of a queue; each length of offset and opaque has its own."""


class FastPath:
    """The fast path of a producer."""

    def __init__(
        self,
        instance: ClientInstance,
        sender: MessageSender,
        keys: UniqueKeys,
        config: ProducerConfig,
    ) -> None:
        """Start without learned responses.

        Args:
            instance: carries the requests.
            sender: targets of the producer.
            keys: unique keys of the producer.
        """
        client = instance.config
        self._sender = sender
        self._keys = keys
        self._config = config
        end = min(
            config.max_message_size + 1, config.compress_msg_body_over_howmuch, MAX_BODY_SIZE + 1
        )
        is_enabled = sender.is_simple and not client.namespace and not client.vip_channel_enabled
        self._body_size_end = end if is_enabled else 0
        self._pool, self._routes = instance.pool, instance.routes
        self._targets = sender.targets
        self._inlet: StreamReader | None = None

    def send(
        self, message: Message, within: float
    ) -> SendResult | tuple[OutgoingMessage, FirstAttempt] | None:
        """Send a message, as ``Producer.send`` does.

        Returns:
            The result; or the arguments of ``MessageSender.send_after_first_attempt``, which must
            be called before
            anything is awaited; or None if nothing was done.

        Raises:
            IllegalMessageError, EncodeError: see ``Producer.send``.

        Cancellation: if the task is cancelled already, nothing is sent.
        """
        target, body = self._targets.get(message.topic), message.body
        if target is None or not body or len(body) >= self._body_size_end:
            return None
        inlet = self._inlet
        if inlet is not None and not inlet.allows_bypass and not inlet.is_closed:
            return None
        has_key_only = message.has_default_properties()
        fast_queues = target.fast_queues
        if fast_queues is None or (not has_key_only and message.system):
            self._enable(target)
            return None
        born = time.time_ns() // 1_000_000
        keys = self._keys
        if born < keys.month_end:
            key = keys.sequence.next_in_ascii(born)
        else:
            key = keys.next_key(born).encode()
        rotation = target.rotation
        rotation.turn = turn = (rotation.turn + 1) & POSITIVE
        fast_queue = fast_queues[turn % len(fast_queues)]
        at_once, template = fast_queue.at_once, fast_queue.template
        if at_once is None or fast_queue.changes != self._pool.changes + self._routes.changes:
            at_once, template = self._look_up(target, fast_queue)
        sent_request: StartedRequest | None = None
        if at_once is not None and template is not None:
            form = template.key_only_form if has_key_only else template.form
            values: tuple[object, ...] | None
            values = (
                (born, message.flag, 0, key)
                if has_key_only
                else _build_values(template, message, key, born)
            )
            if form is not None and values is not None:
                sent_request = at_once.request(form, values, body, within)
        unique_key, response_form = key.decode(), fast_queue.response_form
        if sent_request is None or sent_request.data is None or response_form is None:
            response_values = None
        else:
            response_values = response_form.values(sent_request.data, key, sent_request.opaque)
        if response_values is None:
            return self._fall_back(
                message, unique_key, born, target, fast_queue, within, sent_request
            )
        msg_id, offset = response_values
        transaction_id = unique_key if fast_queue.has_transaction_id else None
        result_values = (
            _OK,
            unique_key,
            msg_id.decode(),
            fast_queue.queue,
            int(offset),
            transaction_id,
            fast_queue.region,
            fast_queue.is_traced,
            None,
        )
        result: SendResult = _new(SendResult, result_values)
        return result

    def _look_up(
        self, target: Target, fast_queue: QueueFastPath
    ) -> tuple[DirectRequests | None, QueueTemplate | None]:
        """Update the template and the channel of a queue."""
        queue = fast_queue.queue
        template = target.templates.get((queue.broker_name, queue.queue_id))
        fast_queue.template = template
        fast_queue.changes = self._pool.changes + self._routes.changes
        fast_queue.form_count = 0
        address = None if template is None else self._routes.master(template.broker_name)
        channel = None if address is None else self._pool.channel_to(address)
        fast_queue.at_once = at_once = None if channel is None else channel.direct
        if channel is not None:
            self._inlet = channel.reader
        return at_once, template

    def _enable(self, target: Target) -> None:
        """Enable the fast path of a topic, if messages may be sent to it."""
        topic = target.topic
        if (
            target.fast_queues is None
            and topic not in SEND_FORBIDDEN_TOPICS
            and not is_retry_topic(topic)
        ):
            check_topic(topic)
            target.fast_queues = [QueueFastPath(queue) for queue in target.rotation.queues]

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
        """Return the arguments for the normal path, and learn the response if there is one."""
        outgoing = build_outgoing_message(message, key, born, self._config)
        now = trio.current_time()
        if sent_request is not None:
            now = sent_request.sent_at
            if sent_request.data is not None and fast_queue.form_count < MAX_RESPONSE_FORMS:
                learn_response(fast_queue, sent_request.data, key)
        return outgoing, FirstAttempt(target, fast_queue.queue, now, now + within, sent_request)


def learn_response(fast_queue: QueueFastPath, frame: bytes, unique_key: str) -> None:
    """Derive the form of the next responses from this one, if possible."""
    # Imported here because a first message does not need it.
    from rocketwire.wire.response_template import learn_template

    try:
        response = decode(frame)
    except DecodeError:
        return
    fields = response.ext_fields or {}
    if (
        response.code == _SUCCESS
        and response.is_response
        and fields.keys() - {_KEY} == _RESPONSE_FIELDS
        and (fields["queueId"], fields.get(_KEY, unique_key)) == (fast_queue.queue_id, unique_key)
    ):
        fast_queue.form_count += 1
        fast_queue.has_transaction_id = _KEY in fields
        key_field = _KEY if fast_queue.has_transaction_id else None
        fast_queue.response_form = learn_template(
            frame, response, key_field, text=_ID, number=_OFFSET
        )
        fast_queue.region = fields[const.MSG_REGION]
        fast_queue.is_traced = fields[const.TRACE_ON] != "false"


def _build_values(
    template: QueueTemplate, message: Message, key: bytes, born: int
) -> tuple[object, ...] | None:
    """Return the values for the request form of an uncompressed message; None if it has none."""
    text = message.encode_simple_properties(key.decode())
    if text is None or template.form is None or len(text) > MAX_PROPERTIES_SIZE:
        return None
    return template.form.values((born, message.flag, 0), text)
