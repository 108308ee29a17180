"""The steps of a case as data: requests and bytes to send, and outcomes to await.

The first step that names a connection opens it; the end of the case closes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rocketwire_tools.conformance.model.outcomes import Outcome, Response
    from rocketwire_tools.conformance.model.packed_body import Packed

MAIN = "main"
"""The default connection."""

CHECKSUM = "{crc32}"
"""See ``Request.ext``."""

Saved: TypeAlias = Mapping[str, str]
"""Values of an arrival for later steps: name for ``{=name}`` -> path, as ``saved.py`` reads it."""


def _nothing() -> Saved:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A well-formed request, encoded by the codec.

    Attributes:
        code: request code.
        ext: ext fields; None for a header without that member. ``CHECKSUM`` in a value is replaced
            by the checksum of the body.
        body: strings and JSON values with placeholders, or literal bytes.
        version: protocol version in the header; 479 is 5.5.0.
        opaque: its opaque; None for the next one of the connection.
        flag: flag bits; 2 is one-way.
        binary: whether the header is binary (ROCKETMQ).
    """

    code: int
    ext: Mapping[str, str] | None = None
    body: bytes | str | Mapping[str, object] | list[object] | Packed | None = None
    version: int = 479
    opaque: int | None = None
    flag: int = 0
    binary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame of literal bytes, for headers that no encoder would write.

    Attributes:
        header: bytes, or a string with placeholders (UTF-8).
        body: bytes, or a string with placeholders (UTF-8).
        type: serialization type, the byte before the header's length: 0 JSON, 1 binary.
        header_length: the header's length; None for the correct one.
    """

    header: bytes | str
    body: bytes | str = b""
    type: int = 0
    header_length: int | None = None


Sendable: TypeAlias = bytes | Frame | Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Open a connection explicitly.

    Attributes:
        on: its name.
        preamble: bytes to send first, before any TLS (a PROXY line).
        tls: TLS version ``any``, ``1.2`` or ``1.3``; None for no TLS.
        shows: name of the client certificate in ``certificates/``; empty for none.
        trusts: name of the only trusted authority; empty to trust every certificate.
        refused: whether the handshake (or the connection) must fail.
    """

    on: str = MAIN
    preamble: bytes = b""
    tls: str | None = None
    shows: str = ""
    trusts: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Listen:
    """Listen like a broker, for requests of the server (905).

    ``Expect`` accepts the server's first connection, which gets this name.

    Attributes:
        on: name of the connection.
        address: ``{listener}``, possibly with a suffix.
    """

    on: str
    address: str = "{listener}"


@dataclass(frozen=True, slots=True)
class Send:
    """Send without awaiting a response.

    Attributes:
        parts: data to join and send; bytes are literal.
        on: name of the connection.
        pieces: bytes per segment; 0 for one segment.
        pause: seconds between segments.
    """

    parts: tuple[Sendable, ...]
    on: str = MAIN
    pieces: int = 0
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Expect:
    """Await the next outcome on a connection.

    Attributes:
        outcomes: the acceptable outcomes.
        on: name of the connection.
        within: timeout in seconds.
        save: values of the arrival for later steps.
    """

    outcomes: tuple[Outcome, ...]
    on: str = MAIN
    within: float = 5.0
    save: Saved = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Ask:
    """Send one request and await the response with its opaque.

    Attributes:
        request: the request.
        outcomes: the acceptable outcomes.
        on: name of the connection.
        within: timeout in seconds.
        save: values of the response for later steps.
    """

    request: Request
    outcomes: tuple[Outcome, ...]
    on: str = MAIN
    within: float = 5.0
    save: Saved = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True)
class Until:
    """Repeat a request until the response is acceptable, for delayed effects.

    Attributes:
        request: the request.
        outcome: the acceptable response.
        on: name of the connection.
        within: timeout in seconds.
        not_before: seconds in which the outcome is a failure, for an expiry that is too early.
        save: values of the response for later steps.
    """

    request: Request
    outcome: Response
    on: str = MAIN
    within: float = 5.0
    not_before: float = 0.0
    save: Saved = field(default_factory=_nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Answer the last request of the server on a connection.

    Attributes:
        on: name of the connection.
        code: response code.
        body: text with placeholders; None for no body.
    """

    on: str = MAIN
    code: int = 0
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """Close a connection from this side; with ``reset`` by RST."""

    on: str = MAIN
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for a time; only for effects that cannot be polled."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Restart:
    """Stop the started server and start it again with the same port and files."""


@dataclass(frozen=True, slots=True)
class Call:
    """Call an async function of ``cases/``, for actions that are not data."""

    function: Callable[[Any], Awaitable[None]]  # given the ``Play``


Step: TypeAlias = (
    Open | Listen | Send | Expect | Ask | Until | Reply | Close | Wait | Restart | Call
)
