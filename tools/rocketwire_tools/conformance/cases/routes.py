"""Routes (105): content, dialects, order, readiness, zones, filter servers and mappings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.cases.common import ORDER, ORDERED, ROUTE, one_broker
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Contains,
    Has,
    JsonBody,
    Lacks,
    Like,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ONE_SETTING,
    OTHER_SETTING,
    ask,
    broker_ext,
    data_version,
    has,
    in_flight,
    register,
    registration,
    success,
    topic_config,
    until,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step


# Routes (105): content, the two JSON dialects, order configuration and readiness.

PICKUP: Final = "RouteInfoManager.pickupTopicRouteData @ 5.5.0"
ANSWER: Final = "ClientRequestProcessor.getRouteInfoByTopic @ 5.5.0"
STANDARD: Final = "acceptStandardJsonOnly"
FAQ: Final = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."


def missing(topic: str) -> Response:
    return Response(
        code=17, ext=None, remark=f"No topic route info in name server for the topic: {topic}{FAQ}"
    )


QUOTED: Final = one_broker('"0":"{address}"')
TWO_BROKERS: Final = (
    register(on="a"),
    register(
        broker_ext(name="{brokerB}", address="{addressB}", ha="{haB}"),
        registration(("{topic}", "{topicC}")),
        on="b",
    ),
)
BARE: Final = one_broker('0:"{address}"')
SIX: Final = tuple(
    register(broker_ext(address=f"{{address{number}}}", broker_id=number), on=str(number))
    for number in (0, 16, 33, 1, 100, 5)
)


def _addresses(quote: str, *numbers: int) -> str:
    return ",".join(f'{quote}{number}{quote}:"{{address{number}}}"' for number in numbers)


def _dialect(number: int, what: str, body: TextBody, version: int, **ext: str) -> Case:
    return since_5_3(f"ns/105/{number}", 93, ANSWER, what,
        register(),
        ask(105, ROUTE | ext, success(body, ext=None), version=version),
        tags=frozenset({"dialect"}),
    )  # fmt: skip


# Zones: zones of brokers, and routes filtered by __ZONE_MODE and __ZONE_NAME.

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


# Further parts of a registration: filter servers and mappings of static topics.

FILTERS: Final = "RouteInfoManager.registerBroker, pickupTopicRouteData (filterServerTable) @ 5.5.0"
MAPPED: Final = "RouteInfoManager.registerBroker (topicQueueMappingInfoTable) @ 5.5.0"


def filters(*servers: str) -> Response:
    table = {"{address}": list(servers)} if servers else {}
    return has({"filterServerTable": table})


def mapping(broker: str = "{broker}", epoch: int = 5, queues: int = 8) -> dict[str, Any]:
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
    since_5_3("ns/105/1", 92, ANSWER,
        "105 for an unknown topic MUST return code 17 with its name in the remark, without a body.",
        ask(105, ROUTE, missing("{topic}")),
    ),
    case("ns/105/2", 92, ANSWER, "105 for an unknown topic MUST return code 17 without a body.",
        ask(105, ROUTE, Response(code=17, remark=Like("(?s)No topic route info .*{topic}.*")))),
    since_5_3("ns/105/3", 92, ANSWER, "105 without a topic MUST return code 17.",
        ask(105, None, missing("null")), ask(105, {}, missing("null")),
        ask(105, {"other": "x"}, missing("null")), ask(105, {"topic": ""}, missing(""))),
    case("ns/105/4", 92, PICKUP,
        "A topic's name MUST be compared exactly, including case and spaces.",
        register(), ask(105, {"topic": " {topic}"}, NO_ROUTE),
        ask(105, {"topic": "{topic} "}, NO_ROUTE), ask(105, {"topic": "T{topic}"}, NO_ROUTE),
        ask(105, ROUTE, success())),
    case("ns/105/12", 48, PICKUP,
        "A route MUST contain each broker of the topic once, with its queues; lists too.",
        *TWO_BROKERS,
        ask(105, ROUTE,
            has({
                "brokerDatas": [
                    Has({"brokerName": "{broker}", "brokerAddrs": {"0": "{address}"}}),
                    Has({"brokerName": "{brokerB}", "brokerAddrs": {"0": "{addressB}"}}),
                ],
                "queueDatas": [Has({"brokerName": "{broker}"}), Has({"brokerName": "{brokerB}"})],
            }), on="reader"),
        ask(105, {"topic": "{topicC}"}, has({"brokerDatas": [Has({"brokerName": "{brokerB}"})]}),
            on="reader"),
        ask(106, None, has({"clusterAddrTable": Has({"{cluster}": ["{broker}", "{brokerB}"]})})),
        ask(224, {"cluster": "{cluster}"}, has({"topicList": ["{topic}", "{topicB}", "{topicC}"]})),
        ask(304, None, has({"topicList": Contains(("{cluster}", "{broker}", "{brokerB}"))}))),
    case("ns/105/20", 48, PICKUP,
        "A route MUST contain the registered queue numbers, permission and flags.",
        register(None,
            registration((
                topic_config("{topic}", perm=7, readQueueNums=3, writeQueueNums=5, topicSysFlag=3),
                "{topicB}",
            ))),
        ask(105, ROUTE,
            has({"queueDatas": [{
                "brokerName": "{broker}",
                "perm": 7,
                "readQueueNums": 3,
                "topicSysFlag": 3,
                "writeQueueNums": 5,
            }]}))),
    case("ns/105/21", 3, "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "1,000 concurrent route requests on one connection MUST each be answered with their topic.",
        register(None,
            registration(tuple(
                topic_config(f"{{topic{n}}}", readQueueNums=n + 1) for n in range(7)
            ))),
        *in_flight(*(
            ask(105, {"topic": f"{{topic{n % 7}}}"},
                has({"queueDatas": [Has({"readQueueNums": n % 7 + 1})]}), on="many")
            for n in range(1000)
        )),
    ),
    _dialect(5, "A client of version 401 or later MUST get standard JSON.", QUOTED, 401),
    _dialect(6, "A client of version 400 or earlier MUST get unquoted integer keys.", BARE, 400),
    _dialect(7, "With acceptStandardJsonOnly=true, any version MUST get standard JSON.", QUOTED, 0,
        **{STANDARD: "true"}),
    _dialect(8, "acceptStandardJsonOnly=TRUE MUST be read as true.", QUOTED, 0,
        **{STANDARD: "TRUE"}),
    _dialect(9, "acceptStandardJsonOnly=1 MUST be read as false.", BARE, 0, **{STANDARD: "1"}),
    _dialect(10, "With acceptStandardJsonOnly=false, a new version MUST still get standard JSON.",
        QUOTED, 513, **{STANDARD: "false"}),
    _dialect(11, "A negative version MUST be treated as an old version.", BARE, -1),
    since_5_3("ns/105/13", 94,
        "RemotingSerializable, SerializerFeature.MapSortField in ClientRequestProcessor @ 5.5.0",
        "Standard JSON MUST contain broker ids in numeric order, quoted.",
        *SIX,
        ask(105, ROUTE, success(one_broker(_addresses('"', 0, 1, 5, 16, 33, 100))), on="reader")),
    since_5_3("ns/105/14", 94,
        "TopicRouteData, RemotingSerializable.encode @ 5.5.0; java.util.HashMap",
        "Java's JSON dialect SHOULD contain broker ids in the order of Java's HashMap, unquoted.",
        *SIX,
        ask(105, ROUTE, success(one_broker(_addresses("", 0, 16, 33, 1, 100, 5))), on="reader",
            version=400)),
    case("ns/105/15", 95, ANSWER,
        "With orderMessageEnable, a route MUST contain the topic's order configuration.",
        register(), ask(100, ORDERED),
        ask(105, ROUTE,
            success(TextBody(Like(
                r'\{"brokerDatas":\[.*\],"filterServerTable":\{\},'
                r'"orderTopicConf":"{broker}:8","queueDatas":\[.*\]\}')))),
        ask(105, {"topic": "{topicB}"}, has({"queueDatas": ANY})), options=ONE_SETTING,
        cleanup=(ask(102, ORDER),)),
    since_5_3("ns/105/16", 95, ANSWER,
        "Without orderMessageEnable, a route MUST NOT contain an order configuration.",
        register(), ask(100, ORDERED), ask(105, ROUTE, success(QUOTED)), options=OTHER_SETTING,
        cleanup=(ask(102, ORDER),)),
    since_5_3("ns/105/17", 96, ANSWER,
        "With needWaitForService, route requests MUST be rejected in the first seconds; other "
        "codes are answered.",
        register(), ask(105, ROUTE, Response(code=1, remark="name server not ready", ext=None)),
        ask(105, None, Response(code=1, remark="name server not ready", ext=None)),
        ask(106, None, success()),
        options={"needWaitForService": "true", "waitSecondsForService": "600"}),
    since_5_3("ns/105/18", 96, ANSWER,
        "Route requests MUST be answered after waitSecondsForService.",
        register(), until(105, ROUTE, success(QUOTED)), ask(105, ROUTE, success(QUOTED)),
        options={"needWaitForService": "true", "waitSecondsForService": "1"}),
)  # fmt: skip


ZONES: Final = (
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
            on="reader")),
    since_5_3("ns/zone/11", 97, FILTER,
        "A filtered route SHOULD have unquoted integer keys for every client version.",
        register(ONE, None, on="1"),
        ask(105, ZONED | {"acceptStandardJsonOnly": "true"},
            success(TextBody(Like(r'.*"brokerAddrs":\{0:"{address1}"\}.*'))), on="reader",
            version=513),
        ask(105, ROUTE, success(TextBody(Like(r'.*"brokerAddrs":\{"0":"{address1}"\}.*'))),
            on="reader", version=513)),
    since_5_3("ns/zone/12", 69, REGISTER,
        "A route MUST contain each broker's zone until a registration without a zone.",
        register(broker_ext(__ZONE_NAME="{zone}")),
        ask(105, ROUTE, _broker(Has({"zoneName": "{zone}"}))),
        ask(106, None, has({"brokerAddrTable": Has({"{broker}": Has({"zoneName": "{zone}"})})})),
        register(), ask(105, ROUTE, _broker(Lacks(("zoneName",))))),
    since_5_3("ns/zone/13", 69, REGISTER, "An empty zone name SHOULD be listed.",
        register(broker_ext(__ZONE_NAME="")), ask(105, ROUTE, _broker(Has({"zoneName": ""})))),
    since_5_3("ns/zone/14", 97, FILTER,
        "A filtered route MUST NOT contain filter servers of excluded brokers.",
        register(ONE, registration(filter_servers=("f:1",)), on="1"),
        register(TWO, registration(filter_servers=("f:2",)), on="2"),
        ask(105, ZONED, has({"filterServerTable": {"{address1}": ["f:1"]}}), on="reader")),
    since_5_3("ns/zone/15", (), FILTER, "106 MUST ignore zones.",
        *REGISTERED,
        ask(106, {"__ZONE_MODE": "true", "__ZONE_NAME": "{zone}"},
            has({"clusterAddrTable": Has(
                {"{cluster}": ["{broker1}", "{broker2}", "{broker3}", "{broker4}"]})}),
            on="reader")),
    since_5_3("ns/zone/16", 97, FILTER, "Zone names MUST be compared without case.",
        register(broker_ext(__ZONE_NAME="Rack-{zone}"), None, on="1"),
        ask(105, ZONED | {"__ZONE_NAME": "rACK-{zone}"}, success(brokers("{broker}")), on="reader"),
    ),
)  # fmt: skip


MAPPINGS: Final = (
    case("ns/filter/1", 70, FILTERS,
        "The routes of a broker's topics MUST contain its filter servers.",
        register(None, registration(filter_servers=("f:1", "f:2")), on="a"),
        register(broker_ext(address="{addressS}", broker_id=1), None, on="b"),
        ask(105, ROUTE, has({"filterServerTable": Has({"{address}": ["f:1", "f:2"]})}))),
    since_5_3("ns/filter/2", 70, FILTERS,
        "The table of filter servers MUST NOT contain addresses without filter servers.",
        register(None, registration(filter_servers=("f:1",)), on="a"),
        register(broker_ext(address="{addressS}", broker_id=1), None, on="b"),
        ask(105, ROUTE, filters("f:1"))),
    case("ns/filter/3", 70, FILTERS,
        "A registration with a null list of filter servers MUST keep the current ones.",
        register(None, registration(filter_servers=("f:1",))),
        register(None, registration(filter_servers=None)), ask(105, ROUTE, filters("f:1"))),
    since_5_3("ns/filter/4", 70, FILTERS,
        "A registration with an empty list of filter servers MUST remove the current ones.",
        register(None, registration(filter_servers=("f:1",))),
        register(None, registration(filter_servers=())), ask(105, ROUTE, filters())),
    since_5_3("ns/filter/5", 70, FILTERS,
        "A registration without a list of filter servers MUST remove the current ones.",
        register(None, registration(filter_servers=("f:1",))),
        register(None,
            {"topicConfigSerializeWrapper": registration()["topicConfigSerializeWrapper"]}),
        ask(105, ROUTE, filters())),
    case("ns/filter/6", (57, 70), "DefaultRequestProcessor.registerBroker @ 5.5.0",
        "A registration of a version below 37 MUST keep the current filter servers.",
        register(None, registration(filter_servers=("f:1",))),
        register(None, registration()["topicConfigSerializeWrapper"], version=36),
        ask(105, ROUTE, filters("f:1"))),
    since_5_3("ns/filter/7", 57, "DefaultRequestProcessor.registerBroker @ 5.5.0",
        "A registration without a body MUST remove the filter servers.",
        register(None, registration(filter_servers=("f:1",))),
        ask(103, broker_ext(), Response(ext={})), ask(105, ROUTE, filters())),
    since_5_3("ns/mapping/1", 71, MAPPED, "The route of a static topic MUST contain its mapping.",
        register(None, _register()), ask(105, ROUTE, maps({"{broker}": mapping()})),
        ask(105, {"topic": "{topicB}"}, success(JsonBody(Lacks(("topicQueueMappingByBroker",)))))),
    since_5_3("ns/mapping/2", 71, MAPPED,
        "A changed mapping MUST be ignored with the same data version and applied with a new one.",
        register(None, _register()), register(None, _register(queues=16)),
        ask(105, ROUTE, maps({"{broker}": mapping()})), register(None, _register(2, queues=16)),
        ask(105, ROUTE, maps({"{broker}": mapping(queues=16)}))),
    since_5_3("ns/mapping/3", 71, MAPPED,
        "A mapping with another broker name SHOULD be added to the first.",
        register(None, _register()), register(None, _register(2, broker="{brokerB}")),
        ask(105, ROUTE, maps({"{broker}": mapping(), "{brokerB}": mapping("{brokerB}")}))),
    since_5_3("ns/mapping/4", 71, f"{MAPPED}, deleteTopic",
        "A mapping SHOULD remain after the deletion of its topic.",
        register(None, _register()), ask(216, ROUTE), register(),
        ask(105, ROUTE, maps({"{broker}": mapping()}))),
    _epoch(10, 401, '"9007199254740993"', "Standard JSON MUST quote integers beyond 2^53 - 1."),
    _epoch(11, 400, "9007199254740993", "Java's own JSON MUST write large integers as numbers."),
    since_5_3("ns/mapping/12", 71, "TopicQueueMappingInfo @ 5.5.0",
        "The members of a mapping MUST be sorted by name.",
        register(None, _register()),
        ask(105, ROUTE,
            success(TextBody(Like(
                r'.*,"topicQueueMappingByBroker":\{"{broker}":\{"bname":"{broker}",'
                r'"currIdMap":\{"0":1\},"dirty":false,"epoch":5,"scope":"__global__",'
                r'"topic":"{topic}","totalQueues":8\}\}\}'))), version=513)),
)  # fmt: skip
