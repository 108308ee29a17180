"""Liveness: expiry, heartbeats (904), data versions (322) and idle connections."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.build import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    until,
)
from rocketwire_tools.conformance.case import SINCE_5_3, Case, Severity
from rocketwire_tools.conformance.outcomes import (
    ANY,
    Answer,
    Closed,
    Has,
    Json,
    Lacks,
    Silence,
)
from rocketwire_tools.conformance.steps import Expect, Open, Request, Send, Step, Wait

HEARTBEAT: Final = "DefaultRequestProcessor.brokerHeartbeat, RouteInfoManager.updateBrokerInfoUpdateTimestamp @ 5.5.0"
QUERY: Final = "DefaultRequestProcessor.queryBrokerTopicConfig, RouteInfoManager.isBrokerTopicConfigChanged @ 5.5.0"
SCAN: Final = "RouteInfoManager.scanNotActiveBroker @ 5.5.0"
ROUTE: Final = {"topic": "{topic}"}
SHORT: Final = {"scanNotActiveBrokerInterval": "500"}
BRIEF: Final = broker_ext(heartbeatTimeoutMillis="3000")
GONE: Final = found(Json(Has({"brokerAddrTable": Lacks(("{broker}",))})))


def _beats(count: int, *steps: Step) -> tuple[Step, ...]:
    return tuple(step for _ in range(count) for step in (*steps, Wait(0.5)))


CASES: Final = (
    Case(
        id="ns/expiry/1",
        requirement="A broker that gives no sign of life within its time MUST be gone, and its connection closed.",
        evidence=f"{SCAN}, RemotingHelper.closeChannel",
        profiles=SINCE_5_3,
        items=(83,),
        options=SHORT,
        tags=frozenset({"slow"}),
        steps=(
            register(BRIEF, None, on="a"),
            until(106, None, GONE, on="reader", within=12.0, not_before=1.0),
            Expect((Closed(),), on="a"),
            ask(105, ROUTE, NO_ROUTE, on="reader"),
        ),
    ),
    Case(
        id="ns/expiry/2",
        requirement="A broker that sends heartbeats MUST stay.",
        evidence=HEARTBEAT,
        profiles=SINCE_5_3,
        items=(83,),
        options=SHORT,
        tags=frozenset({"slow"}),
        steps=(
            Wait(5.0),
            register(BRIEF, None, on="a"),
            *_beats(9, ask(904, broker_ext(), on="a")),
            ask(105, ROUTE, found(), on="reader"),
        ),
    ),
    Case(
        id="ns/expiry/3",
        requirement="A broker that asks 322 MUST stay, whatever the answer.",
        evidence=QUERY,
        profiles=SINCE_5_3,
        items=(83,),
        options=SHORT,
        tags=frozenset({"slow"}),
        steps=(
            Wait(5.0),
            register(BRIEF, None, on="a"),
            *_beats(
                9,
                ask(
                    322,
                    broker_ext(),
                    found(ANY, ext={"changed": "true"}),
                    body=data_version(9),
                    on="a",
                ),
            ),
            ask(105, ROUTE, found(), on="reader"),
        ),
    ),
    Case(
        id="ns/expiry/4",
        requirement="A broker that registers again and again MUST stay.",
        evidence=SCAN,
        profiles=SINCE_5_3,
        items=(83,),
        options=SHORT,
        tags=frozenset({"slow"}),
        steps=(
            Wait(5.0),
            register(BRIEF, None, on="a"),
            *_beats(9, register(BRIEF, None, on="a")),
            ask(105, ROUTE, found(), on="reader"),
        ),
    ),
    Case(
        id="ns/expiry/5",
        requirement="Other requests of a broker's connection MUST not keep it alive.",
        evidence=SCAN,
        profiles=SINCE_5_3,
        items=(83,),
        options=SHORT,
        tags=frozenset({"slow"}),
        steps=(
            register(BRIEF, None, on="a"),
            Send(tuple(Request(code=206) for _ in range(32)), on="a", pieces=104, pause=0.25),
            ask(106, None, GONE, on="reader"),
        ),
    ),
    Case(
        id="idle/1",
        requirement="A connection without traffic MUST be closed after serverChannelMaxIdleTimeSeconds.",
        evidence="NettyRemotingServer.NettyConnectManageHandler.userEventTriggered @ 5.5.0",
        options={"serverChannelMaxIdleTimeSeconds": "2"},
        items=(34,),
        tags=frozenset({"slow"}),
        steps=(Open(), Expect((Silence(seconds=1.5),)), Expect((Closed(),), within=3.0)),
    ),
    Case(
        id="idle/2",
        requirement="Parts of a frame MUST not keep a connection open.",
        evidence="NettyRemotingServer.configChannel @ 5.5.0 (IdleStateHandler behind the decoder)",
        options={"serverChannelMaxIdleTimeSeconds": "2"},
        items=(34,),
        tags=frozenset({"slow"}),
        steps=(
            Send((Request(code=106),), pieces=1, pause=0.1),
            Expect((Closed(),), within=5.0),
        ),
    ),
    Case(
        id="idle/3",
        requirement="Whole requests MUST keep a connection open.",
        evidence="NettyRemotingServer.configChannel @ 5.5.0",
        options={"serverChannelMaxIdleTimeSeconds": "2"},
        items=(34,),
        tags=frozenset({"slow"}),
        steps=(*(4 * (ask(106, None, found()), Wait(1.0))), ask(106, None, found())),
    ),
    Case(
        id="idle/4",
        requirement="A broker whose connection is closed for being idle MUST be gone.",
        evidence="BrokerHousekeepingService.onChannelIdle @ 5.5.0",
        options={"serverChannelMaxIdleTimeSeconds": "2"},
        items=(87,),
        tags=frozenset({"slow"}),
        steps=(
            register(on="a"),
            Expect((Closed(),), on="a", within=5.0),
            until(106, None, GONE, on="reader"),
        ),
    ),
    Case(
        id="idle/5",
        requirement="A first frame of 10 bytes MAY stay unanswered: Java waits for the twelfth byte.",
        evidence="NettyRemotingServer.HandshakeHandler @ 5.5.0 (netty's HAProxyMessageDecoder.detectProtocol)",
        severity=Severity.NOTE,
        items=(25,),
        steps=(
            Send((b"\x00\x00\x00\x06\x00\x00\x00\x02{}",)),
            Expect((Silence(), Answer(code=3, remark=ANY))),
        ),
    ),
)
