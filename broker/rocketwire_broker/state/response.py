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

_RESPONSE: Final = 1
_ONEWAY: Final = 2


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


def encode_response(response: Response, opaque: int, *, binary: bool = False) -> list[bytes]:
    code, remark, ext_fields, body = response
    return _frame(code, opaque, _RESPONSE, remark, ext_fields, body, binary=binary)


def encode_request(
    code: int,
    opaque: int,
    ext_fields: Mapping[str, str] | None,
    body: bytes,
    *,
    oneway: bool,
    binary: bool = False,
) -> list[bytes]:
    flag = _ONEWAY if oneway else 0
    return _frame(code, opaque, flag, None, ext_fields, (body,) if body else (), binary=binary)


def _frame(
    code: int,
    opaque: int,
    flag: int,
    remark: str | None,
    ext_fields: Mapping[str, str] | None,
    body: tuple[bytes, ...] | list[bytes],
    *,
    binary: bool,
) -> list[bytes]:
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
    whole = 4 + size + (sum(map(len, body)) if body else 0)
    return [_PREFIX.pack(whole, form | size) + header, *body]
