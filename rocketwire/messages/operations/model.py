"""``Operation``: the classes of a request code and of its response."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from rocketwire.codes import RequestCode


class Raw(Enum):
    """Bodies that are not JSON of a class."""

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

    element: type[Any]


Body: TypeAlias = type[Any] | ArrayOf | Raw | None
"""The content of a body; None for no body."""


class Operation(NamedTuple):
    """The classes of a request and of its response."""

    code: RequestCode
    #: header class of the request; None without header fields
    request_header: type[Any] | None = None
    request_body: Body = None  #: content of the request's body
    response_header: type[Any] | None = None  #: header class of a successful response
    response_body: Body = None  #: content of a successful response's body
