"""Stored messages and batches as plain values, and back.

Rules of this file: members have their names in Java (``MessageExt``, ``Message``); a host is
``ip:port``, a body is hex after decompression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire.errors import EncodeError
from rocketwire.flags import MessageSysFlag
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.batch import BatchMessage, decode_batch, encode_batch
from rocketwire.wire.message.body_compression import compress_body, compression_type
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.codec.jsonl import (
    Plain,
    expect_array,
    expect_integer,
    expect_object,
    expect_text,
    hex_member,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


_NUMBERS: Final = {
    "queueId": "queue_id",
    "queueOffset": "queue_offset",
    "commitLogOffset": "commit_log_offset",
    "storeSize": "store_size",
    "sysFlag": "sys_flag",
    "flag": "flag",
    "bodyCRC": "body_crc",
    "bornTimestamp": "born_timestamp",
    "storeTimestamp": "store_timestamp",
    "reconsumeTimes": "reconsume_times",
    "preparedTransactionOffset": "prepared_transaction_offset",
}
_HOSTS: Final = {"bornHost": "born_host", "storeHost": "store_host"}
_DERIVED: Final = frozenset({"storeSize", "msgId", "offsetMsgId"})
_MEMBERS: Final = frozenset({*_NUMBERS, *_HOSTS, *_DERIVED, "topic", "properties", "body"})


def describe_messages(data: bytes) -> list[Plain]:
    return [_message(message) for message in decode_stored_messages(data)]


def _message(message: StoredMessage) -> dict[str, Plain]:
    return {
        "topic": message.topic,
        **{wire: getattr(message, name) for wire, name in _NUMBERS.items()},
        **{wire: str(getattr(message, name)) for wire, name in _HOSTS.items()},
        "msgId": message.msg_id,
        "offsetMsgId": message.offset_msg_id,
        "properties": None if message.properties is None else dict(message.properties),
        "body": None if message.body is None else message.body.hex(),
    }


def encode_messages(messages: Iterable[Plain]) -> bytes:
    """Return the bytes of messages, one after the other.

    A body is compressed if ``sysFlag`` has that flag; a missing ``bodyCRC`` is computed; sizes and
    ids follow from the other members.

    Args:
        messages: as ``describe_messages`` returns them; members may be missing.
    """
    return b"".join(map(_bytes_of, messages))


def _bytes_of(source: Plain) -> bytes:
    source = expect_object(source, "messages")
    if unknown := next((name for name in source if name not in _MEMBERS), None):
        raise EncodeError("MessageExt has no such member on the wire", path=unknown)
    numbers = {
        name: expect_integer(source[wire], wire)
        for wire, name in _NUMBERS.items()
        if wire not in _DERIVED and source.get(wire) is not None
    }
    hosts = {
        name: _host(source[wire], wire)
        for wire, name in _HOSTS.items()
        if source.get(wire) is not None
    }
    body = _body(source)
    sys_flag = numbers.get("sys_flag", 0)
    if body is not None and sys_flag & MessageSysFlag.COMPRESSED:
        body = compress_body(body, compression_type(sys_flag))
    numbers.setdefault("body_crc", crc32(body))
    properties = source.get("properties")
    members: dict[str, Any] = {**numbers, **hosts}
    message = StoredMessage(
        topic=expect_text(source.get("topic", ""), "topic"),
        body=body,
        properties=None if properties is None else texts(properties, "properties"),
        **members,
    )
    return encode_stored_message(message)


def _body(source: dict[str, Plain]) -> bytes | None:
    return hex_member(source, "body") if source.get("body") is not None else None


def batch_to_plain(data: bytes) -> list[Plain]:
    return [
        {"flag": message.flag, "properties": dict(message.properties), "body": message.body.hex()}
        for message in decode_batch(data)
    ]


def batch_from_plain(messages: Plain) -> bytes:
    sources = [expect_object(message, "messages") for message in expect_array(messages, "messages")]
    return encode_batch(
        BatchMessage(
            body=_body(source) or b"",
            flag=expect_integer(source.get("flag", 0), "flag"),
            properties=texts(source.get("properties") or {}, "properties"),
        )
        for source in sources
    )


def _host(value: Plain, path: str) -> Host:
    try:
        return Host.parse(expect_text(value, path))
    except ValueError as error:
        raise EncodeError(str(error), path=path) from error
