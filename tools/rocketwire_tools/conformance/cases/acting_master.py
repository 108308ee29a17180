"""Acting masters, and what brokers are told when the smallest id of their group changes (905)."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Has, Json
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    OTHER_SETTING,
    ask,
    broker_ext,
    found,
    register,
    registration,
    topic_config,
    unregister,
    until,
)
from rocketwire_tools.conformance.model.steps import Close

REGISTER: Final = "RouteInfoManager.registerBroker @ 5.5.0"
PICKUP: Final = "RouteInfoManager.pickupTopicRouteData @ 5.5.0"
ROUTE: Final = {"topic": "{topic}"}
ACTING: Final = {"supportActingMaster": "true"}
SYNC: Final = "rmq_sys_SYNC_BROKER_MEMBER_{broker}"


def member(number: int, acting: str | None = "true", **fields: str) -> dict[str, str]:
    """The ext fields of the group's member with that id, at ``{addressN}``; None as brokers before 5.0.0 send it."""
    ext = broker_ext(address=f"{{address{number}}}", broker_id=number, ha=f"{{ha{number}}}")
    return ext | ({} if acting is None else {"enableActingMaster": acting}) | fields


def routed(addresses: dict[str, str], perm: object = ANY) -> Answer:
    """105 over one group of exactly these addresses, with this permission."""
    return found(
        Json(
            Has(
                {
                    "brokerDatas": [Has({"brokerAddrs": addresses})],
                    "queueDatas": [Has({"perm": perm})],
                }
            )
        )
    )


def group(addresses: dict[str, str], **settings: object) -> Answer:
    """106 in which the group has exactly these addresses."""
    members: dict[str, object] = {"brokerAddrs": addresses} | settings
    return found(Json(Has({"brokerAddrTable": Has({"{broker}": Has(members)})})))


def _with_perm(perm: int) -> dict[str, object]:
    return registration((topic_config("{topic}", perm=perm), "{topicB}"))


