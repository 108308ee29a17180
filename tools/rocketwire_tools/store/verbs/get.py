"""``get``: one message with all its bytes, field by field."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rocketwire.store.commit_log import (
    BORN_HOST_V6,
    CRC_MASK,
    STORE_HOST_V6,
    message_crc,
    message_parts,
)
from rocketwire.wire.checksum import crc32
from rocketwire.wire.layouts.declarations import MAGIC_V1
from rocketwire_tools.store import lookup
from rocketwire_tools.store.engine.rows import COLUMNS
from rocketwire_tools.store.opened import OpenedStore, are_whole
from rocketwire_tools.store.output import json_line, time_text, write_table
from rocketwire_tools.terminal import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_SHOWN_BYTES = 32


def run(arguments: argparse.Namespace) -> int:
    store = OpenedStore(arguments.paths)
    count = 0
    for message in _messages(store, arguments):
        count += 1
        if arguments.json:
            sys.stdout.buffer.write(json_line(_json(message)))
        else:
            if count > 1:
                print()
            _write(message)
    if not count:
        print("rocketwire-store: no such message", file=sys.stderr)
    return 0 if count and are_whole([store]) else 1


def _messages(store: OpenedStore, arguments: argparse.Namespace) -> Iterator[lookup.StoredBytes]:
    if arguments.physical is not None:
        message = lookup.at_physical_offset(store, arguments.physical, "physical offset")
        if message is not None:
            yield message
    elif arguments.at is not None:
        topic, queue_id, offset = _place(arguments.at)
        yield from lookup.at_queue_offset(store, topic, queue_id, offset)
    elif arguments.message_id is not None:
        yield from lookup.by_message_id(store, arguments.message_id)
    else:
        yield from lookup.by_key(store, arguments.key, arguments.topic)


def _place(text: str) -> tuple[str, int, int]:
    topic, _, rest = text.partition(":")
    queue_id, _, offset = rest.partition(":")
    if not topic or not queue_id.isdecimal() or not offset.isdecimal():
        raise ValueError(f"{text!r}: must be TOPIC:QUEUE:OFFSET")
    return topic, int(queue_id), int(offset)


def _json(message: lookup.StoredBytes) -> dict[str, Any]:
    rows = message.rows()
    names = [name for name in COLUMNS if name not in ("file", "body")]
    line: dict[str, Any] = {"file": message.file.name, "position": message.position}
    for name in names:
        values = rows.column(name)
        line[name] = values.tolist()[0] if hasattr(values, "tolist") else values[0]
    line["source"] = message.source
    line["batch_index"] = message.batch_index
    body = rows.column("body")[0]
    line["body"] = None if body is None else body.hex()
    line["bytes"] = message.data.hex()
    return line


def _write(message: lookup.StoredBytes) -> None:
    print(printable(f"{message.file.name} at byte {message.position}, by {message.source}"))
    if message.batch_index is not None:
        print(f"the message asked for is number {message.batch_index} of this inner batch")
    rows: list[tuple[object, ...]] = []
    for name, start, end, value in annotate(message.data):
        shown = message.data[start:end][:_SHOWN_BYTES].hex()
        shown += "..." if end - start > _SHOWN_BYTES else ""
        rows.append((message.position + start, end - start, name, shown, value))
    write_table(("byte", "size", "field", "bytes", "value"), rows)
    for name, value in message.rows().column("properties")[0].items():
        print(printable(f"  {name} = {value}"))


def annotate(data: bytes) -> Iterator[tuple[str, int, int, str]]:
    """Fields of a stored message: name, first byte, byte after the last, and what they mean."""
    parts = message_parts(data, 0)
    if parts is None:
        return
    sys_flag = int.from_bytes(data[36:40], "big", signed=True)
    born = 16 if sys_flag & BORN_HOST_V6 else 4
    stored = 16 if sys_flag & STORE_HOST_V6 else 4
    position = 0
    for name, size in (
        ("total size", 4),
        ("magic", 4),
        ("body crc", 4),
        ("queue id", 4),
        ("flag", 4),
        ("queue offset", 8),
        ("physical offset", 8),
        ("sys flag", 4),
        ("born timestamp", 8),
        ("born address", born),
        ("born port", 4),
        ("store timestamp", 8),
        ("store address", stored),
        ("store port", 4),
        ("reconsume times", 4),
        ("prepared transaction offset", 8),
        ("body size", 4),
    ):
        field = data[position : position + size]
        yield name, position, position + size, _meaning(name, field, data, parts)
        position += size
    end = parts.body + parts.body_size
    yield "body", parts.body, end, f"{parts.body_size} bytes"
    width = 1 if int.from_bytes(data[4:8], "big") == MAGIC_V1 else 2
    yield "topic size", end, end + width, str(parts.topic_size)
    topic = data[parts.topic : parts.topic + parts.topic_size]
    yield "topic", parts.topic, parts.topic + parts.topic_size, topic.decode("utf-8", "replace")
    yield "properties size", parts.properties - 2, parts.properties, str(parts.properties_size)
    end = parts.properties + parts.properties_size
    checksum = message_crc(data, 0, parts.size)
    text = f"{parts.properties_size} bytes"
    if checksum is not None:
        stored_crc, calculated = checksum
        text += ", __CRC32# " + ("holds" if stored_crc == calculated else f"is not {calculated}")
    yield "properties", parts.properties, end, text


def _meaning(name: str, field: bytes, data: bytes, parts: Any) -> str:
    number = int.from_bytes(field, "big", signed=True)
    if name == "magic":
        return f"version {1 if int.from_bytes(field, 'big') == MAGIC_V1 else 2}"
    if name.endswith("address"):
        return ".".join(map(str, field)) if len(field) == 4 else field.hex(":", 2)
    if name.endswith("timestamp"):
        return f"{number} ({time_text(number)})"
    if name == "body crc":
        body = data[parts.body : parts.body + parts.body_size]
        holds = not body or crc32(body) == number & CRC_MASK
        return f"{number}, {'holds' if holds else f'the body has {crc32(body)}'}"
    if name == "sys flag":
        return f"{number:#x}"
    return str(number)
