"""The answer of a request handler, and the frame that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Final, NamedTuple

from rocketwire.codes import CURRENT_VERSION, LanguageCode, ResponseCode
from rocketwire.wire.binary_header import encode_binary_header
from rocketwire.wire.json_header import encode_json_header

_PREFIX: Final = Struct(">II")
"""Length of the frame without this number; form and length of its header."""

_BINARY_FORM: Final = 1 << 24


class Response(NamedTuple):
    code: int = ResponseCode.SUCCESS
    remark: str | None = None
    ext_fields: Mapping[str, str] | None = None  # texts by name, or None
    # parts of the body; stored messages are sent as they are
    body: tuple[bytes, ...] | list[bytes] = ()


SUCCESS: Final = Response()

NOT_SET: Final = "not set any response code"  # the remark that Java leaves in some successes

LATER: Final = None  # returned by a handler that answers later, with ``Broker.answer``


class RefusedError(Exception):
    def __init__(
        self, code: int, remark: str | None = None, ext_fields: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(remark or f"code {code}")
        self.response = Response(code, remark, ext_fields)


def encode_frame(content: Response, opaque: int, flag: int, *, binary: bool) -> list[bytes]:
    """Return the parts of the frame of a response, or of a request with the same parts."""
    code, remark, ext_fields, body = content
    encode_header = encode_binary_header if binary else encode_json_header
    header = encode_header(
        code=code,
        language=LanguageCode.JAVA,
        version=CURRENT_VERSION,
        opaque=opaque,
        flag=flag,
        remark=remark,
        ext_fields=ext_fields,
    )
    size = len(header)
    form = _BINARY_FORM if binary else 0
    frame_size = 4 + size + (sum(map(len, body)) if body else 0)
    return [_PREFIX.pack(frame_size, form | size) + header, *body]
