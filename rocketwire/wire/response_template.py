"""Answers that come over and over: what one of them has in common with the next is learnt from it.

A header that a peer has written a thousand times differs from the one before in a few values, each mostly as long as it was.  So the
next one is written as it ought to be and compared with what came: that leaves far less behind in the caches of a processor, which
others fill between two answers, than a reader of JSON or a pattern does.

Rules of this file: what a form reads is what the reader of headers reads of the same bytes; all that it does not know is left to
that one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.errors import DecodeError
from rocketwire.wire.command import decode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.wire.command import RemotingCommand

LONGEST: Final = 4096
"""Bytes of a frame; who sends longer ones has other things to save."""


class AnswerForm:
    """What answers of one kind and one length have in common; made by ``answer_form_of``."""

    __slots__ = ("_form", "_number", "_text")

    def __init__(self, form: bytes, text: slice, number: slice) -> None:
        self._form = form
        self._text = text
        self._number = number

    def values(self, frame: bytes, known: bytes, opaque: int) -> tuple[bytes, bytes] | None:
        """The text and the number that an answer tells; None where it is of another form or length, not alone, or not whole.

        Args:
            frame: what came.
            known: what the answer has to tell besides; letters and digits.
            opaque: the number of the request.
        """
        text, number = frame[self._text], frame[self._number]
        if self._form % (known, text, number, opaque) != frame:
            return None
        return (text, number) if text.isalnum() and number.isdigit() else None


def answer_form_of(
    frame: bytes, answer: RemotingCommand, known: str | None, text: str, number: str
) -> AnswerForm | None:
    """The form of answers that are like one; None where it has none.

    Args:
        frame: the answer, as it came.
        answer: what was read of it.
        known: name of the ext field whose value will be known; None where nothing of that is told.
        text: name of one behind it, of letters and digits.
        number: name of one behind that, of digits.
    """
    fields = answer.ext_fields or {}
    names = (text, number) if known is None else (known, text, number)
    told = [fields.get(name, "") for name in names]
    if len(frame) > LONGEST or not all(one.isascii() and one.isalnum() for one in told):
        return None
    before = (*(f'"{name}":"'.encode() for name in names), b'"opaque":')
    places = _places(frame, before, [len(one) for one in (*told, str(answer.opaque))])
    if places is None:
        return None
    form, end = b"%.0b" if known is None else b"", 0  # which writes nothing of what it is given
    for place in places:
        blank = b"%d" if place is places[-1] else b"%b"
        form += frame[end : place.start].replace(b"%", b"%%") + blank
        end = place.stop
    form += frame[end:].replace(b"%", b"%%")
    others = {name: "T" * len(one) for name, one in zip(names, told, strict=True)}
    others[number] = "1" * len(others[number])
    if not _is_read(form, answer, known, others):
        return None
    return AnswerForm(form, places[-3], places[-2])


def _places(frame: bytes, before: Sequence[bytes], sizes: Sequence[int]) -> list[slice] | None:
    """Where the values are that stand behind these names; None unless the names come in this order."""
    places: list[slice] = []
    at = 0
    for name, size in zip(before, sizes, strict=True):
        found = frame.find(name, at)
        if found < 0:
            return None
        at = found + len(name) + size
        places.append(slice(at - size, at))
    return places


def _is_read(
    form: bytes, answer: RemotingCommand, known: str | None, told: Mapping[str, str]
) -> bool:
    """Whether a form that is filled with other values reads as an answer that tells these."""
    opaque = answer.opaque ^ 1
    values = [one.encode() for one in told.values()]
    if known is None:
        values.insert(0, b"T")
    try:
        read = decode(form % (*values, opaque))
    except DecodeError:
        return False
    return read == replace(answer, opaque=opaque, ext_fields={**(answer.ext_fields or {}), **told})
