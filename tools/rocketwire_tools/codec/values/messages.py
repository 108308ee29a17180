"""Lines of the sub-commands ``stored``, ``message-id`` and ``properties``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.wire.java_utf8 import decode_utf8, encode_utf8
from rocketwire.wire.message.properties import decode_properties, encode_properties
from rocketwire_tools.codec.expect import an_array, is_object, texts
from rocketwire_tools.codec.jsonl import parse_object
from rocketwire_tools.codec.values.stored import (
    id_from_plain,
    id_to_plain,
    stored_from_plain,
    stored_to_plain,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.codec.expect import Plain

    Translate = Callable[[bytes], Plain]
    Read = Callable[[bytes], bytes]


def stored_reader(read: Read, *, decompress: bool, unwrap: bool, check_crc: bool) -> Translate:
    """Returns a function that reads messages from a line."""
    return lambda line: {
        "messages": stored_to_plain(
            read(line), decompress=decompress, unwrap=unwrap, check_crc=check_crc
        )
    }


def stored_writer(*, compress: bool) -> Translate:
    """Returns a function that writes the messages of a line ``{"messages": [...]}``."""

    def write(line: bytes) -> Plain:
        messages = an_array(parse_object(line).get("messages"), "messages")
        return {"hex": stored_from_plain(messages, compress=compress).hex()}

    return write


def id_reader(read: Read, *, unique: bool) -> Translate:
    """Returns a function that reads an id."""
    return lambda line: {"value": id_to_plain(read(line).hex(), unique=unique)}


def id_writer(*, unique: bool) -> Translate:
    """Returns a function that writes the id of a line ``{"value": {...}}``, in upper case as Java
    prints it."""
    return lambda line: {"hex": id_from_plain(_value(line), unique=unique)}


def properties_reader(read: Read) -> Translate:
    """Returns a function that reads properties as an object of texts."""
    return lambda line: {"value": decode_properties(decode_utf8(read(line)))}


def properties_writer(line: bytes) -> Plain:
    """Writes the properties of a line ``{"value": {...}}``."""
    properties = texts(_value(line), "value")
    return {"hex": encode_utf8(encode_properties(properties)).hex()}


def _value(line: bytes) -> dict[str, Plain]:
    """Returns the object in ``value``, or the line itself if it has no such member."""
    source = parse_object(line)
    inner = source.get("value")
    return inner if is_object(inner) else source
