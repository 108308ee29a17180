"""Encodes typed requests and decodes typed responses.

``rocketwire.messages.operations.registry`` defines the header and body of each code. Its import
takes longer than a first message: the codes that a producer needs are decoded here without it. A
code that the registry does not have travels with ext fields and bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from rocketwire.codes import RequestCode, ResponseCode, SerializeType
from rocketwire.errors import DecodeError
from rocketwire.messages import (
    decode_bodies,
    decode_body,
    decode_header,
    encode_bodies,
    encode_body,
    encode_header,
)
from rocketwire.messages.route import TopicRouteData
from rocketwire.wire.command import RemotingCommand, new_command
from rocketwire.wire.json.limits import ANSWER_LIMITS

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.messages.operations.model import Body, Operation

_MAX_BINARY_CODE: Final = 2**15 - 1  # largest request code that fits into a binary header
# Default of the response codes that are not errors
SUCCESS: Final = frozenset((ResponseCode.SUCCESS.value,))


class Response(NamedTuple):
    header: Any  # an instance of the operation's response header class; None if it has none
    # an instance of the operation's response body class, a tuple of them, or bytes; None if there
    # is none
    body: Any
    command: RemotingCommand  # the response command, with its code, remark, version and ext fields

    def require_body(self) -> Any:
        if self.body is None:
            raise DecodeError("the response has no body", path="body")
        return self.body


def make_request(
    config: ClientConfig,
    code: int,
    header: object | Mapping[str, str] | None = None,
    body: object | bytes | None = None,
) -> RemotingCommand:
    serialize_type = config.serialize_type if code <= _MAX_BINARY_CODE else SerializeType.JSON
    fields, content = _encode_fields(header, serialize_type), encode_any_body(body)
    return new_command(
        code, config.language, config.version, 0, 0, None, fields, content, serialize_type
    )


def _encode_fields(
    header: object | Mapping[str, str] | None, serialize_type: SerializeType
) -> Mapping[str, str] | None:
    if header is None:
        return None
    if isinstance(header, Mapping):
        return cast("Mapping[str, str]", header)
    return encode_header(header, serialize_type=serialize_type)


def encode_any_body(body: object | bytes | None) -> bytes | None:
    """Encode a body: bytes stay, text as UTF-8, a sequence as a JSON array, else by its class."""
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, list | tuple):
        # The items are instances of one class.
        return encode_bodies(body)  # pyright: ignore[reportUnknownArgumentType] - items are checked there
    return encode_body(body)


@cache
def _all_operations() -> Mapping[int, Operation]:
    from rocketwire.messages.operations.registry import OPERATIONS

    return OPERATIONS


def decode_response(code: int, response: RemotingCommand) -> Response:
    if code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
        return Response(None, _decode_body(TopicRouteData, response.body), response)
    if code == RequestCode.UNREGISTER_CLIENT:
        from rocketwire.messages.heartbeat import UnregisterClientResponseHeader

        unregister_header = decode_header(UnregisterClientResponseHeader, response.ext_fields)
        return Response(unregister_header, response.body, response)
    operation = None if code == RequestCode.HEART_BEAT else _all_operations().get(code)
    if operation is None:
        return Response(None, response.body, response)
    header_class = operation.response_header
    header = None if header_class is None else decode_header(header_class, response.ext_fields)
    return Response(header, _decode_body(operation.response_body, response.body), response)


def _decode_body(body_type: Body, body: bytes | None) -> Any:
    from rocketwire.messages.operations.model import ArrayOf, Raw

    if not body or body_type is None or isinstance(body_type, Raw):
        return body
    if isinstance(body_type, ArrayOf):
        decoded: object = decode_bodies(body_type.element, body, limits=ANSWER_LIMITS)
    else:
        decoded = decode_body(body_type, body, limits=ANSWER_LIMITS)
    if decoded is None:
        raise DecodeError("the body is null", path="body")
    return decoded
