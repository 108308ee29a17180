"""The protocol's state of one connection, without I/O: ``connection`` for a client and its peer,
``guards`` for what a server allows a connection."""

from rocketwire.connection.connection import (
    DEFAULT_IDLE_TIMEOUT,
    DEFAULT_MAX_IN_FLIGHT,
    Connection,
    ConnectionState,
    SentRequest,
)

__all__ = [
    "DEFAULT_IDLE_TIMEOUT",
    "DEFAULT_MAX_IN_FLIGHT",
    "Connection",
    "ConnectionState",
    "SentRequest",
]
