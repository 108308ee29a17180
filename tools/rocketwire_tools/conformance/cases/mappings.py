"""Further parts of a registration: filter servers and mappings of static topics."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.cases.common import ROUTE
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import (
    Has,
    JsonBody,
    Lacks,
    Like,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    data_version,
    has,
    register,
    registration,
    success,
)

FILTERS: Final = "RouteInfoManager.registerBroker, pickupTopicRouteData (filterServerTable) @ 5.5.0"
MAPPINGS: Final = "RouteInfoManager.registerBroker (topicQueueMappingInfoTable) @ 5.5.0"


def filters(*servers: str) -> Response:
    """A route with exactly these filter servers of ``{address}``."""
    table = {"{address}": list(servers)} if servers else {}
    return has({"filterServerTable": table})


def mapping(broker: str = "{broker}", epoch: int = 5, queues: int = 8) -> dict[str, Any]:
    """The mapping of a static topic in a registration."""
    return {
        "bname": broker,
        "currIdMap": {"0": 1},
        "dirty": False,
        "epoch": epoch,
        "scope": "__global__",
        "topic": "{topic}",
        "totalQueues": queues,
    }


def maps(members: object) -> Response:
    """A route with these mappings by broker."""
    return has({"topicQueueMappingByBroker": members})


def _register(version: int = 1, **settings: Any) -> dict[str, Any]:
    return registration(version=data_version(version), mappings={"{topic}": mapping(**settings)})


def _epoch(number: int, version: int, text: str, what: str) -> Case:
    return since_5_3(f"ns/mapping/{number}", 72,
        "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0 (WriteBrowserCompatible)",
        what,
        register(None, _register(epoch=2**53 + 1)),
        ask(105, ROUTE, success(TextBody(Like(f'.*"epoch":{text},.*'))), version=version),
    )  # fmt: skip


CASES: Final = (
    case("ns/filter/1", 70, FILTERS,
        "The routes of a broker's topics MUST contain its filter servers.",
        register(None, registration(filter_servers=("f:1", "f:2")), on="a"),
        register(broker_ext(address="{addressS}", broker_id=1), None, on="b"),
        ask(105, ROUTE, has({"filterServerTable": Has({"{address}": ["f:1", "f:2"]})})),
    ),
    since_5_3("ns/filter/2", 70, FILTERS,
        "The table of filter servers MUST NOT contain addresses without filter servers.",
        register(None, registration(filter_servers=("f:1",)), on="a"),
        register(broker_ext(address="{addressS}", broker_id=1), None, on="b"),
        ask(105, ROUTE, filters("f:1")),
    ),
    case("ns/filter/3", 70, FILTERS,
        "A registration with a null list of filter servers MUST keep the current ones.",
        register(None, registration(filter_servers=("f:1",))),
        register(None, registration(filter_servers=None)),
        ask(105, ROUTE, filters("f:1")),
    ),
    since_5_3("ns/filter/4", 70, FILTERS,
        "A registration with an empty list of filter servers MUST remove the current ones.",
        register(None, registration(filter_servers=("f:1",))),
        register(None, registration(filter_servers=())),
        ask(105, ROUTE, filters()),
    ),
    since_5_3("ns/filter/5", 70, FILTERS,
        "A registration without a list of filter servers MUST remove the current ones.",
        register(None, registration(filter_servers=("f:1",))),
        register(None,
            {"topicConfigSerializeWrapper": registration()["topicConfigSerializeWrapper"]}),
        ask(105, ROUTE, filters()),
    ),
    case("ns/filter/6", (57, 70), "DefaultRequestProcessor.registerBroker @ 5.5.0",
        "A registration of a version below 37 MUST keep the current filter servers.",
        register(None, registration(filter_servers=("f:1",))),
        register(None, registration()["topicConfigSerializeWrapper"], version=36),
        ask(105, ROUTE, filters("f:1")),
    ),
    since_5_3("ns/filter/7", 57, "DefaultRequestProcessor.registerBroker @ 5.5.0",
        "A registration without a body MUST remove the filter servers.",
        register(None, registration(filter_servers=("f:1",))),
        ask(103, broker_ext(), Response(ext={})),
        ask(105, ROUTE, filters()),
    ),
    since_5_3("ns/mapping/1", 71, MAPPINGS, "The route of a static topic MUST contain its mapping.",
        register(None, _register()),
        ask(105, ROUTE, maps({"{broker}": mapping()})),
        ask(105, {"topic": "{topicB}"}, success(JsonBody(Lacks(("topicQueueMappingByBroker",))))),
    ),
    since_5_3("ns/mapping/2", 71, MAPPINGS,
        "A changed mapping MUST be ignored with the same data version and applied with a new one.",
        register(None, _register()),
        register(None, _register(queues=16)),
        ask(105, ROUTE, maps({"{broker}": mapping()})),
        register(None, _register(2, queues=16)),
        ask(105, ROUTE, maps({"{broker}": mapping(queues=16)})),
    ),
    since_5_3("ns/mapping/3", 71, MAPPINGS,
        "A mapping with another broker name SHOULD be added to the first.",
        register(None, _register()),
        register(None, _register(2, broker="{brokerB}")),
        ask(105, ROUTE, maps({"{broker}": mapping(), "{brokerB}": mapping("{brokerB}")})),
    ),
    since_5_3("ns/mapping/4", 71, f"{MAPPINGS}, deleteTopic",
        "A mapping SHOULD remain after the deletion of its topic.",
        register(None, _register()),
        ask(216, ROUTE),
        register(),
        ask(105, ROUTE, maps({"{broker}": mapping()})),
    ),
    _epoch(10, 401, '"9007199254740993"', "Standard JSON MUST quote integers beyond 2^53 - 1."),
    _epoch(11, 400, "9007199254740993", "Java's own JSON MUST write large integers as numbers."),
    since_5_3("ns/mapping/12", 71, "TopicQueueMappingInfo @ 5.5.0",
        "The members of a mapping MUST be sorted by name.",
        register(None, _register()),
        ask(105, ROUTE,
            success(TextBody(Like(
                r'.*,"topicQueueMappingByBroker":\{"{broker}":\{"bname":"{broker}",'
                r'"currIdMap":\{"0":1\},"dirty":false,"epoch":5,"scope":"__global__",'
                r'"topic":"{topic}","totalQueues":8\}\}\}'))), version=513),
    ),
)  # fmt: skip
