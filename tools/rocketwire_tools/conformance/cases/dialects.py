"""Routes: the two JSON dialects, and who gets which."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, Severity
from rocketwire_tools.conformance.model.outcomes import Text
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    found,
    register,
    registration,
)

ROUTE: Final = {"topic": "{topic}"}
ANSWER: Final = "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0"


def one_broker(addresses: str, tail: str = "") -> Text:
    """The route of ``{topic}`` over one broker, byte for byte; ``addresses`` is inside the braces of brokerAddrs."""
    return Text(
        '{"brokerDatas":[{"brokerAddrs":{' + addresses + '},"brokerName":"{broker}",'
        '"cluster":"{cluster}","enableActingMaster":false' + tail + '}],"filterServerTable":{},'
        '"queueDatas":[{"brokerName":"{broker}","perm":6,"readQueueNums":8,"topicSysFlag":0,'
        '"writeQueueNums":8}]}'
    )


QUOTED: Final = one_broker('"0":"{address}"')
BARE: Final = one_broker('0:"{address}"')


def _dialect(number: int, what: str, body: Text, version: int, **ext: str) -> Case:
    return Case(
        id=f"ns/105/{number}",
        requirement=what,
        evidence=ANSWER,
        profiles=SINCE_5_3,
        items=(93,),
        tags=frozenset({"dialect"}),
        steps=(register(), ask(105, ROUTE | ext, found(body, ext=None), version=version)),
    )


STANDARD: Final = "acceptStandardJsonOnly"


CASES: Final = (
    _dialect(5, "A client of version 401 or later MUST get standard JSON.", QUOTED, 401),
    _dialect(
        6, "A client of version 400 or earlier MUST get unquoted integer keys.", BARE, 400
    ),
    _dialect(
        7,
        "With acceptStandardJsonOnly=true, any version MUST get standard JSON.",
        QUOTED,
        0,
        **{STANDARD: "true"},
    ),
    _dialect(8, "acceptStandardJsonOnly=TRUE MUST be read as true.", QUOTED, 0, **{STANDARD: "TRUE"}),
    _dialect(9, "acceptStandardJsonOnly=1 MUST be read as false.", BARE, 0, **{STANDARD: "1"}),
    _dialect(
        10,
        "With acceptStandardJsonOnly=false, a new version MUST still get standard JSON.",
        QUOTED,
        513,
        **{STANDARD: "false"},
    ),
    _dialect(11, "A negative version MUST be treated as an old version.", BARE, -1),
    Case(
        id="ns/105/13",
        requirement="Standard JSON MUST contain broker ids in numeric order, quoted.",
        evidence="RemotingSerializable, SerializerFeature.MapSortField in ClientRequestProcessor @ 5.5.0",
        profiles=SINCE_5_3,
        items=(94,),
        steps=(
            *(
                register(
                    broker_ext(address=f"{{address{number}}}", broker_id=number),
                    registration(),
                    on=str(number),
                )
                for number in (0, 16, 33, 1, 100, 5)
            ),
            ask(
                105,
                ROUTE,
                found(
                    one_broker(",".join(f'"{n}":"{{address{n}}}"' for n in (0, 1, 5, 16, 33, 100)))
                ),
                on="reader",
            ),
        ),
    ),
    Case(
        id="ns/105/14",
        requirement="Java's JSON dialect SHOULD contain broker ids in the order of Java's HashMap, unquoted.",
        evidence="TopicRouteData, RemotingSerializable.encode @ 5.5.0; java.util.HashMap",
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        items=(94,),
        steps=(
            *(
                register(
                    broker_ext(address=f"{{address{number}}}", broker_id=number),
                    registration(),
                    on=str(number),
                )
                for number in (0, 16, 33, 1, 100, 5)
            ),
            ask(
                105,
                ROUTE,
                found(
                    one_broker(",".join(f'{n}:"{{address{n}}}"' for n in (0, 16, 33, 1, 100, 5)))
                ),
                on="reader",
                version=400,
            ),
        ),
    ),
)
