"""Answers that come over and over: what their headers have in common is learnt from one of them.

A header that a peer has written a thousand times differs from the one before in a few values.  One pattern that finds these leaves
less behind in the caches of a processor than a reader of JSON does, which counts where others fill them between two answers.

Rules of this file: what a form reads is what the reader of headers reads of the same bytes; all that it does not know is left to
that one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rocketwire.wire.json_header import encode_json_header

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire.wire.command import RemotingCommand

LONGEST: Final = 4096
"""Bytes of a frame; who sends longer ones has other things to save."""

_PREFIX: Final = 8
_NUMBER: Final = 1_234_567_891
_BLANK: Final = "\0"
_WRITTEN: Final = {
    re.escape('"\\u0000"'): '"([ !#-\\[\\]-~]*)"',  # a text that means what is written
    re.escape(f'"opaque":{_NUMBER},'): '"opaque":(-?[0-9]+),',
}


class AnswerForm:
    """What answers of one kind have in common; made by ``answer_form_of``."""

    __slots__ = ("_groups", "_match")

    def __init__(
        self, groups: tuple[int, ...], match: Callable[[str, int], re.Match[str] | None]
    ) -> None:
        self._groups = groups
        self._match = match

    def values(self, frame: bytes, opaque: int) -> tuple[str, ...] | None:
        """The values of the ext fields of an answer, in the order of their names, and behind them its number; None where it is of
        another form, not alone, or not whole.

        Args:
            frame: what came.
            opaque: the number of the request.
        """
        size = len(frame)
        if size < _PREFIX or not frame.startswith(
            (size - 4 << 32 | size - _PREFIX).to_bytes(_PREFIX)
        ):
            return None
        found = self._match(frame.decode("latin-1"), _PREFIX)
        if found is None:
            return None
        values = found.group(*self._groups)
        return values if values[-1] == str(opaque) else None


def answer_form_of(
    frame: bytes, answer: RemotingCommand, names: Sequence[str]
) -> AnswerForm | None:
    """The form of answers that are like one; None where it has none.

    Args:
        frame: the answer, as it came.
        answer: what was read of it.
        names: of its ext fields, at least one and all that it has to have.
    """
    fields = answer.ext_fields
    if not fields or set(fields) != set(names) or not _PREFIX < len(frame) <= LONGEST:
        return None
    header = encode_json_header(
        code=answer.code,
        language=answer.language,
        version=answer.version,
        opaque=_NUMBER,
        flag=answer.flag,
        remark=answer.remark,
        ext_fields=dict.fromkeys(fields, _BLANK),
    )
    pattern = re.escape(header.decode("latin-1"))
    for written, blank in _WRITTEN.items():
        pattern = pattern.replace(written, blank)
    match = re.compile(pattern)
    if match.groups != len(fields) + 1:
        return None
    places = [*fields]
    groups = (*(places.index(name) + 1 for name in names), len(places) + 1)
    form = AnswerForm(groups, match.fullmatch)
    told = (*(fields[name] for name in names), str(answer.opaque))
    return form if form.values(frame, answer.opaque) == told else None
