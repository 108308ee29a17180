"""From a message to the request that sends it, and from the answer to the result.

Rules of this file: what does not change from one message of a topic to the next is written once (``Target``); everything is
decided before the first byte goes out, so that a retry sends the same body to another queue.

Java: ``DefaultMQProducerImpl.sendKernelImpl``, ``MQClientAPIImpl.processSendResponse``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.send_result import SendResult
from rocketwire.codes import RequestCode, ResponseCode, SerializeType
from rocketwire.errors import DecodeError, IllegalMessageError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.names import is_retry_topic, with_namespace
from rocketwire.policy.retry import SEND_STATUSES
from rocketwire.policy.selection import QueueRotation
from rocketwire.wire.body_compression import compress_body
from rocketwire.wire.command import new_command
from rocketwire.wire.properties import MAX_PROPERTIES_BYTES, encode_properties

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.message import Message
    from rocketwire.client.producer_config import ProducerConfig
    from rocketwire.policy.routing import PublishInfo
    from rocketwire.wire.command import RemotingCommand

REPLY: Final = "reply"
"""``MSG_TYPE`` of replies."""

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
"""The long names of the fields of ``SendMessageRequestHeaderV2``."""

_SUCCESS: Final = int(ResponseCode.SUCCESS)
_COMPRESSED: Final = int(MessageSysFlag.COMPRESSED)
_PREPARED: Final = int(MessageSysFlag.TRANSACTION_PREPARED)


class Target:
    """One topic that is published to.

    Attributes:
        topic: its name on the wire.
        info: its queues.
        rotation: the same in turn.
    """

    __slots__ = ("_fields", "info", "rotation", "topic")

    def __init__(self, topic: str, info: PublishInfo, *, start: int) -> None:
        """A topic with at least one queue.

        Args:
            topic: its name on the wire.
            info: its queues.
            start: any number; where the turns begin.
        """
        self.topic = topic
        self.info = info
        self.rotation = QueueRotation(info.queues, start=start)
        self._fields: dict[tuple[str | None, int], dict[str, str]] = {}

    def fields(
        self, queue: MessageQueue, group: str, config: ProducerConfig, unit_mode: bool
    ) -> dict[str, str]:
        """Ext fields that all messages to a queue have in common; to be copied."""
        key = (queue.broker_name, queue.queue_id)
        found = self._fields.get(key)
        if found is None:
            found = self._fields[key] = {
                "a": group,
                "b": self.topic,
                "c": config.create_topic_key,
                "d": str(config.default_topic_queue_nums),
                "e": str(queue.queue_id),
                "j": "0",
                "k": "true" if unit_mode else "false",
                "m": "false",
                "n": self.info.broker_name(queue),
            }
        return found


class Outgoing:
    """A message, or a batch, ready to be sent to any queue of its topic.

    Attributes:
        code: request code.
        msg_id: what the result will be called by.
        body: as it is sent.
        own: ext fields that differ from those of ``Target.fields``.
    """

    __slots__ = ("body", "code", "msg_id", "own")

    def __init__(self, code: int, msg_id: str, body: bytes, own: dict[str, str]) -> None:
        self.code = code
        self.msg_id = msg_id
        self.body = body
        self.own = own

    def command(
        self, fields: Mapping[str, str], client: ClientConfig, config: ProducerConfig
    ) -> RemotingCommand:
        """The request for one queue."""
        code, ext = self.code, {**fields, **self.own}
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
_REPLYING: Final = int(RequestCode.SEND_REPLY_MESSAGE_V2)
_JSON: Final = SerializeType.JSON


def outgoing(
    message: Message, msg_id: str, born: int, config: ProducerConfig, namespace: str = ""
) -> Outgoing:
    """One message, ready.

    Args:
        message: checked by ``check_message`` already.
        msg_id: its unique key.
        born: the time now, milliseconds since 1970.
        config: says when and how to compress.
        namespace: of the first kind; consumers are told.

    Raises:
        IllegalMessageError: its properties cannot be written.
        EncodeError: the package of the compression is not installed.
    """
    properties = {const.UNIQ_KEY: msg_id, **message.wire_properties()}
    if namespace:
        properties[const.INSTANCE_ID] = namespace
    code = _REPLYING if properties.get(const.MSG_TYPE) == REPLY else _SINGLE
    own = {"g": str(born), "h": str(message.flag)}
    if is_retry_topic(message.topic):
        _move_retries(properties, own)
    body, sys_flag = message.body, 0
    if len(body) >= config.compress_msg_body_over_howmuch:
        body = compress_body(body, config.compress_type, level=config.compress_level)
        sys_flag = _COMPRESSED | int(config.compress_type.sys_flag)
    if properties.get(const.TRANSACTION_PREPARED) == "true":
        sys_flag |= _PREPARED
    own["f"] = str(sys_flag)
    own["i"] = checked_properties(properties)
    return Outgoing(code, msg_id, body, own)


def _move_retries(properties: dict[str, str], own: dict[str, str]) -> None:
    """What the broker wants to know of a message to be retried is in the header, not in the properties."""
    for name, letter in ((const.RECONSUME_TIME, "j"), (const.MAX_RECONSUME_TIMES, "l")):
        value = properties.pop(name, None)
        if value is not None:
            own[letter] = value


def checked_properties(properties: Mapping[str, str]) -> str:
    """The properties' text.

    Raises:
        IllegalMessageError: longer than a stored message can hold.
    """
    text = encode_properties(properties)
    if len(text) > MAX_PROPERTIES_BYTES // 3 and len(text.encode()) > MAX_PROPERTIES_BYTES:
        raise IllegalMessageError(f"properties of more than {MAX_PROPERTIES_BYTES} bytes")
    return text


def read_result(response: RemotingCommand, msg_id: str, queue: MessageQueue) -> SendResult | None:
    """The result that an answer tells; None for a refusal.

    Args:
        response: the broker's answer.
        msg_id: unique key of the message, or those of a batch.
        queue: where it was sent, its topic as the application knows it.

    Raises:
        DecodeError: the answer is not what it should be.
    """
    status = SEND_STATUSES.get(response.code)
    if status is None:
        return None
    fields = response.ext_fields or {}
    try:
        queue_id = int(fields["queueId"])
        offset = int(fields["queueOffset"])
        offset_msg_id = fields["msgId"]
    except (KeyError, ValueError) as error:
        raise DecodeError(f"not the answer to a send: {error}", path="header") from error
    if queue_id != queue.queue_id:
        queue = MessageQueue(topic=queue.topic, broker_name=queue.broker_name, queue_id=queue_id)
    get = fields.get
    return SendResult(
        status,
        get("batchUniqId") or msg_id,
        offset_msg_id,
        queue,
        offset,
        get("transactionId"),
        get(const.MSG_REGION),
        get(const.TRACE_ON) != "false",
        get("recallHandle"),
    )


def wire_topic(client: ClientConfig, topic: str) -> str:
    """A topic as brokers know it."""
    return with_namespace(client.namespace, topic) if client.namespace else topic
