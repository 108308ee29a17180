"""Any bytes are a registration or a ``DecodeError``, packed or not, whatever the version."""

from __future__ import annotations

import zlib

from rocketwire.messages.registration import decode_register_broker_body
from tests.fuzz import seeds

VERSIONS = (0, 36, 37, 412, 413, 513, -1, 1000)
LIMIT = 1 << 20


def read(data: bytes) -> None:
    """The first byte says which version it is and how the rest is to be taken: as it is, as packed, or to be packed."""
    way = data[0] if data else 0
    body = data[1:]
    if way & 0xC0 == 0x40:
        body = zlib.compress(body, 1)
    decode_register_broker_body(
        body, compressed=way & 0xC0 != 0, version=VERSIONS[way & 7], max_inflated=LIMIT
    )


def start() -> list[bytes]:
    """Recorded registrations, as they are and unpacked."""
    taken = [
        bytes((0x85 if body.startswith(b"x") else 5,)) + body for body in seeds.registrations()
    ]
    plain = [
        b"\x45" + zlib.decompress(body)
        for body in seeds.registrations()
        if body.startswith(b"x\xda")
    ]
    empty = (
        b"\x45"
        + b"".join(len(part).to_bytes(4, "big") + part for part in (b"{}", b""))
        + b"\0\0\0\2[]\0\0\0\0"
    )
    return [*taken, *plain, empty]
