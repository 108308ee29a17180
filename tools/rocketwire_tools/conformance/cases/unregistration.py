"""Unregistration (104): which data is removed and which remains."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import DONE, GONE, ROUTE, SLAVE, group, live
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import Answer, Has, Json, Lacks, Silence
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    registration,
    unregister,
    until,
)
from rocketwire_tools.conformance.model.steps import Expect, Request, Send, Step

UNREGISTER: Final = "RouteInfoManager.unRegisterBroker @ 5.5.0"
HANDLER: Final = "DefaultRequestProcessor.unregisterBroker @ 5.5.0"
VERSIONED: Final = data_version()


def not_live(ext: dict[str, str], *, on: str = "reader") -> Step:
    """322 soon finds no live entry."""
    return until(322, ext, Answer(ext={"changed": "true"}), body=VERSIONED, on=on)


CASES: Final = (
    case(
        "ns/104/1", "Unregistering a broker MUST remove its group, its cluster and its topics.",
        register(),
        unregister(None, DONE),
        until(105, ROUTE, NO_ROUTE),
        until(106, None, GONE),
        ask(304, None, found(Json(Has({"topicList": Lacks(("{broker}", "{cluster}"))})))),
        not_live(broker_ext()),
        evidence=f"{HANDLER}, {UNREGISTER}", items=(88,),
    ),
    case(
        "ns/104/2", "If one member of a group unregisters, the others MUST remain.",
        register(on="a"),
        register(SLAVE, None, on="b"),
        unregister(on="a"),
        until(106, None, group({"1": "{addressS}"}), on="reader"),
        ask(105, ROUTE, found(), on="reader"),
        live(SLAVE),
        not_live(broker_ext()),
        evidence=UNREGISTER, items=(88,),
    ),
    case(
        "ns/104/3", "104 with a wrong brokerId and the correct address MUST unregister the broker.",
        register(),
        unregister(broker_ext(broker_id=5), DONE),
        until(106, None, GONE),
        evidence=UNREGISTER, items=(89,), profiles=SINCE_5_3,
    ),
    case(
        "ns/104/4",
        "104 with the correct brokerId and a wrong address MUST NOT unregister the broker.",
        register(on="a"),
        register(broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"),
        unregister(broker_ext(address="{addressX}"), DONE, on="a"),
        unregister(
            broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m",
        ),
        until(106, None, found(Json(Has({"brokerAddrTable": Lacks(("{brokerM}",))}))), on="reader"),
        ask(106, None, group({"0": "{address}"}), on="reader"),
        live(broker_ext()),
        evidence=UNREGISTER, items=(89,), profiles=SINCE_5_3,
    ),
    case(
        "ns/104/5",
        "104 without ext fields or without brokerId MUST succeed and MUST NOT change other "
        "brokers.",
        register(on="a"),
        register(SLAVE, None, on="b"),
        ask(
            104, {key: value for key, value in broker_ext().items() if key != "brokerId"}, DONE,
            on="a",
        ),
        not_live(broker_ext()),
        live(SLAVE),
        ask(104, None, DONE, on="a"),
        ask(104, {}, DONE, on="a"),
        live(SLAVE),
        evidence=f"{HANDLER}, {UNREGISTER}", items=(90, 91), profiles=SINCE_5_3,
        tags=frozenset({"destructive"}), fresh=True,
    ),
    case(
        "ns/104/7", "104 for an unknown broker MUST succeed.",
        unregister(None, DONE),
        unregister(None, DONE),
        evidence=HANDLER, items=(88,),
    ),
    case(
        "ns/104/8", "Topics of an unregistered broker MUST remain at other brokers.",
        register(on="a"),
        register(
            broker_ext(name="{brokerB}", address="{addressB}"),
            registration(("{topic}", "{topicC}")), on="b",
        ),
        unregister(on="a"),
        until(105, {"topic": "{topicB}"}, NO_ROUTE, on="reader"),
        ask(
            105, ROUTE,
            found(Json(Has({
                "brokerDatas": [Has({"brokerName": "{brokerB}"})],
                "queueDatas": [Has({"brokerName": "{brokerB}"})],
            }))),
            on="reader",
        ),
        evidence=f"{UNREGISTER}, cleanTopicByUnRegisterRequests", items=(88,),
    ),
    case(
        "ns/104/9", "A broker that unregisters MUST be able to register again.",
        register(),
        unregister(),
        until(106, None, GONE),
        register(),
        ask(105, ROUTE, found()),
        live(broker_ext(), on="main"),
        evidence=f"{UNREGISTER}, registerBroker", items=(88,),
    ),
    case(
        "ns/104/10", "A one-way 104 MUST be executed and MUST NOT be answered.",
        register(),
        Send((Request(code=104, ext=broker_ext(), flag=2),)),
        Expect((Silence(),)),
        until(106, None, GONE, on="reader"),
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0", items=(22, 88),
    ),
    case(
        "ns/104/11",
        "104 with another cluster name SHOULD keep the live entry of the correct cluster.",
        register(on="a"),
        unregister(broker_ext(cluster="{clusterB}", name="{brokerB}"), DONE, on="b"),
        live(broker_ext()),
        ask(106, None, group({"0": "{address}"}), on="reader"),
        evidence=UNREGISTER, profiles=SINCE_5_3,
    ),
    case(
        "ns/104/12", "104 with an invalid brokerId SHOULD succeed.",
        unregister(broker_ext(broker_id="x"), DONE),
        evidence=HANDLER, items=(90,), profiles=SINCE_5_3,
    ),
)  # fmt: skip
