"""Fields of request headers that are read without a header class, because they are read often.

Java: ``RemotingCommand.decodeCommandCustomHeader``; its exceptions are answered with code 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body, encode_body
from rocketwire_broker.access.needs import needs_of_topic
from rocketwire_broker.state.response import RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.access.accounts import Permission
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

FAQ: Final = "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
"""The last words of many of Java's remarks."""

_DIGITS: Final = 20  # digits that no number of 64 bits has

T = TypeVar("T")


def text(fields: Mapping[str, str], name: str) -> str:
    value = fields.get(name)
    if value is None:
        raise DecodeError(f"the custom field <{name}> is null", path=name)
    return value


def integer(fields: Mapping[str, str], name: str, default: int | None = None) -> int:
    """Return a number; a missing one is required if there is no default."""
    value = fields.get(name)
    if value is None:
        if default is None:
            raise DecodeError(f"the custom field <{name}> is null", path=name)
        return default
    digits = value if value.isdigit() else value[1:] if value[:1] in {"-", "+"} else ""
    if digits.isdigit() and digits.isascii() and len(digits) < _DIGITS:
        return int(value)
    raise DecodeError(f'For input string: "{value[:64]}"', path=name)


def require(value: T | None, name: str) -> T:
    if value is None:
        raise DecodeError(f"the custom field <{name}> is null", path=name)
    return value


def body_of(request: RemotingCommand, cls: type[T]) -> T:
    body: T | None = None if request.body is None else decode_body(cls, request.body)
    return require(body, "body")


def with_body(body: object, ext_fields: dict[str, str] | None = None) -> Response:
    return Response(ext_fields=ext_fields, body=(require(encode_body(body), "body"),))


def check_permission(
    broker: Broker, request: RemotingCommand, peer: Peer, topic: str, permission: Permission
) -> None:
    """Check that the sender may use a topic that only the stored message names."""
    if broker.access is not None:
        needs = needs_of_topic(topic, permission)
        refusal = broker.access.refusal(request, peer.host.ip, needs)
        if refusal is not None:
            raise RefusedError(ResponseCode.NO_PERMISSION, refusal)
