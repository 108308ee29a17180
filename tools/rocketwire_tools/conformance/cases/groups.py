"""Groups of brokers: acting masters, and notifications when the smallest id changes (905)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import ROUTE, group
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Has,
    Incoming,
    JsonBody,
    Response,
    Silence,
)
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    OTHER_SETTING,
    ask,
    broker_ext,
    expect,
    has,
    register,
    registration,
    success,
    topic_config,
    unregister,
    until,
)
from rocketwire_tools.conformance.model.steps import Ask, Close, Expect, Listen, Step

if TYPE_CHECKING:
    from collections.abc import Mapping


# Acting masters: groups of brokers without a master.

REGISTER: Final = "RouteInfoManager.registerBroker @ 5.5.0"
PICKUP: Final = "RouteInfoManager.pickupTopicRouteData @ 5.5.0"
ACTING: Final = {"supportActingMaster": "true"}
SYNC: Final = "rmq_sys_SYNC_BROKER_MEMBER_{broker}"


def member(
    number: int, acting: str | None = "true", *, at: str = "address", **fields: str
) -> dict[str, str]:
    """The ext fields of a member at ``{addressN}``; None as brokers before 5.0.0 send it."""
    ext = broker_ext(address=f"{{{at}{number}}}", broker_id=number, ha=f"{{ha{number}}}")
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


# Notifications of brokers when the smallest id of their group changes (905).

NOTIFY: Final = "RouteInfoManager.notifyMinBrokerIdChanged @ 5.5.0"
JOINED: Final = f"{NOTIFY}, registerBroker"
LEFT: Final = f"{NOTIFY}, unRegisterBroker"
ENABLED: Final = {"notifyMinBrokerIdChanged": "true"}


listener = partial(member, at="listener")
"""The ext fields of a member at ``{listenerN}``."""


def join(*numbers: int, acting: str = "true") -> tuple[Ask, ...]:
    """Register these members in this order, each on its own connection ``bN``."""
    return tuple(register(listener(number, acting), None, on=f"b{number}") for number in numbers)


def leave(*numbers: int, acting: str = "true") -> tuple[Ask, ...]:
    """Unregister these members in this order."""
    return tuple(unregister(listener(number, acting), on=f"b{number}") for number in numbers)


def listen(*numbers: int) -> tuple[Listen, ...]:
    """Open a listener for each member; its connections are ``sN``."""
    return tuple(Listen(f"s{number}", f"{{listener{number}}}") for number in numbers)


def notifies(number: int, **fields: str) -> Expect:
    """Expect this notification of the member, and no other."""
    return expect(Incoming(code=905, flag=2, ext=fields), on=f"s{number}")


def not_notified(number: int) -> Expect:
    """Expect no notification of the member."""
    return expect(Silence(seconds=1.0), on=f"s{number}")


def _case(
    number: int,
    requirement: str,
    evidence: str,
    *,
    members: tuple[int, ...],
    steps: tuple[Step, ...],
    options: Mapping[str, str] = ENABLED,
) -> Case:
    """A case with these members, which unregister at its end: the largest id first, silently.

    Lost connections would make the server notify other members later, when another case may listen
    at their addresses.
    """
    return since_5_3(f"ns/905/{number}", 102, evidence, requirement,
        *steps,
        options=options, cleanup=leave(*members),
    )  # fmt: skip


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


NOTIFICATIONS: Final = (
    _case(1, "If a smaller id joins, the other members MUST be notified of its address, one-way.",
        JOINED, members=(2, 1),
        steps=(
            *listen(1, 2),
            *join(2, 1),
            notifies(2, minBrokerId="1", minBrokerAddr="{listener1}", haBrokerAddr="{ha1}"),
            not_notified(1),
        )),
    _case(2,
        "If the smallest id leaves, the remaining members MUST be notified of it and of the new "
        "smallest id.", LEFT, members=(2, 1, 0),
        steps=(
            *join(0, 1, 2),
            *listen(1, 2),
            *leave(0),
            *(
                notifies(
                    number,
                    minBrokerId="1",
                    minBrokerAddr="{listener1}",
                    offlineBrokerAddr="{listener0}",
                )
                for number in (1, 2)
            ),
        )),
    _case(3,
        "If the connection of the smallest id is lost, the remaining members MUST be notified.",
        LEFT, members=(1, 0),
        steps=(
            *join(0, 1),
            *listen(1),
            Close("b0"),
            notifies(1, minBrokerId="1", minBrokerAddr="{listener1}",
                offlineBrokerAddr="{listener0}"),
        )),
    _case(4, "A group with enableActingMaster=false MUST NOT be notified if a member leaves.", LEFT,
        members=(1, 0),
        steps=(
            *join(0, 1, acting="false"),
            *listen(1),
            *leave(0, acting="false"),
            not_notified(1),
        )),
    _case(5, "If an id joins that is not the smallest, members MUST NOT be notified.", JOINED,
        members=(1, 0), steps=(*listen(0, 1), *join(0, 1), not_notified(0), not_notified(1))),
    _case(6, "If an id leaves that is not the smallest, members MUST NOT be notified.", LEFT,
        members=(1, 0), steps=(*listen(0, 1), *join(0, 1), *leave(1), not_notified(0))),
    _case(7, "Without notifyMinBrokerIdChanged, members MUST NOT be notified.", NOTIFY,
        options=OTHER_SETTING, members=(2, 1), steps=(*listen(2), *join(2, 1), not_notified(2))),
    _case(8, "An unreachable member MUST NOT delay responses.", NOTIFY, members=(2, 1),
        steps=(
            *join(2, 1),
            ask(106, None,
                has({"brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": {
                    "1": "{listener1}",
                    "2": "{listener2}",
                }})})}), on="reader"),
        )),
    _case(9,
        "A single slave that becomes master at its address SHOULD be notified of its own change.",
        JOINED, members=(1,),
        steps=(
            *listen(1),
            *join(1),
            register(listener(1) | {"brokerId": "0"}, None, on="b1"),
            notifies(1, minBrokerId="0", minBrokerAddr="{listener1}", haBrokerAddr="{ha1}"),
        )),
)  # fmt: skip
