"""Registration (103): brokers and topics, and the effect of a repeated registration."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ACCEPTED, ROUTE, group, slave
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import Answer, Contains, Has, Json, Text
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ONE_SETTING,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    registration,
    topic_config,
    unregister,
    until,
)
from rocketwire_tools.conformance.model.steps import Request, Send

REGISTER: Final = "RouteInfoManager.registerBroker @ 5.5.0"
HANDLER: Final = "DefaultRequestProcessor.registerBroker @ 5.5.0"
REFUSED: Final = Answer(code=1, ext={}, remark="register broker failed")
MASTER: Final = Answer(ext={"haServerAddr": "{ha}", "masterAddr": "{address}"})


def queues(perm: int = 6, number: int = 8) -> Answer:
    """105 with one queue data of this permission and this many queues."""
    queue = Has({"perm": perm, "readQueueNums": number, "writeQueueNums": number})
    return found(Json(Has({"queueDatas": [queue]})))


CASES: Final = (
    case(
        "ns/103/1",
        "A registration MUST succeed with empty ext fields, and the topics MUST be routed to the "
        "broker.",
        register(None, None, ACCEPTED),
        ask(105, ROUTE, queues(), on="reader"),
        ask(105, {"topic": "{topicB}"}, queues(), on="reader"),
        ask(106, None, group({"0": "{address}"}, cluster="{cluster}"), on="reader"),
        evidence=f"{HANDLER}, {REGISTER}", items=(48,),
    ),
    case(
        "ns/103/2",
        "The response to a slave's registration MUST contain the addresses of its master.",
        register(on="master"),
        register(slave(), None, MASTER, on="slave"),
        ask(106, None, group({"0": "{address}", "1": "{addressS}"}), on="slave"),
        evidence=HANDLER, items=(49,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/3", "The response to a slave without a live master MUST contain no addresses.",
        register(slave(), None, ACCEPTED, on="slave"),
        register(on="master"),
        unregister(on="master"),
        until(106, None, group({"1": "{addressS}"}), on="master"),
        register(slave(), None, ACCEPTED, on="slave"),
        evidence=HANDLER, items=(49,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/4", "A registration of a single topic by an unknown broker MUST be rejected.",
        register(None, registration(("{topic}",)), REFUSED),
        ask(105, ROUTE, NO_ROUTE),
        ask(106, None, group({})),
        ask(304, None, found(Json(Has({"topicList": Contains(("{cluster}", "{broker}"))})))),
        evidence=REGISTER, items=(50,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/5",
        "After a registration without topics, a broker MUST be able to register a single topic.",
        register(None, registration(("{topic}",)), REFUSED),
        register(None, registration(()), ACCEPTED),
        register(None, registration(("{topic}",)), ACCEPTED),
        ask(105, ROUTE, queues()),
        evidence=REGISTER, items=(51,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/6",
        "Changed queue numbers MUST be ignored with the same data version and applied with a new "
        "one.",
        register(),
        register(None, registration((topic_config("{topic}", readQueueNums=3), "{topicB}"))),
        ask(105, ROUTE, queues()),
        register(
            None,
            registration(
                (topic_config("{topic}", readQueueNums=3, writeQueueNums=3), "{topicB}"),
                version=data_version(2),
            ),
        ),
        ask(105, ROUTE, queues(number=3)),
        evidence=f"{REGISTER}, isTopicConfigChanged", items=(61,),
    ),
    case(
        "ns/103/7", "A new topic MUST be added even with the same data version.",
        register(),
        register(None, registration(("{topic}", "{topicB}", "{topicC}"))),
        ask(105, {"topic": "{topicC}"}, queues()),
        evidence=f"{REGISTER}, isTopicConfigChanged", items=(62,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/8",
        "The broker's next registration MUST restore a deleted topic, even with the same data "
        "version.",
        register(),
        ask(216, ROUTE),
        ask(105, ROUTE, NO_ROUTE),
        register(),
        ask(105, ROUTE, queues()),
        evidence=f"{REGISTER}, isTopicConfigChanged", items=(62,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/9", "A topic that a registration no longer contains MUST remain by default.",
        register(None, registration(("{topic}", "{topicB}", "{topicC}"))),
        register(None, registration(("{topicB}", "{topicC}"), version=data_version(2))),
        ask(105, ROUTE, queues()),
        evidence=REGISTER, items=(73,),
    ),
    case(
        "ns/103/10",
        "With deleteTopicWithBrokerRegistration, a topic that a registration no longer contains "
        "MUST be removed.",
        register(None, registration(("{topic}", "{topicB}", "{topicC}")), on="a"),
        register(
            broker_ext(name="{brokerB}", address="{addressB}"),
            registration(("{topicB}", "{topicD}")), on="b",
        ),
        register(None, registration(("{topicC}", "{topicE}"), version=data_version(2)), on="a"),
        ask(105, ROUTE, NO_ROUTE),
        ask(
            105, {"topic": "{topicB}"},
            found(Json(Has({"queueDatas": [Has({"brokerName": "{brokerB}"})]}))),
        ),
        ask(105, {"topic": "{topicC}"}, queues()),
        evidence=REGISTER, items=(73,), profiles=SINCE_5_3,
        options={
            "deleteTopicWithBrokerRegistration": "true",
            "kvConfigPath": "/proc/none/kvConfig.json",
        },
    ),
    case(
        "ns/103/18", "A one-way registration MUST be executed.",
        Send((Request(code=103, ext=broker_ext(), body=registration(), flag=2),)),
        until(105, ROUTE, queues(), on="reader"),
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0", items=(77,),
    ),
    case(
        "ns/103/19",
        "The response to a registration MUST contain the namespace ORDER_TOPIC_CONFIG if it "
        "exists.",
        ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}", "value": "{broker}:8"}),
        register(None, None, found(Text('{"table":{"{topic}":"{broker}:8"}}'), ext={})),
        ask(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}"}),
        register(None, None, found(Text('{"table":{}}'), ext={})),
        evidence=HANDLER, items=(78,), fresh=True,
    ),
    case(
        "ns/103/20",
        "With returnOrderTopicConfigToBroker=false, the response to a registration MUST have no "
        "body.",
        ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}", "value": "{broker}:8"}),
        register(None, None, ACCEPTED),
        evidence=HANDLER, items=(78,), profiles=SINCE_5_3, options=ONE_SETTING,
    ),
)  # fmt: skip
