"""Before the first frame: the PROXY protocol (HAProxy), versions 1 and 2."""

from __future__ import annotations

import struct
from typing import Final

from rocketwire_tools.conformance.model.case import Case, since_5_3
from rocketwire_tools.conformance.model.outcomes import Closed, Silence
from rocketwire_tools.conformance.model.requests import ask, expect, send, success
from rocketwire_tools.conformance.model.steps import Open, Request

DETECT: Final = "NettyRemotingServer.HandshakeHandler.decode @ 5.5.0"
V1: Final = "HAProxyMessageDecoder (netty 4.1) behind NettyRemotingServer.HandshakeHandler @ 5.5.0"
V2: Final = (
    "HAProxyMessage.decodeHeader (netty 4.1) behind NettyRemotingServer.HandshakeHandler @ 5.5.0"
)
SIGNATURE: Final = b"\r\n\r\n\x00\r\nQUIT\n"
LINE: Final = b"PROXY TCP4 192.0.2.1 192.0.2.2 40000 9876\r\n"
IPV4: Final = bytes([192, 0, 2, 1, 192, 0, 2, 2]) + struct.pack(">HH", 40000, 9876)
IPV6: Final = bytes(15) + b"\x01" + bytes(15) + b"\x02" + struct.pack(">HH", 40000, 9876)


def v2(command: int, family: int, content: bytes) -> bytes:
    """A PROXY header of version 2; ``command`` is byte 13, ``family`` byte 14."""
    return SIGNATURE + bytes([command, family]) + struct.pack(">H", len(content)) + content


def _takes(number: int, what: str, header: bytes, item: int, evidence: str = V2) -> Case:
    return since_5_3(f"proxy/{number}", item, evidence,
        f"{what} MUST be accepted, and the following requests answered.",
        Open(preamble=header),
        ask(106, None, success()),
        ask(106, None, success()),
    )  # fmt: skip


def _refuses(number: int, what: str, header: bytes, item: int, evidence: str = V2) -> Case:
    return since_5_3(f"proxy/{number}", item, evidence, f"{what} MUST close the connection.",
        send(header, Request(code=106)),
        expect(Closed()),
    )  # fmt: skip


CASES: Final = (
    _takes(1, "A PROXY line for IPv4", LINE, 26, V1),
    _takes(2, "A PROXY line for IPv6", b"PROXY TCP6 2001:db8::1 2001:db8::2 40000 9876\r\n", 26,
        V1),
    _takes(3, "A PROXY line with UNKNOWN", b"PROXY UNKNOWN\r\n", 27, V1),
    _takes(4, "A PROXY line with UNKNOWN and further text",
        b"PROXY UNKNOWN whatever stands here\r\n", 27, V1),
    since_5_3("proxy/5", 26, V1, "A PROXY line and a request in one segment MUST be accepted.",
        send(LINE, Request(code=106)),
        expect(success()),
    ),
    since_5_3("proxy/6", 26, V1, "A PROXY line that arrives byte by byte MUST be accepted.",
        send(LINE, Request(code=106), pieces=1),
        expect(success()),
    ),
    since_5_3("proxy/7", 26, V1, "A PROXY line in two segments MUST be accepted.",
        send(LINE[:20]),
        expect(Silence(seconds=0.2)),
        send(LINE[20:], Request(code=106)),
        expect(success()),
    ),
    _takes(10, "A header of version 2 for TCP over IPv4", v2(0x21, 0x11, IPV4), 27),
    _takes(11, "A header of version 2 for TCP over IPv6", v2(0x21, 0x21, IPV6), 27),
    _takes(12, "A header of version 2 for UDP over IPv4", v2(0x21, 0x12, IPV4), 27),
    _takes(13, "A header of version 2 for a Unix socket", v2(0x21, 0x31, bytes(216)), 27),
    _takes(14, "A LOCAL header of version 2 without addresses", v2(0x20, 0x00, b""), 27),
    _takes(15, "A LOCAL header of version 2 with addresses", v2(0x20, 0x11, IPV4), 27),
    _takes(16, "A header of version 2 with a TLV", v2(0x21, 0x11, IPV4 + b"\x02\x00\x03abc"), 27),
    _takes(17, "A header of version 2 without a family", v2(0x21, 0x00, b""), 27),
    since_5_3("proxy/18", 27, V2,
        "A header of version 2 that arrives byte by byte MUST be accepted.",
        send(v2(0x21, 0x11, IPV4), Request(code=106), pieces=1),
        expect(success()),
    ),
    _refuses(30, "A PROXY line of an unknown family",
        b"PROXY TCP5 192.0.2.1 192.0.2.2 40000 9876\r\n", 28, V1),
    _refuses(31, "A PROXY line of four fields", b"PROXY TCP4 192.0.2.1 192.0.2.2\r\n", 28, V1),
    _refuses(32, "A PROXY line with a port of 0", b"PROXY TCP4 192.0.2.1 192.0.2.2 0 9876\r\n", 28,
        V1),
    _refuses(33, "A PROXY line with a port of 65536",
        b"PROXY TCP4 192.0.2.1 192.0.2.2 65536 9876\r\n", 28, V1),
    _refuses(34, "A PROXY line with an IPv6 address for IPv4",
        b"PROXY TCP4 2001:db8::1 192.0.2.2 40000 9876\r\n", 28, V1),
    _refuses(35, "A PROXY line with an invalid address",
        b"PROXY TCP4 192.0.2.256 192.0.2.2 40000 9876\r\n", 28, V1),
    _refuses(36, "A PROXY line that does not end within 108 bytes", b"PROXY UNKNOWN " + b"x" * 200,
        28, V1),
    _refuses(37, "A second PROXY line", LINE + LINE, 29, V1),
    _refuses(40, "A header of version 3", v2(0x31, 0x11, IPV4), 28),
    _refuses(41, "A header of version 2 with an unknown command", v2(0x22, 0x11, IPV4), 28),
    _refuses(42, "A header of version 2 with an unknown family", v2(0x21, 0x41, IPV4), 28),
    _refuses(43, "A header of version 2 that is too short for its addresses",
        v2(0x21, 0x11, IPV4[:4]), 28),
    _refuses(44, "A second header, of version 2,", v2(0x21, 0x11, IPV4) + v2(0x21, 0x11, IPV4), 29),
    since_5_3("proxy/50", 29, DETECT, "After the first frame a PROXY line MUST NOT be accepted.",
        ask(106, None, success()),
        send(LINE, Request(code=106)),
        expect(Closed()),
    ),
    since_5_3("proxy/51", 30, f"{DETECT}, TlsModeHandler",
        "TLS after a PROXY line SHOULD be supported.",
        Open(preamble=LINE, tls="any"),
        ask(106, None, success()),
        tags=frozenset({"tls"}),
    ),
    since_5_3("proxy/52", 30, f"{DETECT}, TlsModeHandler",
        "TLS after a header of version 2 SHOULD be supported.",
        Open(preamble=v2(0x21, 0x11, IPV4), tls="any"),
        ask(106, None, success()),
        tags=frozenset({"tls"}),
    ),
)  # fmt: skip
