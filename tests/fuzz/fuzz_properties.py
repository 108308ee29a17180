"""Any text is a properties string, any text a message id or a ``DecodeError``; and what was read comes back."""

from __future__ import annotations

from rocketwire.errors import DecodeError
from rocketwire.wire.message.ids import (
    create_offset_message_id,
    decode_offset_message_id,
    decode_unique_key,
)
from rocketwire.wire.message.properties import decode_properties, encode_properties


def read(data: bytes) -> None:
    """Reads the text as each."""
    text = data.decode("utf-8", "replace")
    found = decode_properties(text)
    assert decode_properties(encode_properties(found)) == found
    for decode in (decode_unique_key, decode_offset_message_id):
        try:
            decode(text)
        except DecodeError:
            continue
    store_host, offset = decode_offset_message_id(text)
    assert decode_offset_message_id(create_offset_message_id(store_host, offset)) == (
        store_host,
        offset,
    )


def start() -> list[bytes]:
    """One of each."""
    return [
        b"TAGS\1a\2KEYS\1k\2WAIT\1true",
        b"0A00000100002A9F0000000000001234",
        b"20010DB8" + b"0" * 48,
    ]
