"""Templates of requests that are sent repeatedly: the constant part of the header is encoded once.

A template is derived from the output of the header encoder, so a request from a template has the
same bytes as the encoded command.  Commands that cannot have a template are encoded as usual.
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

_PLACEHOLDER: Final = "\0?\0"
_ENCODED_PLACEHOLDER: Final = strict_dumps(_PLACEHOLDER)
_OPAQUE: Final = 1_234_567_891
_ENCODED_OPAQUE: Final = b"%d" % _OPAQUE
_WORD_SIZE: Final = 4
_MAX_LENGTH: Final = MAX_FRAME_LENGTH - _WORD_SIZE


class PreparedRequest:
    """A request whose frame is encoded except for its number."""

    __slots__ = ("_body", "_template", "_values", "code")

    def __init__(self, template: RequestTemplate, values: tuple[object, ...], body: bytes) -> None:
        self.code: int = template.code  #: request code
        self._template = template
        self._values = values
        self._body = body

    def frame(self, opaque: int) -> bytes:
        return self._template.frame(self._values, self._body, opaque)


class RequestTemplate:
    """The constant part of similar requests; use ``build_template``."""

    __slots__ = ("_format", "code")

    def __init__(self, code: int, format_: bytes) -> None:
        self.code: int = code  #: request code
        self._format = format_

    def frame(self, values: tuple[object, ...], body: bytes, opaque: int) -> bytes:
        # ``values`` of a template of ``enclose`` are the numbers, and the middle of the text in
        # UTF-8, without characters that JSON escapes.
        header = self._format % (*values, opaque)
        size = len(header)
        length = size + len(body) + _WORD_SIZE
        if length > _MAX_LENGTH:
            size = length + _WORD_SIZE
            message = f"a frame of {size} bytes exceeds the limit of {MAX_FRAME_LENGTH}"
            raise EncodeError(message, path="length")
        return (length << 32 | size).to_bytes(8) + header + body  # the top byte is type 0, JSON

    def values(self, numbers: tuple[int, ...], text: str) -> tuple[object, ...] | None:
        # None if the text has a lone surrogate
        try:
            return (*numbers, strict_dumps(text))
        except TypeError:
            return None

    def request(self, numbers: tuple[int, ...], text: str, body: bytes) -> PreparedRequest | None:
        values = self.values(numbers, text)
        return None if values is None else PreparedRequest(self, values, body)

    def enclose(self, prefix: str, suffix: str) -> RequestTemplate:
        first, last = (strict_dumps(text).replace(b"%", b"%%") for text in (prefix, suffix))
        text_format = b":" + first[:-1] + b"%b" + last[1:]
        return RequestTemplate(self.code, self._format.replace(b":%b", text_format))


def build_template(
    command: RemotingCommand, numbers: Sequence[str], text: str
) -> RequestTemplate | None:
    """Build a template from a command without body, and the names of the ext fields that change.

    The header ends with the numeric fields and the text. None if it is not JSON, or contains the
    placeholder.
    """
    if command.serialize_type != SerializeType.JSON:
        return None
    names = (*numbers, text)
    header = encode_json_header(
        code=command.code,
        language=command.language,
        version=command.version,
        opaque=_OPAQUE,
        flag=command.flag,
        remark=command.remark,
        ext_fields={**(command.ext_fields or {}), **dict.fromkeys(names, _PLACEHOLDER)},
    )
    first, *parts = header.replace(b"%", b"%%").split(_ENCODED_PLACEHOLDER)
    if len(parts) != len(names) or parts[-1].count(_ENCODED_OPAQUE) != 1:
        return None
    parts[-1] = parts[-1].replace(_ENCODED_OPAQUE, b"%d")
    formats = [b'"%d"'] * len(numbers) + [b"%b"]
    return RequestTemplate(command.code, first + b"".join(map(bytes.__add__, formats, parts)))
