"""Typed headers and bodies: one frozen dataclass per Java class, grouped by subject.

The functions exported here turn these values into bytes and back.  ``operations.registry`` lists
the classes of each request code.
"""

from __future__ import annotations

from rocketwire.messages._codec.fields import (
    decode_bodies,
    decode_body,
    decode_header,
    encode_bodies,
    encode_body,
    encode_header,
    from_json,
    to_json,
)

__all__ = [
    "decode_bodies",
    "decode_body",
    "decode_header",
    "encode_bodies",
    "encode_body",
    "encode_header",
    "from_json",
    "to_json",
]
