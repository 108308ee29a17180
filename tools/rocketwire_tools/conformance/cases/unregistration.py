"""Unregistration (104) and lost connections: what goes, and what has to stay."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, Severity
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
ROUTE: Final = {"topic": "{topic}"}
DONE: Final = Answer(ext=None)
GONE: Final = found(
    Json({"brokerAddrTable": Lacks(("{broker}",)), "clusterAddrTable": Lacks(("{cluster}",))})
)
SLAVE: Final = broker_ext(address="{addressS}", broker_id=1, ha="{haS}")
VERSIONED: Final = data_version()


def group(addresses: dict[str, str]) -> Answer:
    """106 in which the group ``{broker}`` has exactly these addresses."""
    return found(Json(Has({"brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": addresses})})})))


def live(ext: dict[str, str], *, on: str = "reader") -> Step:
    """322 finds the broker's entry, with the data version that it registered."""
    return ask(
        322,
        ext,
        found(Json(Has({"counter": 1, "timestamp": 1000})), ext={"changed": "false"}),
        body=VERSIONED,
        on=on,
    )


def not_live(ext: dict[str, str], *, on: str = "reader") -> Step:
    """322 finds no entry, soon."""
    return until(322, ext, Answer(ext={"changed": "true"}), body=VERSIONED, on=on)


CASES: Final = (
    Case(
        id="ns/104/1",
        requirement="Unregistering a broker MUST remove its group, its cluster and its topics.",
        evidence=f"{HANDLER}, {UNREGISTER}",
        items=(88,),
        steps=(
            register(),
            unregister(None, DONE),
            until(105, ROUTE, NO_ROUTE),
            until(106, None, GONE),
            ask(304, None, found(Json(Has({"topicList": Lacks(("{broker}", "{cluster}"))})))),
            not_live(broker_ext()),
        ),
    ),
    Case(
        id="ns/104/2",
        requirement="If one member of a group unregisters, the others MUST remain.",
        evidence=UNREGISTER,
        items=(88,),
        steps=(
            register(on="a"),
            register(SLAVE, None, on="b"),
            unregister(on="a"),
            until(106, None, group({"1": "{addressS}"}), on="reader"),
            ask(105, ROUTE, found(), on="reader"),
            live(SLAVE),
            not_live(broker_ext()),
        ),
    ),
    Case(
        id="ns/104/3",
        requirement="104 with a wrong brokerId and the correct address MUST unregister the broker.",
        evidence=UNREGISTER,
        profiles=SINCE_5_3,
        items=(89,),
        steps=(register(), unregister(broker_ext(broker_id=5), DONE), until(106, None, GONE)),
    ),
    Case(
        id="ns/104/4",
        requirement="104 with the correct brokerId and a wrong address MUST NOT unregister the broker.",
        evidence=UNREGISTER,
        profiles=SINCE_5_3,
        items=(89,),
        steps=(
            register(on="a"),
            register(
                broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"
            ),
            unregister(broker_ext(address="{addressX}"), DONE, on="a"),
            unregister(
                broker_ext(cluster="{clusterM}", name="{brokerM}", address="{addressM}"), on="m"
            ),
            until(
                106, None, found(Json(Has({"brokerAddrTable": Lacks(("{brokerM}",))}))), on="reader"
            ),
            ask(106, None, group({"0": "{address}"}), on="reader"),
            live(broker_ext()),
        ),
    ),
    Case(
        id="ns/104/5",
        requirement="104 without ext fields or without brokerId MUST succeed and MUST NOT change other brokers.",
        evidence=f"{HANDLER}, {UNREGISTER}",
        profiles=SINCE_5_3,
        fresh=True,
        items=(90, 91),
        tags=frozenset({"destructive"}),
        steps=(
            register(on="a"),
            register(SLAVE, None, on="b"),
            ask(
                104,
                {key: value for key, value in broker_ext().items() if key != "brokerId"},
                DONE,
                on="a",
            ),
            not_live(broker_ext()),
            live(SLAVE),
            ask(104, None, DONE, on="a"),
            ask(104, {}, DONE, on="a"),
            live(SLAVE),
        ),
    ),
    Case(
        id="ns/104/7",
        requirement="104 for an unknown broker MUST succeed.",
        evidence=HANDLER,
        items=(88,),
        steps=(unregister(None, DONE), unregister(None, DONE)),
    ),
    Case(
        id="ns/104/8",
        requirement="Topics of an unregistered broker MUST remain at other brokers.",
        evidence=f"{UNREGISTER}, cleanTopicByUnRegisterRequests",
        items=(88,),
        steps=(
            register(on="a"),
            register(
                broker_ext(name="{brokerB}", address="{addressB}"),
                registration(("{topic}", "{topicC}")),
                on="b",
            ),
            unregister(on="a"),
            until(105, {"topic": "{topicB}"}, NO_ROUTE, on="reader"),
            ask(
                105,
                ROUTE,
                found(
                    Json(
                        Has(
                            {
                                "brokerDatas": [Has({"brokerName": "{brokerB}"})],
                                "queueDatas": [Has({"brokerName": "{brokerB}"})],
                            }
                        )
                    )
                ),
                on="reader",
            ),
        ),
    ),
    Case(
        id="ns/104/9",
        requirement="A broker that unregisters MUST be able to register again.",
        evidence=f"{UNREGISTER}, registerBroker",
        items=(88,),
        steps=(
            register(),
            unregister(),
            until(106, None, GONE),
            register(),
            ask(105, ROUTE, found()),
            live(broker_ext(), on="main"),
        ),
    ),
    Case(
        id="ns/104/10",
        requirement="A one-way 104 MUST be executed and MUST NOT be answered.",
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        items=(22, 88),
        steps=(
            register(),
            Send((Request(code=104, ext=broker_ext(), flag=2),)),
            Expect((Silence(),)),
            until(106, None, GONE, on="reader"),
        ),
    ),
    Case(
        id="ns/104/11",
        requirement="104 with another cluster name SHOULD keep the live entry of the correct cluster.",
        evidence=UNREGISTER,
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        steps=(
            register(on="a"),
            unregister(broker_ext(cluster="{clusterB}", name="{brokerB}"), DONE, on="b"),
            live(broker_ext()),
            ask(106, None, group({"0": "{address}"}), on="reader"),
        ),
    ),
    Case(
        id="ns/104/12",
        requirement="104 with an invalid brokerId SHOULD succeed.",
        evidence=HANDLER,
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        items=(90,),
        steps=(unregister(broker_ext(broker_id="x"), DONE),),
    ),
)
