"""Any text is an SQL92 expression or refused; an expression lets a message pass, or not."""

from __future__ import annotations

from rocketwire.sql92 import IllegalExpressionError, compile_expression
from rocketwire.wire.message.properties import decode_properties

MESSAGES: tuple[dict[str, str], ...] = (
    {},
    {"a": "3", "b": "x", "TAGS": "paid"},
    {"a": "-0.0", "b": "NaN", "c": "9" * 5000},
    {"a": "0x1p9999", "b": "\u0663", "c": "1e999"},
)


def read(data: bytes) -> None:
    """The text up to a zero; a message may follow it."""
    text, _, properties = data.decode("utf-8", "replace").partition("\0")
    try:
        passes = compile_expression(text)
    except IllegalExpressionError:
        return
    for message in (*MESSAGES, decode_properties(properties)):
        assert passes(message) in (True, False)


def start() -> list[bytes]:
    """One of each operator, and long or deep ones."""
    return [
        b"a > 2.5 AND b = 'it''s' or not (c between -1 and 3L)\0a\x013\x02",
        b"a in ('1','2') or b not in ('x') and c is not null",
        b"b contains 'x' or b not startswith 'y' or TAGS endswith 'z'\0TAGS\x01xyz\x02",
        b"a <> b -- c\n and a <= +3 /* d */ or true = c",
        b"a = -9223372036854775807 or .5e3 >= a",
        b"not " * 90 + b"a",
        b"(" * 90 + b"a" + b")" * 90,
        b" or ".join([b"a=1"] * 500),
    ]
