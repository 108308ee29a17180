"""Templates of responses that a peer sends repeatedly, learned from one of them.

Such headers differ in a few values, mostly of the same length.  A template formats the expected
frame and compares it with the received one.  That needs less of the processor's caches, which other
code fills between two responses, than a JSON decoder or a regular expression.

A template reads the values that the header decoder reads from the same bytes, or none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.wire.command import decode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.wire.command import RemotingCommand

# Maximum bytes of a frame with a template; for longer frames the decoder's share is small
MAX_LENGTH: Final = 4096


class ResponseTemplate:
    """The constant part of responses of one length; use ``learn_template``."""

    __slots__ = ("_format", "_number", "_text")

    def __init__(self, format_: bytes, text: slice, number: slice) -> None:
        self._format = format_
        self._text = text
        self._number = number

    def values(self, frame: bytes, key: bytes, opaque: int) -> tuple[bytes, bytes] | None:
        # None if the response does not match
        text, number = frame[self._text], frame[self._number]
        if self._format % (key, text, number, opaque) != frame:
            return None
        return (text, number) if text.isalnum() and number.isdigit() else None


def learn_template(
    frame: bytes, response: RemotingCommand, key: str | None, text: str, number: str
) -> ResponseTemplate | None:
    """Learn the template of responses that are like one; None if that is not possible.

    The caller will know the value of the ext field ``key``; the values of the later fields ``text``
    (letters and digits) and ``number`` differ.
    """
    fields = response.ext_fields or {}
    names = (text, number) if key is None else (key, text, number)
    values = [fields.get(name, "") for name in names]
    if len(frame) > MAX_LENGTH or not all(v.isascii() and v.isalnum() for v in values):
        return None
    prefixes = (*(f'"{name}":"'.encode() for name in names), b'"opaque":')
    slots = _locate(frame, prefixes, [len(value) for value in (*values, str(response.opaque))])
    if slots is None:
        return None
    format_, end = b"%.0b" if key is None else b"", 0  # "%.0b" formats its argument as nothing
    for slot in slots:
        conversion = b"%d" if slot is slots[-1] else b"%b"
        format_ += frame[end : slot.start].replace(b"%", b"%%") + conversion
        end = slot.stop
    format_ += frame[end:].replace(b"%", b"%%")
    changed = {name: "T" * len(value) for name, value in zip(names, values, strict=True)}
    changed[number] = "1" * len(changed[number])
    if not _agrees_with_decoder(format_, response, key, changed):
        return None
    return ResponseTemplate(format_, slots[-3], slots[-2])


def _locate(frame: bytes, prefixes: Sequence[bytes], sizes: Sequence[int]) -> list[slice] | None:
    slots: list[slice] = []
    end = 0
    for prefix, size in zip(prefixes, sizes, strict=True):
        position = frame.find(prefix, end)
        if position < 0:
            return None
        end = position + len(prefix) + size
        slots.append(slice(end - size, end))
    return slots


def _agrees_with_decoder(
    format_: bytes, response: RemotingCommand, key: str | None, changed: Mapping[str, str]
) -> bool:
    opaque = response.opaque ^ 1
    values = [value.encode() for value in changed.values()]
    if key is None:
        values.insert(0, b"T")
    try:
        command = decode(format_ % (*values, opaque))
    except DecodeError:
        return False
    fields = {**(response.ext_fields or {}), **changed}
    return command == replace(response, opaque=opaque, ext_fields=fields)
