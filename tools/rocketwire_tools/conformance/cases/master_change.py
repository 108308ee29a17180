"""Registration (103): changes of masters, and brokers that share names, addresses or clusters."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ACCEPTED, group, slave
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import Answer, Has, Json
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    data_version,
    found,
    register,
    registration,
)

REGISTER: Final = "RouteInfoManager.registerBroker @ 5.5.0"


CASES: Final = (
    case(
        "ns/103/11",
        "A slave that becomes master at the same address MUST NOT remain listed as slave.",
        register(),
        register(slave()),
        ask(106, None, group({"0": "{address}", "1": "{addressS}"})),
        register(broker_ext(address="{addressS}", broker_id=0)),
        ask(106, None, group({"0": "{addressS}"})),
        evidence=REGISTER, items=(63,),
    ),
    case(
        "ns/103/12",
        "A new address for an id MUST be ignored if its stateVersion is lower than the current "
        "one.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(
            broker_ext(address="{addressB}"), registration(version=data_version(1, 4)), ACCEPTED,
            on="b",
        ),
        ask(106, None, group({"0": "{address}"}), on="b"),
        evidence=REGISTER, items=(64,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/13",
        "A new address for an id MUST replace the current one if its stateVersion is equal or "
        "higher.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(
            broker_ext(address="{addressB}"), registration(version=data_version(1, 5)), on="b",
        ),
        ask(106, None, group({"0": "{addressB}"}), on="b"),
        register(
            broker_ext(address="{addressC}"), registration(version=data_version(1, 6)), on="c",
        ),
        ask(106, None, group({"0": "{addressC}"}), on="c"),
        evidence=REGISTER, items=(64,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/14",
        "A new address for the id of a master of another cluster SHOULD replace it with any "
        "stateVersion.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(
            broker_ext(cluster="{clusterB}", address="{addressB}"),
            registration(version=data_version(1, 4)), on="b",
        ),
        ask(106, None, group({"0": "{addressB}"}, cluster="{cluster}"), on="b"),
        evidence=REGISTER, items=(64, 75), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/15",
        "A slave that registers as master with a lower stateVersion MUST be removed from the "
        "group.",
        register(None, registration(version=data_version(1, 5)), on="a"),
        register(slave(), None, on="b"),
        register(
            broker_ext(address="{addressS}", broker_id=0), registration(version=data_version(1, 4)),
            ACCEPTED, on="b",
        ),
        ask(106, None, group({"0": "{address}"}), on="b"),
        ask(322, slave(), Answer(ext={"changed": "true"}), body=data_version(), on="b"),
        evidence=REGISTER, items=(65,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/16",
        "A broker name registered in two clusters MUST be listed in both, and MUST keep its first "
        "cluster.",
        register(on="a"),
        register(broker_ext(cluster="{clusterB}", address="{addressS}", broker_id=1), on="b"),
        ask(
            106, None,
            found(Json(Has({
                "brokerAddrTable": Has({"{broker}": Has({"cluster": "{cluster}"})}),
                "clusterAddrTable": Has({"{cluster}": ["{broker}"], "{clusterB}": ["{broker}"]}),
            }))),
        ),
        evidence=REGISTER, items=(75,),
    ),
    case(
        "ns/103/17", "An address registered under two broker names MUST be listed under both.",
        register(on="a"),
        register(broker_ext(name="{brokerB}"), on="a"),
        ask(
            106, None,
            found(Json(Has({
                "brokerAddrTable": Has({
                    "{broker}": Has({"brokerAddrs": {"0": "{address}"}}),
                    "{brokerB}": Has({"brokerAddrs": {"0": "{address}"}}),
                }),
            }))),
        ),
        evidence=REGISTER, items=(74,),
    ),
)  # fmt: skip
