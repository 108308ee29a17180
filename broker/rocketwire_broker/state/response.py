"""The answer of a request handler, and the frame that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Final, NamedTuple

from rocketwire.codes import CURRENT_VERSION, LanguageCode, ResponseCode
from rocketwire.wire.json_header import encode_json_header

_PREFIX: Final = Struct(">II")
"""Length of the frame without this number; type and length of its header."""

_RESPONSE: Final = 1
_ONEWAY: Final = 2


class Response(NamedTuple):
    """The response to a request.

    Attributes:
        code: a ``ResponseCode``.
        remark: text, or None.
        ext_fields: texts by name, or None.
        body: parts of the body; stored messages are sent as they are.
    """

    code: int = ResponseCode.SUCCESS
    remark: str | None = None
    ext_fields: Mapping[str, str] | None = None
    body: tuple[bytes, ...] | list[bytes] = ()


SUCCESS: Final = Response()

NOT_SET: Final = "not set any response code"
"""The remark that Java leaves in some successes."""

LATER: Final = None
"""Returned by a handler that answers later, with ``Broker.answer``."""


class RefusedError(Exception):
    """A request that is answered with an error.

    Attributes:
        response: the answer.
    """

    def __init__(
        self, code: int, remark: str | None = None, ext_fields: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(remark or f"code {code}")
        self.response = Response(code, remark, ext_fields)


def encode_response(response: Response, opaque: int) -> list[bytes]:
    """Return the parts of a response's frame."""
    header = encode_json_header(
        code=response.code,
        language=LanguageCode.JAVA,
        version=CURRENT_VERSION,
        opaque=opaque,
        flag=_RESPONSE,
        remark=response.remark,
        ext_fields=response.ext_fields,
    )
    return _frame(header, response.body)


def encode_request(
    code: int, opaque: int, ext_fields: Mapping[str, str] | None, body: bytes, *, oneway: bool
) -> list[bytes]:
    """Return the parts of the frame of a request to a client."""
    header = encode_json_header(
        code=code,
        language=LanguageCode.JAVA,
        version=CURRENT_VERSION,
        opaque=opaque,
        flag=_ONEWAY if oneway else 0,
        remark=None,
        ext_fields=ext_fields,
    )
    return _frame(header, (body,) if body else ())


def _frame(header: bytes, body: tuple[bytes, ...] | list[bytes]) -> list[bytes]:
    size = len(header)
    return [_PREFIX.pack(4 + size + sum(map(len, body)), size), header, *body]
