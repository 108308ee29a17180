"""Any bytes are a binary header or a ``DecodeError``, and what was read can be written and read again."""

from __future__ import annotations

from rocketwire.wire.binary_header import decode_binary_header, encode_binary_header
from tests.fuzz import seeds


def read(data: bytes) -> None:
    """Reads, writes, reads."""
    fields, used = decode_binary_header(data)
    assert 0 <= used <= len(data)
    if all(
        len(key.encode()) <= 0x7FFF for key in fields.ext_fields or ()
    ):  # replaced bytes have grown
        again, _ = decode_binary_header(encode_binary_header(**fields._asdict()))
        assert again == fields._replace(ext_fields=fields.ext_fields or None)


def start() -> list[bytes]:
    """Recorded headers."""
    return seeds.headers(1) or [bytes(21)]
