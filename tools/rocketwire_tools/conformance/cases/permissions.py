"""Write permission of a broker: cleared by 205, restored by 327."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE
from rocketwire_tools.conformance.model.case import case
from rocketwire_tools.conformance.model.outcomes import Has, Response
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    data_version,
    has,
    register,
    registration,
    topic_config,
)

CHANGE: Final = "RouteInfoManager.operateWritePermOfBroker @ 5.5.0"
REGISTER: Final = "RouteInfoManager.registerBroker, isTopicConfigChanged @ 5.5.0"
BROKER: Final = {"brokerName": "{broker}"}
OTHER: Final = broker_ext(name="{brokerB}", address="{addressB}", ha="{haB}")


def wipes(count: int) -> Response:
    """The response to 205."""
    return Response(ext={"wipeTopicCount": str(count)})


def adds(count: int) -> Response:
    """The response to 327."""
    return Response(ext={"addTopicCount": str(count)})


def perm(value: int) -> Response:
    """A route that contains only the queues of ``{broker}``, with this permission."""
    return has({"queueDatas": [Has({"brokerName": "{broker}", "perm": value})]})


def _topics(*perms: int) -> dict[str, object]:
    return registration(tuple(topic_config(f"{{topic{perm}}}", perm=perm) for perm in perms))


CASES: Final = (
    case("ns/205/1", 103, CHANGE,
        "205 MUST clear the write bit of every topic of the broker and return the number of "
        "topics.",
        register(None, _topics(6, 7, 2, 4)),
        ask(205, BROKER, wipes(4)),
        ask(105, {"topic": "{topic6}"}, perm(4)),
        ask(105, {"topic": "{topic7}"}, perm(5)),
        ask(105, {"topic": "{topic2}"}, perm(0)),
        ask(105, {"topic": "{topic4}"}, perm(4)),
    ),
    case("ns/205/2", 103, CHANGE,
        "205 MUST count all topics of the broker even if nothing changes.",
        register(),
        ask(205, BROKER, wipes(2)),
        ask(205, BROKER, wipes(2)),
    ),
    case("ns/205/3", 103, CHANGE, "205 for an unknown broker, or without one, MUST return 0.",
        ask(205, BROKER, wipes(0)),
        ask(205, None, wipes(0)),
        ask(205, {}, wipes(0)),
    ),
    case("ns/205/4", 103, CHANGE, "205 MUST NOT change other brokers of the same topics.",
        register(on="a"),
        register(OTHER, None, on="b"),
        ask(205, BROKER, wipes(2)),
        ask(105, ROUTE,
            has({"queueDatas": [
                Has({"brokerName": "{broker}", "perm": 4}),
                Has({"brokerName": "{brokerB}", "perm": 6}),
            ]})),
    ),
    case("ns/205/5", 105, REGISTER,
        "A cleared permission MUST be restored by the broker's next data version, but not before.",
        register(),
        ask(205, BROKER, wipes(2)),
        register(),
        ask(105, ROUTE, perm(4)),
        register(None, registration(version=data_version(2))),
        ask(105, ROUTE, perm(6)),
    ),
    case("ns/205/6", 103, CHANGE, "Broker names MUST be compared exactly.",
        register(),
        ask(205, {"brokerName": "{broker} "}, wipes(0)),
        ask(205, {"brokerName": "X{broker}"}, wipes(0)),
        ask(105, ROUTE, perm(6)),
    ),
    case("ns/327/1", 104, CHANGE,
        "327 MUST set read and write permission for every topic of the broker.",
        register(None, _topics(2, 4, 7)),
        ask(327, BROKER, adds(3)),
        ask(105, {"topic": "{topic2}"}, perm(6)),
        ask(105, {"topic": "{topic4}"}, perm(6)),
        ask(105, {"topic": "{topic7}"}, perm(6)),
    ),
    case("ns/327/2", 104, CHANGE, "327 for an unknown broker, or without one, MUST return 0.",
        ask(327, BROKER, adds(0)),
        ask(327, None, adds(0)),
    ),
    case("ns/327/3", (103, 104), CHANGE, "327 MUST restore the permissions that 205 cleared.",
        register(),
        ask(205, BROKER, wipes(2)),
        ask(327, BROKER, adds(2)),
        ask(105, ROUTE, perm(6)),
    ),
)  # fmt: skip
