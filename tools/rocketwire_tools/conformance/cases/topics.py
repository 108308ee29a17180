"""Topics that are made and deleted by name: codes 216 and 217."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.cases.common import DONE, ROUTE, topics
from rocketwire_tools.conformance.model.case import case, only_5_5, since_5_3
from rocketwire_tools.conformance.model.outcomes import Has, Response
from rocketwire_tools.conformance.model.requests import (
    FAILED,
    NO_ROUTE,
    ask,
    broker_ext,
    has,
    register,
    success,
)

DELETE: Final = "RouteInfoManager.deleteTopic @ 5.5.0"
MAKE: Final = (
    "DefaultRequestProcessor.registerTopicToNamesrv, RouteInfoManager.registerTopic @ 5.5.0"
)
SECOND: Final = broker_ext(cluster="{clusterB}", name="{brokerB}", address="{addressB}", ha="{haB}")


def _queue(broker: str = "{broker}", queues: int = 3, perm: int = 6) -> dict[str, Any]:
    return {
        "brokerName": broker,
        "perm": perm,
        "readQueueNums": queues,
        "topicSysFlag": 0,
        "writeQueueNums": queues,
    }


def _route_body(*queues: dict[str, Any]) -> dict[str, Any]:
    return {"brokerDatas": [], "filterServerTable": {}, "queueDatas": list(queues)}


def _queues(number: int, *brokers: str) -> Response:
    queues = [Has({"brokerName": name, "readQueueNums": number}) for name in brokers]
    return has({"queueDatas": queues})


CASES: Final = (
    case("ns/216/1", 109, DELETE, "216 without a cluster MUST delete the topic everywhere.",
        register(on="a"),
        register(SECOND, None, on="b"),
        ask(216, ROUTE, DONE),
        ask(105, ROUTE, NO_ROUTE),
        ask(105, {"topic": "{topicB}"}, success()),
        ask(206, None, topics("{topicB}", without=("{topic}",))),
    ),
    case("ns/216/2", 109, DELETE,
        "216 with a cluster MUST delete the topic only at the cluster's brokers.",
        register(on="a"),
        register(SECOND, None, on="b"),
        ask(216, ROUTE | {"clusterName": "{clusterC}"}, DONE),
        ask(105, ROUTE, _queues(8, "{broker}", "{brokerB}")),
        ask(216, ROUTE | {"clusterName": "{cluster}"}, DONE),
        ask(105, ROUTE, _queues(8, "{brokerB}")),
        ask(216, ROUTE | {"clusterName": "{clusterB}"}, DONE),
        ask(105, ROUTE, NO_ROUTE),
    ),
    case("ns/216/3", 109, DELETE, "216 with an empty cluster MUST delete the topic everywhere.",
        register(),
        ask(216, ROUTE | {"clusterName": ""}, DONE),
        ask(105, ROUTE, NO_ROUTE),
    ),
    case("ns/216/4", 109, DELETE, "216 for an unknown topic, or without one, MUST succeed.",
        ask(216, ROUTE, DONE),
        ask(216, None, DONE),
        ask(216, {"clusterName": "{cluster}"}, DONE),
    ),
    since_5_3("ns/217/1", 110, MAKE, "217 MUST create a route to a registered broker.",
        register(),
        ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue())),
        ask(105, {"topic": "{topicN}"}, _queues(3, "{broker}")),
    ),
    since_5_3("ns/217/2", 110, MAKE,
        "217 for an unknown broker MUST succeed and MUST NOT create a route.",
        ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue())),
        ask(105, {"topic": "{topicN}"}, NO_ROUTE),
        ask(206, None, topics(without=("{topicN}",))),
    ),
    since_5_3("ns/217/3", 110, MAKE,
        "217 MUST NOT create a new topic if one of its brokers is unknown.",
        register(),
        ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue(), _queue("{brokerX}"))),
        ask(105, {"topic": "{topicN}"}, NO_ROUTE),
    ),
    since_5_3("ns/217/4", 110, MAKE,
        "217 for an existing topic MUST change all brokers before the first unknown one.",
        register(on="a"),
        register(SECOND, None, on="b"),
        ask(217, ROUTE, DONE, body=_route_body(_queue(), _queue("{brokerX}"), _queue("{brokerB}"))),
        ask(105, ROUTE,
            has({"queueDatas": [
                Has({"brokerName": "{broker}", "readQueueNums": 3}),
                Has({"brokerName": "{brokerB}", "readQueueNums": 8}),
            ]})),
    ),
    since_5_3("ns/217/5", 111, MAKE, "217 without queues MUST succeed without changes.",
        register(),
        ask(217, {"topic": "{topicN}"}, DONE),
        ask(217, {"topic": "{topicN}"}, DONE, body=b"{}"),
        ask(217, {"topic": "{topicN}"}, DONE, body=_route_body()),
        ask(105, {"topic": "{topicN}"}, NO_ROUTE),
    ),
    since_5_3("ns/217/6", 111, MAKE, "217 with an invalid body MUST be answered with code 1.",
        ask(217, {"topic": "{topicN}"}, FAILED, body=b"xx"),
        ask(217, {"topic": "{topicN}"}, FAILED, body=b'{"queueDatas":'),
    ),
    only_5_5("ns/217/7", 111, MAKE,
        "217 with a body that is not UTF-8 MUST be answered with code 1.",
        ask(217, {"topic": "{topicN}"}, FAILED, body=b'{"queueDatas":[{"brokerName":"\xff"}]}'),
    ),
    since_5_3("ns/217/8", 110, MAKE, "A permission set by 217 MUST be stored unchanged.",
        register(),
        ask(217, ROUTE, DONE, body=_route_body(_queue(perm=2))),
        ask(105, ROUTE, has({"queueDatas": [Has({"perm": 2})]})),
    ),
)  # fmt: skip