CASES: Final = (
    Case(
        id="ns/acting/1",
        requirement="A slave without enableActingMaster (an old broker) MUST be listed without topics.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(66,),
        steps=(
            register(member(1, None)),
            ask(106, None, group({"1": "{address1}"})),
            ask(105, ROUTE, NO_ROUTE),
        ),
    ),
    Case(
        id="ns/acting/2",
        requirement="A slave with enableActingMaster=false and no master MUST be listed with topics and their permissions.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(66,),
        steps=(register(member(1, "false")), ask(105, ROUTE, routed({"1": "{address1}"}, 6))),
    ),
    Case(
        id="ns/acting/3",
        requirement="Topics of a slave whose id is not the smallest of its group MUST be ignored.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(67,),
        steps=(
            register(member(1, "false"), None, on="1"),
            register(member(2, "false"), registration(("{topicC}", "{topicD}")), on="2"),
            ask(106, None, group({"1": "{address1}", "2": "{address2}"}), on="1"),
            ask(105, {"topic": "{topicC}"}, NO_ROUTE, on="1"),
        ),
    ),
    Case(
        id="ns/acting/4",
        requirement="Topics of a slave whose master is registered MUST be ignored.",
        evidence=REGISTER,
        items=(67,),
        steps=(
            register(member(0), None, on="0"),
            register(member(1), registration(("{topicC}", "{topicD}")), on="1"),
            ask(105, {"topic": "{topicC}"}, NO_ROUTE, on="1"),
        ),
    ),
    Case(
        id="ns/acting/5",
        requirement="A group MUST have the enableActingMaster of the last registration.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(68,),
        steps=(
            register(member(0, "true"), None, on="0"),
            ask(106, None, group({"0": "{address0}"}, enableActingMaster=True), on="0"),
            register(member(1, "false"), None, on="1"),
            ask(
                106,
                None,
                group({"0": "{address0}", "1": "{address1}"}, enableActingMaster=False),
                on="0",
            ),
            register(member(1, None), None, on="1"),
            ask(
                105,
                ROUTE,
                found(Json(Has({"brokerDatas": [Has({"enableActingMaster": False})]}))),
                on="0",
            ),
        ),
    ),
    Case(
        id="ns/acting/6",
        requirement="With supportActingMaster, the slave with the smallest id of a group without master MUST be listed as master.",
        evidence=PICKUP,
        profiles=SINCE_5_3,
        options=ACTING,
        items=(100,),
        steps=(
            register(member(2), None, on="2"),
            register(member(1), None, on="1"),
            ask(105, ROUTE, routed({"0": "{address1}", "2": "{address2}"}, 4), on="1"),
            ask(106, None, group({"1": "{address1}", "2": "{address2}"}), on="1"),
        ),
    ),
    Case(
        id="ns/acting/7",
        requirement="Without supportActingMaster, a group without master MUST be listed unchanged.",
        evidence=PICKUP,
        profiles=SINCE_5_3,
        options=OTHER_SETTING,
        items=(100,),
        steps=(register(member(1)), ask(105, ROUTE, routed({"1": "{address1}"}, 4))),
    ),
    Case(
        id="ns/acting/8",
        requirement="The route of a topic rmq_sys_SYNC_BROKER_MEMBER_... MUST contain the real ids.",
        evidence=PICKUP,
        profiles=SINCE_5_3,
        options=ACTING,
        items=(100,),
        steps=(
            register(member(1), registration((SYNC, "{topic}"))),
            ask(105, {"topic": SYNC}, routed({"1": "{address1}"}, 4)),
            ask(105, ROUTE, routed({"0": "{address1}"}, 4)),
        ),
    ),
    Case(
        id="ns/acting/9",
        requirement="A group with enableActingMaster=false MUST be listed unchanged.",
        evidence=PICKUP,
        profiles=SINCE_5_3,
        options=ACTING,
        items=(100,),
        steps=(register(member(1, "false")), ask(105, ROUTE, routed({"1": "{address1}"}, 6))),
    ),
    Case(
        id="ns/acting/10",
        requirement="Topics of an acting master MUST lose write permission; a master restores it until it leaves.",
        evidence=f"{REGISTER}, unRegisterBroker",
        profiles=SINCE_5_3,
        items=(101,),
        steps=(
            register(member(1), None, on="1"),
            ask(105, ROUTE, routed({"1": "{address1}"}, 4), on="1"),
            register(member(0), None, on="0"),
            ask(105, ROUTE, routed({"0": "{address0}", "1": "{address1}"}, 6), on="1"),
            unregister(member(0), on="0"),
            until(105, ROUTE, routed({"1": "{address1}"}, 4), on="1"),
        ),
    ),
    Case(
        id="ns/acting/11",
        requirement="Topics of an acting master MUST lose only the write bit.",
        evidence=REGISTER,
        profiles=SINCE_5_3,
        items=(101,),
        steps=(register(member(1), _with_perm(7)), ask(105, ROUTE, routed({"1": "{address1}"}, 5))),
    ),
    Case(
        id="ns/acting/12",
        requirement="A writable group MUST NOT get an acting master.",
        evidence=PICKUP,
        profiles=SINCE_5_3,
        options=ACTING,
        items=(100,),
        steps=(
            register(member(1), None),
            ask(327, {"brokerName": "{broker}"}, Answer(ext={"addTopicCount": "2"})),
            ask(105, ROUTE, routed({"1": "{address1}"}, 6)),
        ),
    ),
    Case(
        id="ns/acting/13",
        requirement="If the connection of a master is lost, its group's topics MUST lose write permission.",
        evidence="RouteInfoManager.unRegisterBroker, wipeWritePermOfBrokerByLock @ 5.5.0",
        profiles=SINCE_5_3,
        options=ACTING,
        items=(100, 101),
        steps=(
            register(member(0), None, on="0"),
            register(member(1), None, on="1"),
            Close("0"),
            until(105, ROUTE, routed({"0": "{address1}"}, 4), on="1"),
        ),
    ),
    Case(
        id="ns/acting/14",
        requirement="A group with enableActingMaster=false MUST keep write permission without a master.",
        evidence="RouteInfoManager.unRegisterBroker @ 5.5.0",
        profiles=SINCE_5_3,
        items=(101,),
        steps=(
            register(member(0, "false"), None, on="0"),
            register(member(1, "false"), None, on="1"),
            Close("0"),
            until(105, ROUTE, routed({"1": "{address1}"}, 6), on="1"),
        ),
    ),
)
