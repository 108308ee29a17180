"""TLS: which connections have it, and which must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.case import Case
from rocketwire_tools.conformance.model.outcomes import Closed
from rocketwire_tools.conformance.model.requests import NO_ROUTE, ask, found, register, until
from rocketwire_tools.conformance.model.steps import Close, Expect, Open, Request, Send

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

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
    """A server with a certificate of its own that does or does not ask for the clients'."""
    return Case(
        id=f"tls/{number}",
        requirement=requirement,
        evidence=ASKED,
        jvm=(*CERTIFIED, f"-Dtls.server.need.client.auth={auth}"),
        files=FILES,
        items=(31,),
        tags=TLS,
        steps=steps,
    )


def _refused_late(version: str, shows: str = "") -> tuple[Step, ...]:
    """In TLS 1.3 a client has done its part of the handshake before its certificate is looked at."""
    return (Open(tls=version, shows=shows), Send((Request(code=106),)), Expect((Closed(),)))


CASES: Final = (
    Case(
        id="tls/1",
        requirement="A permissive server MUST support TLS 1.2.",
        evidence=HANDLER,
        jvm=PERMISSIVE,
        items=(31,),
        tags=TLS,
        steps=(Open(tls="1.2"), ask(106, None, found()), ask(206, None, found())),
    ),
    Case(
        id="tls/2",
        requirement="A permissive server MUST support TLS 1.3.",
        evidence=HANDLER,
        jvm=PERMISSIVE,
        items=(31,),
        tags=TLS,
        steps=(Open(tls="1.3"), ask(106, None, found()), ask(206, None, found())),
    ),
    Case(
        id="tls/3",
        requirement="A permissive server MUST answer connections without TLS.",
        evidence=HANDLER,
        jvm=PERMISSIVE,
        items=(31,),
        tags=TLS,
        steps=(ask(106, None, found()), Open(on="b", tls="any"), ask(106, None, found(), on="b")),
    ),
    Case(
        id="tls/4",
        requirement="An enforcing server MUST close connections without TLS without a response.",
        evidence=HANDLER,
        jvm=ENFORCING,
        items=(32,),
        tags=TLS,
        steps=(Send((Request(code=106),)), Expect((Closed(),))),
    ),
    Case(
        id="tls/5",
        requirement="An enforcing server MUST support TLS.",
        evidence=HANDLER,
        jvm=ENFORCING,
        items=(32,),
        tags=TLS,
        steps=(Open(tls="any"), ask(106, None, found())),
    ),
    Case(
        id="tls/6",
        requirement="A server without TLS MUST close a connection that begins with a TLS handshake.",
        evidence=HANDLER,
        jvm=DISABLED,
        items=(32,),
        tags=TLS,
        steps=(Open(tls="any", refused=True), ask(106, None, found(), on="b")),
    ),
    Case(
        id="tls/7",
        requirement="A connection that begins like TLS and continues with invalid data MUST be closed.",
        evidence=HANDLER,
        jvm=PERMISSIVE,
        items=(33,),
        tags=TLS,
        steps=(Send((b"\x16" + b"rubbish, and more of it" * 3,)), Expect((Closed(),))),
    ),
    Case(
        id="tls/8",
        requirement="A broker MUST be able to register over TLS, and is removed if that connection closes.",
        evidence=HANDLER,
        jvm=PERMISSIVE,
        items=(31,),
        tags=TLS,
        steps=(
            Open(on="a", tls="any"),
            register(on="a"),
            ask(105, {"topic": "{topic}"}, found(), on="b"),
            Close("a"),
            until(105, {"topic": "{topic}"}, NO_ROUTE, on="b"),
        ),
    ),
    _client(
        9,
        "A server MUST present its configured certificate.",
        "none",
        Open(tls="1.2", trusts="authority"),
        ask(106, None, found()),
        Open(on="b", tls="1.3", trusts="authority"),
        ask(106, None, found(), on="b"),
        Open(on="c", tls="any", trusts="stranger", refused=True),
    ),
    _client(
        10,
        "If client certificates are required, a client with a trusted one MUST be answered.",
        "require",
        Open(tls="1.2", shows="client", trusts="authority"),
        ask(106, None, found()),
        Open(on="b", tls="1.3", shows="client", trusts="authority"),
        ask(106, None, found(), on="b"),
    ),
    _client(
        11,
        "If client certificates are required, a TLS 1.2 handshake without one MUST fail.",
        "require",
        Open(tls="1.2", refused=True),
    ),
    _client(
        12,
        "If client certificates are required, TLS 1.3 without one MUST be closed without a response.",
        "require",
        *_refused_late("1.3"),
    ),
    _client(
        13,
        "A TLS 1.2 handshake with an untrusted client certificate MUST fail.",
        "require",
        Open(tls="1.2", shows="stranger", refused=True),
    ),
    _client(
        14,
        "TLS 1.3 with an untrusted client certificate MUST be closed without a response.",
        "require",
        *_refused_late("1.3", "stranger"),
    ),
    _client(
        15,
        "If client certificates are optional, clients with and without one MUST be answered.",
        "optional",
        Open(tls="any"),
        ask(106, None, found()),
        Open(on="b", tls="any", shows="client"),
        ask(106, None, found(), on="b"),
    ),
    _client(
        16,
        "If client certificates are optional, an untrusted one MUST be rejected.",
        "optional",
        Open(tls="1.2", shows="stranger", refused=True),
    ),
    _client(
        17,
        "If client certificates are not requested, an untrusted one MUST be ignored.",
        "none",
        Open(tls="any", shows="stranger"),
        ask(106, None, found()),
    ),
)
