"""What can happen on a connection; ``Connection.receive`` and its kin return these, in order.

Rules of this file: events are plain values that say what happened, never what to do about it.  For
each request sent exactly one of ``ResponseReceived``, ``RequestTimedOut`` and ``RequestAbandoned``
comes, unless the caller has forgotten the request before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.wire.values.frozen import dataclass

if TYPE_CHECKING:
    from rocketwire.errors import DecodeError
    from rocketwire.wire.command import RemotingCommand

__all__ = [
    "ConnectionBroken",
    "ConnectionIdle",
    "Event",
    "PeerClosed",
    "RequestAbandoned",
    "RequestReceived",
    "RequestTimedOut",
    "ResponseReceived",
    "ResponseUnmatched",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestReceived:
    """The peer asks for something; both sides of a connection may.

    Attributes:
        request: what it asks; ``request.is_oneway`` tells that it wants no answer.
    """

    request: RemotingCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseReceived:
    """The answer to one of this side's requests.

    Attributes:
        opaque: number of the request.
        request_code: what was asked for; the response does not say it.
        response: the answer, whose ``code`` tells how the request ended.
        elapsed: seconds since the request was made.
    """

    opaque: int
    request_code: int
    response: RemotingCommand
    elapsed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseUnmatched:
    """An answer that nobody waits for: late, given twice, or to a request that was never made.

    Attributes:
        response: the answer.
    """

    response: RemotingCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTimedOut:
    """The deadline of a request has passed; an answer that still comes will be unmatched.

    Attributes:
        opaque: number of the request.
        request_code: what was asked for.
        elapsed: seconds since the request was made.
    """

    opaque: int
    request_code: int
    elapsed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAbandoned:
    """The connection ended before the answer came; whether the peer has acted is unknown.

    Attributes:
        opaque: number of the request.
        request_code: what was asked for.
    """

    opaque: int
    request_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerClosed:
    """The peer has closed the connection.

    Attributes:
        unread: bytes of a frame that has not been sent to its end; 0 when it ended between frames.
    """

    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionBroken:
    """The peer sent what cannot be read; nothing after it can be trusted, so close.

    Attributes:
        error: what is wrong with it.
    """

    error: DecodeError


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionIdle:
    """Nothing has been sent or received for longer than allowed, so close.

    Attributes:
        silence: seconds since the last byte in either direction.
    """

    silence: float


Event = (
    RequestReceived
    | ResponseReceived
    | ResponseUnmatched
    | RequestTimedOut
    | RequestAbandoned
    | PeerClosed
    | ConnectionBroken
    | ConnectionIdle
)
"""Anything that can happen."""
