"""Direct sends: the request and the response of a simple message, without input and output.

A message is simple if it needs neither compression nor more properties than tags, keys and those of
the application. Its request is formatted from the template of its queue, and its response is
compared with the one that the queue learned last. Who sends it (a task of trio, a thread, a loop of
asyncio) has a connection of its own, which writes the request and reads the response.
``MessageSender`` decides about everything unusual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from rocketwire.client.publish.request_builder import build_outgoing_message, decode_send_result
from rocketwire.client.send_result import SendResult
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, DecodeError
from rocketwire.messages import message_const as const
from rocketwire.policy.retry import SendStatus
from rocketwire.transport.fastpath.direct_requests import new_tuple
from rocketwire.wire.command import decode

if TYPE_CHECKING:
    from rocketwire.client.message import Message
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.client.publish.request_builder import OutgoingMessage, Target
    from rocketwire.messages.message_queue import MessageQueue
    from rocketwire.transport.fastpath.direct_requests import StartedRequest
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.request_template import RequestTemplate
    from rocketwire.wire.response_template import ResponseTemplate

_SUCCESS: Final = int(ResponseCode.SUCCESS)
_OK: Final = SendStatus.SEND_OK
_ID, _OFFSET, _KEY = "msgId", "queueOffset", "transactionId"
# Ext fields of the response to a simple message; 5.0 and later add the unique key
_RESPONSE_FIELDS: Final = {"queueId", _OFFSET, _ID, const.MSG_REGION, const.TRACE_ON}
# Limit of learned response forms of a queue; each length of offset and opaque has its own
MAX_RESPONSE_FORMS: Final = 32


class DirectConnection(Protocol):
    def request(
        self, template: RequestTemplate, values: tuple[object, ...], body: bytes, timeout: float
    ) -> StartedRequest | None:
        """Write a request, and read if the sender has nothing else to do; None if not possible."""


@dataclass(slots=True, eq=False, repr=False)
class DirectQueue:
    queue: MessageQueue
    form: RequestTemplate | None = None  # form of requests, if there is a connection
    # form of requests of messages with ``Message.has_default_properties``
    key_only_form: RequestTemplate | None = None
    # connection to the broker; None if not looked up, or if there is none
    connection: DirectConnection | None = None
    # sum of the change counters of pool and routes when ``connection`` was looked up
    changes: int = -1
    _response_form: ResponseTemplate | None = None
    _form_count: int = 0
    _region: str = ""
    _is_traced: bool = True
    _has_transaction_id: bool = True

    def use(
        self,
        connection: DirectConnection | None,
        form: RequestTemplate | None,
        key_only_form: RequestTemplate | None,
        changes: int,
    ) -> None:
        self.connection = None if form is None else connection
        self.form, self.key_only_form, self.changes = form, key_only_form, changes
        self._form_count = 0

    def read(self, frame: bytes, key: bytes, opaque: int) -> SendResult | None:
        """Return the result in a response that has the form of the last one; None otherwise."""
        form = self._response_form
        found = None if form is None else form.values(frame, key, opaque)
        if found is None:
            return None
        msg_id, offset = found
        unique_key = key.decode()
        values = (
            _OK,
            unique_key,
            msg_id.decode(),
            self.queue,
            int(offset),
            unique_key if self._has_transaction_id else None,
            self._region,
            self._is_traced,
            None,
        )
        result: SendResult = new_tuple(SendResult, values)
        return result

    def learn(self, frame: bytes, key: bytes) -> None:
        if self._form_count >= MAX_RESPONSE_FORMS:
            return
        # Imported here because a first message does not need it.
        from rocketwire.wire.response_template import learn_template

        try:
            response = decode(frame)
        except DecodeError:
            return
        fields, unique_key = response.ext_fields or {}, key.decode()
        if (
            response.code == _SUCCESS
            and response.is_response
            and fields.keys() - {_KEY} == _RESPONSE_FIELDS
            and fields["queueId"] == str(self.queue.queue_id)
            and fields.get(_KEY, unique_key) == unique_key
        ):
            self._form_count += 1
            self._has_transaction_id = _KEY in fields
            key_field = _KEY if self._has_transaction_id else None
            self._response_form = learn_template(
                frame, response, key_field, text=_ID, number=_OFFSET
            )
            self._region = fields[const.MSG_REGION]
            self._is_traced = fields[const.TRACE_ON] != "false"


@dataclass(slots=True, eq=False, repr=False)
class DirectSend:
    message: Message
    key: bytes
    born: int  # milliseconds since 1970
    target: Target
    direct_queue: DirectQueue  # the queue, with the connection of the request
    request: StartedRequest | None  # the request; None if nothing was written
    config: ProducerConfig

    @property
    def queue(self) -> MessageQueue:
        return self.direct_queue.queue

    def read(self, frame: bytes) -> SendResult | None:
        request = self.request
        return request and self.direct_queue.read(frame, self.key, request.opaque)

    def learn(self, frame: bytes) -> None:
        """Read the next responses like this one, which ``read`` could not read."""
        self.direct_queue.learn(frame, self.key)

    def decode(self, response: RemotingCommand, address: str) -> SendResult:
        outgoing = self.outgoing()
        result = decode_send_result(response, outgoing.msg_id, self.queue)
        if result is None:
            raise BrokerError(response.code, response.remark, outgoing.code, address)
        return result

    def outgoing(self) -> OutgoingMessage:
        return build_outgoing_message(self.message, self.key.decode(), self.born, self.config)
