"""Lists of topics and brokers (106, 206, 224, 304, 311, 312, 313)."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import topics
from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, case
from rocketwire_tools.conformance.model.outcomes import Answer, Json, Text
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


def exactly(*names: str) -> Answer:
    """A list of exactly these topics."""
    return found(Json({"topicList": list(names)}), ext=None)


FLAGGED: Final = registration(
    tuple(topic_config(f"{{topic{flag}}}", topicSysFlag=flag) for flag in range(4))
)


def _flags(number: int, code: int, flags: tuple[int, ...], what: str) -> Case:
    rest_of_flags = set(range(4)) - set(flags)
    return case(
        f"ns/{code}/{number}",
        what,
        register(None, FLAGGED),
        ask(
            code,
            None,
            topics(
                *(f"{{topic{n}}}" for n in flags),
                without=tuple(f"{{topic{n}}}" for n in rest_of_flags),
            ),
        ),
        evidence="RouteInfoManager.getUnitTopics, getHasUnitSubTopicList, "
        "getHasUnitSubUnUnitTopicList @ 5.5.0",
        items=(108,),
    )


CASES: Final = (
    case(
        "ns/106/1", "A server without brokers MUST return empty tables and lists.",
        ask(106, None, found(Text('{"brokerAddrTable":{},"clusterAddrTable":{}}'), ext=None)),
        ask(206, None, NO_TOPICS),
        ask(304, None, NO_TOPICS),
        evidence="RouteInfoManager.getAllClusterInfo, getAllTopicList, getSystemTopicList @ 5.5.0",
        items=(1, 106, 113), fresh=True,
    ),
    case(
        "ns/106/2",
        "A server MUST list each broker and topic once; 106 has unquoted integer keys for every "
        "client.",
        register(on="a"),
        ask(
            106, {"acceptStandardJsonOnly": "true"},
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
            304, None,
            found(
                Json({"brokerAddr": "{address}", "topicList": ["{cluster}", "{broker}"]}), ext=None,
            ),
        ),
        register(SECOND, None, on="b"),
        ask(206, None, exactly("{topic}", "{topicB}")),
        evidence="RouteInfoManager.getAllClusterInfo, getAllTopicList, getSystemTopicList @ 5.5.0",
        items=(48, 50, 93, 106, 113), profiles=SINCE_5_3, fresh=True,
    ),
    case(
        "ns/206/1", "206 MUST list the topics of all brokers.",
        register(on="a"),
        register(SECOND, registration(("{topic}", "{topicC}")), on="b"),
        ask(206, None, topics("{topic}", "{topicB}", "{topicC}")),
        evidence=LISTS, items=(106,),
    ),
    case(
        "ns/206/3", "With enableAllTopicList=false, 206 MUST be rejected.",
        ask(206, None, DISABLED),
        ask(224, {"cluster": "{cluster}"}, NO_TOPICS),
        evidence=GATE, items=(106,), profiles=SINCE_5_3, options=ONE_SETTING,
    ),
    case(
        "ns/224/1", "224 MUST list only the topics of the cluster's brokers.",
        register(on="a"),
        register(SECOND, registration(("{topic}", "{topicC}")), on="b"),
        ask(224, {"cluster": "{cluster}"}, exactly("{topic}", "{topicB}")),
        ask(224, {"cluster": "{clusterB}"}, exactly("{topic}", "{topicC}")),
        evidence="RouteInfoManager.getTopicsByCluster @ 5.5.0", items=(107,),
    ),
    case(
        "ns/224/2", "224 for an unknown cluster, or without one, MUST return an empty list.",
        ask(224, {"cluster": "{cluster}"}, NO_TOPICS),
        ask(224, None, NO_TOPICS),
        ask(224, {}, NO_TOPICS),
        evidence="RouteInfoManager.getTopicsByCluster @ 5.5.0", items=(107,),
    ),
    case(
        "ns/224/3",
        "With enableTopicList=false, 224, 311, 312 and 313 MUST be rejected, but 206 and 304 are "
        "not.",
        ask(224, {"cluster": "{cluster}"}, DISABLED),
        ask(311, None, DISABLED),
        ask(312, None, DISABLED),
        ask(313, None, DISABLED),
        ask(206, None, found()),
        ask(304, None, found()),
        evidence=GATE, items=(107,), profiles=SINCE_5_3, options=OTHER_SETTING,
    ),
    _flags(1, 311, (1, 3), "311 MUST list the topics with the unit flag."),
    _flags(1, 312, (2, 3), "312 MUST list the topics with the unit subscription flag."),
    _flags(
        1, 313, (2,),
        "313 MUST list the topics with the unit subscription flag but without the unit flag.",
    ),
)  # fmt: skip
