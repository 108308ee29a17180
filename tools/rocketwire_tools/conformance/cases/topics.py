"""Lists of topics and brokers, topics that are made and deleted, and write permission."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.cases.common import DONE, ROUTE, SLAVE, topics
from rocketwire_tools.conformance.model.case import Case, case, only_5_5, since_5_3
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Contains,
    Has,
    JsonBody,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.requests import (
    FAILED,
    NO_ROUTE,
    ONE_SETTING,
    OTHER_SETTING,
    ask,
    broker_ext,
    data_version,
    has,
    register,
    registration,
    success,
    topic_config,
    unregister,
    until,
)

# Lists of topics and brokers (106, 206, 224, 304, 311, 312, 313) and members of groups (901).

LISTED: Final = "RouteInfoManager.getAllTopicList @ 5.5.0"
GATE: Final = "DefaultRequestProcessor.processRequest @ 5.5.0"
DISABLED: Final = Response(code=1, remark="disable", ext=None)
NO_TOPICS: Final = success(TextBody('{"topicList":[]}'), ext=None)
SECOND: Final = broker_ext(cluster="{clusterB}", name="{brokerB}", address="{addressB}", ha="{haB}")


def exactly(*names: str) -> Response:
    return success(JsonBody({"topicList": list(names)}), ext=None)


FLAGGED: Final = registration(
    tuple(topic_config(f"{{topic{flag}}}", topicSysFlag=flag) for flag in range(4))
)


def _flags(number: int, code: int, flags: tuple[int, ...], what: str) -> Case:
    rest_of_flags = set(range(4)) - set(flags)
    return case(f"ns/{code}/{number}", 108,
        "RouteInfoManager.getUnitTopics, getHasUnitSubTopicList, getHasUnitSubUnUnitTopicList @ "
        "5.5.0",
        what,
        register(None, FLAGGED),
        ask(code, None,
            topics(*(f"{{topic{n}}}" for n in flags),
                without=tuple(f"{{topic{n}}}" for n in rest_of_flags))),
    )  # fmt: skip


def _name(letter: str) -> dict[str, str]:
    return broker_ext(
        cluster=f"{{cluster}}{letter}", name=f"{{broker}}{letter}", address=f"{{address{letter}}}"
    )


SYSTEM: Final = (
    *("TBW102", "SELF_TEST_TOPIC", "BenchmarkTest", "OFFSET_MOVED_EVENT", "{cluster}", "{broker}"),
    *("SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRACE_TOPIC", "RMQ_SYS_TRANS_HALF_TOPIC"),
    *("RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC", "rmq_sys_wheel_timer"),
    *("%RETRY%{topic}", "%DLQ%{topic}", "%LMQ%{topic}", "rmq_sys_{topic}", "TBW102{topic}"),
)
HANDLER: Final = (
    "DefaultRequestProcessor.getBrokerMemberGroup, RouteInfoManager.getBrokerMemberGroup @ 5.5.0"
)
REMARK: Final = "not set any response code"
ASKED: Final = {"clusterName": "{cluster}", "brokerName": "{broker}"}


def member_group(
    addresses: dict[str, str], *, cluster: str = "{cluster}", ext: object = ANY
) -> Response:
    """The response to 901 with exactly these addresses of ``{broker}``, and any remark."""
    group = {"brokerAddrs": addresses, "brokerName": "{broker}", "cluster": cluster}
    return success(JsonBody({"brokerMemberGroup": group}), remark=ANY, ext=ext)


# Topics that are made and deleted by name: codes 216 and 217.

DELETE: Final = "RouteInfoManager.deleteTopic @ 5.5.0"
MAKE: Final = (
    "DefaultRequestProcessor.registerTopicToNamesrv, RouteInfoManager.registerTopic @ 5.5.0"
)


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


# Write permission of a broker: cleared by 205, restored by 327.

CHANGE: Final = "RouteInfoManager.operateWritePermOfBroker @ 5.5.0"
REGISTERED: Final = "RouteInfoManager.registerBroker, isTopicConfigChanged @ 5.5.0"
BROKER: Final = {"brokerName": "{broker}"}
OTHER: Final = broker_ext(name="{brokerB}", address="{addressB}", ha="{haB}")


def wipes(count: int) -> Response:
    return Response(ext={"wipeTopicCount": str(count)})


def adds(count: int) -> Response:
    return Response(ext={"addTopicCount": str(count)})


def perm(value: int) -> Response:
    """A route that contains only the queues of ``{broker}``, with this permission."""
    return has({"queueDatas": [Has({"brokerName": "{broker}", "perm": value})]})


def _topics(*perms: int) -> dict[str, object]:
    return registration(tuple(topic_config(f"{{topic{perm}}}", perm=perm) for perm in perms))


LISTS: Final = (
    case("ns/106/1", (1, 106, 113),
        "RouteInfoManager.getAllClusterInfo, getAllTopicList, getSystemTopicList @ 5.5.0",
        "A server without brokers MUST return empty tables and lists.",
        ask(106, None, success(TextBody('{"brokerAddrTable":{},"clusterAddrTable":{}}'), ext=None)),
        ask(206, None, NO_TOPICS), ask(304, None, NO_TOPICS), fresh=True),
    since_5_3("ns/106/2", (48, 50, 93, 106, 113),
        "RouteInfoManager.getAllClusterInfo, getAllTopicList, getSystemTopicList @ 5.5.0",
        "A server MUST list each broker and topic once; 106 has unquoted integer keys for every "
        "client.",
        register(on="a"),
        ask(106, {"acceptStandardJsonOnly": "true"},
            success(
                TextBody(
                    '{"brokerAddrTable":{"{broker}":{"brokerAddrs":{0:"{address}"},'
                    '"brokerName":"{broker}","cluster":"{cluster}","enableActingMaster":false}},'
                    '"clusterAddrTable":{"{cluster}":["{broker}"]}}'), ext=None), version=513),
        ask(304, None,
            success(JsonBody({"brokerAddr": "{address}", "topicList": ["{cluster}", "{broker}"]}),
                ext=None)),
        register(SECOND, None, on="b"), ask(206, None, exactly("{topic}", "{topicB}")), fresh=True),
    case("ns/206/1", 106, LISTED, "206 MUST list the topics of all brokers.",
        register(on="a"), register(SECOND, registration(("{topic}", "{topicC}")), on="b"),
        ask(206, None, topics("{topic}", "{topicB}", "{topicC}"))),
    case("ns/206/4", 106, f"{LISTED}; TopicValidator.SYSTEM_TOPIC_SET",
        "Topics of the system and of groups MUST be routed and listed like other topics.",
        # Without permissions, so that no client uses them for its messages.
        register(None, registration(tuple(topic_config(name, perm=0) for name in SYSTEM))),
        *(ask(105, {"topic": topic}, success()) for topic in SYSTEM),
        ask(206, None, topics(*SYSTEM)),
        ask(224, {"cluster": "{cluster}"}, exactly(*SYSTEM)),
    ),
    case("ns/206/5", (48, 106, 107), f"{LISTED}, registerBroker, pickupTopicRouteData",
        "Clusters, brokers and topics whose names differ only by case MUST be kept apart.",
        *(
            register(_name(letter),
                registration((topic_config(f"{{topic}}{letter}", readQueueNums=number), other)),
                on=letter)
            for number, (letter, other) in enumerate((("a", "{topic}ab"), ("A", "{topic}Ab")), 1)
        ),
        *(
            step
            for number, letter in enumerate("aA", 1)
            for step in (
                ask(105, {"topic": f"{{topic}}{letter}"},
                    has({
                        "brokerDatas": [Has({"brokerName": f"{{broker}}{letter}"})],
                        "queueDatas": [Has({"readQueueNums": number})],
                    })),
                ask(224, {"cluster": f"{{cluster}}{letter}"},
                    topics(f"{{topic}}{letter}", without=(f"{{topic}}{letter.swapcase()}",))),
                ask(106, None, has({"clusterAddrTable":
                    Has({f"{{cluster}}{letter}": [f"{{broker}}{letter}"]})})),
                ask(304, None,
                    has({"topicList": Contains((f"{{cluster}}{letter}", f"{{broker}}{letter}"))})),
            )
        ),
        ask(206, None, topics("{topic}a", "{topic}A", "{topic}ab", "{topic}Ab")),
        ask(205, {"brokerName": "{broker}A"}, Response(ext={"wipeTopicCount": "2"})),
        ask(105, {"topic": "{topic}a"}, has({"queueDatas": [Has({"perm": 6})]})),
        ask(216, {"topic": "{topic}A"}), ask(105, {"topic": "{topic}Ab"}, success()),
        unregister(_name("A"), on="A"), until(105, {"topic": "{topic}Ab"}, NO_ROUTE),
        ask(105, {"topic": "{topic}a"}, success()),
        ask(106, None, has({"brokerAddrTable": Has({"{broker}a": ANY})}))),
    since_5_3("ns/206/3", 106, GATE, "With enableAllTopicList=false, 206 MUST be rejected.",
        ask(206, None, DISABLED), ask(224, {"cluster": "{cluster}"}, NO_TOPICS),
        options=ONE_SETTING),
    case("ns/224/1", 107, "RouteInfoManager.getTopicsByCluster @ 5.5.0",
        "224 MUST list only the topics of the cluster's brokers.",
        register(on="a"), register(SECOND, registration(("{topic}", "{topicC}")), on="b"),
        ask(224, {"cluster": "{cluster}"}, exactly("{topic}", "{topicB}")),
        ask(224, {"cluster": "{clusterB}"}, exactly("{topic}", "{topicC}"))),
    case("ns/224/2", 107, "RouteInfoManager.getTopicsByCluster @ 5.5.0",
        "224 for an unknown cluster, or without one, MUST return an empty list.",
        ask(224, {"cluster": "{cluster}"}, NO_TOPICS), ask(224, None, NO_TOPICS),
        ask(224, {}, NO_TOPICS)),
    since_5_3("ns/224/3", 107, GATE,
        "With enableTopicList=false, 224, 311, 312 and 313 MUST be rejected, but 206 and 304 are "
        "not.",
        ask(224, {"cluster": "{cluster}"}, DISABLED), ask(311, None, DISABLED),
        ask(312, None, DISABLED), ask(313, None, DISABLED), ask(206, None, success()),
        ask(304, None, success()), options=OTHER_SETTING),
    _flags(1, 311, (1, 3), "311 MUST list the topics with the unit flag."),
    _flags(1, 312, (2, 3), "312 MUST list the topics with the unit subscription flag."),
    _flags(1, 313, (2,),
        "313 MUST list the topics with the unit subscription flag but without the unit flag."),
    since_5_3("ns/901/1", 112, HANDLER, "901 MUST list the addresses of the group by id.",
        register(on="a"), register(SLAVE, None, on="b"),
        ask(901, ASKED, member_group({"0": "{address}", "1": "{addressS}"}, ext=None))),
    since_5_3("ns/901/2", 112, f"{HANDLER}; RemotingCommand.createResponseCommand",
        "A success of 901 SHOULD have the remark that Java fails to clear, and unquoted integer "
        "keys.",
        register(),
        ask(901, ASKED,
            success(TextBody(
                '{"brokerMemberGroup":{"brokerAddrs":{0:"{address}"},'
                '"brokerName":"{broker}","cluster":"{cluster}"}}'), remark=REMARK, ext=None),
            version=513)),
    since_5_3("ns/901/3", 112, HANDLER,
        "901 with another cluster SHOULD return that cluster's name with the addresses of the "
        "group.",
        register(),
        ask(901, ASKED | {"clusterName": "{clusterB}"},
            member_group({"0": "{address}"}, cluster="{clusterB}"))),
    since_5_3("ns/901/4", 112, HANDLER, "901 for an unknown group MUST succeed without addresses.",
        ask(901, ASKED, member_group({}))),
    since_5_3("ns/901/5", 112, HANDLER,
        "901 without a group MUST succeed without addresses and names.",
        ask(901, None, success(TextBody('{"brokerMemberGroup":{"brokerAddrs":{}}}'), remark=ANY)),
        ask(901, {}, success(TextBody('{"brokerMemberGroup":{"brokerAddrs":{}}}'), remark=ANY))),
)  # fmt: skip


CASES: Final = (
    # Topics that are made and deleted by name: codes 216 and 217.
    case("ns/216/1", 109, DELETE, "216 without a cluster MUST delete the topic everywhere.",
        register(on="a"), register(SECOND, None, on="b"), ask(216, ROUTE, DONE),
        ask(105, ROUTE, NO_ROUTE), ask(105, {"topic": "{topicB}"}, success()),
        ask(206, None, topics("{topicB}", without=("{topic}",)))),
    case("ns/216/2", 109, DELETE,
        "216 with a cluster MUST delete the topic only at the cluster's brokers.",
        register(on="a"), register(SECOND, None, on="b"),
        ask(216, ROUTE | {"clusterName": "{clusterC}"}, DONE),
        ask(105, ROUTE, _queues(8, "{broker}", "{brokerB}")),
        ask(216, ROUTE | {"clusterName": "{cluster}"}, DONE),
        ask(105, ROUTE, _queues(8, "{brokerB}")),
        ask(216, ROUTE | {"clusterName": "{clusterB}"}, DONE), ask(105, ROUTE, NO_ROUTE)),
    case("ns/216/3", 109, DELETE, "216 with an empty cluster MUST delete the topic everywhere.",
        register(), ask(216, ROUTE | {"clusterName": ""}, DONE), ask(105, ROUTE, NO_ROUTE)),
    case("ns/216/4", 109, DELETE, "216 for an unknown topic, or without one, MUST succeed.",
        ask(216, ROUTE, DONE), ask(216, None, DONE), ask(216, {"clusterName": "{cluster}"}, DONE)),
    since_5_3("ns/217/1", 110, MAKE, "217 MUST create a route to a registered broker.",
        register(), ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue())),
        ask(105, {"topic": "{topicN}"}, _queues(3, "{broker}"))),
    since_5_3("ns/217/2", 110, MAKE,
        "217 for an unknown broker MUST succeed and MUST NOT create a route.",
        ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue())),
        ask(105, {"topic": "{topicN}"}, NO_ROUTE), ask(206, None, topics(without=("{topicN}",)))),
    since_5_3("ns/217/3", 110, MAKE,
        "217 MUST NOT create a new topic if one of its brokers is unknown.",
        register(),
        ask(217, {"topic": "{topicN}"}, DONE, body=_route_body(_queue(), _queue("{brokerX}"))),
        ask(105, {"topic": "{topicN}"}, NO_ROUTE)),
    since_5_3("ns/217/4", 110, MAKE,
        "217 for an existing topic MUST change all brokers before the first unknown one.",
        register(on="a"), register(SECOND, None, on="b"),
        ask(217, ROUTE, DONE, body=_route_body(_queue(), _queue("{brokerX}"), _queue("{brokerB}"))),
        ask(105, ROUTE,
            has({"queueDatas": [
                Has({"brokerName": "{broker}", "readQueueNums": 3}),
                Has({"brokerName": "{brokerB}", "readQueueNums": 8}),
            ]}))),
    since_5_3("ns/217/5", 111, MAKE, "217 without queues MUST succeed without changes.",
        register(), ask(217, {"topic": "{topicN}"}, DONE),
        ask(217, {"topic": "{topicN}"}, DONE, body=b"{}"),
        ask(217, {"topic": "{topicN}"}, DONE, body=_route_body()),
        ask(105, {"topic": "{topicN}"}, NO_ROUTE)),
    since_5_3("ns/217/6", 111, MAKE, "217 with an invalid body MUST be answered with code 1.",
        ask(217, {"topic": "{topicN}"}, FAILED, body=b"xx"),
        ask(217, {"topic": "{topicN}"}, FAILED, body=b'{"queueDatas":')),
    only_5_5("ns/217/7", 111, MAKE,
        "217 with a body that is not UTF-8 MUST be answered with code 1.",
        ask(217, {"topic": "{topicN}"}, FAILED, body=b'{"queueDatas":[{"brokerName":"\xff"}]}')),
    since_5_3("ns/217/8", 110, MAKE, "A permission set by 217 MUST be stored unchanged.",
        register(), ask(217, ROUTE, DONE, body=_route_body(_queue(perm=2))),
        ask(105, ROUTE, has({"queueDatas": [Has({"perm": 2})]}))),
    # Write permission of a broker: cleared by 205, restored by 327.
    case("ns/205/1", 103, CHANGE,
        "205 MUST clear the write bit of every topic of the broker and return the number of "
        "topics.",
        register(None, _topics(6, 7, 2, 4)), ask(205, BROKER, wipes(4)),
        ask(105, {"topic": "{topic6}"}, perm(4)), ask(105, {"topic": "{topic7}"}, perm(5)),
        ask(105, {"topic": "{topic2}"}, perm(0)), ask(105, {"topic": "{topic4}"}, perm(4))),
    case("ns/205/2", 103, CHANGE,
        "205 MUST count all topics of the broker even if nothing changes.",
        register(), ask(205, BROKER, wipes(2)), ask(205, BROKER, wipes(2))),
    case("ns/205/3", 103, CHANGE, "205 for an unknown broker, or without one, MUST return 0.",
        ask(205, BROKER, wipes(0)), ask(205, None, wipes(0)), ask(205, {}, wipes(0))),
    case("ns/205/4", 103, CHANGE, "205 MUST NOT change other brokers of the same topics.",
        register(on="a"), register(OTHER, None, on="b"), ask(205, BROKER, wipes(2)),
        ask(105, ROUTE,
            has({"queueDatas": [
                Has({"brokerName": "{broker}", "perm": 4}),
                Has({"brokerName": "{brokerB}", "perm": 6}),
            ]}))),
    case("ns/205/5", 105, REGISTERED,
        "A cleared permission MUST be restored by the broker's next data version, but not before.",
        register(), ask(205, BROKER, wipes(2)), register(), ask(105, ROUTE, perm(4)),
        register(None, registration(version=data_version(2))), ask(105, ROUTE, perm(6))),
    case("ns/205/6", 103, CHANGE, "Broker names MUST be compared exactly.",
        register(), ask(205, {"brokerName": "{broker} "}, wipes(0)),
        ask(205, {"brokerName": "X{broker}"}, wipes(0)), ask(105, ROUTE, perm(6))),
    case("ns/327/1", 104, CHANGE,
        "327 MUST set read and write permission for every topic of the broker.",
        register(None, _topics(2, 4, 7)), ask(327, BROKER, adds(3)),
        ask(105, {"topic": "{topic2}"}, perm(6)), ask(105, {"topic": "{topic4}"}, perm(6)),
        ask(105, {"topic": "{topic7}"}, perm(6))),
    case("ns/327/2", 104, CHANGE, "327 for an unknown broker, or without one, MUST return 0.",
        ask(327, BROKER, adds(0)), ask(327, None, adds(0))),
    case("ns/327/3", (103, 104), CHANGE, "327 MUST restore the permissions that 205 cleared.",
        register(), ask(205, BROKER, wipes(2)), ask(327, BROKER, adds(2)),
        ask(105, ROUTE, perm(6))),
)  # fmt: skip
