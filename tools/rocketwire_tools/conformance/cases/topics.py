"""Topics that are made and deleted by name: codes 216 and 217."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.model.case import ONLY_5_5, SINCE_5_3, Case
from rocketwire_tools.conformance.model.outcomes import AllOf, Answer, Contains, Has, Json, Lacks
from rocketwire_tools.conformance.model.requests import (
    FAILED,
    NO_ROUTE,
    ask,
    broker_ext,
    found,
    register,
)

DELETE: Final = "RouteInfoManager.deleteTopic @ 5.5.0"
MAKE: Final = (
    "DefaultRequestProcessor.registerTopicToNamesrv, RouteInfoManager.registerTopic @ 5.5.0"
)
ROUTE: Final = {"topic": "{topic}"}
DONE: Final = Answer(ext=None)
SECOND: Final = broker_ext(cluster="{clusterB}", name="{brokerB}", address="{addressB}", ha="{haB}")


def topics(*names: str, without: tuple[str, ...] = ()) -> Answer:
    """A list with at least these topics, and without those."""
    return found(Json(Has({"topicList": AllOf((Contains(names), Lacks(without)))})), ext=None)


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


def _queues(number: int, *brokers: str) -> Answer:
    wanted = [Has({"brokerName": name, "readQueueNums": number}) for name in brokers]
    return found(Json(Has({"queueDatas": wanted})))


CASES: Final = (
    Case(
        id="ns/216/1",
        requirement="216 without a cluster MUST delete the topic everywhere.",
        evidence=DELETE,
        items=(109,),
        steps=(
            register(on="a"),
            register(SECOND, None, on="b"),
            ask(216, ROUTE, DONE),
            ask(105, ROUTE, NO_ROUTE),
            ask(105, {"topic": "{topicB}"}, found()),
            ask(206, None, topics("{topicB}", without=("{topic}",))),
        ),
    ),
    Case(
        id="ns/216/2",
        requirement="216 with a cluster MUST delete the topic only at the cluster's brokers.",
        evidence=DELETE,
        items=(109,),
        steps=(
            register(on="a"),
            register(SECOND, None, on="b"),
            ask(216, ROUTE | {"clusterName": "{clusterC}"}, DONE),
            ask(105, ROUTE, _queues(8, "{broker}", "{brokerB}")),
            ask(216, ROUTE | {"clusterName": "{cluster}"}, DONE),
            ask(105, ROUTE, _queues(8, "{brokerB}")),
            ask(216, ROUTE | {"clusterName": "{clusterB}"}, DONE),
            ask(105, ROUTE, NO_ROUTE),
        ),
    ),
    Case(
        id="ns/216/3",
        requirement="216 with an empty cluster MUST delete the topic everywhere.",
        evidence=DELETE,
        items=(109,),
        steps=(register(), ask(216, ROUTE | {"clusterName": ""}, DONE), ask(105, ROUTE, NO_ROUTE)),
    ),
    Case(
        id="ns/216/4",
        requirement="216 for an unknown topic, or without one, MUST succeed.",
        evidence=DELETE,
        items=(109,),
        steps=(
            ask(216, ROUTE, DONE),
            ask(216, None, DONE),
            ask(216, {"clusterName": "{cluster}"}, DONE),
        ),
    ),
    Case(
        id="ns/217/1",
        requirement="217 MUST create a route to a registered broker.",
        evidence=MAKE,
        profiles=SINCE_5_3,
        items=(110,),
        steps=(
            register(),
            ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue())),
            ask(105, {"topic": "{topicN}"}, _queues(3, "{broker}")),
        ),
    ),
    Case(
        id="ns/217/2",
        requirement="217 for an unknown broker MUST succeed and MUST NOT create a route.",
        evidence=MAKE,
        profiles=SINCE_5_3,
        items=(110,),
        steps=(
            ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue())),
            ask(105, {"topic": "{topicN}"}, NO_ROUTE),
            ask(206, None, topics(without=("{topicN}",))),
        ),
    ),
    Case(
        id="ns/217/3",
        requirement="217 MUST NOT create a new topic if one of its brokers is unknown.",
        evidence=MAKE,
        profiles=SINCE_5_3,
        items=(110,),
        steps=(
            register(),
            ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue(), _queue("{brokerX}"))),
            ask(105, {"topic": "{topicN}"}, NO_ROUTE),
        ),
    ),
    Case(
        id="ns/217/4",
        requirement="217 for an existing topic MUST change all brokers before the first unknown one.",
        evidence=MAKE,
        profiles=SINCE_5_3,
        items=(110,),
        steps=(
            register(on="a"),
            register(SECOND, None, on="b"),
            ask(
                217,
                ROUTE,
                DONE,
                body=_route_body(_queue(), _queue("{brokerX}"), _queue("{brokerB}")),
            ),
            ask(
                105,
                ROUTE,
                found(
                    Json(
                        Has(
                            {
                                "queueDatas": [
                                    Has({"brokerName": "{broker}", "readQueueNums": 3}),
                                    Has({"brokerName": "{brokerB}", "readQueueNums": 8}),
                                ]
                            }
                        )
                    )
                ),
            ),
        ),
    ),
    Case(
        id="ns/217/5",
        requirement="217 without queues MUST succeed without changes.",
        evidence=MAKE,
        profiles=SINCE_5_3,
        items=(111,),
        steps=(
            register(),
            ask(217, {"topic": "{topicN}"}, DONE),
            ask(217, {"topic": "{topicN}"}, DONE, body=b"{}"),
            ask(217, {"topic": "{topicN}"}, DONE, body=_route_body()),
            ask(105, {"topic": "{topicN}"}, NO_ROUTE),
        ),
    ),
    Case(
        id="ns/217/6",
        requirement="217 with an invalid body MUST be answered with code 1.",
        evidence=MAKE,
        profiles=SINCE_5_3,
        items=(111,),
        steps=(
            ask(217, {"topic": "{topicN}"}, FAILED, body=b"xx"),
            ask(217, {"topic": "{topicN}"}, FAILED, body=b'{"queueDatas":'),
        ),
    ),
    Case(
        id="ns/217/7",
        requirement="217 with a body that is not UTF-8 MUST be answered with code 1.",
        evidence=MAKE,
        profiles=ONLY_5_5,
        items=(111,),
        steps=(
            ask(217, {"topic": "{topicN}"}, FAILED, body=b'{"queueDatas":[{"brokerName":"\xff"}]}'),
        ),
    ),
    Case(
        id="ns/217/8",
        requirement="A permission set by 217 MUST be stored unchanged.",
        evidence=MAKE,
        profiles=SINCE_5_3,
        items=(110,),
        steps=(
            register(),
            ask(217, ROUTE, DONE, body=_route_body(_queue(perm=2))),
            ask(105, ROUTE, found(Json(Has({"queueDatas": [Has({"perm": 2})]})))),
        ),
    ),
)
