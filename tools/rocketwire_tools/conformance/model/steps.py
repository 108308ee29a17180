"""What a case does, as data: requests and bytes that are sent, and what is awaited.

A connection is opened by the first step that names it, and closed at the end of the case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from rocketwire_tools.conformance.model.outcomes import Answer, Outcome
    from rocketwire_tools.conformance.model.packed_body import Packed

MAIN = "main"
"""The connection of a step that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A well-formed request, written by the codec.

    Attributes:
        code: request code.
        ext: its ext fields; None for a header without that member.
        body: text and JSON values get the names of the run put in; bytes are sent as they are.
        version: protocol version in the header; 479 is 5.5.0.
        opaque: its number; None for the connection's next one.
        flag: flag bits; 2 is one-way.
        binary: whether the header has the binary (ROCKETMQ) form.
        language: name of the sender's language.
        zlib: whether the body is compressed, as packed registrations are.
    """

    code: int
    ext: Mapping[str, str] | None = None
    body: bytes | str | Mapping[str, object] | list[object] | Packed | None = None
    version: int = 479
    opaque: int | None = None
    flag: int = 0
    binary: bool = False
    language: str = "JAVA"
    zlib: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame around literal bytes, with right lengths unless they are given: for headers that no encoder would write.

    Attributes:
        header: its bytes; a text gets the names of the run put in and becomes UTF-8.
        body: likewise.
        type: the byte above the header's length; 0 says JSON, 1 binary.
        length: the first word, if not the right one.
        header_length: the header's length, if not the right one.
    """

    header: bytes | str
    body: bytes | str = b""
    type: int = 0
    length: int | None = None
    header_length: int | None = None


Sendable: TypeAlias = bytes | Frame | Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Open a connection on purpose: to say how, or that it must (not) succeed.

    Attributes:
        on: its name.
        preamble: bytes that go first, before any TLS (a PROXY line).
        tls: ``any``, ``1.2`` or ``1.3`` for a handshake; None for none.
        shows: the name of a certificate of ``certificates/`` that is the client's; empty for none.
        trusts: the name of one that has to have signed the server's; empty to trust every certificate.
        refused: whether the handshake (or the connection) has to fail.
    """

    on: str = MAIN
    preamble: bytes = b""
    tls: str | None = None
    shows: str = ""
    trusts: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Listen:
    """Listen as a broker does, for what the server asks of brokers (905).

    The first connection that it makes becomes the one of this name; ``Expect`` waits for it.

    Attributes:
        on: the connection's name.
        at: ``{listener}``, or one with a suffix.
    """

    on: str
    at: str = "{listener}"


@dataclass(frozen=True, slots=True)
class Send:
    """Send without awaiting anything.

    Attributes:
        parts: joined and sent at once; bytes are sent literally.
        on: the connection.
        pieces: 0 to send it in one segment, n to send n bytes at a time.
        pause: seconds between pieces.
    """

    parts: tuple[Sendable, ...]
    on: str = MAIN
    pieces: int = 0
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Expect:
    """Await the next thing on a connection.

    Attributes:
        outcomes: any of them is right.
        on: the connection.
        within: seconds until it has to have come.
    """

    outcomes: tuple[Outcome, ...]
    on: str = MAIN
    within: float = 5.0


@dataclass(frozen=True, slots=True)
class Ask:
    """Send one request and await its answer, recognised by its number whatever else comes in between.

    Attributes:
        request: what is asked.
        outcomes: any of them is right; the default is success without remark and body.
        on: the connection.
        within: seconds until it has to have come.
        exact: whether a difference in the body's bytes is a difference to ``diff`` (always so with ``Text`` and ``Bytes``).
    """

    request: Request
    outcomes: tuple[Outcome, ...] = ()
    on: str = MAIN
    within: float = 5.0
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Until:
    """Ask again and again until the answer is right: for what takes effect a little later, or after a time limit.

    Attributes:
        request: what is asked.
        outcome: what it has to come to.
        on: the connection.
        within: seconds until then.
        every: seconds between two attempts.
        not_before: seconds during which the outcome must not be seen (an expiry that comes too early).
    """

    request: Request
    outcome: Answer
    on: str = MAIN
    within: float = 5.0
    every: float = 0.05
    not_before: float = 0.0


@dataclass(frozen=True, slots=True)
class Close:
    """Close a connection from this side; with ``reset`` without the usual farewell."""

    on: str = MAIN
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass; only where nothing can be polled."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Stop the server that the suite has started, and start it again on the same port with the same files.

    Attributes:
        kill: end it without notice instead of asking it to.
        kv: new content of the KV file; None to leave it.
    """

    kill: bool = False
    kv: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Whatever data cannot say: an async function of ``cases/``, given the play and its primitives."""

    function: Callable[[Any], Awaitable[None]]  # given the ``Play``


Step: TypeAlias = Open | Listen | Send | Expect | Ask | Until | Close | Wait | Restart | Call
