"""Bodies of frames as JSON text, if the registry declares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rocketwire.errors import CodecError
from rocketwire.messages.operations.registry import OPERATIONS, Raw
from rocketwire_tools.codec.values.bodies import (
    body_to_plain,
    is_registration,
    registration_to_plain,
)

if TYPE_CHECKING:
    from rocketwire.messages.operations.registry import Body


def body_text(
    body: bytes, *, code: int, request_code: int | None, version: int, ext_fields: str | None
) -> str | None:
    """Convert a body to JSON text.

    Returns:
        None if the body is unknown or invalid.
    """
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


def _kind(code: int, request_code: int | None) -> Body | None:
    operation = OPERATIONS.get(code if request_code is None else request_code)
    if operation is None:
        return None
    if request_code is None:
        return operation.request_body
    return operation.response_body if code == 0 else None
