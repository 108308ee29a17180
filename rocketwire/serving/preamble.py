"""A connection's first bytes: an optional PROXY header, then TLS or frames, or another protocol.

Pure.  ``Preamble`` decides, and waits only while the bytes may become a PROXY header (Java always
waits for twelve bytes). ``describe`` guesses, for the log, the protocol of invalid frames: a health
check, a browser or a client of another protocol that uses the name server's port. Bytes of the peer
are logged with ``ascii``, so that they can neither forge nor break a line.

Java: ``NettyRemotingServer.HandshakeHandler``, ``TlsModeHandler``.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from rocketwire.codes import RequestCode
from rocketwire.serving.events import format_value
from rocketwire.serving.proxy_protocol import (
    SIGNATURES,
    ProxyHeader,
    begins_proxy_header,
    read_proxy_header,
)

TLS_HANDSHAKE: Final = 0x16
"""First byte of a TLS record that begins a handshake; no frame begins with this byte."""

_SHOWN: Final = 60
_SPECIAL: Final = frozenset({TLS_HANDSHAKE, *(signature[0] for signature in SIGNATURES)})
_HTTP2: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_PROXY2: Final = b"\r\n\r\n\x00\r\nQUIT\n"
_METHODS: Final = "GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT|PROPFIND"
_HTTP: Final = re.compile(rf"({_METHODS}) ([^ \r\n]*)".encode())
_MAX_INT: Final = b"\x7f\xff\xff\xff"
_FRAME_LIMIT: Final = 16 * 1024 * 1024
_PREFIX_SIZE: Final = 8
_JSON, _BINARY = range(2)  # forms of a header
_CODE: Final = re.compile(rb'"code":(-?[0-9]{1,9})[,}]')


class NextProtocol(Enum):
    PLAIN = "frames"
    TLS = "TLS"


def is_plain(data: bytes) -> bool:
    """Return whether the first byte shows that there is neither a PROXY header nor TLS."""
    return data[0] not in _SPECIAL


class Preamble:
    def __init__(self) -> None:
        self.proxy: ProxyHeader | None = None  # its PROXY header, once it is complete
        # bytes received that are not part of a complete PROXY header
        self.held: bytearray = bytearray()

    def feed(self, data: bytes) -> NextProtocol | None:
        """Take bytes as they come; return None until the next protocol is clear.

        Then ``held`` contains its first bytes, and ``feed`` must not be called again.

        Raises:
            DecodeError: the PROXY header is malformed.
        """
        self.held += data
        if self.proxy is None and self.held and begins_proxy_header(self.held):
            self.proxy = read_proxy_header(self.held)
            if self.proxy is None:
                return None
            del self.held[: self.proxy.size]
        if not self.held:
            return None
        return NextProtocol.TLS if self.held[0] == TLS_HANDSHAKE else NextProtocol.PLAIN


def describe(data: bytes) -> str:
    if not data:
        return "nothing"
    return _protocol(data) or _frame(data) or _bytes(data)


def describe_plain(data: bytes) -> str:
    """Describe ``data``, the first bytes of a connection that had to begin with TLS: in most cases
    a request of a client that does not use TLS."""
    if data and _protocol(data) is None and _frame(data) is None and (text := _request(data)):
        return text
    return describe(data)


def _request(data: bytes) -> str | None:
    length = int.from_bytes(data[:4], "big", signed=True)
    if len(data) < len(_MAX_INT) or not _PREFIX_SIZE <= length + 4 <= _FRAME_LIMIT:
        return None
    text = "a RocketMQ client that does not use TLS"
    form, header = data[4:5], data[_PREFIX_SIZE:]
    if form == bytes([_JSON]) and (match := _CODE.search(header)):
        return f"{text}: {format_value(RequestCode(int(match[1])))}"
    if form == bytes([_BINARY]) and len(header) >= 2:
        code = RequestCode(int.from_bytes(header[:2], "big", signed=True))
        return f"{text}: {format_value(code)}"
    return text if form in {b"", bytes([_JSON]), bytes([_BINARY])} else None


def _protocol(data: bytes) -> str | None:
    head = data[:4]
    if _starts(data, _HTTP2):
        return "an HTTP/2 connection preface (a gRPC client?)"
    if _starts(data, _PROXY2):
        return "a PROXY protocol v2 header (a connection may begin with one only)"
    if data.startswith(b"PROXY ") or head == b"PROX":
        return f"a PROXY protocol v1 header (a connection may begin with one only): {_line(data)}"
    if data.startswith(b"SSH-"):
        return f"an SSH client: {_line(data)}"
    if request := _HTTP.match(data):
        return f"an HTTP request: {request[1].decode()} {_quote(request[2])}"
    if data[0] == 0x16 and (len(data) == 1 or data[1] == 3):
        return "a TLS ClientHello"
    return None


def _frame(data: bytes) -> str | None:
    if len(data) < len(_MAX_INT):
        return None
    length = int.from_bytes(data[:4], "big", signed=True)
    if data.startswith(_MAX_INT):
        return "a frame length of 2147483647 (a probe or an attack)"
    if not 0 <= length <= _FRAME_LIMIT or len(data) < _PREFIX_SIZE:
        return None
    header_length = int.from_bytes(data[5:8], "big")
    if data[4] <= 1 and header_length > length - 4:
        return f"a frame of {length} bytes with a header of {header_length}"
    return None


def _bytes(data: bytes) -> str:
    text = data[:_SHOWN]
    if all(byte in b"\t\r\n" or 0x20 <= byte < 0x7F for byte in text):
        return f"text: {_quote(data)}"
    return f"bytes {data[:16].hex(' ')}"


def _starts(data: bytes, opening: bytes) -> bool:
    shared = min(len(data), len(opening))
    return shared >= 4 and data[:shared] == opening[:shared]


def _line(data: bytes) -> str:
    return _quote(data.split(b"\r\n", 1)[0])


def _quote(data: bytes) -> str:
    text = ascii(data[:_SHOWN].decode("iso-8859-1"))
    return text if len(data) <= _SHOWN else f"{text}..."
