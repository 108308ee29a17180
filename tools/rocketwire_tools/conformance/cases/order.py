"""Order configuration and readiness: what the server's settings make of routes."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE, one_broker
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Has, Json, Like, Text
from rocketwire_tools.conformance.model.requests import (
    ONE_SETTING,
    OTHER_SETTING,
    ask,
    found,
    register,
    until,
)

ANSWER: Final = "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0"


QUOTED: Final = one_broker('"0":"{address}"')


CASES: Final = (
    case(
        "ns/105/15",
        "With orderMessageEnable, a route MUST contain the topic's order configuration.",
        register(),
        ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}", "value": "{broker}:8"}),
        ask(
            105, ROUTE,
            found(Text(Like(
                r'\{"brokerDatas":\[.*\],"filterServerTable":\{\},'
                r'"orderTopicConf":"{broker}:8","queueDatas":\[.*\]\}'
            ))),
        ),
        ask(105, {"topic": "{topicB}"}, found(Json(Has({"queueDatas": ANY})))),
        evidence=ANSWER, items=(95,), options=ONE_SETTING,
        cleanup=(ask(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}"}),),
    ),
    case(
        "ns/105/16", "Without orderMessageEnable, a route MUST NOT contain an order configuration.",
        register(),
        ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}", "value": "{broker}:8"}),
        ask(105, ROUTE, found(QUOTED)),
        evidence=ANSWER, items=(95,), profiles=SINCE_5_3, options=OTHER_SETTING,
        cleanup=(ask(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}"}),),
    ),
    case(
        "ns/105/17",
        "With needWaitForService, route requests MUST be rejected in the first seconds; other "
        "codes are answered.",
        register(),
        ask(105, ROUTE, Answer(code=1, remark="name server not ready", ext=None)),
        ask(105, None, Answer(code=1, remark="name server not ready", ext=None)),
        ask(106, None, found()),
        evidence=ANSWER, items=(96,), profiles=SINCE_5_3,
        options={"needWaitForService": "true", "waitSecondsForService": "600"},
    ),
    case(
        "ns/105/18", "Route requests MUST be answered after waitSecondsForService.",
        register(),
        until(105, ROUTE, found(QUOTED)),
        ask(105, ROUTE, found(QUOTED)),
        evidence=ANSWER, items=(96,), profiles=SINCE_5_3,
        options={"needWaitForService": "true", "waitSecondsForService": "1"},
    ),
)  # fmt: skip
