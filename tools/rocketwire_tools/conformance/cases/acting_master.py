"""Acting masters: groups of brokers without a master."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE, group
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
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
ACTING: Final = {"supportActingMaster": "true"}
SYNC: Final = "rmq_sys_SYNC_BROKER_MEMBER_{broker}"


def member(number: int, acting: str | None = "true", **fields: str) -> dict[str, str]:
    """The ext fields of a member at ``{addressN}``; None as brokers before 5.0.0 send it."""
    ext = broker_ext(address=f"{{address{number}}}", broker_id=number, ha=f"{{ha{number}}}")
    return ext | ({} if acting is None else {"enableActingMaster": acting}) | fields


def routed(addresses: dict[str, str], perm: object = ANY) -> Answer:
    """The route over one group of exactly these addresses, with this permission."""
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


def _with_perm(perm: int) -> dict[str, object]:
    return registration((topic_config("{topic}", perm=perm), "{topicB}"))


CASES: Final = (
    case(
        "ns/acting/1",
        "A slave without enableActingMaster (an old broker) MUST be listed without topics.",
        register(member(1, None)),
        ask(106, None, group({"1": "{address1}"})),
        ask(105, ROUTE, NO_ROUTE),
        evidence=REGISTER, items=(66,), profiles=SINCE_5_3,
    ),
    case(
        "ns/acting/2",
        "A slave with enableActingMaster=false and no master MUST be listed with topics and their "
        "permissions.",
        register(member(1, "false")),
        ask(105, ROUTE, routed({"1": "{address1}"}, 6)),
        evidence=REGISTER, items=(66,), profiles=SINCE_5_3,
    ),
    case(
        "ns/acting/3",
        "Topics of a slave whose id is not the smallest of its group MUST be ignored.",
        register(member(1, "false"), None, on="1"),
        register(member(2, "false"), registration(("{topicC}", "{topicD}")), on="2"),
        ask(106, None, group({"1": "{address1}", "2": "{address2}"}), on="1"),
        ask(105, {"topic": "{topicC}"}, NO_ROUTE, on="1"),
        evidence=REGISTER, items=(67,), profiles=SINCE_5_3,
    ),
    case(
        "ns/acting/4", "Topics of a slave whose master is registered MUST be ignored.",
        register(member(0), None, on="0"),
        register(member(1), registration(("{topicC}", "{topicD}")), on="1"),
        ask(105, {"topic": "{topicC}"}, NO_ROUTE, on="1"),
        evidence=REGISTER, items=(67,),
    ),
    case(
        "ns/acting/5", "A group MUST have the enableActingMaster of the last registration.",
        register(member(0, "true"), None, on="0"),
        ask(106, None, group({"0": "{address0}"}, enableActingMaster=True), on="0"),
        register(member(1, "false"), None, on="1"),
        ask(
            106, None, group({"0": "{address0}", "1": "{address1}"}, enableActingMaster=False),
            on="0",
        ),
        register(member(1, None), None, on="1"),
        ask(
            105, ROUTE, found(Json(Has({"brokerDatas": [Has({"enableActingMaster": False})]}))),
            on="0",
        ),
        evidence=REGISTER, items=(68,), profiles=SINCE_5_3,
    ),
    case(
        "ns/acting/6",
        "With supportActingMaster, the slave with the smallest id of a group without master MUST "
        "be listed as master.",
        register(member(2), None, on="2"),
        register(member(1), None, on="1"),
        ask(105, ROUTE, routed({"0": "{address1}", "2": "{address2}"}, 4), on="1"),
        ask(106, None, group({"1": "{address1}", "2": "{address2}"}), on="1"),
        evidence=PICKUP, items=(100,), profiles=SINCE_5_3, options=ACTING,
    ),
    case(
        "ns/acting/7",
        "Without supportActingMaster, a group without master MUST be listed unchanged.",
        register(member(1)),
        ask(105, ROUTE, routed({"1": "{address1}"}, 4)),
        evidence=PICKUP, items=(100,), profiles=SINCE_5_3, options=OTHER_SETTING,
    ),
    case(
        "ns/acting/8",
        "The route of a topic rmq_sys_SYNC_BROKER_MEMBER_... MUST contain the real ids.",
        register(member(1), registration((SYNC, "{topic}"))),
        ask(105, {"topic": SYNC}, routed({"1": "{address1}"}, 4)),
        ask(105, ROUTE, routed({"0": "{address1}"}, 4)),
        evidence=PICKUP, items=(100,), profiles=SINCE_5_3, options=ACTING,
    ),
    case(
        "ns/acting/9", "A group with enableActingMaster=false MUST be listed unchanged.",
        register(member(1, "false")),
        ask(105, ROUTE, routed({"1": "{address1}"}, 6)),
        evidence=PICKUP, items=(100,), profiles=SINCE_5_3, options=ACTING,
    ),
    case(
        "ns/acting/10",
        "Topics of an acting master MUST lose write permission; a master restores it until it "
        "leaves.",
        register(member(1), None, on="1"),
        ask(105, ROUTE, routed({"1": "{address1}"}, 4), on="1"),
        register(member(0), None, on="0"),
        ask(105, ROUTE, routed({"0": "{address0}", "1": "{address1}"}, 6), on="1"),
        unregister(member(0), on="0"),
        until(105, ROUTE, routed({"1": "{address1}"}, 4), on="1"),
        evidence=f"{REGISTER}, unRegisterBroker", items=(101,), profiles=SINCE_5_3,
    ),
    case(
        "ns/acting/11", "Topics of an acting master MUST lose only the write bit.",
        register(member(1), _with_perm(7)),
        ask(105, ROUTE, routed({"1": "{address1}"}, 5)),
        evidence=REGISTER, items=(101,), profiles=SINCE_5_3,
    ),
    case(
        "ns/acting/12", "A writable group MUST NOT get an acting master.",
        register(member(1), None),
        ask(327, {"brokerName": "{broker}"}, Answer(ext={"addTopicCount": "2"})),
        ask(105, ROUTE, routed({"1": "{address1}"}, 6)),
        evidence=PICKUP, items=(100,), profiles=SINCE_5_3, options=ACTING,
    ),
    case(
        "ns/acting/13",
        "If the connection of a master is lost, its group's topics MUST lose write permission.",
        register(member(0), None, on="0"),
        register(member(1), None, on="1"),
        Close("0"),
        until(105, ROUTE, routed({"0": "{address1}"}, 4), on="1"),
        evidence="RouteInfoManager.unRegisterBroker, wipeWritePermOfBrokerByLock @ 5.5.0",
        items=(100, 101), profiles=SINCE_5_3, options=ACTING,
    ),
    case(
        "ns/acting/14",
        "A group with enableActingMaster=false MUST keep write permission without a master.",
        register(member(0, "false"), None, on="0"),
        register(member(1, "false"), None, on="1"),
        Close("0"),
        until(105, ROUTE, routed({"1": "{address1}"}, 6), on="1"),
        evidence="RouteInfoManager.unRegisterBroker @ 5.5.0", items=(101,), profiles=SINCE_5_3,
    ),
)  # fmt: skip
