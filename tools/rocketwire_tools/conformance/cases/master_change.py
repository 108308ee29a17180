"""Registration (103): who takes whose place, and brokers that share names, addresses or clusters."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, Severity
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
ACCEPTED: Final = Answer(ext={})


def slave(number: int = 1, **fields: str) -> dict[str, str]:
    """The ext fields of a slave ``{addressS}``."""
    return broker_ext(address="{addressS}", broker_id=number, ha="{haS}", **fields)


def group(addresses: dict[str, str], **settings: object) -> Answer:
    """106 in which the group ``{broker}`` has exactly these addresses."""
    members: dict[str, object] = {"brokerAddrs": addresses} | settings
    return found(Json(Has({"brokerAddrTable": Has({"{broker}": Has(members)})})))


CASES: Final = (
    Case(
        id="ns/103/11",
        requirement="A slave that becomes master at the same address MUST NOT remain listed as slave.",
        evidence=REGISTER,
        items=(63,),
        steps=(
            register(),
            register(slave()),
            ask(106, None, group({"0": "{address}", "1": "{addressS}"})),
            register(broker_ext(address="{addressS}", broker_id=0)),
            ask(106, None, group({"0": "{addressS}"})),
        ),
    ),
    Case(
        id="ns/103/12",
        requirement="A new address for an id MUST be ignored if its stateVersion is lower than the current one.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(64,),
        steps=(
            register(None, registration(version=data_version(1, 5)), on="a"),
            register(
                broker_ext(address="{addressB}"),
                registration(version=data_version(1, 4)),
                ACCEPTED,
                on="b",
            ),
            ask(106, None, group({"0": "{address}"}), on="b"),
        ),
    ),
    Case(
        id="ns/103/13",
        requirement="A new address for an id MUST replace the current one if its stateVersion is equal or higher.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(64,),
        steps=(
            register(None, registration(version=data_version(1, 5)), on="a"),
            register(
                broker_ext(address="{addressB}"), registration(version=data_version(1, 5)), on="b"
            ),
            ask(106, None, group({"0": "{addressB}"}), on="b"),
            register(
                broker_ext(address="{addressC}"), registration(version=data_version(1, 6)), on="c"
            ),
            ask(106, None, group({"0": "{addressC}"}), on="c"),
        ),
    ),
    Case(
        id="ns/103/14",
        requirement="A new address for the id of a master of another cluster SHOULD replace it with any stateVersion.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        severity=Severity.SHOULD,
        items=(64, 75),
        steps=(
            register(None, registration(version=data_version(1, 5)), on="a"),
            register(
                broker_ext(cluster="{clusterB}", address="{addressB}"),
                registration(version=data_version(1, 4)),
                on="b",
            ),
            ask(106, None, group({"0": "{addressB}"}, cluster="{cluster}"), on="b"),
        ),
    ),
    Case(
        id="ns/103/15",
        requirement="A slave that registers as master with a lower stateVersion MUST be removed from the group.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(65,),
        steps=(
            register(None, registration(version=data_version(1, 5)), on="a"),
            register(slave(), None, on="b"),
            register(
                broker_ext(address="{addressS}", broker_id=0),
                registration(version=data_version(1, 4)),
                ACCEPTED,
                on="b",
            ),
            ask(106, None, group({"0": "{address}"}), on="b"),
            ask(322, slave(), Answer(ext={"changed": "true"}), body=data_version(), on="b"),
        ),
    ),
    Case(
        id="ns/103/16",
        requirement="A broker name registered in two clusters MUST be listed in both, and MUST keep its first cluster.",
        evidence=REGISTER,
        items=(75,),
        steps=(
            register(on="a"),
            register(broker_ext(cluster="{clusterB}", address="{addressS}", broker_id=1), on="b"),
            ask(
                106,
                None,
                found(
                    Json(
                        Has(
                            {
                                "brokerAddrTable": Has({"{broker}": Has({"cluster": "{cluster}"})}),
                                "clusterAddrTable": Has(
                                    {"{cluster}": ["{broker}"], "{clusterB}": ["{broker}"]}
                                ),
                            }
                        )
                    )
                ),
            ),
        ),
    ),
    Case(
        id="ns/103/17",
        requirement="An address registered under two broker names MUST be listed under both.",
        evidence=REGISTER,
        items=(74,),
        steps=(
            register(on="a"),
            register(broker_ext(name="{brokerB}"), on="a"),
            ask(
                106,
                None,
                found(
                    Json(
                        Has(
                            {
                                "brokerAddrTable": Has(
                                    {
                                        "{broker}": Has({"brokerAddrs": {"0": "{address}"}}),
                                        "{brokerB}": Has({"brokerAddrs": {"0": "{address}"}}),
                                    }
                                )
                            }
                        )
                    )
                ),
            ),
        ),
    ),
)
