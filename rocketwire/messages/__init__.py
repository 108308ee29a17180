"""Typed headers and bodies: one frozen dataclass per Java class, grouped by subject.

Values are dumb; the verbs that turn them into bytes and back are the ones named here.  Which class
belongs to which code is in ``rocketwire.messages.operations.registry``.
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
