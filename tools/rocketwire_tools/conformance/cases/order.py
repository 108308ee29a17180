"""Order configuration and readiness: what the server's settings make of routes."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Has, Json, Like, Text
from rocketwire_tools.conformance.model.requests import (
    ONE_SETTING,
    OTHER_SETTING,
    ask,
    found,
    register,
    until,
)

ROUTE: Final = {"topic": "{topic}"}
ANSWER: Final = "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0"


def one_broker(addresses: str, tail: str = "") -> Text:
    """The route of ``{topic}`` over one broker, byte for byte; ``addresses`` is inside the braces of brokerAddrs."""
    return Text(
        '{"brokerDatas":[{"brokerAddrs":{' + addresses + '},"brokerName":"{broker}",'
        '"cluster":"{cluster}","enableActingMaster":false' + tail + '}],"filterServerTable":{},'
        '"queueDatas":[{"brokerName":"{broker}","perm":6,"readQueueNums":8,"topicSysFlag":0,'
        '"writeQueueNums":8}]}'
    )


QUOTED: Final = one_broker('"0":"{address}"')


CASES: Final = (
    Case(
        id="ns/105/15",
        requirement="With orderMessageEnable, a route MUST contain the topic's order configuration.",
        evidence=ANSWER,
        options=ONE_SETTING,
        items=(95,),
        steps=(
            register(),
            ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}", "value": "{broker}:8"}),
            ask(
                105,
                ROUTE,
                found(
                    Text(
                        Like(
                            r'\{"brokerDatas":\[.*\],"filterServerTable":\{\},'
                            r'"orderTopicConf":"{broker}:8","queueDatas":\[.*\]\}'
                        )
                    )
                ),
            ),
            ask(105, {"topic": "{topicB}"}, found(Json(Has({"queueDatas": ANY})))),
        ),
        cleanup=(ask(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}"}),),
    ),
    Case(
        id="ns/105/16",
        requirement="Without orderMessageEnable, a route MUST NOT contain an order configuration.",
        evidence=ANSWER,
        profiles=SINCE_5_3,
        options=OTHER_SETTING,
        items=(95,),
        steps=(
            register(),
            ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}", "value": "{broker}:8"}),
            ask(105, ROUTE, found(QUOTED)),
        ),
        cleanup=(ask(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}"}),),
    ),
    Case(
        id="ns/105/17",
        requirement="With needWaitForService, route requests MUST be rejected in the first seconds; other codes are answered.",
        evidence=ANSWER,
        options={"needWaitForService": "true", "waitSecondsForService": "600"},
        profiles=SINCE_5_3,
        items=(96,),
        steps=(
            register(),
            ask(105, ROUTE, Answer(code=1, remark="name server not ready", ext=None)),
            ask(105, None, Answer(code=1, remark="name server not ready", ext=None)),
            ask(106, None, found()),
        ),
    ),
    Case(
        id="ns/105/18",
        requirement="Route requests MUST be answered after waitSecondsForService.",
        evidence=ANSWER,
        options={"needWaitForService": "true", "waitSecondsForService": "1"},
        profiles=SINCE_5_3,
        items=(96,),
        steps=(register(), until(105, ROUTE, found(QUOTED)), ask(105, ROUTE, found(QUOTED))),
    ),
)
