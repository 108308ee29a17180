"""Events of a connection, in order, as ``Connection.receive`` and similar methods return them.

Events are plain values.  Each request ends with exactly one of ``ResponseReceived``,
``RequestTimedOut`` and ``RequestAbandoned``, unless the caller forgets the request earlier.
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
    """The peer sent a request; both sides of a connection may send requests."""

    request: RemotingCommand  #: the request; it wants no response if ``request.is_oneway``


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseReceived:
    """The response to a request of this side."""

    opaque: int  #: number of the request
    request_code: int  #: code of the request, which the response does not carry
    response: RemotingCommand  #: the response; its ``code`` is the outcome
    elapsed: float  #: seconds since the request was sent


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseUnmatched:
    """A response without a pending request: late, repeated, or with an unknown number."""

    response: RemotingCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTimedOut:
    """The deadline of a request has passed; a later response will be unmatched."""

    opaque: int  #: number of the request
    request_code: int
    elapsed: float  #: seconds since the request was sent


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAbandoned:
    """The connection ended before the response came; the peer may have executed the request."""

    opaque: int  #: number of the request
    request_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerClosed:
    """The peer has closed the connection."""

    unread: int  #: bytes of an incomplete frame; 0 if the connection ended between frames


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionBroken:
    """The peer sent bytes that cannot be decoded; the caller has to close the connection."""

    error: DecodeError  #: the cause


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionIdle:
    """The idle timeout has passed; the caller has to close the connection."""

    silence: float  #: seconds since the last byte in either direction


# Any event of a connection
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
