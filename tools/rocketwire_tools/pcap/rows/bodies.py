"""Bodies of frames as JSON text, if the registry declares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from rocketwire.errors import CodecError
from rocketwire.flags import MessageSysFlag
from rocketwire.messages.operations.registry import OPERATIONS, Raw
from rocketwire.wire.layouts.declarations import MAGIC_V1, MAGIC_V2
from rocketwire_tools.codec.bodies import (
    body_to_plain,
    is_registration,
    registration_to_plain,
)

if TYPE_CHECKING:
    from rocketwire.messages.operations.registry import Body


def body_text(
    body: bytes, *, code: int, request_code: int | None, version: int, ext_fields: str | None
) -> str | None:
    """Convert a body to JSON text; None if it is unknown or invalid."""
    if not body:
        return None
    body_class = _kind(code, request_code)
    if body_class is None:
        return None
    try:
        if request_code is None and is_registration(code, body_class):
            fields = msgspec.json.decode(ext_fields or "{}", type=dict[str, str])
            compressed = fields.get("compressed", "").lower() == "true"
            value: Any = registration_to_plain(body, compressed=compressed, version=version)
        elif body_class is Raw.MESSAGE_BODY:  # in the form of a stored message's body
            value = {"body": body.hex()}
        else:
            value = body_to_plain(body_class, body)
        return msgspec.json.encode(value).decode()
    except (CodecError, msgspec.MsgspecError, ValueError, TypeError):
        return None


_MAGIC: Final = slice(4, 8)
_SYS_FLAG: Final = slice(36, 40)
_BORN_HOST: Final = 48  # in a stored message; 4 or 16 bytes of address, 4 of port, the store time


def is_held(body: bytes | None, request_code: int | None, request_ns: int) -> bool:
    """Whether a response has messages of which the first one was stored after the request.

    The broker held the request until then. The clocks of broker and capture must agree.
    """
    operation = None if request_code is None else OPERATIONS.get(request_code)
    if operation is None or operation.response_body is not Raw.STORED_MESSAGES:
        return False
    body = body or b""
    if int.from_bytes(body[_MAGIC]) not in (MAGIC_V1, MAGIC_V2):
        return False
    is_v6 = int.from_bytes(body[_SYS_FLAG]) & MessageSysFlag.BORNHOST_V6
    start = _BORN_HOST + (20 if is_v6 else 8)
    return int.from_bytes(body[start : start + 8]) > request_ns // 1_000_000


def _kind(code: int, request_code: int | None) -> Body | None:
    operation = OPERATIONS.get(code if request_code is None else request_code)
    if operation is None:
        return None
    if request_code is None:
        return operation.request_body
    return operation.response_body if code == 0 else None
