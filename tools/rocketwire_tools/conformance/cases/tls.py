"""TLS: which connections have it, and which must not."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE
from rocketwire_tools.conformance.model.case import Case, case
from rocketwire_tools.conformance.model.outcomes import Closed
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
    case("tls/1", 31, HANDLER, "A permissive server MUST support TLS 1.2.",
        Open(tls="1.2"),
        ask(106, None, success()),
        ask(206, None, success()),
        tags=TLS, jvm=PERMISSIVE,
    ),
    case("tls/2", 31, HANDLER, "A permissive server MUST support TLS 1.3.",
        Open(tls="1.3"),
        ask(106, None, success()),
        ask(206, None, success()),
        tags=TLS, jvm=PERMISSIVE,
    ),
    case("tls/3", 31, HANDLER, "A permissive server MUST answer connections without TLS.",
        ask(106, None, success()),
        Open(on="b", tls="any"),
        ask(106, None, success(), on="b"),
        tags=TLS, jvm=PERMISSIVE,
    ),
    case("tls/4", 32, HANDLER,
        "An enforcing server MUST close connections without TLS without a response.",
        send(Request(code=106)),
        expect(Closed()),
        tags=TLS, jvm=ENFORCING,
    ),
    case("tls/5", 32, HANDLER, "An enforcing server MUST support TLS.",
        Open(tls="any"),
        ask(106, None, success()),
        tags=TLS, jvm=ENFORCING,
    ),
    case("tls/6", 32, HANDLER,
        "A server without TLS MUST close a connection that begins with a TLS handshake.",
        Open(tls="any", refused=True),
        ask(106, None, success(), on="b"),
        tags=TLS, jvm=DISABLED,
    ),
    case("tls/7", 33, HANDLER,
        "A connection that begins like TLS and continues with invalid data MUST be closed.",
        send(b"\x16" + b"rubbish, and more of it" * 3),
        expect(Closed()),
        tags=TLS, jvm=PERMISSIVE,
    ),
    case("tls/8", 31, HANDLER,
        "A broker MUST be able to register over TLS, and is removed if that connection closes.",
        Open(on="a", tls="any"),
        register(on="a"),
        ask(105, ROUTE, success(), on="b"),
        Close("a"),
        until(105, ROUTE, NO_ROUTE, on="b"),
        tags=TLS, jvm=PERMISSIVE,
    ),
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
