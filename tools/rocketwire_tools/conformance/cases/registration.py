"""Registration (103): what makes a broker known, who wins over whom, and what a new registration changes."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case
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
ROUTE: Final = {"topic": "{topic}"}
ACCEPTED: Final = Answer(ext={})
REFUSED: Final = Answer(code=1, ext={}, remark="register broker failed")
MASTER: Final = Answer(ext={"haServerAddr": "{ha}", "masterAddr": "{address}"})


def slave(number: int = 1, **more: str) -> dict[str, str]:
    """The ext fields of a slave ``{addressS}``."""
    return broker_ext(address="{addressS}", broker_id=number, ha="{haS}", **more)


def group(addresses: dict[str, str], **more: object) -> Answer:
    """106 in which the group ``{broker}`` has exactly these addresses."""
    members: dict[str, object] = {"brokerAddrs": addresses} | more
    return found(Json(Has({"brokerAddrTable": Has({"{broker}": Has(members)})})))


def queues(perm: int = 6, number: int = 8) -> Answer:
    """105 with one queue data of this permission and this many queues."""
    queue = Has({"perm": perm, "readQueueNums": number, "writeQueueNums": number})
    return found(Json(Has({"queueDatas": [queue]})))


CASES: Final = (
    Case(
        id="ns/103/1",
        requirement="A registration MUST succeed with empty ext fields, and the topics MUST be routed to the broker.",
        evidence=f"{HANDLER}, {REGISTER}",
        items=(48,),
        steps=(
            register(None, None, ACCEPTED),
            ask(105, ROUTE, queues(), on="reader"),
            ask(105, {"topic": "{topicB}"}, queues(), on="reader"),
            ask(106, None, group({"0": "{address}"}, cluster="{cluster}"), on="reader"),
        ),
    ),
    Case(
        id="ns/103/2",
        requirement="The response to a slave's registration MUST contain the addresses of its master.",
        evidence=HANDLER,
        profiles=SINCE_5_3,
        items=(49,),
        steps=(
            register(on="master"),
            register(slave(), None, MASTER, on="slave"),
            ask(106, None, group({"0": "{address}", "1": "{addressS}"}), on="slave"),
        ),
    ),
    Case(
        id="ns/103/3",
        requirement="The response to a slave without a live master MUST contain no addresses.",
        evidence=HANDLER,
        profiles=SINCE_5_3,
        items=(49,),
        steps=(
            register(slave(), None, ACCEPTED, on="slave"),
            register(on="master"),
            unregister(on="master"),
            until(106, None, group({"1": "{addressS}"}), on="master"),
            register(slave(), None, ACCEPTED, on="slave"),
        ),
    ),
    Case(
        id="ns/103/4",
        requirement="A registration of a single topic by an unknown broker MUST be rejected.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(50,),
        steps=(
            register(None, registration(("{topic}",)), REFUSED),
            ask(105, ROUTE, NO_ROUTE),
            ask(106, None, group({})),
            ask(304, None, found(Json(Has({"topicList": Contains(("{cluster}", "{broker}"))})))),
        ),
    ),
    Case(
        id="ns/103/5",
        requirement="After a registration without topics, a broker MUST be able to register a single topic.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(51,),
        steps=(
            register(None, registration(("{topic}",)), REFUSED),
            register(None, registration(()), ACCEPTED),
            register(None, registration(("{topic}",)), ACCEPTED),
            ask(105, ROUTE, queues()),
        ),
    ),
    Case(
        id="ns/103/6",
        requirement="Changed queue numbers MUST be ignored with the same data version and applied with a new one.",
        evidence=f"{REGISTER}, isTopicConfigChanged",
        items=(61,),
        steps=(
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
        ),
    ),
    Case(
        id="ns/103/7",
        requirement="A new topic MUST be added even with the same data version.",
        evidence=f"{REGISTER}, isTopicConfigChanged",
        profiles=SINCE_5_3,
        items=(62,),
        steps=(
            register(),
            register(None, registration(("{topic}", "{topicB}", "{topicC}"))),
            ask(105, {"topic": "{topicC}"}, queues()),
        ),
    ),
    Case(
        id="ns/103/8",
        requirement="The broker's next registration MUST restore a deleted topic, even with the same data version.",
        evidence=f"{REGISTER}, isTopicConfigChanged",
        profiles=SINCE_5_3,
        items=(62,),
        steps=(
            register(),
            ask(216, ROUTE),
            ask(105, ROUTE, NO_ROUTE),
            register(),
            ask(105, ROUTE, queues()),
        ),
    ),
    Case(
        id="ns/103/9",
        requirement="A topic that a registration no longer contains MUST remain by default.",
        evidence=REGISTER,
        items=(73,),
        steps=(
            register(None, registration(("{topic}", "{topicB}", "{topicC}"))),
            register(None, registration(("{topicB}", "{topicC}"), version=data_version(2))),
            ask(105, ROUTE, queues()),
        ),
    ),
    Case(
        id="ns/103/10",
        requirement="With deleteTopicWithBrokerRegistration, a topic that a registration no longer contains MUST be removed.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        options={
            "deleteTopicWithBrokerRegistration": "true",
            "kvConfigPath": "/proc/none/kvConfig.json",  # of another case
        },
        items=(73,),
        steps=(
            register(None, registration(("{topic}", "{topicB}", "{topicC}")), on="a"),
            register(
                broker_ext(name="{brokerB}", address="{addressB}"),
                registration(("{topicB}", "{topicD}")),
                on="b",
            ),
            register(None, registration(("{topicC}", "{topicE}"), version=data_version(2)), on="a"),
            ask(105, ROUTE, NO_ROUTE),
            ask(
                105,
                {"topic": "{topicB}"},
                found(Json(Has({"queueDatas": [Has({"brokerName": "{brokerB}"})]}))),
            ),
            ask(105, {"topic": "{topicC}"}, queues()),
        ),
    ),
    Case(
        id="ns/103/18",
        requirement="A one-way registration MUST be executed.",
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        items=(77,),
        steps=(
            Send((Request(code=103, ext=broker_ext(), body=registration(), flag=2),)),
            until(105, ROUTE, queues(), on="reader"),
        ),
    ),
    Case(
        id="ns/103/19",
        requirement="The response to a registration MUST contain the namespace ORDER_TOPIC_CONFIG if it exists.",
        evidence=HANDLER,
        fresh=True,
        items=(78,),
        steps=(
            ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}", "value": "{broker}:8"}),
            register(None, None, found(Text('{"table":{"{topic}":"{broker}:8"}}'), ext={})),
            ask(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}"}),
            register(None, None, found(Text('{"table":{}}'), ext={})),
        ),
    ),
    Case(
        id="ns/103/20",
        requirement="With returnOrderTopicConfigToBroker=false, the response to a registration MUST have no body.",
        evidence=HANDLER,
        profiles=SINCE_5_3,
        options=ONE_SETTING,
        items=(78,),
        steps=(
            ask(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "{topic}", "value": "{broker}:8"}),
            register(None, None, ACCEPTED),
        ),
    ),
)
