"""Bodies of frames as JSON text, as far as the registry knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rocketwire.errors import CodecError
from rocketwire.messages.operations.registry import OPERATIONS, Raw
from rocketwire_tools.codec.values.raw_bodies import (
    body_to_plain,
    is_registration,
    registration_to_plain,
)

if TYPE_CHECKING:
    from rocketwire.messages.operations.registry import Body


def body_text(
    body: bytes, *, code: int, request_code: int | None, version: int, ext_fields: str | None
) -> str | None:
    """A body as JSON text.

    Args:
        body: all of it.
        code: of the frame.
        request_code: of the request that it answers; None for a request.
        version: of the frame.
        ext_fields: of the frame, as JSON text.

    Returns:
        None if nobody knows what it is, or it is not that.
    """
    if not body:
        return None
    kind = _kind(code, request_code)
    if kind is None:
        return None
    try:
        if request_code is None and is_registration(code, kind):
            fields = msgspec.json.decode(ext_fields or "{}", type=dict[str, str])
            compressed = fields.get("compressed", "").lower() == "true"
            value: Any = registration_to_plain(body, compressed=compressed, version=version)
        elif (
            kind is Raw.MESSAGE_BODY
        ):  # only its sender knows it; shown like that of a stored message
            value = {"body": body.hex()}
        else:
            value = body_to_plain(kind, body)
        return msgspec.json.encode(value).decode()
    except (CodecError, msgspec.MsgspecError, ValueError, TypeError):
        return None


def _kind(code: int, request_code: int | None) -> Body | None:
    operation = OPERATIONS.get(code if request_code is None else request_code)
    if operation is None:
        return None
    if request_code is None:
        return operation.request_body
    return operation.response_body if code == 0 else None
