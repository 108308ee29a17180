"""One typed call: header and body by the registry, there and back.

Rules of this file: what a request and its answer hold is what ``rocketwire.messages.operations.registry`` says, also of the few that are
named here so that a producer starts without it (some three hundred classes, which take longer to import than a first message takes);
a code that it does not know travels with ext fields and bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from rocketwire.codes import RequestCode, ResponseCode, SerializeType
from rocketwire.messages import (
    decode_bodies,
    decode_body,
    decode_header,
    encode_bodies,
    encode_body,
    encode_header,
)
from rocketwire.messages.route import TopicRouteData
from rocketwire.wire.command import new_command
from rocketwire.wire.json.limits import ANSWER_LIMITS

if TYPE_CHECKING:
    from rocketwire.client.config import ClientConfig
    from rocketwire.messages.operations.model import Body, Operation
    from rocketwire.wire.command import RemotingCommand

_MAX_BINARY_CODE: Final = 2**15 - 1
"""The largest code that fits a binary header."""

SUCCESS: Final = frozenset((ResponseCode.SUCCESS.value,))
"""What counts as success unless the caller says otherwise."""


class Answer(NamedTuple):
    """A successful answer.

    Attributes:
        header: an instance of the operation's response header class; None where it has none.
        body: an instance of the operation's response body class, a tuple of them, or bytes; None where there is none.
        command: the response as it came, for its code, remark, version and further ext fields.
    """

    header: Any
    body: Any
    command: RemotingCommand


def make_request(
    config: ClientConfig,
    code: int,
    header: object | Mapping[str, str] | None = None,
    body: object | bytes | None = None,
) -> RemotingCommand:
    """A request as this client sends it.

    Args:
        config: says language, version and the form of headers.
        code: request code.
        header: an instance of a header class, or ext fields.
        body: an instance of a body class, a list of them, or bytes.

    Raises:
        EncodeError: a value does not fit its field.
    """
    form = config.serialize_type if code <= _MAX_BINARY_CODE else SerializeType.JSON
    fields, content = _fields_of(header, form), body_bytes(body)
    return new_command(code, config.language, config.version, 0, 0, None, fields, content, form)


def _fields_of(
    header: object | Mapping[str, str] | None, form: SerializeType
) -> Mapping[str, str] | None:
    if header is None:
        return None
    if isinstance(header, Mapping):
        return cast("Mapping[str, str]", header)
    return encode_header(header, serialize_type=form)


def body_bytes(body: object | bytes | None) -> bytes | None:
    """The bytes of a body: bytes as they are, a text as UTF-8, a sequence as an array, everything else by its class."""
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, list | tuple):
        return encode_bodies(body)  # pyright: ignore[reportUnknownArgumentType]  # instances of one class
    return encode_body(body)


@cache
def _all_operations() -> Mapping[int, Operation]:
    from rocketwire.messages.operations.registry import OPERATIONS

    return OPERATIONS


def read_answer(code: int, response: RemotingCommand) -> Answer:
    """Header and body of a successful answer to a request of that code.

    Raises:
        DecodeError: they are not what they should be.
    """
    if code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
        body = response.body
        return Answer(
            None,
            None if body is None else decode_body(TopicRouteData, body, limits=ANSWER_LIMITS),
            response,
        )
    if code == RequestCode.UNREGISTER_CLIENT:
        from rocketwire.messages.heartbeat import UnregisterClientResponseHeader

        told = decode_header(UnregisterClientResponseHeader, response.ext_fields)
        return Answer(told, response.body, response)
    operation = None if code == RequestCode.HEART_BEAT else _all_operations().get(code)
    if operation is None:
        return Answer(None, response.body, response)
    cls = operation.response_header
    header = None if cls is None else decode_header(cls, response.ext_fields)
    return Answer(header, _read_body(operation.response_body, response.body), response)


def _read_body(form: Body, body: bytes | None) -> Any:
    from rocketwire.messages.operations.model import ArrayOf, Raw

    if body is None or form is None or isinstance(form, Raw):
        return body
    if isinstance(form, ArrayOf):
        return decode_bodies(form.element, body, limits=ANSWER_LIMITS)
    return decode_body(form, body, limits=ANSWER_LIMITS)
