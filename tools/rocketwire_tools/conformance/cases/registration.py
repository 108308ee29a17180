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
        requirement="A registered broker MUST be answered success with empty ext fields, and its topics be routed to it.",
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
        requirement="A slave MUST be told its master's addresses when it registers.",
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
        requirement="A slave without a live master MUST be told nothing.",
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
        requirement="A registration of one topic by a broker that is not there MUST be refused.",
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
        requirement="After a registration without topics a broker MUST be able to register a single one.",
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
        requirement="With the same data version changed queue numbers MUST not count; with a new one they MUST.",
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
        requirement="With the same data version a topic that was not there MUST be added.",
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
        requirement="A deleted topic MUST be back after the broker's next registration, also with the same data version.",
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
        requirement="A topic that a broker no longer names MUST stay, unless registrations delete.",
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
        requirement="With deleteTopicWithBrokerRegistration a topic that a broker no longer names MUST be gone.",
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
        requirement="A one-way registration MUST be carried out.",
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        items=(77,),
        steps=(
            Send((Request(code=103, ext=broker_ext(), body=registration(), flag=2),)),
            until(105, ROUTE, queues(), on="reader"),
        ),
    ),
    Case(
        id="ns/103/19",
        requirement="A broker's answer MUST carry the ORDER_TOPIC_CONFIG namespace if there is one.",
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
        requirement="With returnOrderTopicConfigToBroker=false a broker's answer MUST have no body.",
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
