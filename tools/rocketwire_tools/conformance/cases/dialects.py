"""Routes: the two JSON dialects and their selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import ROUTE, one_broker
from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, case
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    found,
    register,
    registration,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.outcomes import Text

ANSWER: Final = "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0"


QUOTED: Final = one_broker('"0":"{address}"')
BARE: Final = one_broker('0:"{address}"')


def _dialect(number: int, what: str, body: Text, version: int, **ext: str) -> Case:
    return case(
        f"ns/105/{number}",
        what,
        register(),
        ask(105, ROUTE | ext, found(body, ext=None), version=version),
        evidence=ANSWER,
        items=(93,),
        profiles=SINCE_5_3,
        tags=frozenset({"dialect"}),
    )


STANDARD: Final = "acceptStandardJsonOnly"


CASES: Final = (
    _dialect(5, "A client of version 401 or later MUST get standard JSON.", QUOTED, 401),
    _dialect(6, "A client of version 400 or earlier MUST get unquoted integer keys.", BARE, 400),
    _dialect(
        7, "With acceptStandardJsonOnly=true, any version MUST get standard JSON.", QUOTED, 0,
        **{STANDARD: "true"},
    ),
    _dialect(
        8, "acceptStandardJsonOnly=TRUE MUST be read as true.", QUOTED, 0, **{STANDARD: "TRUE"},
    ),
    _dialect(9, "acceptStandardJsonOnly=1 MUST be read as false.", BARE, 0, **{STANDARD: "1"}),
    _dialect(
        10, "With acceptStandardJsonOnly=false, a new version MUST still get standard JSON.",
        QUOTED, 513, **{STANDARD: "false"},
    ),
    _dialect(11, "A negative version MUST be treated as an old version.", BARE, -1),
    case(
        "ns/105/13", "Standard JSON MUST contain broker ids in numeric order, quoted.",
        *(
            register(
                broker_ext(address=f"{{address{number}}}", broker_id=number),
                registration(),
                on=str(number),
            )
            for number in (0, 16, 33, 1, 100, 5)
        ),
        ask(
            105, ROUTE,
            found(one_broker(",".join(f'"{n}":"{{address{n}}}"' for n in (0, 1, 5, 16, 33, 100)))),
            on="reader",
        ),
        evidence="RemotingSerializable, SerializerFeature.MapSortField in ClientRequestProcessor "
        "@ 5.5.0",
        items=(94,), profiles=SINCE_5_3,
    ),
    case(
        "ns/105/14",
        "Java's JSON dialect SHOULD contain broker ids in the order of Java's HashMap, unquoted.",
        *(
            register(
                broker_ext(address=f"{{address{number}}}", broker_id=number),
                registration(),
                on=str(number),
            )
            for number in (0, 16, 33, 1, 100, 5)
        ),
        ask(
            105, ROUTE,
            found(one_broker(",".join(f'{n}:"{{address{n}}}"' for n in (0, 16, 33, 1, 100, 5)))),
            on="reader", version=400,
        ),
        evidence="TopicRouteData, RemotingSerializable.encode @ 5.5.0; java.util.HashMap",
        items=(94,), profiles=SINCE_5_3,
    ),
)  # fmt: skip
