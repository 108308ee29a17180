"""Acting masters: groups of brokers without a master."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE, group
from rocketwire_tools.conformance.model.case import case, since_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Has, JsonBody, Response
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    OTHER_SETTING,
    ask,
    broker_ext,
    has,
    register,
    registration,
    success,
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


def routes_to(addresses: dict[str, str], perm: object = ANY) -> Response:
    """The route over one group of exactly these addresses, with this permission."""
    return success(
        JsonBody(
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
    since_5_3("ns/acting/1", 66, REGISTER,
        "A slave without enableActingMaster (an old broker) MUST be listed without topics.",
        register(member(1, None)),
        ask(106, None, group({"1": "{address1}"})),
        ask(105, ROUTE, NO_ROUTE),
    ),
    since_5_3("ns/acting/2", 66, REGISTER,
        "A slave with enableActingMaster=false and no master MUST be listed with topics and their "
        "permissions.",
        register(member(1, "false")),
        ask(105, ROUTE, routes_to({"1": "{address1}"}, 6)),
    ),
    since_5_3("ns/acting/3", 67, REGISTER,
        "Topics of a slave whose id is not the smallest of its group MUST be ignored.",
        register(member(1, "false"), None, on="1"),
        register(member(2, "false"), registration(("{topicC}", "{topicD}")), on="2"),
        ask(106, None, group({"1": "{address1}", "2": "{address2}"}), on="1"),
        ask(105, {"topic": "{topicC}"}, NO_ROUTE, on="1"),
    ),
    case("ns/acting/4", 67, REGISTER,
        "Topics of a slave whose master is registered MUST be ignored.",
        register(member(0), None, on="0"),
        register(member(1), registration(("{topicC}", "{topicD}")), on="1"),
        ask(105, {"topic": "{topicC}"}, NO_ROUTE, on="1"),
    ),
    since_5_3("ns/acting/5", 68, REGISTER,
        "A group MUST have the enableActingMaster of the last registration.",
        register(member(0, "true"), None, on="0"),
        ask(106, None, group({"0": "{address0}"}, enableActingMaster=True), on="0"),
        register(member(1, "false"), None, on="1"),
        ask(106, None, group({"0": "{address0}", "1": "{address1}"}, enableActingMaster=False),
            on="0"),
        register(member(1, None), None, on="1"),
        ask(105, ROUTE, has({"brokerDatas": [Has({"enableActingMaster": False})]}), on="0"),
    ),
    since_5_3("ns/acting/6", 100, PICKUP,
        "With supportActingMaster, the slave with the smallest id of a group without master MUST "
        "be listed as master.",
        register(member(2), None, on="2"),
        register(member(1), None, on="1"),
        ask(105, ROUTE, routes_to({"0": "{address1}", "2": "{address2}"}, 4), on="1"),
        ask(106, None, group({"1": "{address1}", "2": "{address2}"}), on="1"),
        options=ACTING,
    ),
    since_5_3("ns/acting/7", 100, PICKUP,
        "Without supportActingMaster, a group without master MUST be listed unchanged.",
        register(member(1)),
        ask(105, ROUTE, routes_to({"1": "{address1}"}, 4)),
        options=OTHER_SETTING,
    ),
    since_5_3("ns/acting/8", 100, PICKUP,
        "The route of a topic rmq_sys_SYNC_BROKER_MEMBER_... MUST contain the real ids.",
        register(member(1), registration((SYNC, "{topic}"))),
        ask(105, {"topic": SYNC}, routes_to({"1": "{address1}"}, 4)),
        ask(105, ROUTE, routes_to({"0": "{address1}"}, 4)),
        options=ACTING,
    ),
    since_5_3("ns/acting/9", 100, PICKUP,
        "A group with enableActingMaster=false MUST be listed unchanged.",
        register(member(1, "false")),
        ask(105, ROUTE, routes_to({"1": "{address1}"}, 6)),
        options=ACTING,
    ),
    since_5_3("ns/acting/10", 101, f"{REGISTER}, unRegisterBroker",
        "Topics of an acting master MUST lose write permission; a master restores it until it "
        "leaves.",
        register(member(1), None, on="1"),
        ask(105, ROUTE, routes_to({"1": "{address1}"}, 4), on="1"),
        register(member(0), None, on="0"),
        ask(105, ROUTE, routes_to({"0": "{address0}", "1": "{address1}"}, 6), on="1"),
        unregister(member(0), on="0"),
        until(105, ROUTE, routes_to({"1": "{address1}"}, 4), on="1"),
    ),
    since_5_3("ns/acting/11", 101, REGISTER,
        "Topics of an acting master MUST lose only the write bit.",
        register(member(1), _with_perm(7)),
        ask(105, ROUTE, routes_to({"1": "{address1}"}, 5)),
    ),
    since_5_3("ns/acting/12", 100, PICKUP, "A writable group MUST NOT get an acting master.",
        register(member(1), None),
        ask(327, {"brokerName": "{broker}"}, Response(ext={"addTopicCount": "2"})),
        ask(105, ROUTE, routes_to({"1": "{address1}"}, 6)),
        options=ACTING,
    ),
    since_5_3("ns/acting/13", (100, 101),
        "RouteInfoManager.unRegisterBroker, wipeWritePermOfBrokerByLock @ 5.5.0",
        "If the connection of a master is lost, its group's topics MUST lose write permission.",
        register(member(0), None, on="0"),
        register(member(1), None, on="1"),
        Close("0"),
        until(105, ROUTE, routes_to({"0": "{address1}"}, 4), on="1"),
        options=ACTING,
    ),
    since_5_3("ns/acting/14", 101, "RouteInfoManager.unRegisterBroker @ 5.5.0",
        "A group with enableActingMaster=false MUST keep write permission without a master.",
        register(member(0, "false"), None, on="0"),
        register(member(1, "false"), None, on="1"),
        Close("0"),
        until(105, ROUTE, routes_to({"1": "{address1}"}, 6), on="1"),
    ),
)  # fmt: skip
