"""Requests that wait for somebody's reply, and replies to them.

A reply goes to a broker that has a channel of the requester, found by client id; the broker hands
it on (code 326).

Java: ``DefaultMQProducerImpl.request``, ``RequestFutureHolder``, ``MessageUtil``,
``ClientRemotingProcessor.receiveReplyMessage``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client.message import Message
from rocketwire.client.producer.request_builder import REPLY
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

_COPIED: Final = (const.CORRELATION_ID, const.REPLY_TO_CLIENT, const.TTL)


def create_reply(request: StoredMessage, body: bytes) -> Message:
    """The reply to a request that was consumed; to be sent by any producer.

    Raises:
        IllegalMessageError: the message is no request: its cluster or whom to reply to is missing
            (Java: code 10007).
    """
    asked = request.properties or {}
    cluster = asked.get(const.CLUSTER)
    copied = {name: value for name in _COPIED if (value := asked.get(name))}
    if not cluster or const.REPLY_TO_CLIENT not in copied:
        raise IllegalMessageError(f"message {request.msg_id} asks for no reply")
    return Message(topic=reply_topic(cluster), body=body, system={const.MSG_TYPE: REPLY, **copied})


def request_message(
    message: Message, correlation_id: str, client_id: str, within: float
) -> Message:
    """The message with what its consumer needs to reply.

    Args:
        message: the application's.
        correlation_id: names the request.
        client_id: whom to reply to.
        within: seconds for which somebody waits.
    """
    system = {
        **message.system,
        const.CORRELATION_ID: correlation_id,
        const.REPLY_TO_CLIENT: client_id,
        const.TTL: str(int(within * 1000)),
    }
    return replace(message, system=system)


class _Asked:
    __slots__ = ("answered", "reply")

    def __init__(self) -> None:
        self.answered = trio.Event()
        self.reply: StoredMessage | None = None


class OpenRequests:
    """Requests of one producer that wait for their replies."""

    def __init__(self) -> None:
        """None."""
        self._open: dict[str, _Asked] = {}

    def __len__(self) -> int:
        """How many wait."""
        return len(self._open)

    def begin(self, correlation_id: str) -> None:
        """From now on a reply is waited for; ``end`` is to be called whatever happens."""
        self._open[correlation_id] = _Asked()

    def end(self, correlation_id: str) -> None:
        """Nobody waits any longer."""
        self._open.pop(correlation_id, None)

    async def wait(self, correlation_id: str) -> StoredMessage:
        """The reply, once it has come."""
        asked = self._open[correlation_id]
        await asked.answered.wait()
        assert asked.reply is not None  # noqa: S101 - set before the event
        return asked.reply

    def received(self, header: ReplyMessageRequestHeader, body: bytes, now_millis: int) -> bool:
        """A reply came; returns whether it was waited for here."""
        properties = decode_properties(header.properties or "")
        asked = self._open.get(properties.get(const.CORRELATION_ID, ""))
        if asked is None:
            return False
        asked.reply = reply_of(header, properties, body, now_millis)
        asked.answered.set()
        return True


def reply_of(
    header: ReplyMessageRequestHeader, properties: dict[str, str], body: bytes, now_millis: int
) -> StoredMessage:
    """The message that a broker pushed.

    Raises:
        DecodeError: the body does not decompress.
    """
    sys_flag = header.sys_flag or 0
    if sys_flag & MessageSysFlag.COMPRESSED:
        kind = compression_type(sys_flag)
        body = decompress_body(body, kind, max_size=DEFAULT_LIMITS.max_inflated)
    return StoredMessage(
        topic=header.topic or "",
        body=body,
        flag=header.flag or 0,
        properties={**properties, const.ARRIVE_TIME: str(now_millis)},
        queue_id=header.queue_id or 0,
        sys_flag=sys_flag & ~int(MessageSysFlag.COMPRESSED),
        born_timestamp=header.born_timestamp or 0,
        born_host=_host(header.born_host),
        store_timestamp=header.store_timestamp,
        store_host=_host(header.store_host),
        reconsume_times=header.reconsume_times or 0,
    )


def _host(text: str | None) -> Host:
    """An address as Java writes it; what cannot be read is nobody's."""
    try:
        return Host.parse((text or "").lstrip("/"))
    except ValueError:
        return Host(bytes(4), 0)
