"""Typed headers and bodies: one frozen dataclass per Java class, grouped by subject.

A class has the name of its Java class. Headers are in ``remoting.protocol.header``, bodies in
``remoting.protocol.body``, unless a docstring names another class. ``rocketwire-codec schema``
prints the full names.

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
