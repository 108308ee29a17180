"""Liveness: expiry, heartbeats (904), data versions (322) and idle connections."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE
from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, case
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Answer,
    Closed,
    Has,
    Json,
    Lacks,
    Silence,
)
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    until,
)
from rocketwire_tools.conformance.model.steps import Expect, Open, Request, Send, Step, Wait

HEARTBEAT: Final = (
    "DefaultRequestProcessor.brokerHeartbeat, RouteInfoManager.updateBrokerInfoUpdateTimestamp "
    "@ 5.5.0"
)
QUERY: Final = (
    "DefaultRequestProcessor.queryBrokerTopicConfig, RouteInfoManager.isBrokerTopicConfigChanged "
    "@ 5.5.0"
)
SCAN: Final = "RouteInfoManager.scanNotActiveBroker @ 5.5.0"
SHORT: Final = {"scanNotActiveBrokerInterval": "500"}
BRIEF: Final = broker_ext(heartbeatTimeoutMillis="3000")
GONE: Final = found(Json(Has({"brokerAddrTable": Lacks(("{broker}",))})))


def _beats(count: int, *steps: Step) -> tuple[Step, ...]:
    return tuple(step for _ in range(count) for step in (*steps, Wait(0.5)))


def _expiry(number: int, requirement: str, evidence: str, *steps: Step) -> Case:
    return case(
        f"ns/expiry/{number}",
        requirement,
        *steps,
        evidence=evidence,
        items=(83,),
        profiles=SINCE_5_3,
        tags=frozenset({"slow"}),
        options=SHORT,
    )


def _stays(number: int, what: str, evidence: str, beat: Step) -> Case:
    return _expiry(
        number,
        f"A broker that {what} MUST remain registered.",
        evidence,
        Wait(5.0),
        register(BRIEF, None, on="a"),
        *_beats(9, beat),
        ask(105, ROUTE, found(), on="reader"),
    )


def _idle(number: int, requirement: str, evidence: str, item: int, *steps: Step) -> Case:
    return case(
        f"idle/{number}",
        requirement,
        *steps,
        evidence=evidence,
        items=(item,),
        tags=frozenset({"slow"}),
        options={"serverChannelMaxIdleTimeSeconds": "2"},
    )


CASES: Final = (
    _expiry(
        1,
        "A broker without heartbeats MUST be removed after its timeout, and its connection MUST be "
        "closed.",
        f"{SCAN}, RemotingHelper.closeChannel", register(BRIEF, None, on="a"),
        until(106, None, GONE, on="reader", within=12.0, not_before=1.0),
        Expect((Closed(),), on="a"), ask(105, ROUTE, NO_ROUTE, on="reader"),
    ),
    _stays(2, "sends heartbeats", HEARTBEAT, ask(904, broker_ext(), on="a")),
    _stays(
        3, "sends 322 with any result", QUERY,
        ask(322, broker_ext(), found(ANY, ext={"changed": "true"}), body=data_version(9), on="a"),
    ),
    _stays(4, "registers repeatedly", SCAN, register(BRIEF, None, on="a")),
    _expiry(
        5, "Other requests on a broker's connection MUST NOT keep the broker registered.", SCAN,
        register(BRIEF, None, on="a"),
        Send(tuple(Request(code=206) for _ in range(32)), on="a", pieces=104, pause=0.25),
        ask(106, None, GONE, on="reader"),
    ),
    _idle(
        1, "A connection without traffic MUST be closed after serverChannelMaxIdleTimeSeconds.",
        "NettyRemotingServer.NettyConnectManageHandler.userEventTriggered @ 5.5.0", 34, Open(),
        Expect((Silence(seconds=1.5),)), Expect((Closed(),), within=3.0),
    ),
    _idle(
        2, "Parts of a frame MUST NOT keep a connection open.",
        "NettyRemotingServer.configChannel @ 5.5.0 (IdleStateHandler behind the decoder)", 34,
        Send((Request(code=106),), pieces=1, pause=0.1), Expect((Closed(),), within=5.0),
    ),
    _idle(
        3, "Complete requests MUST keep a connection open.",
        "NettyRemotingServer.configChannel @ 5.5.0", 34,
        *(4 * (ask(106, None, found()), Wait(1.0))), ask(106, None, found()),
    ),
    _idle(
        4, "A broker MUST be removed if its connection is closed as idle.",
        "BrokerHousekeepingService.onChannelIdle @ 5.5.0", 87, register(on="a"),
        Expect((Closed(),), on="a", within=5.0), until(106, None, GONE, on="reader"),
    ),
    case(
        "idle/5",
        "A first frame of 10 bytes MAY remain unanswered: Java waits for the twelfth byte.",
        Send((b"\x00\x00\x00\x06\x00\x00\x00\x02{}",)),
        Expect((Silence(), Answer(code=3, remark=ANY))),
        evidence="NettyRemotingServer.HandshakeHandler @ 5.5.0 "
        "(netty's HAProxyMessageDecoder.detectProtocol)",
        items=(25,),
    ),
)  # fmt: skip
