"""TLS: which connections have it, and which must not."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.build import NO_ROUTE, ask, found, register, until
from rocketwire_tools.conformance.case import Case
from rocketwire_tools.conformance.outcomes import Closed
from rocketwire_tools.conformance.steps import Close, Expect, Open, Request, Send

HANDLER: Final = "NettyRemotingServer.TlsModeHandler.channelRead0 @ 5.5.0"
TLS: Final = frozenset({"tls"})
TEST: Final = "-Dtls.test.mode.enable=true"
ENFORCING: Final = ("-Dtls.server.mode=enforcing", TEST)
PERMISSIVE: Final = ("-Dtls.server.mode=permissive", TEST)
DISABLED: Final = ("-Dtls.server.mode=disabled",)


CASES: Final = (
    Case(
        id="tls/1",
        requirement="A permissive server MUST speak TLS 1.2.",
        evidence=HANDLER,
        jvm=PERMISSIVE,
        items=(31,),
        tags=TLS,
        steps=(Open(tls="1.2"), ask(106, None, found()), ask(206, None, found())),
    ),
    Case(
        id="tls/2",
        requirement="A permissive server MUST speak TLS 1.3.",
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
        requirement="An enforcing server MUST close connections without TLS, and answer nothing.",
        evidence=HANDLER,
        jvm=ENFORCING,
        items=(32,),
        tags=TLS,
        steps=(Send((Request(code=106),)), Expect((Closed(),))),
    ),
    Case(
        id="tls/5",
        requirement="An enforcing server MUST speak TLS.",
        evidence=HANDLER,
        jvm=ENFORCING,
        items=(32,),
        tags=TLS,
        steps=(Open(tls="any"), ask(106, None, found())),
    ),
    Case(
        id="tls/6",
        requirement="A server without TLS MUST close a connection that begins with a handshake.",
        evidence=HANDLER,
        jvm=DISABLED,
        items=(32,),
        tags=TLS,
        steps=(Open(tls="any", refused=True), ask(106, None, found(), on="b")),
    ),
    Case(
        id="tls/7",
        requirement="A connection that begins like TLS and goes on as rubbish MUST be closed.",
        evidence=HANDLER,
        jvm=PERMISSIVE,
        items=(33,),
        tags=TLS,
        steps=(
            Send((b"\x16" + b"rubbish, and more of it" * 3,)),
            Expect((Closed(),)),
        ),
    ),
    Case(
        id="tls/8",
        requirement="A broker MUST be able to register over TLS, and be gone when that connection closes.",
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
)
