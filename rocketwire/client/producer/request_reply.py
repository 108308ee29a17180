"""Requests with replies.

A consumer sends its reply to a broker that has a channel of the requester's client id; the broker
pushes it to the requester (code 326).

Java: ``DefaultMQProducerImpl.request``, ``RequestFutureHolder``, ``MessageUtil``,
``ClientRemotingProcessor.receiveReplyMessage``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.message import Message
from rocketwire.client.publish.request_builder import REPLY
from rocketwire.errors import IllegalMessageError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages import message_const as const
from rocketwire.policy.resource_names import reply_topic
from rocketwire.wire.message.body_compression import compression_type, decompress_body
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.message.stored import DEFAULT_LIMITS, StoredMessage

if TYPE_CHECKING:
    from rocketwire.messages.send import ReplyMessageRequestHeader

_REPLY_PROPERTIES: Final = (const.CORRELATION_ID, const.REPLY_TO_CLIENT, const.TTL)


def create_reply(request: StoredMessage, body: bytes) -> Message:
    """Create the reply to a consumed request; any producer can send it.

    Raises:
        IllegalMessageError: the message is not a request: its cluster or the client to reply to is
            missing (Java: code 10007).
    """
    properties = request.properties or {}
    cluster = properties.get(const.CLUSTER)
    system = {name: value for name in _REPLY_PROPERTIES if (value := properties.get(name))}
    if not cluster or const.REPLY_TO_CLIENT not in system:
        raise IllegalMessageError(f"message {request.msg_id} is not a request: it expects no reply")
    return Message(topic=reply_topic(cluster), body=body, system={const.MSG_TYPE: REPLY, **system})


def build_request(message: Message, correlation_id: str, client_id: str, within: float) -> Message:
    system = {
        **message.system,
        const.CORRELATION_ID: correlation_id,
        const.REPLY_TO_CLIENT: client_id,
        const.TTL: str(int(within * 1000)),
    }
    return replace(message, system=system)


class PendingRequests:
    def __init__(self) -> None:
        self._pending: dict[str, trio.Event] = {}
        self._replies: dict[str, StoredMessage] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, correlation_id: str) -> None:
        self._pending[correlation_id] = trio.Event()

    def remove(self, correlation_id: str) -> None:
        self._pending.pop(correlation_id, None)
        self._replies.pop(correlation_id, None)

    async def wait(self, correlation_id: str) -> StoredMessage:
        await self._pending[correlation_id].wait()
        return self._replies[correlation_id]

    def handle_reply(self, header: ReplyMessageRequestHeader, body: bytes, now_millis: int) -> bool:
        """Handle a reply; returns whether its request is pending here."""
        properties = decode_properties(header.properties or "")
        correlation_id = properties.get(const.CORRELATION_ID, "")
        replied = self._pending.get(correlation_id)
        if replied is None:
            return False
        self._replies[correlation_id] = decode_reply(header, properties, body, now_millis)
        replied.set()
        return True


def decode_reply(
    header: ReplyMessageRequestHeader, properties: dict[str, str], body: bytes, now_millis: int
) -> StoredMessage:
    sys_flag = header.sys_flag or 0
    if sys_flag & MessageSysFlag.COMPRESSED:
        body = decompress_body(
            body, compression_type(sys_flag), max_size=DEFAULT_LIMITS.max_inflated
        )
    return StoredMessage(
        topic=header.topic or "",
        body=body,
        flag=header.flag or 0,
        properties={**properties, const.ARRIVE_TIME: str(now_millis)},
        queue_id=header.queue_id or 0,
        sys_flag=sys_flag & ~int(MessageSysFlag.COMPRESSED),
        born_timestamp=header.born_timestamp or 0,
        born_host=_parse_host(header.born_host),
        store_timestamp=header.store_timestamp,
        store_host=_parse_host(header.store_host),
        reconsume_times=header.reconsume_times or 0,
    )


def _parse_host(text: str | None) -> Host:
    # parse an address in Java's format; 0.0.0.0:0 if it is invalid
    try:
        return Host.parse((text or "").lstrip("/"))
    except ValueError:
        return Host(bytes(4), 0)
