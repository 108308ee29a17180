"""Requests that are sent over and over: their header is written once, but for what changes from one to the next.

Rules of this file: a form is cut out of what the writer of headers wrote, so a request made with it has the bytes that the same
command would have; whatever cannot be said so has no form, and goes the long way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.codes import SerializeType
from rocketwire.errors import EncodeError
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire.wire.json.fastjson import strict_dumps
from rocketwire.wire.json_header import encode_json_header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.wire.command import RemotingCommand

_BLANK: Final = "\0?\0"
_WRITTEN_BLANK: Final = strict_dumps(_BLANK)
_NUMBER: Final = 1_234_567_891
_WRITTEN_NUMBER: Final = b"%d" % _NUMBER
_WORD: Final = 4
_LONGEST: Final = MAX_FRAME_LENGTH - _WORD


class PreparedRequest:
    """A request that is written but for its number.

    Attributes:
        code: request code.
    """

    __slots__ = ("_body", "_form", "_values", "code")

    def __init__(self, form: RequestForm, values: tuple[object, ...], body: bytes) -> None:
        """Made by ``RequestForm.request``."""
        self.code = form.code
        self._form = form
        self._values = values
        self._body = body

    def frame(self, opaque: int) -> bytes:
        """The whole frame, with this number.

        Raises:
            EncodeError: it would exceed ``MAX_FRAME_LENGTH``.
        """
        return self._form.frame(self._values, self._body, opaque)


class RequestForm:
    """What requests of one kind have in common; made by ``form_of``.

    Attributes:
        code: request code.
    """

    __slots__ = ("_form", "code")

    def __init__(self, code: int, form: bytes) -> None:
        self.code = code
        self._form = form

    def frame(self, values: tuple[object, ...], body: bytes, opaque: int) -> bytes:
        """A whole frame, with this number.

        Args:
            values: what the form is filled with, as ``values`` gives them; of one that was made by ``around`` the numbers, and what
                is left of the text, in UTF-8: nothing that JSON would write otherwise.
            body: of the request.
            opaque: the number.

        Raises:
            EncodeError: it would exceed ``MAX_FRAME_LENGTH``.
        """
        header = self._form % (*values, opaque)
        size = len(header)
        length = size + len(body) + _WORD
        if length > _LONGEST:
            message = f"a frame of {length + _WORD} bytes exceeds the limit of {MAX_FRAME_LENGTH}"
            raise EncodeError(message, path="length")
        return (length << 32 | size).to_bytes(8) + header + body  # JSON is header type 0

    def values(self, numbers: tuple[int, ...], text: str) -> tuple[object, ...] | None:
        """What the form is filled with; None where the text has no strict form: half of a surrogate pair.

        Args:
            numbers: values of the ext fields that are numbers.
            text: value of the last ext field.
        """
        try:
            return (*numbers, strict_dumps(text))
        except TypeError:
            return None

    def request(self, numbers: tuple[int, ...], text: str, body: bytes) -> PreparedRequest | None:
        """One request; None where ``values`` gives none.

        Args:
            numbers: as of ``values``.
            text: likewise.
            body: of the request.
        """
        values = self.values(numbers, text)
        return None if values is None else PreparedRequest(self, values, body)

    def around(self, before: str, after: str) -> RequestForm:
        """The form of requests whose text begins and ends so; ``frame`` fills it with the rest."""
        first, last = (strict_dumps(text).replace(b"%", b"%%") for text in (before, after))
        word = b":" + first[:-1] + b"%b" + last[1:]
        return RequestForm(self.code, self._form.replace(b":%b", word))


def form_of(command: RemotingCommand, numbers: Sequence[str], text: str) -> RequestForm | None:
    """The form of requests that are like a command, and have more ext fields behind its own.

    Args:
        command: without a body; its number is of no account.
        numbers: names of ext fields that follow, whose values are numbers.
        text: name of the last ext field.

    Returns:
        None where the header has another form than JSON, or a value that cannot be told from a blank.

    Raises:
        EncodeError: the command has no form on the wire.
    """
    if command.serialize_type != SerializeType.JSON:
        return None
    names = (*numbers, text)
    header = encode_json_header(
        code=command.code,
        language=command.language,
        version=command.version,
        opaque=_NUMBER,
        flag=command.flag,
        remark=command.remark,
        ext_fields={**(command.ext_fields or {}), **dict.fromkeys(names, _BLANK)},
    )
    first, *parts = header.replace(b"%", b"%%").split(_WRITTEN_BLANK)
    if len(parts) != len(names) or parts[-1].count(_WRITTEN_NUMBER) != 1:
        return None
    parts[-1] = parts[-1].replace(_WRITTEN_NUMBER, b"%d")
    blanks = [b'"%d"'] * len(numbers) + [b"%b"]
    pieces = (blank + part for blank, part in zip(blanks, parts, strict=True))
    return RequestForm(command.code, first + b"".join(pieces))
