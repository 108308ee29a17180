"""Zones: zones of brokers, and routes filtered by __ZONE_MODE and __ZONE_NAME."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import ROUTE
from rocketwire_tools.conformance.model.case import since_5_3
from rocketwire_tools.conformance.model.outcomes import Has, JsonBody, Lacks, Like, TextBody
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    has,
    register,
    registration,
    success,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.model.outcomes import Response
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


def brokers(*names: str) -> JsonBody:
    """A route over exactly these brokers."""
    groups = [Has({"brokerName": name}) for name in names]
    return JsonBody(Has({"brokerDatas": groups, "queueDatas": groups}))


ALL: Final = brokers("{broker1}", "{broker2}", "{broker3}", "{broker4}")


def _zone(
    number: int, what: str, ext: dict[str, str], body: JsonBody | TextBody, item: int
) -> Case:
    return since_5_3(f"ns/zone/{number}", item, FILTER, what,
        *REGISTERED,
        ask(105, ext, success(body, ext=None), on="reader"),
    )  # fmt: skip


def _broker(pattern: object) -> Response:
    return has({"brokerDatas": [pattern]})


CASES: Final = (
    _zone(1,
        "In zone mode, a route MUST contain only brokers of the zone and groups without a master.",
        ZONED, brokers("{broker1}", "{broker4}"), 97),
    _zone(3, "__ZONE_MODE=TRUE MUST be read as true.", ZONED | {"__ZONE_MODE": "TRUE"},
        brokers("{broker1}", "{broker4}"), 97),
    _zone(4, "__ZONE_MODE=1 MUST be read as false.", ZONED | {"__ZONE_MODE": "1"}, ALL, 98),
    _zone(5, "Zone mode with a blank zone name MUST NOT filter.", ZONED | {"__ZONE_NAME": " "}, ALL,
        98),
    _zone(6, "Zone mode without a zone name MUST NOT filter.", ROUTE | {"__ZONE_MODE": "true"}, ALL,
        98),
    _zone(7, "A zone name without zone mode MUST NOT filter.", ROUTE | {"__ZONE_NAME": "{zone}"},
        ALL, 98),
    _zone(8, "For an unknown zone, a route MUST contain only groups without a master.",
        ZONED | {"__ZONE_NAME": "{zone9}"}, brokers("{broker4}"), 97),
    since_5_3("ns/zone/10", 99, FILTER,
        "If no broker is in the zone, the response MUST be a success with empty lists.",
        register(TWO, None, on="2"),
        ask(105, ZONED,
            success(TextBody('{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}')),
            on="reader"),
    ),
    since_5_3("ns/zone/11", 97, FILTER,
        "A filtered route SHOULD have unquoted integer keys for every client version.",
        register(ONE, None, on="1"),
        ask(105, ZONED | {"acceptStandardJsonOnly": "true"},
            success(TextBody(Like(r'.*"brokerAddrs":\{0:"{address1}"\}.*'))), on="reader",
            version=513),
        ask(105, ROUTE, success(TextBody(Like(r'.*"brokerAddrs":\{"0":"{address1}"\}.*'))),
            on="reader", version=513),
    ),
    since_5_3("ns/zone/12", 69, REGISTER,
        "A route MUST contain each broker's zone until a registration without a zone.",
        register(broker_ext(__ZONE_NAME="{zone}")),
        ask(105, ROUTE, _broker(Has({"zoneName": "{zone}"}))),
        ask(106, None, has({"brokerAddrTable": Has({"{broker}": Has({"zoneName": "{zone}"})})})),
        register(),
        ask(105, ROUTE, _broker(Lacks(("zoneName",)))),
    ),
    since_5_3("ns/zone/13", 69, REGISTER, "An empty zone name SHOULD be listed.",
        register(broker_ext(__ZONE_NAME="")),
        ask(105, ROUTE, _broker(Has({"zoneName": ""}))),
    ),
    since_5_3("ns/zone/14", 97, FILTER,
        "A filtered route MUST NOT contain filter servers of excluded brokers.",
        register(ONE, registration(filter_servers=("f:1",)), on="1"),
        register(TWO, registration(filter_servers=("f:2",)), on="2"),
        ask(105, ZONED, has({"filterServerTable": {"{address1}": ["f:1"]}}), on="reader"),
    ),
    since_5_3("ns/zone/15", (), FILTER, "106 MUST ignore zones.",
        *REGISTERED,
        ask(106, {"__ZONE_MODE": "true", "__ZONE_NAME": "{zone}"},
            has({"clusterAddrTable": Has(
                {"{cluster}": ["{broker1}", "{broker2}", "{broker3}", "{broker4}"]})}),
            on="reader"),
    ),
    since_5_3("ns/zone/16", 97, FILTER, "Zone names MUST be compared without case.",
        register(broker_ext(__ZONE_NAME="Rack-{zone}"), None, on="1"),
        ask(105, ZONED | {"__ZONE_NAME": "rACK-{zone}"}, success(brokers("{broker}")), on="reader"),
    ),
)  # fmt: skip
