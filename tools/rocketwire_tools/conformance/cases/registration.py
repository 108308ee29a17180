"""Registrations (103): brokers, topics, masters and slaves, in all forms of all releases."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.cases.common import (
    ACCEPTED,
    MISMATCH,
    ORDER,
    ORDERED,
    ROUTE,
    ROUTED,
    SLAVE,
    THROWN,
    group,
    route_with,
)
from rocketwire_tools.conformance.model.case import ALL_PROFILES, SINCE_5_3, Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Contains,
    Has,
    JsonBody,
    Like,
    Outcome,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.requests import (
    FAILED,
    NO_ROUTE,
    ONE_SETTING,
    ask,
    broker_ext,
    data_version,
    has,
    register,
    registration,
    send,
    success,
    topic_config,
    unregister,
    until,
    without,
)
from rocketwire_tools.conformance.model.steps import CHECKSUM, Close, Packed, Request

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Profile
    from rocketwire_tools.conformance.model.steps import Step


# Registration (103): brokers, topics, masters and slaves, and repeated registrations.

REGISTER: Final = "RouteInfoManager.registerBroker @ 5.5.0"
HANDLER: Final = "DefaultRequestProcessor.registerBroker @ 5.5.0"
REFUSED: Final = Response(code=1, ext={}, remark="register broker failed")
MASTER: Final = Response(ext={"haServerAddr": "{ha}", "masterAddr": "{address}"})


def queues(perm: int = 6, number: int = 8) -> Response:
    """105 with one queue data of this permission and this many queues."""
    queue = Has({"perm": perm, "readQueueNums": number, "writeQueueNums": number})
    return has({"queueDatas": [queue]})


MAPPING: Final = {"bname": "{broker}", "epoch": 5, "topic": "{topic}", "totalQueues": 8}
MAPPED: Final[dict[str, dict[str, Any]]] = {
    "{topic}": {"topicQueueMappingByBroker": {"{broker}": Has(MAPPING)}}
}


def topic_of(topic: str, number: int) -> dict[str, object]:
    return topic_config(topic, readQueueNums=number, writeQueueNums=number)


TWIN: Final = broker_ext(cluster="{clusterT}", name="{brokerT}", ha="{haT}")
THREE: Final = registration(
    tuple(topic_of(f"{{topic{suffix}}}", n) for n, suffix in enumerate(("", "B", "C"), 1)),
    filter_servers=("f:1",),
    mappings={"{topic}": MAPPING},
)
WHOLE: Final = (register(None, THREE, on="a"), register(SLAVE, None, on="s"))
PACKED: Final = ("{topic} 4 4 6 SINGLE_TAG {}", "{topicB} 5 5 6 SINGLE_TAG {}")


def whole(topics: dict[str, int], version: int) -> tuple[Step, ...]:
    """Read all of ``{broker}`` and its slave: topics with their queues, and its data version."""
    return (
        *(
            ask(105, {"topic": topic},
                has(MAPPED.get(topic, {}) | {
                    "brokerDatas": [Has({"brokerAddrs": MEMBERS, "brokerName": "{broker}"})],
                    "filterServerTable": {"{address}": ["f:1"]},
                    "queueDatas": [Has({"readQueueNums": number, "perm": 6})],
                }), on="reader")
            for topic, number in topics.items()
        ),
        ask(106, None, group(MEMBERS, cluster="{cluster}"), on="reader"),
        ask(901, {"clusterName": "{cluster}", "brokerName": "{broker}"},
            has({"brokerMemberGroup": Has({"brokerAddrs": MEMBERS})}, remark=ANY), on="reader"),
        ask(224, {"cluster": "{cluster}"}, has({"topicList": list(topics)}), on="reader"),
        ask(206, None, has({"topicList": Contains(tuple(topics))}), on="reader"),
        ask(322, broker_ext(), has({"counter": version}, ext={"changed": "false"}),
            body=data_version(version), on="reader"),
        ask(322, SLAVE, has({"counter": 1}, ext={"changed": "false"}), body=data_version(),
            on="reader"),
    )  # fmt: skip


MEMBERS: Final = {"0": "{address}", "1": "{addressS}"}

# Registration (103): header fields, bodies, checksums and packed bodies in good and bad forms.


def _header(number: int, what: str, ext: dict[str, str], outcome: Outcome, item: int) -> Case:
    return case(f"ns/103/{number}", item,
        "RemotingCommand.decodeCommandCustomHeader, DefaultRequestProcessor.registerBroker @ 5.5.0",
        what,
        ask(103, ext, outcome, body=registration()),
    )  # fmt: skip


DECODED: Final = "RegisterBrokerBody.decode @ 5.5.0"


def body_case(
    number: int,
    what: str,
    body: Any,
    outcome: Outcome,
    item: int,
    *,
    then: Outcome | None = None,
    evidence: str = DECODED,
    version: int = 513,
    profiles: frozenset[Profile] = ALL_PROFILES,
    **ext: str,
) -> Case:
    """A case of one registration and the result of 105 for ``{topic}`` after it."""
    expected = then or (ROUTED if outcome is ACCEPTED else NO_ROUTE)
    return case(f"ns/103/{number}", item, evidence, what,
        ask(103, broker_ext(**ext), outcome, body=body, version=version),
        ask(105, ROUTE, expected, on="reader"),
        profiles=profiles,
    )  # fmt: skip


BAD: Final = broker_ext(cluster="{clusterX}", name="{brokerX}", address="{addressX}")
EXTRACT: Final = "DefaultRequestProcessor.extractRegisterBrokerBodyFromRequest @ 5.5.0"
CHECKED: Final = "DefaultRequestProcessor.checksum @ 5.5.0"

# Registrations of releases before 5.0.0, with both header types and with null members.

BODY: Final = "RegisterBrokerBody.decode, TopicConfigSerializeWrapper @ 5.5.0"
ANYTHING: Final = Response(code=ANY, remark=ANY, body=ANY)
OLD_VERSION: Final = {"counter": 1, "timestamp": 1000}


def old_topic(name: str) -> dict[str, Any]:
    return without(topic_config(name), "attributes")


OLD_BODY: Final[dict[str, Any]] = {
    "filterServerList": [],
    "topicConfigSerializeWrapper": {
        "dataVersion": OLD_VERSION,
        "topicConfigTable": {
            "{topic}": old_topic("{topic}"),
            "{topicB}": old_topic("{topicB}"),
        },
    },
}


def _release(number: int, release: str, version: int, **ext: str) -> Case:
    return case(f"ns/103/{number}", 48, HANDLER,
        f"A broker of {release} MUST be able to register, query its data version and unregister.",
        ask(103, broker_ext(**ext), ACCEPTED, body=OLD_BODY, version=version),
        ask(105, ROUTE, ROUTED, version=version, on="reader"),
        ask(322, broker_ext(), has(OLD_VERSION, ext={"changed": "false"}), body=OLD_VERSION,
            version=version),
        ask(104, broker_ext(), Response(ext=None), version=version),
        until(105, ROUTE, NO_ROUTE, on="reader"),
    )  # fmt: skip


def _null(number: int, what: str, body: Any, outcome: Outcome, then: Outcome) -> Case:
    return since_5_3(f"ns/103/{number}", 54, BODY,
        f"A registration with {what} SHOULD be handled as in Java.",
        register(None, body, outcome),
        ask(105, ROUTE, then, on="reader"),
    )  # fmt: skip


def _with(member: str, value: object) -> dict[str, Any]:
    body = registration()
    return body | {
        "topicConfigSerializeWrapper": body["topicConfigSerializeWrapper"] | {member: value}
    }


CASES: Final = (
    # Registration (103): brokers, topics, masters and slaves, and repeated registrations.
    case("ns/103/1", 48, f"{HANDLER}, {REGISTER}",
        "A registration MUST succeed with empty ext fields, and the topics MUST be routed to the "
        "broker.",
        register(None, None, ACCEPTED), ask(105, ROUTE, queues(), on="reader"),
        ask(105, {"topic": "{topicB}"}, queues(), on="reader"),
        ask(106, None, group({"0": "{address}"}, cluster="{cluster}"), on="reader")),
    since_5_3("ns/103/2", 49, HANDLER,
        "The response to a slave's registration MUST contain the addresses of its master.",
        register(on="master"), register(SLAVE, None, MASTER, on="slave"),
        ask(106, None, group({"0": "{address}", "1": "{addressS}"}), on="slave")),
    since_5_3("ns/103/3", 49, HANDLER,
        "The response to a slave without a live master MUST contain no addresses.",
        register(SLAVE, None, ACCEPTED, on="slave"), register(on="master"), unregister(on="master"),
        until(106, None, group({"1": "{addressS}"}), on="master"),
        register(SLAVE, None, ACCEPTED, on="slave")),
    since_5_3("ns/103/4", 50, REGISTER,
        "A registration of a single topic by an unknown broker MUST be rejected.",
        register(None, registration(("{topic}",)), REFUSED), ask(105, ROUTE, NO_ROUTE),
        ask(106, None, group({})),
        ask(304, None, has({"topicList": Contains(("{cluster}", "{broker}"))}))),
    since_5_3("ns/103/5", 51, REGISTER,
        "After a registration without topics, a broker MUST be able to register a single topic.",
        register(None, registration(("{topic}",)), REFUSED),
        register(None, registration(()), ACCEPTED),
        register(None, registration(("{topic}",)), ACCEPTED), ask(105, ROUTE, queues())),
    case("ns/103/6", 61, f"{REGISTER}, isTopicConfigChanged",
        "Changed queue numbers MUST be ignored with the same data version and applied with "
        "another one, also an older.",
        register(),
        register(None, registration((topic_config("{topic}", readQueueNums=3), "{topicB}"))),
        ask(105, ROUTE, queues()),
        register(None,
            registration((topic_config("{topic}", readQueueNums=3, writeQueueNums=3), "{topicB}"),
                version=data_version(2))),
        ask(105, ROUTE, queues(number=3)),
        register(None, registration(version=data_version(1, 0, 500))), ask(105, ROUTE, queues())),
    since_5_3("ns/103/7", 62, f"{REGISTER}, isTopicConfigChanged",
        "A new topic MUST be added even with the same data version.",
        register(), register(None, registration(("{topic}", "{topicB}", "{topicC}"))),
        ask(105, {"topic": "{topicC}"}, queues())),
    since_5_3("ns/103/8", 62, f"{REGISTER}, isTopicConfigChanged",
        "The broker's next registration MUST restore a deleted topic, even with the same data "
        "version.",
        register(), ask(216, ROUTE), ask(105, ROUTE, NO_ROUTE), register(),
        ask(105, ROUTE, queues())),
    case("ns/103/9", 73, REGISTER,
        "A topic that a registration no longer contains MUST remain by default.",
        register(None, registration(("{topic}", "{topicB}", "{topicC}"))),
        register(None, registration(("{topicB}", "{topicC}"), version=data_version(2))),
        ask(105, ROUTE, queues())),
    since_5_3("ns/103/10", 73, REGISTER,
        "With deleteTopicWithBrokerRegistration, a topic that a registration no longer contains "
        "MUST be removed.",
        register(None, registration(("{topic}", "{topicB}", "{topicC}")), on="a"),
        register(broker_ext(name="{brokerB}", address="{addressB}"),
            registration(("{topicB}", "{topicD}")), on="b"),
        register(None, registration(("{topicC}", "{topicE}"), version=data_version(2)), on="a"),
        ask(105, ROUTE, NO_ROUTE),
        ask(105, {"topic": "{topicB}"}, has({"queueDatas": [Has({"brokerName": "{brokerB}"})]})),
        ask(105, {"topic": "{topicC}"}, queues()),
        options={
            "deleteTopicWithBrokerRegistration": "true",
            "kvConfigPath": "/proc/none/kvConfig.json",
        }),
    case("ns/103/18", 77, "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "A one-way registration MUST be executed.",
        send(Request(code=103, ext=broker_ext(), body=registration(), flag=2)),
        until(105, ROUTE, queues(), on="reader")),
    case("ns/103/19", 78, HANDLER,
        "The response to a registration MUST contain the namespace ORDER_TOPIC_CONFIG if it "
        "exists.",
        ask(100, ORDERED),
        register(None, None, success(TextBody('{"table":{"{topic}":"{broker}:8"}}'), ext={})),
        ask(102, ORDER), register(None, None, success(TextBody('{"table":{}}'), ext={})),
        fresh=True),
    since_5_3("ns/103/20", 78, HANDLER,
        "With returnOrderTopicConfigToBroker=false, the response to a registration MUST have no "
        "body.",
        ask(100, ORDERED), register(None, None, ACCEPTED), options=ONE_SETTING),
    case("ns/103/11", 63, REGISTER,
        "A slave that becomes master at the same address MUST NOT remain listed as slave.",
        register(), register(SLAVE), ask(106, None, group({"0": "{address}", "1": "{addressS}"})),
        register(broker_ext(address="{addressS}", broker_id=0)),
        ask(106, None, group({"0": "{addressS}"}))),
    since_5_3("ns/103/12", 64, REGISTER,
        "A new address for an id MUST be ignored if its stateVersion is lower than the current "
        "one.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(broker_ext(address="{addressB}"), registration(version=data_version(1, 4)),
            ACCEPTED, on="b"),
        ask(106, None, group({"0": "{address}"}), on="b")),
    since_5_3("ns/103/13", 64, REGISTER,
        "A new address for an id MUST replace the current one if its stateVersion is equal or "
        "higher.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(broker_ext(address="{addressB}"), registration(version=data_version(1, 5)),
            on="b"),
        ask(106, None, group({"0": "{addressB}"}), on="b"),
        register(broker_ext(address="{addressC}"), registration(version=data_version(1, 6)),
            on="c"),
        ask(106, None, group({"0": "{addressC}"}), on="c")),
    since_5_3("ns/103/14", (64, 75), REGISTER,
        "A new address for the id of a master of another cluster SHOULD replace it with any "
        "stateVersion.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(broker_ext(cluster="{clusterB}", address="{addressB}"),
            registration(version=data_version(1, 4)), on="b"),
        ask(106, None, group({"0": "{addressB}"}, cluster="{cluster}"), on="b")),
    since_5_3("ns/103/15", 65, REGISTER,
        "A slave that registers as master with a lower stateVersion MUST be removed from the "
        "group.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(SLAVE, None, on="b"),
        register(broker_ext(address="{addressS}", broker_id=0),
            registration(version=data_version(1, 4)), ACCEPTED, on="b"),
        ask(106, None, group({"0": "{address}"}), on="b"),
        ask(322, SLAVE, Response(ext={"changed": "true"}), body=data_version(), on="b")),
    case("ns/103/16", 75, REGISTER,
        "A broker name registered in two clusters MUST be listed in both, and MUST keep its "
        "first cluster.",
        register(on="a"),
        register(broker_ext(cluster="{clusterB}", address="{addressS}", broker_id=1), on="b"),
        ask(106, None,
            has({
                "brokerAddrTable": Has({"{broker}": Has({"cluster": "{cluster}"})}),
                "clusterAddrTable": Has({"{cluster}": ["{broker}"], "{clusterB}": ["{broker}"]}),
            }))),
    since_5_3("ns/103/220", (50, 62), REGISTER,
        "A registration of one topic by a known broker MUST change this topic and nothing else.",
        *WHOLE,
        register(None, registration((topic_of("{topic}", 4),), version=data_version(2),
            filter_servers=None), on="a"),
        *whole({"{topic}": 4, "{topicB}": 2, "{topicC}": 3}, 2),
        register(None, registration((topic_of("{topicD}", 5),), version=data_version(3),
            filter_servers=None), on="a"),
        *whole({"{topic}": 4, "{topicB}": 2, "{topicC}": 3, "{topicD}": 5}, 3)),
    since_5_3("ns/103/221", (50, 62), REGISTER,
        "A registration that repeats or refuses everything MUST change nothing.",
        *WHOLE, register(None, THREE, on="a"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1),
        register(broker_ext(bodyCrc32="5"), registration((), version=data_version(4)),
            MISMATCH, on="a"),
        register(None, b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":5', FAILED,
            on="a"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1)),
    since_5_3("ns/103/222", (52, 58), "DefaultRequestProcessor.checksum @ 5.5.0",
        "Compressed registrations with the checksum of the compressed body MUST be applied.",
        *WHOLE,
        *(
            ask(103, broker_ext(compressed="true", bodyCrc32=CHECKSUM), on="a",
                body=Packed(topics=lines, filters='["f:1"]',
                    version=f'{{"counter":{version},"stateVersion":0,"timestamp":1000}}'))
            for version, lines in ((2, PACKED), (3, PACKED[:1]))
        ),
        *whole({"{topic}": 4, "{topicB}": 5, "{topicC}": 3}, 3),
        ask(103, broker_ext(compressed="true", bodyCrc32="5"),
            MISMATCH, on="a", body=Packed(topics=PACKED[:1], filters="[]")),
        *whole({"{topic}": 4, "{topicB}": 5, "{topicC}": 3}, 3)),
    since_5_3("ns/103/223", (74, 75), f"{REGISTER}, unRegisterBroker",
        "Brokers of two clusters with the same address MUST NOT change each other.",
        *WHOLE,
        register(TWIN, registration(("{topicT}", "{topicU}"), version=data_version(7)), on="t"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1),
        ask(105, {"topic": "{topicT}"},
            has({"brokerDatas": [Has({"brokerName": "{brokerT}", "cluster": "{clusterT}"})]}),
            on="t"),
        ask(322, TWIN, has({"counter": 7}, ext={"changed": "false"}), body=data_version(7), on="t"),
        unregister(TWIN, on="t"), until(105, {"topic": "{topicT}"}, NO_ROUTE, on="t"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1),
        register(TWIN, registration(("{topicT}", "{topicU}")), on="t"), Close("t"),
        until(105, {"topic": "{topicT}"}, NO_ROUTE, on="a"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1)),
    since_5_3("ns/103/224", 75, REGISTER,
        "A broker that registers in a second cluster MUST keep its first cluster and its topics.",
        *WHOLE,
        register(broker_ext(cluster="{clusterT}"),
            registration((topic_of("{topicC}", 3), "{topicU}"), version=data_version(7),
                filter_servers=None), on="t"),
        ask(105, {"topic": "{topicU}"}, has({"brokerDatas": [Has({"cluster": "{cluster}"})]}),
            on="t"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3, "{topicU}": 8}, 1)),
    case("ns/103/17", 74, REGISTER,
        "An address registered under two broker names MUST be listed under both.",
        register(on="a"), register(broker_ext(name="{brokerB}"), on="a"),
        ask(106, None,
            has({"brokerAddrTable": Has({
                "{broker}": Has({"brokerAddrs": {"0": "{address}"}}),
                "{brokerB}": Has({"brokerAddrs": {"0": "{address}"}}),
            })}))),
    # Registration (103): header fields, bodies, checksums and packed bodies in good and bad forms.
    _header(130, "A registration without brokerId MUST be answered with code 1.",
        without(broker_ext(), "brokerId"), THROWN, 55),
    _header(131, "A brokerId that is not a number MUST be answered with code 1.",
        broker_ext(broker_id="abc"), THROWN, 55),
    _header(132, "A brokerId with a space MUST be answered with code 1.",
        broker_ext(broker_id=" 1"), THROWN, 55),
    _header(133, "A brokerId beyond 64 bits MUST be answered with code 1.",
        broker_ext(broker_id="9223372036854775808"), THROWN, 55),
    case("ns/103/134", 55, "RemotingCommand.decodeCommandCustomHeader @ 5.5.0 (Long.parseLong)",
        "A brokerId with a plus sign SHOULD be accepted.",
        register(broker_ext(broker_id="+1"), None, ACCEPTED),
        ask(106, None,
            has({"brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": {"1": "{address}"}})})})),
        cleanup=(unregister(broker_ext(broker_id=1)),)),
    _header(135, "A registration without haServerAddr MUST be accepted.",
        without(broker_ext(), "haServerAddr"), ACCEPTED, 55),
    _header(136, "A registration without ext fields MUST be answered with code 1.", {}, THROWN, 55),
    case("ns/103/140", 76,
        "RouteInfoManager.registerBroker @ 5.5.0 (its exceptions are only logged)",
        "A registration without brokerName, brokerAddr or clusterName MUST be answered without "
        "side effects.",
        register(on="a"),
        *(
            ask(
                103,
                without(BAD, left_out),
                Response(code=ANY, remark=ANY, body=ANY),
                body=registration(("{topicX}", "{topicY}")),
                on="x",
            )
            for left_out in ("brokerName", "brokerAddr", "clusterName")
        ),
        ask(105, ROUTE, success(), on="a"), register(on="a"), unregister(on="a"),
        ask(106, None, success(), on="a"), options={"conformance.key": "mine"}),
    since_5_3("ns/103/106", 53, EXTRACT,
        "A registration without a body MUST be read as one without topics and with data version 0.",
        ask(103, broker_ext(), ACCEPTED),
        ask(322, broker_ext(), success(JsonBody(data_version(0, 0, 0)), ext={"changed": "false"}),
            body=data_version(0, 0, 0)),
    ),
    case("ns/103/107", 54, DECODED,
        "A registration with the body {} MUST be read as one without topics.",
        register(None, b"{}", ACCEPTED),
        ask(106, None,
            has({"brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": {"0": "{address}"}})})}))),
    body_case(108, "A registration with the body null MUST be answered with code 1.", b"null",
        THROWN, 54, evidence=EXTRACT),
    body_case(109, "A registration with an invalid body MUST be answered with code 1 and a remark.",
        b"xx", Response(code=1, ext=None, remark=Like(".*Failed to decode RegisterBrokerBody.*")),
        54, profiles=SINCE_5_3, evidence=EXTRACT),
    body_case(110, "A registration with a truncated body MUST be answered with code 1.",
        b'{"filterServerList":[],"topicConfig', THROWN, 54, evidence=EXTRACT),
    body_case(111, "A registration whose body is not an object MUST be answered with code 1.",
        b"[1,2]", THROWN, 54, evidence=EXTRACT),
    body_case(112, "A negative version MUST be answered with code 1.", registration(), THROWN, 56,
        evidence="MQVersion.value2Version @ 5.5.0", version=-1),
    body_case(113, "A version above the known ones MUST be read as the newest.", registration(),
        ACCEPTED, 56, evidence="MQVersion.value2Version @ 5.5.0", version=9999),
    body_case(114,
        "A registration of a version below 37 MUST be accepted: its body contains only the topics.",
        registration()["topicConfigSerializeWrapper"], ACCEPTED, 57,
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0", version=36),
    body_case(115,
        "From version 37, a body that contains only the topics MUST be read as a body without "
        "topics.", registration()["topicConfigSerializeWrapper"], ACCEPTED, 57, then=NO_ROUTE,
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0", version=37),
    body_case(116, "A topic without numbers MUST get 16 queues and permission 6.",
        {"topicConfigSerializeWrapper": {"topicConfigTable": {
            "{topic}": {"topicName": "{topic}"},
            "x": {"topicName": "{topicB}"},
        }}}, ACCEPTED, 48,
        then=route_with(readQueueNums=16, writeQueueNums=16, perm=6, topicSysFlag=0),
        evidence="TopicConfig.defaultReadQueueNums @ 5.5.0"),
    body_case(117,
        "A topic's name SHOULD be read from its configuration, not from its key in the table.",
        {"topicConfigSerializeWrapper": {"topicConfigTable": {
            "{topic}": topic_config("{topicC}"),
            "y": topic_config("{topicB}"),
        }}}, ACCEPTED, 79, then=NO_ROUTE,
        evidence="RouteInfoManager.createAndUpdateQueueData @ 5.5.0"),
    body_case(118, "Unknown members of a body MUST be ignored.",
        registration() | {"unknown": {"a": [1, None, {"b": True}]}}, ACCEPTED, 48),
    body_case(100, "A registration with a wrong bodyCrc32 MUST be rejected without side effects.",
        registration(), MISMATCH, 52, evidence=CHECKED, bodyCrc32="5"),
    body_case(101, "With bodyCrc32=0 the checksum MUST NOT be verified.", registration(), ACCEPTED,
        52, evidence=CHECKED, bodyCrc32="0"),
    body_case(102, "With an invalid bodyCrc32 the checksum SHOULD NOT be verified.", registration(),
        ACCEPTED, 52, evidence=CHECKED, bodyCrc32="zz"),
    case("ns/103/103", 52, f"{CHECKED}, UtilAll.crc32", "A correct bodyCrc32 MUST be accepted.",
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{}") & 0x7FFFFFFF)), b"{}", ACCEPTED)),
    case("ns/103/104", 52, f"{CHECKED}, UtilAll.crc32",
        "The highest bit of the checksum MUST be ignored.",
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{ }") & 0x7FFFFFFF)), b"{ }", ACCEPTED),
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{  }") & 0x7FFFFFFF)), b"{  }", ACCEPTED)),
    case("ns/103/105", 52, CHECKED, "A checksum without a body MUST be rejected.",
        ask(103, broker_ext(bodyCrc32="5"), MISMATCH)),
    body_case(150, "A packed registration MUST be accepted.", Packed(), ACCEPTED, 58,
        profiles=SINCE_5_3, compressed="true"),
    body_case(149,
        "A packed registration of a broker before 5.0.0, whose topics have no attributes, MUST be "
        "accepted.",
        Packed(topics=("{topic} 8 8 6 SINGLE_TAG", "{topicB} 8 8 6 SINGLE_TAG"),
            version='{"counter":1,"timestamp":1000}', mappings=None), ACCEPTED, 58, version=399,
        compressed="true"),
    body_case(151, "compressed=TRUE MUST be read as true.", Packed(), ACCEPTED, 60,
        profiles=SINCE_5_3, compressed="TRUE"),
    body_case(152,
        "A packed registration of a version before 5.0.0, which has no mappings, MUST be accepted.",
        Packed(mappings=None), ACCEPTED, 58, version=399, profiles=SINCE_5_3, compressed="true"),
    body_case(153,
        "A packed registration of 5.0.0 or later without the part of mappings MUST be answered "
        "with code 1.", Packed(mappings=None), THROWN, 58, version=413, profiles=SINCE_5_3,
        compressed="true"),
    body_case(154,
        "In a packed registration of a version before 5.0.0, the part of mappings SHOULD be "
        "ignored.", Packed(), ACCEPTED, 58, version=399, profiles=SINCE_5_3, compressed="true"),
    body_case(155, "A packed topic MUST get the numbers of its line and no flags.",
        Packed(topics=("{topic} 3 5 4 MULTI_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), ACCEPTED, 58,
        then=route_with(readQueueNums=3, writeQueueNums=5, perm=4, topicSysFlag=0),
        profiles=SINCE_5_3, compressed="true"),
    body_case(156, "A packed topic without its last part MUST be answered with code 1.",
        Packed(topics=("{topic} 8 8 6", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true"),
    body_case(157, "An unknown filter type of a packed topic MUST be answered with code 1.",
        Packed(topics=("{topic} 8 8 6 NO_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true"),
    body_case(158, "An invalid number in a packed topic MUST be answered with code 1.",
        Packed(topics=("{topic} 8 x 6 SINGLE_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true"),
    body_case(159, "Attributes of a packed topic that are not JSON SHOULD be ignored.",
        Packed(topics=("{topic} 8 8 6 SINGLE_TAG {{{", "{topicB} 8 8 6 SINGLE_TAG {}")), ACCEPTED,
        59, profiles=SINCE_5_3, compressed="true"),
    body_case(160, "Filter servers of a packed registration that are not JSON SHOULD be ignored.",
        Packed(filters="[[["), ACCEPTED, 59, profiles=SINCE_5_3, compressed="true"),
    body_case(161, "A packed registration as gzip MUST be answered with code 1.",
        Packed(form="gzip"), THROWN, 60, compressed="true"),
    body_case(162, "compressed=true with a JSON body MUST be answered with code 1.", registration(),
        THROWN, 60, compressed="true"),
    body_case(163, "compressed=1 MUST be read as false.", registration(), ACCEPTED, 60,
        compressed="1"),
    body_case(164, "A truncated packed registration MUST be answered with code 1.", Packed(cut=20),
        THROWN, 59, compressed="true"),
    body_case(165, "Bytes after the last part of a packed registration SHOULD be ignored.",
        Packed(tail=b"more"), ACCEPTED, 59, profiles=SINCE_5_3, compressed="true"),
    body_case(166, "A packed registration that is not compressed MUST be answered with code 1.",
        Packed(form="plain"), THROWN, 60, compressed="true"),
    body_case(167, "If a packed registration contains a topic twice, the last line SHOULD be used.",
        Packed(topics=(
            "{topic} 3 3 6 SINGLE_TAG {}",
            "{topic} 4 4 6 SINGLE_TAG {}",
            "{topicB} 1 1 6 SINGLE_TAG {}",
        )), ACCEPTED, 58, then=route_with(readQueueNums=4, writeQueueNums=4), profiles=SINCE_5_3,
        compressed="true"),
    body_case(168,
        "A packed body marked as JSON is answered: Java rejects it, another server MAY accept it.",
        Packed(), Response(code=ANY, remark=ANY, body=ANY), 58,
        then=Response(code=ANY, remark=ANY, body=ANY), compressed="false"),
    # Registrations of releases before 5.0.0, with both header types and with null members.
    _release(180, "3.2.6", 83),
    _release(181, "4.2.0", 253),
    _release(182, "4.9.4", 401, compressed="false", bodyCrc32="0"),
    case("ns/103/183", (17, 48), "RocketMQSerializable.rocketMQProtocolDecode @ 5.5.0",
        "A broker with binary headers MUST be able to register, be listed and unregister.",
        register(None, None, Response(ext=ANY), binary=True),
        ask(105, ROUTE, ROUTED, binary=True, on="reader"),
        ask(106, None, success(), binary=True, on="reader"),
        ask(104, broker_ext(), Response(), binary=True), until(105, ROUTE, NO_ROUTE, on="reader")),
    _null(190, "dataVersion null", _with("dataVersion", None), ACCEPTED, ROUTED),
    _null(191, "topicConfigTable null", _with("topicConfigTable", None), ACCEPTED, NO_ROUTE),
    _null(192, "topicQueueMappingInfoMap null", _with("topicQueueMappingInfoMap", None), ACCEPTED,
        ROUTED),
    _null(194, "a topic that is null",
        _with("topicConfigTable", {"{topicX}": None, "{topic}": old_topic("{topic}")}), FAILED,
        NO_ROUTE),
    _null(196, "an enumeration that is not listed",
        _with("topicConfigTable",
            {
                "{topic}": old_topic("{topic}") | {"topicFilterType": "NO_TAG"},
                "{topicB}": old_topic("{topicB}"),
            }), ACCEPTED, ROUTED),
    _null(197, "numbers as texts",
        _with("topicConfigTable",
            {
                "{topic}": old_topic("{topic}") | {"perm": "6", "readQueueNums": "8"},
                "{topicB}": old_topic("{topicB}"),
            }), ACCEPTED, ROUTED),
    since_5_3("ns/103/193", 54, BODY,
        "The result of a registration with topicConfigSerializeWrapper null, or a topic without "
        "a name, MAY vary; the request is answered.",
        register(None, {"topicConfigSerializeWrapper": None}, ANYTHING, on="a"),
        register(None,
            _with("topicConfigTable", {"{topicX}": {"perm": 6}, "{topic}": old_topic("{topic}")}),
            ANYTHING, on="b"),
        ask(106, None, success(), on="reader")),
    since_5_3("ns/103/200", 55, "RouteInfoManager.registerBroker @ 5.5.0",
        "A negative brokerId SHOULD be accepted.",
        register(broker_ext(broker_id=-1), None, ACCEPTED),
        ask(901, {"clusterName": "{cluster}", "brokerName": "{broker}"},
            success(JsonBody({"brokerMemberGroup": Has({"brokerAddrs": {"-1": "{address}"}})}),
                remark=ANY))),
    since_5_3("ns/103/201", 55, "RemotingCommand.decodeCommandCustomHeader @ 5.5.0",
        "Invalid optional fields of a registration MUST be treated as absent.",
        register(broker_ext(heartbeatTimeoutMillis="abc", bodyCrc32=" 5", compressed="yes"), None,
            ACCEPTED),
        ask(105, ROUTE, ROUTED, on="reader")),
    since_5_3("ns/103/202", 68,
        "RemotingCommand.decodeCommandCustomHeader @ 5.5.0 (Boolean.parseBoolean)",
        "enableActingMaster=TRUE MUST be read as true, and any value other than true as false.",
        register(broker_ext(enableActingMaster="TRUE")),
        ask(105, ROUTE, has({"brokerDatas": [Has({"enableActingMaster": True})]})),
        register(broker_ext(enableActingMaster="1")),
        ask(105, ROUTE, has({"brokerDatas": [Has({"enableActingMaster": False})]}))),
    case("ns/103/203", 48, "RouteInfoManager.registerBroker @ 5.5.0",
        "Addresses MUST be stored unchanged, including host names and IPv6.",
        register(broker_ext(address="broker.{cluster}.example:10911"), None, ACCEPTED),
        ask(105, ROUTE,
            has({"brokerDatas": [Has({"brokerAddrs": {"0": "broker.{cluster}.example:10911"}})]})),
        unregister(broker_ext(address="broker.{cluster}.example:10911")),
        until(105, ROUTE, NO_ROUTE)),
)  # fmt: skip
