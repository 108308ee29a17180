"""Notifications of brokers when the smallest id of their group changes (905)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.case import Case, since_5_3
from rocketwire_tools.conformance.model.outcomes import Has, Incoming, Silence
from rocketwire_tools.conformance.model.requests import (
    OTHER_SETTING,
    ask,
    broker_ext,
    expect,
    has,
    register,
    unregister,
)
from rocketwire_tools.conformance.model.steps import Ask, Close, Expect, Listen, Step

if TYPE_CHECKING:
    from collections.abc import Mapping


NOTIFY: Final = "RouteInfoManager.notifyMinBrokerIdChanged @ 5.5.0"
JOINED: Final = f"{NOTIFY}, registerBroker"
LEFT: Final = f"{NOTIFY}, unRegisterBroker"
ENABLED: Final = {"notifyMinBrokerIdChanged": "true"}


def member(number: int, acting: str = "true") -> dict[str, str]:
    """The ext fields of a member at ``{listenerN}``."""
    return broker_ext(
        address=f"{{listener{number}}}",
        broker_id=number,
        ha=f"{{ha{number}}}",
        enableActingMaster=acting,
    )


def join(*numbers: int, acting: str = "true") -> tuple[Ask, ...]:
    """Register these members in this order, each on its own connection ``bN``."""
    return tuple(register(member(number, acting), None, on=f"b{number}") for number in numbers)


def leave(*numbers: int, acting: str = "true") -> tuple[Ask, ...]:
    """Unregister these members in this order."""
    return tuple(unregister(member(number, acting), on=f"b{number}") for number in numbers)


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
            register(member(1) | {"brokerId": "0"}, None, on="b1"),
            notifies(1, minBrokerId="0", minBrokerAddr="{listener1}", haBrokerAddr="{ha1}"),
        )),
)  # fmt: skip
