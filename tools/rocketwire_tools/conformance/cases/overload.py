"""A server that has too much to do, or is about to end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, SINCE_5_5_1, case
from rocketwire_tools.conformance.model.outcomes import Answer, Silence
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    found,
    register,
    unsupported,
    until,
)
from rocketwire_tools.conformance.model.steps import Call, Expect, Request, Send

if TYPE_CHECKING:
    from rocketwire_tools.conformance.run.executor import Play

SUBMIT: Final = "NettyRemotingAbstract.processRequestCommand @ 5.5.0"
BUSY: Final = Answer(
    code=2, remark="[OVERLOAD]system busy, start flow control for a while", ext=None
)
GO_AWAY: Final = Answer(code=1500, remark="please go away", ext=None)
NOT_READY: Final = Answer(code=1, remark="name server not ready", ext=None)
NEW: Final = 479
OLD: Final = 475


async def _terminate(play: Play) -> None:
    play.server().terminate()


CASES: Final = (
    case(
        "overload/1",
        "A request beyond the queue's capacity MUST get code 2 at once; route requests have their "
        "own queue.",
        Send(tuple(Request(code=206, opaque=n) for n in range(300))),
        *(Expect((found(), BUSY)) for _ in range(300)),
        ask(105, {"topic": "{topic}"}, NO_ROUTE),
        ask(206, None, found()),
        evidence=SUBMIT, items=(35,), profiles=SINCE_5_3,
        options={"defaultThreadPoolNums": "1", "defaultThreadPoolQueueCapacity": "2"},
    ),
    case(
        "goaway/1",
        "During a graceful shutdown a server MUST redirect newer clients and serve older ones as "
        "before.",
        ask(106, None, found(), version=NEW),
        ask(106, None, found(), version=OLD, on="old"),
        Call(_terminate),
        until(106, None, GO_AWAY, version=NEW, within=8.0),
        ask(9999, None, GO_AWAY, version=NEW),
        ask(106, None, found(), version=OLD, on="old"),
        ask(9999, None, unsupported(9999), version=OLD, on="old"),
        ask(106, None, GO_AWAY, version=NEW, on="new"),
        ask(106, None, found(), version=OLD, on="new"),
        Send((Request(code=106, flag=2, version=NEW),), on="new"),
        Expect((Silence(),), on="new"),
        evidence="NettyRemotingAbstract.processRequestCommand (isShuttingDown), "
        "NettyRemotingServer.shutdown @ 5.5.0",
        items=(36,), profiles=SINCE_5_3, tags=frozenset({"slow"}),
        options={"enableShutdownGracefully": "true", "shutdownWaitTimeSeconds": "8"}, fresh=True,
    ),
    case(
        "goaway/2",
        'After the start of a shutdown, route requests MUST be answered "not ready" or with a '
        "redirect.",
        register(on="broker", version=OLD),
        ask(105, {"topic": "{topic}"}, found(), version=OLD, on="old"),
        Call(_terminate),
        until(105, {"topic": "{topic}"}, NOT_READY, version=OLD, on="old", within=8.0),
        ask(105, {"topic": "{topicX}"}, NOT_READY, version=OLD, on="old"),
        ask(105, None, NOT_READY, version=OLD, on="old"),
        ask(105, {"topic": "{topic}"}, NOT_READY, version=OLD, on="later"),
        ask(105, {"topic": "{topic}"}, NOT_READY, GO_AWAY, version=NEW, on="new"),
        ask(106, None, found(), version=OLD, on="old"),
        evidence="ClientRequestProcessor.getRouteInfoByTopic (isShutdown) @ 5.5.1, "
        "apache/rocketmq pull request 11073",
        items=(36, 96), profiles=SINCE_5_5_1, tags=frozenset({"slow"}),
        options={"enableShutdownGracefully": "true", "shutdownWaitTimeSeconds": "8"}, fresh=True,
    ),
)  # fmt: skip
