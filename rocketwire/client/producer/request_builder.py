"""From a message to the request that sends it, and from the answer to the result.

Rules of this file: what does not change from one message of a topic to the next is written once
(``Target``); everything is decided before the first byte goes out, so that a retry sends the same
body to another queue.

Java: ``DefaultMQProducerImpl.sendKernelImpl``, ``MQClientAPIImpl.processSendResponse``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.message import BARE, Message
from rocketwire.client.producer.send_result import SendResult
from rocketwire.codes import RequestCode, ResponseCode, SerializeType
from rocketwire.errors import DecodeError, IllegalMessageError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.queue_selection import QueueRotation
from rocketwire.policy.resource_names import is_retry_topic, with_namespace
from rocketwire.policy.retry import SEND_STATUSES, SendStatus
from rocketwire.wire.command import new_command
from rocketwire.wire.message.body_compression import compress_body
from rocketwire.wire.message.properties import MAX_PROPERTIES_BYTES, encode_properties
from rocketwire.wire.request_template import form_of
from rocketwire.wire.values.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.producer.config import ProducerConfig
    from rocketwire.policy.routing import PublishInfo
    from rocketwire.transport.fastpath.request import AtOnce
    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.request_template import PreparedRequest, RequestForm
    from rocketwire.wire.response_template import AnswerForm

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
_new: Final[Callable[..., Any]] = vars(tuple)["__new__"]
"""What the constructor of a named tuple calls, at a third of its price."""


class Way(NamedTuple):
    """What all messages to one queue have in common.

    Attributes:
        broker_name: of the broker that has the queue.
        fields: ext fields; to be copied.
        form: of requests with one message each; None where they are not written with one.
        bare: the same around the unique key of a message that is ``Message.is_bare``.
    """

    broker_name: str
    fields: dict[str, str]
    form: RequestForm | None
    bare: RequestForm | None


class Lane:
    """One queue, and how plain messages get there.

    Attributes:
        queue: the queue.
        queue_id: its number, as it is written.
        way: what its messages have in common; None before the first of them was sent.
        at_once: where to; None where that is not known.
        changes: of routes and channels, when that was looked up.
        answer: how the last message was answered; None as long as that is not known.
        region: of the broker, where that form is known.
        is_traced: whether the broker wants sends to be traced, likewise.
        tells_key: whether the broker names the message, likewise.
        learnt: how many such forms were learnt since ``changes``.
    """

    __slots__ = (
        "answer",
        "at_once",
        "changes",
        "is_traced",
        "learnt",
        "queue",
        "queue_id",
        "region",
        "tells_key",
        "way",
    )

    def __init__(self, queue: MessageQueue) -> None:
        """Args: queue: the queue."""
        self.queue = queue
        self.queue_id = str(queue.queue_id)
        self.way: Way | None = None
        self.at_once: AtOnce | None = None
        self.changes = -1
        self.answer: AnswerForm | None = None
        self.region = ""
        self.is_traced = True
        self.tells_key = True
        self.learnt = 0


class Target:
    """One topic that is published to.

    Attributes:
        topic: its name on the wire.
        info: its queues.
        rotation: the same in turn.
        ways: those that ``way`` has made, by broker name and number of the queue.
        lanes: one for each queue, by its turn, where plain messages may be sent to the topic
            (``rocketwire.client.producer.fast_path``).
    """

    __slots__ = ("info", "lanes", "rotation", "topic", "ways")

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
        self.ways: dict[tuple[str | None, int], Way] = {}
        self.lanes: list[Lane] | None = None

    def way(
        self,
        queue: MessageQueue,
        group: str,
        config: ProducerConfig,
        client: ClientConfig,
        *,
        formed: bool = True,
    ) -> Way:
        """The way to one of its queues.

        Args:
            queue: which one.
            group: of the producer.
            config: of the producer.
            client: of the client.
            formed: whether requests are sent as they are written; it is the same each time.
        """
        key = (queue.broker_name, queue.queue_id)
        found = self.ways.get(key)
        if found is None:
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
            form = _form(fields, client) if formed and config.send_smart_msg else None
            bare = None if form is None else form.around(*BARE)
            found = self.ways[key] = Way(name, fields, form, bare)
        return found


class Plain(NamedTuple):
    """The ext fields of one message that no other has, as values.

    Attributes:
        born: milliseconds since 1970.
        flag: the application's number.
        sys_flag: bits of ``MessageSysFlag``.
        properties: their text.
    """

    born: int
    flag: int
    sys_flag: int
    properties: str

    def fields(self) -> dict[str, str]:
        """As they are written, in the order of ``_form``."""
        born, flag, sys_flag, properties = self
        return {"g": str(born), "h": str(flag), "f": str(sys_flag), "i": properties}


def _form(fields: Mapping[str, str], client: ClientConfig) -> RequestForm | None:
    command = new_command(
        _SINGLE, client.language, client.version, 0, 0, None, fields, None, client.serialize_type
    )
    return form_of(command, ("g", "h", "f"), "i")


class Outgoing:
    """A message, or a batch, ready to be sent to any queue of its topic.

    Attributes:
        code: request code.
        msg_id: what the result will be called by.
        body: as it is sent.
    """

    __slots__ = ("_own", "body", "code", "msg_id")

    def __init__(self, code: int, msg_id: str, body: bytes, own: Plain | dict[str, str]) -> None:
        """Args: own: ext fields that differ from those of ``Way.fields``.

        ``Plain`` where a form may be filled with them.
        """
        self.code = code
        self.msg_id = msg_id
        self.body = body
        self._own = own

    @property
    def own(self) -> dict[str, str]:
        """Ext fields that differ from those of ``Way.fields``."""
        own = self._own
        return own.fields() if isinstance(own, Plain) else own

    def request(
        self, way: Way, client: ClientConfig, config: ProducerConfig
    ) -> RemotingCommand | PreparedRequest:
        """The request for one queue, written with its form where that is possible."""
        own = self._own
        if way.form is not None and isinstance(own, Plain):
            request = way.form.request(own[:3], own.properties, self.body)
            if request is not None:
                return request
        return self.command(way.fields, client, config)

    def command(
        self, fields: Mapping[str, str], client: ClientConfig, config: ProducerConfig
    ) -> RemotingCommand:
        """The request for one queue as a command."""
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
    text = None if namespace else message.few_properties(msg_id)
    if text is not None and not is_retry_topic(message.topic):
        text = _checked(text)
        body, sys_flag = _compressed(message.body, config)
        plain: Plain = _new(Plain, (born, message.flag, sys_flag, text))
        return Outgoing(_SINGLE, msg_id, body, plain)
    properties = {const.UNIQ_KEY: msg_id, **message.wire_properties()}
    if namespace:
        properties[const.INSTANCE_ID] = namespace
    moved: dict[str, str] = {}
    if is_retry_topic(message.topic):
        _move_retries(properties, moved)
    text = checked_properties(properties)
    body, sys_flag = _compressed(message.body, config)
    if properties.get(const.TRANSACTION_PREPARED) == "true":
        sys_flag |= _PREPARED
    replies = properties.get(const.MSG_TYPE) == REPLY
    own: Plain | dict[str, str] = Plain(born, message.flag, sys_flag, text)
    if replies or moved:
        own = {"g": str(born), "h": str(message.flag), **moved, "f": str(sys_flag), "i": text}
    return Outgoing(_REPLYING if replies else _SINGLE, msg_id, body, own)


def _compressed(body: bytes, config: ProducerConfig) -> tuple[bytes, int]:
    """A body as it is sent, and the bits that tell of it."""
    if len(body) < config.compress_msg_body_over_howmuch:
        return body, 0
    kind = config.compress_type
    body = compress_body(body, kind, level=config.compress_level)
    return body, _COMPRESSED | int(kind.sys_flag)


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
    return _checked(encode_properties(properties))


def _checked(text: str) -> str:
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
    return stored_at(status, response.ext_fields or {}, msg_id, queue)


def stored_at(
    status: SendStatus, fields: Mapping[str, str], msg_id: str, queue: MessageQueue
) -> SendResult:
    """The result that the ext fields of an answer tell.

    Args:
        status: of its code.
        fields: the ext fields.
        msg_id: as of ``read_result``, which raises the same.
        queue: likewise.
    """
    try:
        queue_id = int(fields["queueId"])
        offset = int(fields["queueOffset"])
        offset_msg_id = fields["msgId"]
    except (KeyError, ValueError) as error:
        raise DecodeError(f"not the answer to a send: {error}", path="header") from error
    if queue_id != queue.queue_id:
        queue = MessageQueue(topic=queue.topic, broker_name=queue.broker_name, queue_id=queue_id)
    get = fields.get
    values = (
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
    result: SendResult = _new(SendResult, values)
    return result


def wire_topic(client: ClientConfig, topic: str) -> str:
    """A topic as brokers know it."""
    return with_namespace(client.namespace, topic) if client.namespace else topic
