"""Routes (105): content, the two JSON dialects, order configuration and readiness."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ORDER, ORDERED, ROUTE, one_broker
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Contains, Has, Like, Response, TextBody
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ONE_SETTING,
    OTHER_SETTING,
    ask,
    broker_ext,
    has,
    in_flight,
    register,
    registration,
    success,
    topic_config,
    until,
)

PICKUP: Final = "RouteInfoManager.pickupTopicRouteData @ 5.5.0"
ANSWER: Final = "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0"
STANDARD: Final = "acceptStandardJsonOnly"
FAQ: Final = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."


def missing(topic: str) -> Response:
    """The response to 105 without a route, since 5.1.0."""
    return Response(
        code=17, ext=None, remark=f"No topic route info in name server for the topic: {topic}{FAQ}"
    )


QUOTED: Final = one_broker('"0":"{address}"')
TWO: Final = (
    register(on="a"),
    register(
        broker_ext(name="{brokerB}", address="{addressB}", ha="{haB}"),
        registration(("{topic}", "{topicC}")),
        on="b",
    ),
)
BARE: Final = one_broker('0:"{address}"')
SIX: Final = tuple(
    register(broker_ext(address=f"{{address{number}}}", broker_id=number), on=str(number))
    for number in (0, 16, 33, 1, 100, 5)
)


def _addresses(quote: str, *numbers: int) -> str:
    return ",".join(f'{quote}{number}{quote}:"{{address{number}}}"' for number in numbers)


def _dialect(number: int, what: str, body: TextBody, version: int, **ext: str) -> Case:
    return since_5_3(f"ns/105/{number}", 93, ANSWER, what,
        register(),
        ask(105, ROUTE | ext, success(body, ext=None), version=version),
        tags=frozenset({"dialect"}),
    )  # fmt: skip


CASES: Final = (
    since_5_3("ns/105/1", 92, ANSWER,
        "105 for an unknown topic MUST return code 17 with its name in the remark, without a body.",
        ask(105, ROUTE, missing("{topic}")),
    ),
    case("ns/105/2", 92, ANSWER, "105 for an unknown topic MUST return code 17 without a body.",
        ask(105, ROUTE, Response(code=17, remark=Like("(?s)No topic route info .*{topic}.*"))),
    ),
    since_5_3("ns/105/3", 92, ANSWER, "105 without a topic MUST return code 17.",
        ask(105, None, missing("null")),
        ask(105, {}, missing("null")),
        ask(105, {"other": "x"}, missing("null")),
        ask(105, {"topic": ""}, missing("")),
    ),
    case("ns/105/4", 92, PICKUP,
        "A topic's name MUST be compared exactly, including case and spaces.",
        register(),
        ask(105, {"topic": " {topic}"}, NO_ROUTE),
        ask(105, {"topic": "{topic} "}, NO_ROUTE),
        ask(105, {"topic": "T{topic}"}, NO_ROUTE),
        ask(105, ROUTE, success()),
    ),
    case("ns/105/12", 48, PICKUP,
        "A route MUST contain each broker of the topic once, with its queues; lists too.",
        *TWO,
        ask(105, ROUTE,
            has({
                "brokerDatas": [
                    Has({"brokerName": "{broker}", "brokerAddrs": {"0": "{address}"}}),
                    Has({"brokerName": "{brokerB}", "brokerAddrs": {"0": "{addressB}"}}),
                ],
                "queueDatas": [Has({"brokerName": "{broker}"}), Has({"brokerName": "{brokerB}"})],
            }), on="reader"),
        ask(105, {"topic": "{topicC}"}, has({"brokerDatas": [Has({"brokerName": "{brokerB}"})]}),
            on="reader"),
        ask(106, None, has({"clusterAddrTable": Has({"{cluster}": ["{broker}", "{brokerB}"]})})),
        ask(224, {"cluster": "{cluster}"},
            has({"topicList": ["{topic}", "{topicB}", "{topicC}"]})),
        ask(304, None, has({"topicList": Contains(("{cluster}", "{broker}", "{brokerB}"))})),
    ),
    case("ns/105/20", 48, PICKUP,
        "A route MUST contain the registered queue numbers, permission and flags.",
        register(None,
            registration((
                topic_config("{topic}", perm=7, readQueueNums=3, writeQueueNums=5, topicSysFlag=3),
                "{topicB}",
            ))),
        ask(105, ROUTE,
            has({"queueDatas": [{
                "brokerName": "{broker}",
                "perm": 7,
                "readQueueNums": 3,
                "topicSysFlag": 3,
                "writeQueueNums": 5,
            }]})),
    ),
    case("ns/105/21", 3, "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "1,000 concurrent route requests on one connection MUST each be answered with their topic.",
        register(None,
            registration(tuple(
                topic_config(f"{{topic{n}}}", readQueueNums=n + 1) for n in range(7)
            ))),
        *in_flight(*(
            ask(105, {"topic": f"{{topic{n % 7}}}"},
                has({"queueDatas": [Has({"readQueueNums": n % 7 + 1})]}), on="many")
            for n in range(1000)
        )),
    ),
    _dialect(5, "A client of version 401 or later MUST get standard JSON.", QUOTED, 401),
    _dialect(6, "A client of version 400 or earlier MUST get unquoted integer keys.", BARE, 400),
    _dialect(7, "With acceptStandardJsonOnly=true, any version MUST get standard JSON.", QUOTED, 0,
        **{STANDARD: "true"}),
    _dialect(8, "acceptStandardJsonOnly=TRUE MUST be read as true.", QUOTED, 0,
        **{STANDARD: "TRUE"}),
    _dialect(9, "acceptStandardJsonOnly=1 MUST be read as false.", BARE, 0, **{STANDARD: "1"}),
    _dialect(10, "With acceptStandardJsonOnly=false, a new version MUST still get standard JSON.",
        QUOTED, 513, **{STANDARD: "false"}),
    _dialect(11, "A negative version MUST be treated as an old version.", BARE, -1),
    since_5_3("ns/105/13", 94,
        "RemotingSerializable, SerializerFeature.MapSortField in ClientRequestProcessor @ 5.5.0",
        "Standard JSON MUST contain broker ids in numeric order, quoted.",
        *SIX,
        ask(105, ROUTE, success(one_broker(_addresses('"', 0, 1, 5, 16, 33, 100))), on="reader"),
    ),
    since_5_3("ns/105/14", 94,
        "TopicRouteData, RemotingSerializable.encode @ 5.5.0; java.util.HashMap",
        "Java's JSON dialect SHOULD contain broker ids in the order of Java's HashMap, unquoted.",
        *SIX,
        ask(105, ROUTE, success(one_broker(_addresses("", 0, 16, 33, 1, 100, 5))), on="reader",
            version=400),
    ),
    case("ns/105/15", 95, ANSWER,
        "With orderMessageEnable, a route MUST contain the topic's order configuration.",
        register(),
        ask(100, ORDERED),
        ask(105, ROUTE,
            success(TextBody(Like(
                r'\{"brokerDatas":\[.*\],"filterServerTable":\{\},'
                r'"orderTopicConf":"{broker}:8","queueDatas":\[.*\]\}')))),
        ask(105, {"topic": "{topicB}"}, has({"queueDatas": ANY})),
        options=ONE_SETTING, cleanup=(ask(102, ORDER),),
    ),
    since_5_3("ns/105/16", 95, ANSWER,
        "Without orderMessageEnable, a route MUST NOT contain an order configuration.",
        register(),
        ask(100, ORDERED),
        ask(105, ROUTE, success(QUOTED)),
        options=OTHER_SETTING, cleanup=(ask(102, ORDER),),
    ),
    since_5_3("ns/105/17", 96, ANSWER,
        "With needWaitForService, route requests MUST be rejected in the first seconds; other "
        "codes are answered.",
        register(),
        ask(105, ROUTE, Response(code=1, remark="name server not ready", ext=None)),
        ask(105, None, Response(code=1, remark="name server not ready", ext=None)),
        ask(106, None, success()),
        options={"needWaitForService": "true", "waitSecondsForService": "600"},
    ),
    since_5_3("ns/105/18", 96, ANSWER,
        "Route requests MUST be answered after waitSecondsForService.",
        register(),
        until(105, ROUTE, success(QUOTED)),
        ask(105, ROUTE, success(QUOTED)),
        options={"needWaitForService": "true", "waitSecondsForService": "1"},
    ),
)  # fmt: skip
