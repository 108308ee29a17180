"""What a connection begins with is understood, waited for or refused, the same however it is cut."""

from __future__ import annotations

from rocketwire.errors import DecodeError
from rocketwire_namesrv.protocol.preamble import Preamble, describe, is_plain
from tests.fuzz import seeds


def _opened(data: bytes, step: int) -> tuple[object, ...]:
    preamble = Preamble()
    for start in range(0, len(data), step):
        try:
            follows = preamble.feed(data[start : start + step])
        except DecodeError:
            return ("refused",)
        if follows is not None:
            return follows, preamble.proxy
    return None, preamble.proxy


def read(data: bytes) -> None:
    """The first byte says into how large pieces the rest is cut."""
    step, rest = 1 + (data[0] if data else 0), data[1:]
    text = describe(rest)
    assert text.isascii()
    assert "\n" not in text
    if rest:
        is_plain(rest)
    assert _opened(rest, step) == _opened(rest, 1)


def start() -> list[bytes]:
    """Headers of both versions, before frames and before TLS."""
    version2 = b"\r\n\r\n\x00\r\nQUIT\n"
    tlv = b"\x20\x00\x0a\x01\x00\x00\x00\x00\x21\x00\x02ab"
    headers = (
        b"PROXY TCP4 1.2.3.4 5.6.7.8 99 9876\r\n",
        b"PROXY TCP6 ::1 fe80::1 99 9876\r\n",
        b"PROXY UNKNOWN\r\n",
        version2 + b"\x21\x11\x00\x0c" + bytes(12),
        version2 + b"\x21\x21\x00\x24" + bytes(36),
        version2 + b"\x20\x00\x00\x00",
        version2 + b"\x21\x11\x00\x19" + bytes(12) + tlv,
        b"",
    )
    follows = (seeds.frames()[0], b"\x16\x03\x01\x00\x05hello", b"GET / HTTP/1.1\r\n\r\n", b"")
    return [bytes((step,)) + h + f for step in (0, 200) for h in headers for f in follows]
