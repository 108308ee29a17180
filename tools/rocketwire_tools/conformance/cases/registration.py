"""Registration (103): brokers, topics, masters and slaves, and repeated registrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.cases.common import (
    ACCEPTED,
    MISMATCH,
    ORDER,
    ORDERED,
    ROUTE,
    SLAVE,
    group,
)
from rocketwire_tools.conformance.model.case import case, since_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Contains, Has, Response, TextBody
from rocketwire_tools.conformance.model.packed_body import Packed
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
)
from rocketwire_tools.conformance.model.steps import CHECKSUM, Close, Request

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

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
    """A topic with this many queues."""
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

CASES: Final = (
    case("ns/103/1", 48, f"{HANDLER}, {REGISTER}",
        "A registration MUST succeed with empty ext fields, and the topics MUST be routed to the "
        "broker.",
        register(None, None, ACCEPTED),
        ask(105, ROUTE, queues(), on="reader"),
        ask(105, {"topic": "{topicB}"}, queues(), on="reader"),
        ask(106, None, group({"0": "{address}"}, cluster="{cluster}"), on="reader"),
    ),
    since_5_3("ns/103/2", 49, HANDLER,
        "The response to a slave's registration MUST contain the addresses of its master.",
        register(on="master"),
        register(SLAVE, None, MASTER, on="slave"),
        ask(106, None, group({"0": "{address}", "1": "{addressS}"}), on="slave"),
    ),
    since_5_3("ns/103/3", 49, HANDLER,
        "The response to a slave without a live master MUST contain no addresses.",
        register(SLAVE, None, ACCEPTED, on="slave"),
        register(on="master"),
        unregister(on="master"),
        until(106, None, group({"1": "{addressS}"}), on="master"),
        register(SLAVE, None, ACCEPTED, on="slave"),
    ),
    since_5_3("ns/103/4", 50, REGISTER,
        "A registration of a single topic by an unknown broker MUST be rejected.",
        register(None, registration(("{topic}",)), REFUSED),
        ask(105, ROUTE, NO_ROUTE),
        ask(106, None, group({})),
        ask(304, None, has({"topicList": Contains(("{cluster}", "{broker}"))})),
    ),
    since_5_3("ns/103/5", 51, REGISTER,
        "After a registration without topics, a broker MUST be able to register a single topic.",
        register(None, registration(("{topic}",)), REFUSED),
        register(None, registration(()), ACCEPTED),
        register(None, registration(("{topic}",)), ACCEPTED),
        ask(105, ROUTE, queues()),
    ),
    case("ns/103/6", 61, f"{REGISTER}, isTopicConfigChanged",
        "Changed queue numbers MUST be ignored with the same data version and applied with another "
        "one, also an older.",
        register(),
        register(None, registration((topic_config("{topic}", readQueueNums=3), "{topicB}"))),
        ask(105, ROUTE, queues()),
        register(None,
            registration((topic_config("{topic}", readQueueNums=3, writeQueueNums=3), "{topicB}"),
                version=data_version(2))),
        ask(105, ROUTE, queues(number=3)),
        register(None, registration(version=data_version(1, 0, 500))),
        ask(105, ROUTE, queues()),
    ),
    since_5_3("ns/103/7", 62, f"{REGISTER}, isTopicConfigChanged",
        "A new topic MUST be added even with the same data version.",
        register(),
        register(None, registration(("{topic}", "{topicB}", "{topicC}"))),
        ask(105, {"topic": "{topicC}"}, queues()),
    ),
    since_5_3("ns/103/8", 62, f"{REGISTER}, isTopicConfigChanged",
        "The broker's next registration MUST restore a deleted topic, even with the same data "
        "version.",
        register(),
        ask(216, ROUTE),
        ask(105, ROUTE, NO_ROUTE),
        register(),
        ask(105, ROUTE, queues()),
    ),
    case("ns/103/9", 73, REGISTER,
        "A topic that a registration no longer contains MUST remain by default.",
        register(None, registration(("{topic}", "{topicB}", "{topicC}"))),
        register(None, registration(("{topicB}", "{topicC}"), version=data_version(2))),
        ask(105, ROUTE, queues()),
    ),
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
        },
    ),
    case("ns/103/18", 77, "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "A one-way registration MUST be executed.",
        send(Request(code=103, ext=broker_ext(), body=registration(), flag=2)),
        until(105, ROUTE, queues(), on="reader"),
    ),
    case("ns/103/19", 78, HANDLER,
        "The response to a registration MUST contain the namespace ORDER_TOPIC_CONFIG if it "
        "exists.",
        ask(100, ORDERED),
        register(None, None, success(TextBody('{"table":{"{topic}":"{broker}:8"}}'), ext={})),
        ask(102, ORDER),
        register(None, None, success(TextBody('{"table":{}}'), ext={})),
        fresh=True,
    ),
    since_5_3("ns/103/20", 78, HANDLER,
        "With returnOrderTopicConfigToBroker=false, the response to a registration MUST have no "
        "body.",
        ask(100, ORDERED),
        register(None, None, ACCEPTED),
        options=ONE_SETTING,
    ),
    case("ns/103/11", 63, REGISTER,
        "A slave that becomes master at the same address MUST NOT remain listed as slave.",
        register(),
        register(SLAVE),
        ask(106, None, group({"0": "{address}", "1": "{addressS}"})),
        register(broker_ext(address="{addressS}", broker_id=0)),
        ask(106, None, group({"0": "{addressS}"})),
    ),
    since_5_3("ns/103/12", 64, REGISTER,
        "A new address for an id MUST be ignored if its stateVersion is lower than the current "
        "one.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(broker_ext(address="{addressB}"), registration(version=data_version(1, 4)),
            ACCEPTED, on="b"),
        ask(106, None, group({"0": "{address}"}), on="b"),
    ),
    since_5_3("ns/103/13", 64, REGISTER,
        "A new address for an id MUST replace the current one if its stateVersion is equal or "
        "higher.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(broker_ext(address="{addressB}"), registration(version=data_version(1, 5)),
            on="b"),
        ask(106, None, group({"0": "{addressB}"}), on="b"),
        register(broker_ext(address="{addressC}"), registration(version=data_version(1, 6)),
            on="c"),
        ask(106, None, group({"0": "{addressC}"}), on="c"),
    ),
    since_5_3("ns/103/14", (64, 75), REGISTER,
        "A new address for the id of a master of another cluster SHOULD replace it with any "
        "stateVersion.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(broker_ext(cluster="{clusterB}", address="{addressB}"),
            registration(version=data_version(1, 4)), on="b"),
        ask(106, None, group({"0": "{addressB}"}, cluster="{cluster}"), on="b"),
    ),
    since_5_3("ns/103/15", 65, REGISTER,
        "A slave that registers as master with a lower stateVersion MUST be removed from the "
        "group.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(SLAVE, None, on="b"),
        register(broker_ext(address="{addressS}", broker_id=0),
            registration(version=data_version(1, 4)), ACCEPTED, on="b"),
        ask(106, None, group({"0": "{address}"}), on="b"),
        ask(322, SLAVE, Response(ext={"changed": "true"}), body=data_version(), on="b"),
    ),
    case("ns/103/16", 75, REGISTER,
        "A broker name registered in two clusters MUST be listed in both, and MUST keep its first "
        "cluster.",
        register(on="a"),
        register(broker_ext(cluster="{clusterB}", address="{addressS}", broker_id=1), on="b"),
        ask(106, None,
            has({
                "brokerAddrTable": Has({"{broker}": Has({"cluster": "{cluster}"})}),
                "clusterAddrTable": Has({"{cluster}": ["{broker}"], "{clusterB}": ["{broker}"]}),
            })),
    ),
    since_5_3("ns/103/220", (50, 62), REGISTER,
        "A registration of one topic by a known broker MUST change this topic and nothing else.",
        *WHOLE,
        register(None, registration((topic_of("{topic}", 4),), version=data_version(2),
            filter_servers=None), on="a"),
        *whole({"{topic}": 4, "{topicB}": 2, "{topicC}": 3}, 2),
        register(None, registration((topic_of("{topicD}", 5),), version=data_version(3),
            filter_servers=None), on="a"),
        *whole({"{topic}": 4, "{topicB}": 2, "{topicC}": 3, "{topicD}": 5}, 3),
    ),
    since_5_3("ns/103/221", (50, 62), REGISTER,
        "A registration that repeats or refuses everything MUST change nothing.",
        *WHOLE,
        register(None, THREE, on="a"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1),
        register(broker_ext(bodyCrc32="5"), registration((), version=data_version(4)),
            MISMATCH, on="a"),
        register(None, b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":5', FAILED,
            on="a"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1),
    ),
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
        *whole({"{topic}": 4, "{topicB}": 5, "{topicC}": 3}, 3),
    ),
    since_5_3("ns/103/223", (74, 75), f"{REGISTER}, unRegisterBroker",
        "Brokers of two clusters with the same address MUST NOT change each other.",
        *WHOLE,
        register(TWIN, registration(("{topicT}", "{topicU}"), version=data_version(7)), on="t"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1),
        ask(105, {"topic": "{topicT}"},
            has({"brokerDatas": [Has({"brokerName": "{brokerT}", "cluster": "{clusterT}"})]}),
            on="t"),
        ask(322, TWIN, has({"counter": 7}, ext={"changed": "false"}), body=data_version(7),
            on="t"),
        unregister(TWIN, on="t"),
        until(105, {"topic": "{topicT}"}, NO_ROUTE, on="t"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1),
        register(TWIN, registration(("{topicT}", "{topicU}")), on="t"),
        Close("t"),
        until(105, {"topic": "{topicT}"}, NO_ROUTE, on="a"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3}, 1),
    ),
    since_5_3("ns/103/224", 75, REGISTER,
        "A broker that registers in a second cluster MUST keep its first cluster and its topics.",
        *WHOLE,
        register(broker_ext(cluster="{clusterT}"),
            registration((topic_of("{topicC}", 3), "{topicU}"), version=data_version(7),
                filter_servers=None), on="t"),
        ask(105, {"topic": "{topicU}"}, has({"brokerDatas": [Has({"cluster": "{cluster}"})]}),
            on="t"),
        *whole({"{topic}": 1, "{topicB}": 2, "{topicC}": 3, "{topicU}": 8}, 1),
    ),
    case("ns/103/17", 74, REGISTER,
        "An address registered under two broker names MUST be listed under both.",
        register(on="a"),
        register(broker_ext(name="{brokerB}"), on="a"),
        ask(106, None,
            has({"brokerAddrTable": Has({
                "{broker}": Has({"brokerAddrs": {"0": "{address}"}}),
                "{brokerB}": Has({"brokerAddrs": {"0": "{address}"}}),
            })})),
    ),
)  # fmt: skip
