"""The steps of a case as data: requests and bytes to send, and outcomes to await.

The first step that names a connection opens it; the end of the case closes it.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rocketwire_tools.conformance.model.outcomes import Outcome, Response
    from rocketwire_tools.conformance.model.placeholders import Names


VERSION: Final = '{"counter":1,"stateVersion":0,"timestamp":1000}'


def _prefix(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">i", len(data)) + data


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A packed registration body; placeholders in texts are replaced."""

    # lines with name, read queues, write queues, permission, filter type and attributes, separated
    # by spaces
    topics: tuple[str, ...] = ("{topic} 8 8 6 SINGLE_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")
    version: str = VERSION  # JSON of the data version
    filters: str = "[]"  # JSON of the filter servers
    # JSON of each static mapping; None to omit the part, as before 5.0.0
    mappings: tuple[str, ...] | None = ()
    tail: bytes = b""  # bytes after the last part
    form: str = "zlib"  # compression: ``zlib``, ``gzip``, or ``plain`` for none
    cut: int = 0  # number of bytes to remove at the end of the parts

    def encode(self, names: Names) -> bytes:
        parts = [_prefix(names.text(self.version)), struct.pack(">i", len(self.topics))]
        parts += [_prefix(names.text(topic)) for topic in self.topics]
        parts.append(_prefix(names.text(self.filters)))
        if self.mappings is not None:
            parts.append(struct.pack(">i", len(self.mappings)))
            parts += [_prefix(names.text(mapping)) for mapping in self.mappings]
        data = b"".join(parts)
        data = data[: len(data) - self.cut] + self.tail
        if self.form == "zlib":
            return zlib.compress(data, 9)
        return gzip.compress(data, 9, mtime=0) if self.form == "gzip" else data


# The default connection.
MAIN = "main"

# See ``Request.ext``.
CHECKSUM = "{crc32}"

# Values of an arrival for later steps: name for ``{=name}`` -> path, as ``saved.py`` reads it.
Saved: TypeAlias = Mapping[str, str]


def _nothing() -> Saved:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A well-formed request, encoded by the codec."""

    code: int
    # ext fields; None for a header without that member. ``CHECKSUM`` in a value is replaced by the
    # checksum of the body.
    ext: Mapping[str, str] | None = None
    # strings and JSON values with placeholders, or literal bytes
    body: bytes | str | Mapping[str, object] | list[object] | Packed | None = None
    version: int = 479  # protocol version in the header; 479 is 5.5.0
    opaque: int | None = None  # its opaque; None for the next one of the connection
    flag: int = 0  # flag bits; 2 is one-way
    binary: bool = False  # whether the header is binary (ROCKETMQ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame of literal bytes, for headers that no encoder would write."""

    header: bytes | str  # bytes, or a string with placeholders (UTF-8)
    body: bytes | str = b""  # bytes, or a string with placeholders (UTF-8)
    type: int = 0  # serialization type, the byte before the header's length: 0 JSON, 1 binary
    header_length: int | None = None  # the header's length; None for the correct one


Sendable: TypeAlias = bytes | Frame | Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Open a connection explicitly."""

    on: str = MAIN
    preamble: bytes = b""  # bytes to send first, before any TLS (a PROXY line)
    tls: str | None = None  # TLS version ``any``, ``1.2`` or ``1.3``; None for no TLS
    shows: str = ""  # name of the client certificate in ``certificates/``; empty for none
    trusts: str = ""  # name of the only trusted authority; empty to trust every certificate
    refused: bool = False  # whether the handshake (or the connection) must fail


@dataclass(frozen=True, slots=True)
class Listen:
    """Listen like a broker, for requests of the server (905).

    ``Expect`` accepts the server's first connection, which gets this name.
    """

    on: str  # name of the connection
    address: str = "{listener}"  # ``{listener}``, possibly with a suffix


@dataclass(frozen=True, slots=True)
class Send:
    """Send without awaiting a response."""

    parts: tuple[Sendable, ...]  # data to join and send; bytes are literal
    on: str = MAIN  # name of the connection
    pieces: int = 0  # bytes per segment; 0 for one segment
    pause: float = 0.0  # seconds between segments


@dataclass(frozen=True, slots=True)
class Expect:
    """Await the next outcome on a connection."""

    outcomes: tuple[Outcome, ...]
    on: str = MAIN  # name of the connection
    within: float = 5.0  # timeout in seconds
    save: Saved = field(default_factory=_nothing)  # values of the arrival for later steps


@dataclass(frozen=True, slots=True)
class Ask:
    """Send one request and await the response with its opaque."""

    request: Request
    outcomes: tuple[Outcome, ...]
    on: str = MAIN  # name of the connection
    within: float = 5.0  # timeout in seconds
    save: Saved = field(default_factory=_nothing)  # values of the response for later steps


@dataclass(frozen=True, slots=True)
class Until:
    """Repeat a request until the response is acceptable, for delayed effects."""

    request: Request
    outcome: Response
    on: str = MAIN  # name of the connection
    within: float = 5.0  # timeout in seconds
    # seconds in which the outcome is a failure, for an expiry that is too early
    not_before: float = 0.0
    save: Saved = field(default_factory=_nothing)  # values of the response for later steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Answer the last request of the server on a connection."""

    on: str = MAIN  # name of the connection
    code: int = 0
    body: str | None = None  # text with placeholders; None for no body


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
