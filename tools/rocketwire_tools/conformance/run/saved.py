"""Values of arrivals: for later steps, and of stored messages for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire.wire.json import fastjson
from rocketwire.wire.message.lazy_reader import StoredMessageReader

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage
    from rocketwire_tools.conformance.run.raw_connection import Arrival

# Hexadecimal digits of the position in the commit log, at the end of an offset id.
_POSITION_DIGITS: Final = 16


def message_values(body: bytes) -> list[object]:
    """The messages of a body, see ``Messages``; raises ``DecodeError`` if it has others."""
    return [_values(message) for message in StoredMessageReader().decode(body)]


def _values(message: StoredMessage) -> dict[str, object]:
    return {
        "topic": message.topic,
        "queueId": message.queue_id,
        "queueOffset": message.queue_offset,
        "body": (message.body or b"").decode("utf-8", "replace"),
        "flag": message.flag,
        "sysFlag": message.sys_flag,
        "reconsumeTimes": message.reconsume_times,
        "bornTimestamp": message.born_timestamp,
        "storeTimestamp": message.store_timestamp,
        "bornHost": str(message.born_host),
        "storeHost": str(message.store_host),
        "preparedTransactionOffset": message.prepared_transaction_offset,
        "commitLogOffset": message.commit_log_offset,
        "storeSize": message.store_size,
        "bodyCRC": message.body_crc,
        "id": message.offset_msg_id,
        "properties": dict(message.properties or {}),
    }


def lines_of(body: bytes) -> dict[str, str]:
    """The properties of a configuration as a server writes them, one per line (26, 319)."""
    pairs = (line.partition("=") for line in body.decode("utf-8", "replace").splitlines())
    return {name: text for name, equals, text in pairs if equals}


def extract(path: str, arrival: Arrival | None) -> str:
    """A value of an arrival, or ``LookupError``; None as arrival is silence.

    A path is ``ext.NAME``, ``ext.NAME:position`` for the position in the commit log of an offset
    id, ``body.KEY.KEY`` of a JSON body, ``line.KEY`` of lines ``KEY=value``, or
    ``message.NUMBER.MEMBER`` of a body of messages. Raises ``DecodeError`` for another body.
    """
    command = None if arrival is None else arrival.command
    if command is None:
        raise LookupError("no frame")
    path, _, form = path.partition(":")
    part, *keys = path.split(".")
    value: Any
    if part == "ext":
        value = dict(command.ext_fields or {})
    elif part == "line":
        value = lines_of(command.body or b"")
    elif part == "body":
        value = fastjson.loads(command.body or b"null")
    else:
        value = message_values(command.body or b"")
    for key in keys:
        if isinstance(value, list):
            value = cast("list[object]", value)[int(key)]
        elif isinstance(value, dict):
            value = cast("dict[str, object]", value)[key]
        else:
            raise LookupError(key)
    if form == "position":
        return str(int(str(value)[-_POSITION_DIGITS:], 16))
    return str(value)
