"""Connections: PROXY lines and TLS."""

from __future__ import annotations

import struct
from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import Closed, Silence
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    expect,
    register,
    send,
    success,
    until,
)
from rocketwire_tools.conformance.model.steps import Close, Open, Request, Step

# Before the first frame: the PROXY protocol (HAProxy), versions 1 and 2.

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


# TLS: which connections have it, and which must not.

HANDLER: Final = "NettyRemotingServer.TlsModeHandler.channelRead0 @ 5.5.0"
TLS: Final = frozenset({"tls"})
TEST: Final = "-Dtls.test.mode.enable=true"
ENFORCING: Final = ("-Dtls.server.mode=enforcing", TEST)
PERMISSIVE: Final = ("-Dtls.server.mode=permissive", TEST)
DISABLED: Final = ("-Dtls.server.mode=disabled",)
CERTIFIED: Final = (
    "-Dtls.server.mode=enforcing",
    "-Dtls.test.mode.enable=false",
    "-Dtls.server.certPath=server.pem",
    "-Dtls.server.keyPath=server.key",
    "-Dtls.server.authClient=true",
    "-Dtls.server.trustCertPath=authority.pem",
)
FILES: Final = ("authority.pem", "server.key", "server.pem")
ASKED: Final = "TlsHelper.buildSslContext, parseClientAuthMode @ 5.5.0"


def _client(number: int, requirement: str, auth: str, *steps: Step) -> Case:
    return case(f"tls/{number}", 31, ASKED, requirement,
        *steps,
        tags=TLS, jvm=(*CERTIFIED, f"-Dtls.server.need.client.auth={auth}"), files=FILES,
    )  # fmt: skip


def _late(version: str, shows: str = "") -> tuple[Step, ...]:
    # In TLS 1.3 a client finishes the handshake before the server checks its certificate
    return (Open(tls=version, shows=shows), send(Request(code=106)), expect(Closed()))


CASES: Final = (
    # Before the first frame: the PROXY protocol (HAProxy), versions 1 and 2.
    _takes(1, "A PROXY line for IPv4", LINE, 26, V1),
    _takes(2, "A PROXY line for IPv6", b"PROXY TCP6 2001:db8::1 2001:db8::2 40000 9876\r\n", 26,
        V1),
    _takes(3, "A PROXY line with UNKNOWN", b"PROXY UNKNOWN\r\n", 27, V1),
    _takes(4, "A PROXY line with UNKNOWN and further text",
        b"PROXY UNKNOWN whatever stands here\r\n", 27, V1),
    since_5_3("proxy/5", 26, V1, "A PROXY line and a request in one segment MUST be accepted.",
        send(LINE, Request(code=106)), expect(success())),
    since_5_3("proxy/6", 26, V1, "A PROXY line that arrives byte by byte MUST be accepted.",
        send(LINE, Request(code=106), pieces=1), expect(success())),
    since_5_3("proxy/7", 26, V1, "A PROXY line in two segments MUST be accepted.",
        send(LINE[:20]), expect(Silence(seconds=0.2)), send(LINE[20:], Request(code=106)),
        expect(success())),
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
        send(v2(0x21, 0x11, IPV4), Request(code=106), pieces=1), expect(success())),
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
        ask(106, None, success()), send(LINE, Request(code=106)), expect(Closed())),
    since_5_3("proxy/51", 30, f"{DETECT}, TlsModeHandler",
        "TLS after a PROXY line SHOULD be supported.",
        Open(preamble=LINE, tls="any"), ask(106, None, success()), tags=frozenset({"tls"})),
    since_5_3("proxy/52", 30, f"{DETECT}, TlsModeHandler",
        "TLS after a header of version 2 SHOULD be supported.",
        Open(preamble=v2(0x21, 0x11, IPV4), tls="any"), ask(106, None, success()),
        tags=frozenset({"tls"})),
    # TLS: which connections have it, and which must not.
    case("tls/1", 31, HANDLER, "A permissive server MUST support TLS 1.2.",
        Open(tls="1.2"), ask(106, None, success()), ask(206, None, success()), tags=TLS,
        jvm=PERMISSIVE),
    case("tls/2", 31, HANDLER, "A permissive server MUST support TLS 1.3.",
        Open(tls="1.3"), ask(106, None, success()), ask(206, None, success()), tags=TLS,
        jvm=PERMISSIVE),
    case("tls/3", 31, HANDLER, "A permissive server MUST answer connections without TLS.",
        ask(106, None, success()), Open(on="b", tls="any"), ask(106, None, success(), on="b"),
        tags=TLS, jvm=PERMISSIVE),
    case("tls/4", 32, HANDLER,
        "An enforcing server MUST close connections without TLS without a response.",
        send(Request(code=106)), expect(Closed()), tags=TLS, jvm=ENFORCING),
    case("tls/5", 32, HANDLER, "An enforcing server MUST support TLS.",
        Open(tls="any"), ask(106, None, success()), tags=TLS, jvm=ENFORCING),
    case("tls/6", 32, HANDLER,
        "A server without TLS MUST close a connection that begins with a TLS handshake.",
        Open(tls="any", refused=True), ask(106, None, success(), on="b"), tags=TLS, jvm=DISABLED),
    case("tls/7", 33, HANDLER,
        "A connection that begins like TLS and continues with invalid data MUST be closed.",
        send(b"\x16" + b"rubbish, and more of it" * 3), expect(Closed()), tags=TLS, jvm=PERMISSIVE),
    case("tls/8", 31, HANDLER,
        "A broker MUST be able to register over TLS, and is removed if that connection closes.",
        Open(on="a", tls="any"), register(on="a"), ask(105, ROUTE, success(), on="b"), Close("a"),
        until(105, ROUTE, NO_ROUTE, on="b"), tags=TLS, jvm=PERMISSIVE),
    _client(9, "A server MUST present its configured certificate.", "none",
        Open(tls="1.2", trusts="authority"), ask(106, None, success()),
        Open(on="b", tls="1.3", trusts="authority"), ask(106, None, success(), on="b"),
        Open(on="c", tls="any", trusts="stranger", refused=True)),
    _client(10,
        "If client certificates are required, a client with a trusted one MUST be answered.",
        "require", Open(tls="1.2", shows="client", trusts="authority"), ask(106, None, success()),
        Open(on="b", tls="1.3", shows="client", trusts="authority"),
        ask(106, None, success(), on="b")),
    _client(11, "If client certificates are required, a TLS 1.2 handshake without one MUST fail.",
        "require", Open(tls="1.2", refused=True)),
    _client(12,
        "If client certificates are required, TLS 1.3 without one MUST be closed without a "
        "response.", "require", *_late("1.3")),
    _client(13, "A TLS 1.2 handshake with an untrusted client certificate MUST fail.", "require",
        Open(tls="1.2", shows="stranger", refused=True)),
    _client(14, "TLS 1.3 with an untrusted client certificate MUST be closed without a response.",
        "require", *_late("1.3", "stranger")),
    _client(15,
        "If client certificates are optional, clients with and without one MUST be answered.",
        "optional", Open(tls="any"), ask(106, None, success()),
        Open(on="b", tls="any", shows="client"), ask(106, None, success(), on="b")),
    _client(16, "If client certificates are optional, an untrusted one MUST be rejected.",
        "optional", Open(tls="1.2", shows="stranger", refused=True)),
    _client(17, "If client certificates are not requested, an untrusted one MUST be ignored.",
        "none", Open(tls="any", shows="stranger"), ask(106, None, success())),
)  # fmt: skip
