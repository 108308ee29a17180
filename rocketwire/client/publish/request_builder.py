"""Builds the request for a message, and decodes the response to a send.

The fields that all messages of a queue share are built once (``QueueTemplate``). Everything is
decided before the first byte is sent, so that a retry sends the same body to another queue.

Java: ``DefaultMQProducerImpl.sendKernelImpl``, ``MQClientAPIImpl.processSendResponse``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.client.message import DEFAULT_PROPERTIES, Message
from rocketwire.client.send_result import SendResult
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import DecodeError, IllegalMessageError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.queue_selection import QueueRotation
from rocketwire.policy.resource_names import is_retry_topic, with_namespace
from rocketwire.policy.retry import SEND_STATUSES
from rocketwire.wire.command import RemotingCommand, new_command
from rocketwire.wire.message.body_compression import compress_body
from rocketwire.wire.message.properties import MAX_PROPERTIES_BYTES, encode_properties
from rocketwire.wire.request_template import PreparedRequest, RequestTemplate, build_template

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.client.publish.config import ProducerConfig
    from rocketwire.policy.routing import PublishInfo

REPLY: Final = "reply"  # ``MSG_TYPE`` of replies

# Long names of the fields of ``SendMessageRequestHeaderV2``
V1_NAMES: Final = {
    "a": "producerGroup",
    "b": "topic",
    "c": "defaultTopic",
    "d": "defaultTopicQueueNums",
    "e": "queueId",
    "f": "sysFlag",
    "g": "bornTimestamp",
    "h": "flag",
    "i": "properties",
    "j": "reconsumeTimes",
    "k": "unitMode",
    "l": "maxReconsumeTimes",
    "m": "batch",
    "n": "bname",
}

_SUCCESS: Final = int(ResponseCode.SUCCESS)
_COMPRESSED: Final = int(MessageSysFlag.COMPRESSED)
_PREPARED: Final = int(MessageSysFlag.TRANSACTION_PREPARED)


class QueueTemplate(NamedTuple):
    broker_name: str
    fields: dict[str, str]  # ext fields; copy before use
    # form of requests with one message; None if requests are not built with forms
    form: RequestTemplate | None
    # form for messages with ``Message.has_default_properties``, around the unique key
    key_only_form: RequestTemplate | None


class Target:
    __slots__ = ("info", "rotation", "templates", "topic")

    def __init__(self, topic: str, info: PublishInfo, *, start: int) -> None:
        self.topic: str = topic  # topic with namespace
        self.info: PublishInfo = info
        self.rotation: Final = QueueRotation(info.queues, start=start)  # selects the queues in turn
        # templates by broker name and queue id
        self.templates: dict[tuple[str | None, int], QueueTemplate] = {}

    def get_template(
        self,
        queue: MessageQueue,
        group: str,
        config: ProducerConfig,
        client: ClientConfig,
        *,
        use_form: bool = True,
    ) -> QueueTemplate:
        """Return the template of a queue; create it if necessary.

        ``use_form``, which is always the same for a client, allows to build requests with forms.
        """
        key = (queue.broker_name, queue.queue_id)
        template = self.templates.get(key)
        if template is None:
            name = self.info.broker_name(queue)
            fields = {
                "a": group,
                "b": self.topic,
                "c": config.create_topic_key,
                "d": str(config.default_topic_queue_nums),
                "e": str(queue.queue_id),
                "j": "0",
                "k": "true" if client.unit_mode else "false",
                "m": "false",
                "n": name,
            }
            form = _build_form(fields, client) if use_form and config.send_smart_msg else None
            key_only_form = None if form is None else form.enclose(*DEFAULT_PROPERTIES)
            template = self.templates[key] = QueueTemplate(name, fields, form, key_only_form)
        return template


class MessageFields(NamedTuple):
    born: int  # milliseconds since 1970
    flag: int
    sys_flag: int  # bits of ``MessageSysFlag``
    properties: str  # encoded properties

    def fields(self) -> dict[str, str]:
        born, flag, sys_flag, properties = self
        return {"g": str(born), "h": str(flag), "f": str(sys_flag), "i": properties}


def _build_form(fields: Mapping[str, str], client: ClientConfig) -> RequestTemplate | None:
    command = new_command(
        _SINGLE, client.language, client.version, 0, 0, None, fields, None, client.serialize_type
    )
    return build_template(command, ("g", "h", "f"), "i")


@dataclass(slots=True, eq=False, repr=False)
class OutgoingMessage:
    code: int
    msg_id: str  # unique key of the result
    body: bytes  # body as sent
    _fields: MessageFields | dict[str, str]

    @property
    def fields(self) -> dict[str, str]:
        fields = self._fields
        return fields.fields() if isinstance(fields, MessageFields) else fields

    def build_request(
        self, template: QueueTemplate, client: ClientConfig, config: ProducerConfig
    ) -> RemotingCommand | PreparedRequest:
        fields = self._fields
        if template.form is not None and isinstance(fields, MessageFields):
            request = template.form.request(fields[:3], fields.properties, self.body)
            if request is not None:
                return request
        return self.build_command(template.fields, client, config)

    def build_command(
        self, template_fields: Mapping[str, str], client: ClientConfig, config: ProducerConfig
    ) -> RemotingCommand:
        code, ext = self.code, {**template_fields, **self.fields}
        if not config.send_smart_msg and code in _V1_CODES:
            code, ext = _V1_CODES[code], {V1_NAMES[name]: value for name, value in ext.items()}
        return new_command(
            code, client.language, client.version, 0, 0, None, ext, self.body, client.serialize_type
        )


_V1_CODES: Final = {
    int(RequestCode.SEND_MESSAGE_V2): int(RequestCode.SEND_MESSAGE),
    int(RequestCode.SEND_REPLY_MESSAGE_V2): int(RequestCode.SEND_REPLY_MESSAGE),
}
_SINGLE: Final = int(RequestCode.SEND_MESSAGE_V2)
_REPLY: Final = int(RequestCode.SEND_REPLY_MESSAGE_V2)


def build_outgoing_message(
    message: Message, msg_id: str, born: int, config: ProducerConfig, namespace: str = ""
) -> OutgoingMessage:
    text = None if namespace else message.encode_simple_properties(msg_id)
    if text is not None and not is_retry_topic(message.topic):
        text = _check_size(text)
        body, sys_flag = _compress(message.body, config)
        message_fields = MessageFields(born, message.flag, sys_flag, text)
        return OutgoingMessage(_SINGLE, msg_id, body, message_fields)
    properties = {const.UNIQ_KEY: msg_id, **message.wire_properties()}
    if namespace:
        properties[const.INSTANCE_ID] = namespace
    retry_fields: dict[str, str] = {}
    if is_retry_topic(message.topic):
        counters = ((const.RECONSUME_TIME, "j"), (const.MAX_RECONSUME_TIMES, "l"))
        retry_fields = {letter: properties[name] for name, letter in counters if name in properties}
    text = encode_checked_properties(properties)
    body, sys_flag = _compress(message.body, config)
    if properties.get(const.TRANSACTION_PREPARED) == "true":
        sys_flag |= _PREPARED
    is_reply = properties.get(const.MSG_TYPE) == REPLY
    fields: MessageFields | dict[str, str] = MessageFields(born, message.flag, sys_flag, text)
    if is_reply or retry_fields:
        fields = {
            "g": str(born),
            "h": str(message.flag),
            **retry_fields,
            "f": str(sys_flag),
            "i": text,
        }
    return OutgoingMessage(_REPLY if is_reply else _SINGLE, msg_id, body, fields)


def _compress(body: bytes, config: ProducerConfig) -> tuple[bytes, int]:
    if len(body) < config.compress_msg_body_over_howmuch:
        return body, 0
    body = compress_body(body, config.compress_type, level=config.compress_level)
    return body, _COMPRESSED | int(config.compress_type.sys_flag)


def encode_checked_properties(properties: Mapping[str, str]) -> str:
    return _check_size(encode_properties(properties))


def _check_size(text: str) -> str:
    if len(text) > MAX_PROPERTIES_BYTES // 3 and len(text.encode()) > MAX_PROPERTIES_BYTES:
        raise IllegalMessageError(f"the properties exceed {MAX_PROPERTIES_BYTES} bytes")
    return text


def decode_send_result(
    response: RemotingCommand, msg_id: str, queue: MessageQueue
) -> SendResult | None:
    """Decode the response to a send; None if the broker rejected the message."""
    status = SEND_STATUSES.get(response.code)
    if status is None:
        return None
    fields = response.ext_fields or {}
    try:
        queue_id = int(fields["queueId"])
        offset = int(fields["queueOffset"])
        offset_msg_id = fields["msgId"]
    except (KeyError, ValueError) as error:
        raise DecodeError(f"invalid response to a send: {error}", path="header") from error
    if queue_id != queue.queue_id:
        queue = MessageQueue(topic=queue.topic, broker_name=queue.broker_name, queue_id=queue_id)
    return SendResult(
        status,
        fields.get("batchUniqId") or msg_id,
        offset_msg_id,
        queue,
        offset,
        fields.get("transactionId"),
        fields.get(const.MSG_REGION),
        fields.get(const.TRACE_ON) != "false",
        fields.get("recallHandle"),
    )


def wire_topic(client: ClientConfig, topic: str) -> str:
    return with_namespace(client.namespace, topic) if client.namespace else topic
