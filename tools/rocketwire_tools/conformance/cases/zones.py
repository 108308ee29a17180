"""Zones: brokers of a zone, and routes that are asked for with __ZONE_MODE and __ZONE_NAME."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import ROUTE
from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, case
from rocketwire_tools.conformance.model.outcomes import Has, Json, Lacks, Like, Text
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    found,
    register,
    registration,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

FILTER: Final = "ZoneRouteRPCHook.doAfterResponse, filterByZoneName @ 5.5.0"
REGISTER: Final = "RouteInfoManager.registerBroker @ 5.5.0"
ZONED: Final = ROUTE | {"__ZONE_MODE": "true", "__ZONE_NAME": "{zone}"}

ONE: Final = broker_ext(name="{broker1}", address="{address1}", ha="{ha1}", __ZONE_NAME="{zone}")
TWO: Final = broker_ext(name="{broker2}", address="{address2}", ha="{ha2}", __ZONE_NAME="{zone2}")
FREE: Final = broker_ext(name="{broker3}", address="{address3}", ha="{ha3}")
ORPHAN: Final = broker_ext(
    name="{broker4}",
    address="{address4}",
    broker_id=1,
    __ZONE_NAME="{zone2}",
    enableActingMaster="false",
)
REGISTERED: Final[tuple[Step, ...]] = tuple(
    register(ext, None, on=str(number)) for number, ext in enumerate((ONE, TWO, FREE, ORPHAN))
)


def brokers(*names: str) -> Json:
    """A route over exactly these brokers."""
    return Json(
        Has(
            {
                "brokerDatas": [Has({"brokerName": name}) for name in names],
                "queueDatas": [Has({"brokerName": name}) for name in names],
            }
        )
    )


ALL: Final = brokers("{broker1}", "{broker2}", "{broker3}", "{broker4}")


def _zone(number: int, what: str, ext: dict[str, str], body: Json | Text, item: int) -> Case:
    return case(
        f"ns/zone/{number}",
        what,
        *REGISTERED,
        ask(105, ext, found(body, ext=None), on="reader"),
        evidence=FILTER,
        items=(item,),
        profiles=SINCE_5_3,
    )


def _zone_name(pattern: object) -> Json:
    return Json(Has({"brokerDatas": [pattern]}))


CASES: Final = (
    _zone(
        1,
        "In zone mode, a route MUST contain only brokers of the zone and groups without a master.",
        ZONED, brokers("{broker1}", "{broker4}"), 97,
    ),
    _zone(
        3, "__ZONE_MODE=TRUE MUST be read as true.", ZONED | {"__ZONE_MODE": "TRUE"},
        brokers("{broker1}", "{broker4}"), 97,
    ),
    _zone(4, "__ZONE_MODE=1 MUST be read as false.", ZONED | {"__ZONE_MODE": "1"}, ALL, 98),
    _zone(
        5, "Zone mode with a blank zone name MUST NOT filter.", ZONED | {"__ZONE_NAME": " "}, ALL,
        98,
    ),
    _zone(
        6, "Zone mode without a zone name MUST NOT filter.", ROUTE | {"__ZONE_MODE": "true"}, ALL,
        98,
    ),
    _zone(
        7, "A zone name without zone mode MUST NOT filter.", ROUTE | {"__ZONE_NAME": "{zone}"}, ALL,
        98,
    ),
    _zone(
        8, "For an unknown zone, a route MUST contain only groups without a master.",
        ZONED | {"__ZONE_NAME": "{zone9}"}, brokers("{broker4}"), 97,
    ),
    case(
        "ns/zone/10",
        "If no broker is in the zone, the response MUST be a success with empty lists.",
        register(TWO, None, on="2"),
        ask(
            105, ZONED, found(Text('{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}')),
            on="reader",
        ),
        evidence=FILTER, items=(99,), profiles=SINCE_5_3,
    ),
    case(
        "ns/zone/11",
        "A filtered route SHOULD have unquoted integer keys for every client version.",
        register(ONE, None, on="1"),
        ask(
            105, ZONED | {"acceptStandardJsonOnly": "true"},
            found(Text(Like(r'.*"brokerAddrs":\{0:"{address1}"\}.*'))), on="reader", version=513,
        ),
        ask(
            105, ROUTE, found(Text(Like(r'.*"brokerAddrs":\{"0":"{address1}"\}.*'))), on="reader",
            version=513,
        ),
        evidence=FILTER, items=(97,), profiles=SINCE_5_3,
    ),
    case(
        "ns/zone/12",
        "A route MUST contain each broker's zone until a registration without a zone.",
        register(broker_ext(__ZONE_NAME="{zone}")),
        ask(105, ROUTE, found(_zone_name(Has({"zoneName": "{zone}"})))),
        ask(
            106, None,
            found(Json(Has({"brokerAddrTable": Has({"{broker}": Has({"zoneName": "{zone}"})})}))),
        ),
        register(),
        ask(105, ROUTE, found(_zone_name(Lacks(("zoneName",))))),
        evidence=REGISTER, items=(69,), profiles=SINCE_5_3,
    ),
    case(
        "ns/zone/13", "An empty zone name SHOULD be listed.",
        register(broker_ext(__ZONE_NAME="")),
        ask(105, ROUTE, found(_zone_name(Has({"zoneName": ""})))),
        evidence=REGISTER, items=(69,), profiles=SINCE_5_3,
    ),
    case(
        "ns/zone/14", "A filtered route MUST NOT contain filter servers of excluded brokers.",
        register(ONE, registration(filter_servers=("f:1",)), on="1"),
        register(TWO, registration(filter_servers=("f:2",)), on="2"),
        ask(
            105, ZONED, found(Json(Has({"filterServerTable": {"{address1}": ["f:1"]}}))),
            on="reader",
        ),
        evidence=FILTER, items=(97,), profiles=SINCE_5_3,
    ),
    case(
        "ns/zone/15", "106 MUST ignore zones.",
        *REGISTERED,
        ask(
            106, {"__ZONE_MODE": "true", "__ZONE_NAME": "{zone}"},
            found(Json(Has({
                "clusterAddrTable": Has({
                    "{cluster}": ["{broker1}", "{broker2}", "{broker3}", "{broker4}"],
                }),
            }))),
            on="reader",
        ),
        evidence=FILTER, profiles=SINCE_5_3,
    ),
    case(
        "ns/zone/16", "Zone names MUST be compared without case.",
        register(broker_ext(__ZONE_NAME="Rack-{zone}"), None, on="1"),
        ask(105, ZONED | {"__ZONE_NAME": "rACK-{zone}"}, found(brokers("{broker}")), on="reader"),
        evidence=FILTER, items=(97,), profiles=SINCE_5_3,
    ),
)  # fmt: skip
