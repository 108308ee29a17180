"""Routes: code 105, its dialects, order configuration and what the answer is made of."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Has, Json, Like, Text
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

ROUTE: Final = {"topic": "{topic}"}
PICKUP: Final = "RouteInfoManager.pickupTopicRouteData @ 5.5.0"
ANSWER: Final = "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0"
FAQ: Final = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."


def missing(topic: str) -> Answer:
    """The answer to 105 where there is no route, of releases since 5.1.0."""
    return Answer(
        code=17, ext=None, remark=f"No topic route info in name server for the topic: {topic}{FAQ}"
    )


def one_broker(addresses: str, tail: str = "") -> Text:
    """The route of ``{topic}`` over one broker, byte for byte; ``addresses`` is inside the braces of brokerAddrs."""
    return Text(
        '{"brokerDatas":[{"brokerAddrs":{' + addresses + '},"brokerName":"{broker}",'
        '"cluster":"{cluster}","enableActingMaster":false' + tail + '}],"filterServerTable":{},'
        '"queueDatas":[{"brokerName":"{broker}","perm":6,"readQueueNums":8,"topicSysFlag":0,'
        '"writeQueueNums":8}]}'
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
    Case(
        id="ns/105/1",
        requirement="105 for an unknown topic MUST return code 17 with its name in the remark, without a body.",
        evidence=ANSWER,
        profiles=SINCE_5_3,
        items=(92,),
        steps=(ask(105, ROUTE, missing("{topic}")),),
    ),
    Case(
        id="ns/105/2",
        requirement="105 for an unknown topic MUST return code 17 without a body.",
        evidence=ANSWER,
        items=(92,),
        steps=(
            ask(105, ROUTE, Answer(code=17, remark=Like("(?s)No topic route info .*{topic}.*"))),
        ),
    ),
    Case(
        id="ns/105/3",
        requirement="105 without a topic MUST return code 17.",
        evidence=ANSWER,
        profiles=SINCE_5_3,
        items=(92,),
        steps=(
            ask(105, None, missing("null")),
            ask(105, {}, missing("null")),
            ask(105, {"other": "x"}, missing("null")),
            ask(105, {"topic": ""}, missing("")),
        ),
    ),
    Case(
        id="ns/105/4",
        requirement="A topic's name MUST be compared exactly, including case and spaces.",
        evidence=PICKUP,
        items=(92,),
        steps=(
            register(),
            ask(105, {"topic": " {topic}"}, NO_ROUTE),
            ask(105, {"topic": "{topic} "}, NO_ROUTE),
            ask(105, {"topic": "T{topic}"}, NO_ROUTE),
            ask(105, ROUTE, found()),
        ),
    ),
    Case(
        id="ns/105/12",
        requirement="A route MUST contain each broker of the topic once, with its queues.",
        evidence=PICKUP,
        items=(48,),
        steps=(
            *TWO,
            ask(
                105,
                ROUTE,
                found(
                    Json(
                        Has(
                            {
                                "brokerDatas": [
                                    Has(
                                        {
                                            "brokerName": "{broker}",
                                            "brokerAddrs": {"0": "{address}"},
                                        }
                                    ),
                                    Has(
                                        {
                                            "brokerName": "{brokerB}",
                                            "brokerAddrs": {"0": "{addressB}"},
                                        }
                                    ),
                                ],
                                "queueDatas": [
                                    Has({"brokerName": "{broker}"}),
                                    Has({"brokerName": "{brokerB}"}),
                                ],
                            }
                        )
                    )
                ),
                on="reader",
            ),
            ask(
                105,
                {"topic": "{topicC}"},
                found(Json(Has({"brokerDatas": [Has({"brokerName": "{brokerB}"})]}))),
                on="reader",
            ),
        ),
    ),
    Case(
        id="ns/105/19",
        requirement="Topics with prefixes that brokers and clients use MUST be routed like other topics.",
        evidence=PICKUP,
        steps=(
            register(None, registration(tuple(OWN))),
            *(ask(105, {"topic": topic}, found(Json(Has({"queueDatas": [ANY]})))) for topic in OWN),
        ),
    ),
    Case(
        id="ns/105/20",
        requirement="A route MUST contain the registered queue numbers, permission and flags.",
        evidence=PICKUP,
        items=(48,),
        steps=(
            register(
                None,
                registration(
                    (
                        topic_config(
                            "{topic}", perm=7, readQueueNums=3, writeQueueNums=5, topicSysFlag=3
                        ),
                        "{topicB}",
                    )
                ),
            ),
            ask(
                105,
                ROUTE,
                found(
                    Json(
                        Has(
                            {
                                "queueDatas": [
                                    {
                                        "brokerName": "{broker}",
                                        "perm": 7,
                                        "readQueueNums": 3,
                                        "topicSysFlag": 3,
                                        "writeQueueNums": 5,
                                    }
                                ]
                            }
                        )
                    )
                ),
            ),
        ),
    ),
    Case(
        id="ns/105/21",
        requirement="1,000 concurrent route requests on one connection MUST each be answered once.",
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        steps=(
            register(),
            Send(
                tuple(Request(code=105, ext=ROUTE, opaque=n) for n in range(1000, 2000)), on="many"
            ),
            *(Expect((found(opaque=None),), on="many") for _ in range(1000)),
            ask(105, ROUTE, found(Json(Has({"queueDatas": [ANY]}))), on="many"),
        ),
    ),
)
