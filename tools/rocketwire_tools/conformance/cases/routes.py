"""Routes: code 105, its dialects, order configuration and what the answer is made of."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE, one_broker
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Has, Json, Like
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    broker_ext,
    found,
    register,
    registration,
    topic_config,
)
from rocketwire_tools.conformance.model.steps import Expect, Request, Send

PICKUP: Final = "RouteInfoManager.pickupTopicRouteData @ 5.5.0"
ANSWER: Final = "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0"
FAQ: Final = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."


def missing(topic: str) -> Answer:
    """The response to 105 without a route, since 5.1.0."""
    return Answer(
        code=17, ext=None, remark=f"No topic route info in name server for the topic: {topic}{FAQ}"
    )


QUOTED: Final = one_broker('"0":"{address}"')


OWN: Final = (
    "%RETRY%{topic}",
    "%DLQ%{topic}",
    "%LMQ%{topic}",
    "RMQ_SYS_TRACE_{topic}",
    "rmq_sys_{topic}",
    "TBW102{topic}",
)

TWO: Final = (
    register(on="a"),
    register(
        broker_ext(name="{brokerB}", address="{addressB}", ha="{haB}"),
        registration(("{topic}", "{topicC}")),
        on="b",
    ),
)

CASES: Final = (
    case(
        "ns/105/1",
        "105 for an unknown topic MUST return code 17 with its name in the remark, without a body.",
        ask(105, ROUTE, missing("{topic}")),
        evidence=ANSWER, items=(92,), profiles=SINCE_5_3,
    ),
    case(
        "ns/105/2", "105 for an unknown topic MUST return code 17 without a body.",
        ask(105, ROUTE, Answer(code=17, remark=Like("(?s)No topic route info .*{topic}.*"))),
        evidence=ANSWER, items=(92,),
    ),
    case(
        "ns/105/3", "105 without a topic MUST return code 17.",
        ask(105, None, missing("null")),
        ask(105, {}, missing("null")),
        ask(105, {"other": "x"}, missing("null")),
        ask(105, {"topic": ""}, missing("")),
        evidence=ANSWER, items=(92,), profiles=SINCE_5_3,
    ),
    case(
        "ns/105/4", "A topic's name MUST be compared exactly, including case and spaces.",
        register(),
        ask(105, {"topic": " {topic}"}, NO_ROUTE),
        ask(105, {"topic": "{topic} "}, NO_ROUTE),
        ask(105, {"topic": "T{topic}"}, NO_ROUTE),
        ask(105, ROUTE, found()),
        evidence=PICKUP, items=(92,),
    ),
    case(
        "ns/105/12", "A route MUST contain each broker of the topic once, with its queues.",
        *TWO,
        ask(
            105, ROUTE,
            found(Json(Has({
                "brokerDatas": [
                    Has({"brokerName": "{broker}", "brokerAddrs": {"0": "{address}"}}),
                    Has({"brokerName": "{brokerB}", "brokerAddrs": {"0": "{addressB}"}}),
                ],
                "queueDatas": [Has({"brokerName": "{broker}"}), Has({"brokerName": "{brokerB}"})],
            }))),
            on="reader",
        ),
        ask(
            105, {"topic": "{topicC}"},
            found(Json(Has({"brokerDatas": [Has({"brokerName": "{brokerB}"})]}))), on="reader",
        ),
        evidence=PICKUP, items=(48,),
    ),
    case(
        "ns/105/19",
        "Topics with prefixes that brokers and clients use MUST be routed like other topics.",
        register(None, registration(tuple(OWN))),
        *(ask(105, {"topic": topic}, found(Json(Has({"queueDatas": [ANY]})))) for topic in OWN),
        evidence=PICKUP,
    ),
    case(
        "ns/105/20", "A route MUST contain the registered queue numbers, permission and flags.",
        register(
            None,
            registration((
                topic_config("{topic}", perm=7, readQueueNums=3, writeQueueNums=5, topicSysFlag=3),
                "{topicB}",
            )),
        ),
        ask(
            105, ROUTE,
            found(Json(Has({
                "queueDatas": [
                    {
                        "brokerName": "{broker}",
                        "perm": 7,
                        "readQueueNums": 3,
                        "topicSysFlag": 3,
                        "writeQueueNums": 5,
                    },
                ],
            }))),
        ),
        evidence=PICKUP, items=(48,),
    ),
    case(
        "ns/105/21",
        "1,000 concurrent route requests on one connection MUST each be answered once.",
        register(),
        Send(tuple(Request(code=105, ext=ROUTE, opaque=n) for n in range(1000, 2000)), on="many"),
        *(Expect((found(opaque=None),), on="many") for _ in range(1000)),
        ask(105, ROUTE, found(Json(Has({"queueDatas": [ANY]}))), on="many"),
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0",
    ),
)  # fmt: skip
