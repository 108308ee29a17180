"""Registrations of releases before 5.0.0, with both header types and with null members."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.cases.common import ACCEPTED, ROUTE, ROUTED
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Has, JsonBody, Outcome, Response
from rocketwire_tools.conformance.model.requests import (
    FAILED,
    NO_ROUTE,
    ask,
    broker_ext,
    has,
    register,
    registration,
    success,
    topic_config,
    unregister,
    until,
)

HANDLER: Final = "DefaultRequestProcessor.registerBroker @ 5.5.0"
BODY: Final = "RegisterBrokerBody.decode, TopicConfigSerializeWrapper @ 5.5.0"
ANYTHING: Final = Response(code=ANY, remark=ANY, body=ANY)
OLD_VERSION: Final = {"counter": 1, "timestamp": 1000}


def old_topic(name: str) -> dict[str, Any]:
    """A TopicConfig of 4.x, without attributes."""
    return {key: value for key, value in topic_config(name).items() if key != "attributes"}


OLD_BODY: Final[dict[str, Any]] = {
    "filterServerList": [],
    "topicConfigSerializeWrapper": {
        "dataVersion": OLD_VERSION,
        "topicConfigTable": {"{topic}": old_topic("{topic}"), "{topicB}": old_topic("{topicB}")},
    },
}


def _release(number: int, release: str, version: int, **ext: str) -> Case:
    return case(f"ns/103/{number}", 48, HANDLER,
        f"A broker of {release} MUST be able to register, query its data version and unregister.",
        ask(103, broker_ext(**ext), ACCEPTED, body=OLD_BODY, version=version),
        ask(105, ROUTE, ROUTED, version=version, on="reader"),
        ask(322, broker_ext(), has(OLD_VERSION, ext={"changed": "false"}), body=OLD_VERSION,
            version=version),
        ask(104, broker_ext(), Response(ext=None), version=version),
        until(105, ROUTE, NO_ROUTE, on="reader"),
    )  # fmt: skip


def _null(number: int, what: str, body: Any, outcome: Outcome, then: Outcome) -> Case:
    return since_5_3(f"ns/103/{number}", 54, BODY,
        f"A registration with {what} SHOULD be handled as in Java.",
        register(None, body, outcome),
        ask(105, ROUTE, then, on="reader"),
    )  # fmt: skip


def _with(member: str, value: object) -> dict[str, Any]:
    body = registration()
    return body | {
        "topicConfigSerializeWrapper": body["topicConfigSerializeWrapper"] | {member: value}
    }


CASES: Final = (
    _release(180, "3.2.6", 83),
    _release(181, "4.2.0", 253),
    _release(182, "4.9.4", 401, compressed="false", bodyCrc32="0"),
    case("ns/103/183", (17, 48), "RocketMQSerializable.rocketMQProtocolDecode @ 5.5.0",
        "A broker with binary headers MUST be able to register, be listed and unregister.",
        register(None, None, Response(ext=ANY), binary=True),
        ask(105, ROUTE, ROUTED, binary=True, on="reader"),
        ask(106, None, success(), binary=True, on="reader"),
        ask(104, broker_ext(), Response(), binary=True),
        until(105, ROUTE, NO_ROUTE, on="reader"),
    ),
    _null(190, "dataVersion null", _with("dataVersion", None), ACCEPTED, ROUTED),
    _null(191, "topicConfigTable null", _with("topicConfigTable", None), ACCEPTED, NO_ROUTE),
    _null(192, "topicQueueMappingInfoMap null", _with("topicQueueMappingInfoMap", None), ACCEPTED,
        ROUTED),
    _null(194, "a topic that is null",
        _with("topicConfigTable", {"{topicX}": None, "{topic}": old_topic("{topic}")}), FAILED,
        NO_ROUTE),
    _null(196, "an enumeration that is not listed",
        _with("topicConfigTable",
            {
                "{topic}": old_topic("{topic}") | {"topicFilterType": "NO_TAG"},
                "{topicB}": old_topic("{topicB}"),
            }), ACCEPTED, ROUTED),
    _null(197, "numbers as texts",
        _with("topicConfigTable",
            {
                "{topic}": old_topic("{topic}") | {"perm": "6", "readQueueNums": "8"},
                "{topicB}": old_topic("{topicB}"),
            }), ACCEPTED, ROUTED),
    since_5_3("ns/103/193", 54, BODY,
        "The result of a registration with topicConfigSerializeWrapper null, or a topic without a "
        "name, MAY vary; the request is answered.",
        register(None, {"topicConfigSerializeWrapper": None}, ANYTHING, on="a"),
        register(None,
            _with("topicConfigTable", {"{topicX}": {"perm": 6}, "{topic}": old_topic("{topic}")}),
            ANYTHING, on="b"),
        ask(106, None, success(), on="reader"),
    ),
    since_5_3("ns/103/200", 55, "RouteInfoManager.registerBroker @ 5.5.0",
        "A negative brokerId SHOULD be accepted.",
        register(broker_ext(broker_id=-1), None, ACCEPTED),
        ask(901, {"clusterName": "{cluster}", "brokerName": "{broker}"},
            success(JsonBody({"brokerMemberGroup": Has({"brokerAddrs": {"-1": "{address}"}})}),
                remark=ANY)),
    ),
    since_5_3("ns/103/201", 55, "RemotingCommand.decodeCommandCustomHeader @ 5.5.0",
        "Invalid optional fields of a registration MUST be treated as absent.",
        register(broker_ext(heartbeatTimeoutMillis="abc", bodyCrc32=" 5", compressed="yes"), None,
            ACCEPTED),
        ask(105, ROUTE, ROUTED, on="reader"),
    ),
    since_5_3("ns/103/202", 68,
        "RemotingCommand.decodeCommandCustomHeader @ 5.5.0 (Boolean.parseBoolean)",
        "enableActingMaster=TRUE MUST be read as true, and any value other than true as false.",
        register(broker_ext(enableActingMaster="TRUE")),
        ask(105, ROUTE, has({"brokerDatas": [Has({"enableActingMaster": True})]})),
        register(broker_ext(enableActingMaster="1")),
        ask(105, ROUTE, has({"brokerDatas": [Has({"enableActingMaster": False})]})),
    ),
    case("ns/103/203", 48, "RouteInfoManager.registerBroker @ 5.5.0",
        "Addresses MUST be stored unchanged, including host names and IPv6.",
        register(broker_ext(address="broker.{cluster}.example:10911"), None, ACCEPTED),
        ask(105, ROUTE,
            has({"brokerDatas": [Has({"brokerAddrs": {"0": "broker.{cluster}.example:10911"}})]})),
        unregister(broker_ext(address="broker.{cluster}.example:10911")),
        until(105, ROUTE, NO_ROUTE),
    ),
)  # fmt: skip
