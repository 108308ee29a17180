"""Lists of topics and brokers (106, 206, 224, 304, 311, 312, 313), and topics that are made and deleted (216, 217)."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case
from rocketwire_tools.conformance.model.outcomes import (
    AllOf,
    Answer,
    Contains,
    Has,
    Json,
    Lacks,
    Text,
)
from rocketwire_tools.conformance.model.requests import (
    ONE_SETTING,
    OTHER_SETTING,
    ask,
    broker_ext,
    found,
    register,
    registration,
    topic_config,
)

LISTS: Final = "RouteInfoManager.getAllTopicList @ 5.5.0"
GATE: Final = "DefaultRequestProcessor.processRequest @ 5.5.0"
DISABLED: Final = Answer(code=1, remark="disable", ext=None)
NO_TOPICS: Final = found(Text('{"topicList":[]}'), ext=None)
SECOND: Final = broker_ext(cluster="{clusterB}", name="{brokerB}", address="{addressB}", ha="{haB}")


def topics(*names: str, without: tuple[str, ...] = ()) -> Answer:
    """A list with at least these topics, and without those."""
    return found(Json(Has({"topicList": AllOf((Contains(names), Lacks(without)))})), ext=None)


def exactly(*names: str) -> Answer:
    """A list of these topics."""
    return found(Json({"topicList": list(names)}), ext=None)


FLAGGED: Final = registration(
    tuple(topic_config(f"{{topic{flag}}}", topicSysFlag=flag) for flag in range(4))
)


def _flags(number: int, code: int, flags: tuple[int, ...], what: str) -> Case:
    rest_of_flags = set(range(4)) - set(flags)
    return Case(
        id=f"ns/{code}/{number}",
        requirement=what,
        evidence="RouteInfoManager.getUnitTopics, getHasUnitSubTopicList, getHasUnitSubUnUnitTopicList @ 5.5.0",
        items=(108,),
        steps=(
            register(None, FLAGGED),
            ask(
                code,
                None,
                topics(
                    *(f"{{topic{n}}}" for n in flags),
                    without=tuple(f"{{topic{n}}}" for n in rest_of_flags),
                ),
            ),
        ),
    )


CASES: Final = (
    Case(
        id="ns/106/1",
        requirement="A server without brokers MUST return empty tables and lists.",
        evidence="RouteInfoManager.getAllClusterInfo, getAllTopicList, getSystemTopicList @ 5.5.0",
        fresh=True,
        items=(1, 106, 113),
        steps=(
            ask(106, None, found(Text('{"brokerAddrTable":{},"clusterAddrTable":{}}'), ext=None)),
            ask(206, None, NO_TOPICS),
            ask(304, None, NO_TOPICS),
        ),
    ),
    Case(
        id="ns/106/2",
        requirement="A server MUST list each broker and topic once; 106 has unquoted integer keys for every client.",
        evidence="RouteInfoManager.getAllClusterInfo, getAllTopicList, getSystemTopicList @ 5.5.0",
        profiles=SINCE_5_3,
        fresh=True,
        items=(48, 50, 93, 106, 113),
        steps=(
            register(on="a"),
            ask(
                106,
                {"acceptStandardJsonOnly": "true"},
                found(
                    Text(
                        '{"brokerAddrTable":{"{broker}":{"brokerAddrs":{0:"{address}"},'
                        '"brokerName":"{broker}","cluster":"{cluster}","enableActingMaster":false}},'
                        '"clusterAddrTable":{"{cluster}":["{broker}"]}}'
                    ),
                    ext=None,
                ),
                version=513,
            ),
            ask(
                304,
                None,
                found(
                    Json({"brokerAddr": "{address}", "topicList": ["{cluster}", "{broker}"]}),
                    ext=None,
                ),
            ),
            register(SECOND, None, on="b"),
            ask(206, None, exactly("{topic}", "{topicB}")),
        ),
    ),
    Case(
        id="ns/206/1",
        requirement="206 MUST list the topics of all brokers.",
        evidence=LISTS,
        items=(106,),
        steps=(
            register(on="a"),
            register(SECOND, registration(("{topic}", "{topicC}")), on="b"),
            ask(206, None, topics("{topic}", "{topicB}", "{topicC}")),
        ),
    ),
    Case(
        id="ns/206/3",
        requirement="With enableAllTopicList=false, 206 MUST be rejected.",
        evidence=GATE,
        profiles=SINCE_5_3,
        options=ONE_SETTING,
        items=(106,),
        steps=(ask(206, None, DISABLED), ask(224, {"cluster": "{cluster}"}, NO_TOPICS)),
    ),
    Case(
        id="ns/224/1",
        requirement="224 MUST list only the topics of the cluster's brokers.",
        evidence="RouteInfoManager.getTopicsByCluster @ 5.5.0",
        items=(107,),
        steps=(
            register(on="a"),
            register(SECOND, registration(("{topic}", "{topicC}")), on="b"),
            ask(224, {"cluster": "{cluster}"}, exactly("{topic}", "{topicB}")),
            ask(224, {"cluster": "{clusterB}"}, exactly("{topic}", "{topicC}")),
        ),
    ),
    Case(
        id="ns/224/2",
        requirement="224 for an unknown cluster, or without one, MUST return an empty list.",
        evidence="RouteInfoManager.getTopicsByCluster @ 5.5.0",
        items=(107,),
        steps=(
            ask(224, {"cluster": "{cluster}"}, NO_TOPICS),
            ask(224, None, NO_TOPICS),
            ask(224, {}, NO_TOPICS),
        ),
    ),
    Case(
        id="ns/224/3",
        requirement="With enableTopicList=false, 224, 311, 312 and 313 MUST be rejected, but 206 and 304 are not.",
        evidence=GATE,
        profiles=SINCE_5_3,
        options=OTHER_SETTING,
        items=(107,),
        steps=(
            ask(224, {"cluster": "{cluster}"}, DISABLED),
            ask(311, None, DISABLED),
            ask(312, None, DISABLED),
            ask(313, None, DISABLED),
            ask(206, None, found()),
            ask(304, None, found()),
        ),
    ),
    _flags(1, 311, (1, 3), "311 MUST list the topics with the unit flag."),
    _flags(1, 312, (2, 3), "312 MUST list the topics with the unit subscription flag."),
    _flags(
        1, 313, (2,), "313 MUST list the topics with the unit subscription flag but without the unit flag."
    ),
)
