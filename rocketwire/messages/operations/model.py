"""What an operation is: the classes of one request code, there and back."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rocketwire.codes import RequestCode


class Raw(Enum):
    """Bodies that are not the JSON of a class."""

    MESSAGE_BODY = "the body of one message"
    MESSAGE_BATCH = "messages in the batch layout"
    STORED_MESSAGE = "one message in the layout of the commit log"
    STORED_MESSAGES = "messages in the layout of the commit log, back to back"
    PROPERTIES = "Java properties: lines of key=value"
    TEXT = "a name as UTF-8 text"
    JSON = "JSON of no class"
    JSON_TEXTS = "a JSON array of texts"
    TIMER_CHECKPOINT = "seven int64, big-endian"


class ArrayOf(NamedTuple):
    """A body that is a JSON array of a class; see ``decode_bodies``."""

    of: type[Any]


Body: TypeAlias = type[Any] | ArrayOf | Raw | None
"""What a body holds; None where there is none."""


class Operation(NamedTuple):
    """What one request code carries, there and back.

    Attributes:
        code: the request code.
        request_header: header class of the request; None where it has no header fields.
        request_body: what the request's body holds.
        response_header: header class of a successful response.
        response_body: what a successful response's body holds.
    """

    code: RequestCode
    request_header: type[Any] | None = None
    request_body: Body = None
    response_header: type[Any] | None = None
    response_body: Body = None
