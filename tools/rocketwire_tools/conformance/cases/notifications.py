"""What brokers are told when the smallest id of their group changes (905)."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.build import (
    OTHER_SETTING,
    ask,
    broker_ext,
    found,
    register,
    unregister,
)
from rocketwire_tools.conformance.case import SINCE_5_3, Case, Severity
from rocketwire_tools.conformance.outcomes import Has, Incoming, Json, Silence
from rocketwire_tools.conformance.steps import Close, Expect, Listen

NOTIFY: Final = "RouteInfoManager.notifyMinBrokerIdChanged @ 5.5.0"
JOINED: Final = f"{NOTIFY}, registerBroker"
LEFT: Final = f"{NOTIFY}, unRegisterBroker"
ENABLED: Final = {"notifyMinBrokerIdChanged": "true"}


def member(number: int, acting: str = "true") -> dict[str, str]:
    """The ext fields of the group's member with that id, at ``{listenerN}``."""
    return broker_ext(
        address=f"{{listener{number}}}",
        broker_id=number,
        ha=f"{{ha{number}}}",
        enableActingMaster=acting,
    )


def listen(*numbers: int) -> tuple[Listen, ...]:
    """One listener for each member, whose connections are called ``sN``."""
    return tuple(Listen(f"s{number}", f"{{listener{number}}}") for number in numbers)


def told(number: int, **fields: str) -> Expect:
    """The member is told this and nothing else."""
    return Expect((Incoming(code=905, flag=2, ext=fields),), on=f"s{number}")


def untold(number: int) -> Expect:
    """The member is told nothing."""
    return Expect((Silence(seconds=1.0),), on=f"s{number}")


CASES: Final = (
    Case(
        id="ns/905/1",
        requirement="When a smaller id joins, the others of the group MUST be told its address, one-way.",
        evidence=JOINED,
        profiles=SINCE_5_3,
        options=ENABLED,
        items=(102,),
        steps=(
            *listen(1, 2),
            register(member(2), None, on="b2"),
            register(member(1), None, on="b1"),
            told(2, minBrokerId="1", minBrokerAddr="{listener1}", haBrokerAddr="{ha1}"),
            untold(1),
        ),
    ),
    Case(
        id="ns/905/2",
        requirement="When the smallest id leaves, all that remain MUST be told who it was and who is the smallest now.",
        evidence=LEFT,
        profiles=SINCE_5_3,
        options=ENABLED,
        items=(102,),
        steps=(
            register(member(0), None, on="b0"),
            register(member(1), None, on="b1"),
            register(member(2), None, on="b2"),
            *listen(1, 2),
            unregister(member(0), on="b0"),
            *(
                told(
                    number,
                    minBrokerId="1",
                    minBrokerAddr="{listener1}",
                    offlineBrokerAddr="{listener0}",
                )
                for number in (1, 2)
            ),
        ),
    ),
    Case(
        id="ns/905/3",
        requirement="When the connection of the smallest id is lost, all that remain MUST be told.",
        evidence=LEFT,
        profiles=SINCE_5_3,
        options=ENABLED,
        items=(102,),
        steps=(
            register(member(0), None, on="b0"),
            register(member(1), None, on="b1"),
            *listen(1),
            Close("b0"),
            told(1, minBrokerId="1", minBrokerAddr="{listener1}", offlineBrokerAddr="{listener0}"),
        ),
    ),
    Case(
        id="ns/905/4",
        requirement="Groups that do not want an acting master MUST not be told who leaves.",
        evidence=LEFT,
        profiles=SINCE_5_3,
        options=ENABLED,
        items=(102,),
        steps=(
            register(member(0, "false"), None, on="b0"),
            register(member(1, "false"), None, on="b1"),
            *listen(1),
            unregister(member(0, "false"), on="b0"),
            untold(1),
        ),
    ),
    Case(
        id="ns/905/5",
        requirement="When an id joins that is not the smallest, nobody MUST be told.",
        evidence=JOINED,
        profiles=SINCE_5_3,
        options=ENABLED,
        items=(102,),
        steps=(
            *listen(0, 1),
            register(member(0), None, on="b0"),
            register(member(1), None, on="b1"),
            untold(0),
            untold(1),
        ),
    ),
    Case(
        id="ns/905/6",
        requirement="When an id leaves that is not the smallest, nobody MUST be told.",
        evidence=LEFT,
        profiles=SINCE_5_3,
        options=ENABLED,
        items=(102,),
        steps=(
            *listen(0, 1),
            register(member(0), None, on="b0"),
            register(member(1), None, on="b1"),
            unregister(member(1), on="b1"),
            untold(0),
        ),
    ),
    Case(
        id="ns/905/7",
        requirement="Without notifyMinBrokerIdChanged nobody MUST be told anything.",
        evidence=NOTIFY,
        profiles=SINCE_5_3,
        options=OTHER_SETTING,
        items=(102,),
        steps=(
            *listen(2),
            register(member(2), None, on="b2"),
            register(member(1), None, on="b1"),
            untold(2),
        ),
    ),
    Case(
        id="ns/905/8",
        requirement="A member that cannot be reached MUST not keep the server from answering.",
        evidence=NOTIFY,
        profiles=SINCE_5_3,
        options=ENABLED,
        items=(102,),
        steps=(
            register(member(2), None, on="b2"),
            register(member(1), None, on="b1"),
            ask(
                106,
                None,
                found(
                    Json(
                        Has(
                            {
                                "brokerAddrTable": Has(
                                    {
                                        "{broker}": Has(
                                            {
                                                "brokerAddrs": {
                                                    "1": "{listener1}",
                                                    "2": "{listener2}",
                                                }
                                            }
                                        )
                                    }
                                )
                            }
                        )
                    )
                ),
                on="reader",
            ),
        ),
    ),
    Case(
        id="ns/905/9",
        requirement="The only slave that becomes master at its address SHOULD be told of itself.",
        evidence=JOINED,
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        options=ENABLED,
        items=(102,),
        steps=(
            *listen(1),
            register(member(1), None, on="b1"),
            register(member(1) | {"brokerId": "0"}, None, on="b1"),
            told(1, minBrokerId="0", minBrokerAddr="{listener1}", haBrokerAddr="{ha1}"),
        ),
    ),
)
