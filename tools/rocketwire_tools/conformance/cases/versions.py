"""Data versions (322) and heartbeats (904)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import DONE
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Has, Json, Lacks, Text
from rocketwire_tools.conformance.model.requests import (
    FAILED,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    registration,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

HEARTBEAT: Final = (
    "DefaultRequestProcessor.brokerHeartbeat, RouteInfoManager.updateBrokerInfoUpdateTimestamp "
    "@ 5.5.0"
)
QUERY: Final = (
    "DefaultRequestProcessor.queryBrokerTopicConfig, RouteInfoManager.isBrokerTopicConfigChanged "
    "@ 5.5.0"
)
CHANGED: Final = Answer(ext={"changed": "true"})
GONE: Final = found(Json(Has({"brokerAddrTable": Lacks(("{broker}",))})))


def query(version: dict[str, int] | None, answered: str, stored: dict[str, int] | None) -> Step:
    """322 with one data version; the response contains another."""
    body = Json(stored) if stored is not None else None
    outcome = (
        Answer(ext={"changed": answered})
        if body is None
        else found(body, ext={"changed": answered})
    )
    return ask(322, broker_ext(), outcome, body=version)


CASES: Final = (
    case(
        "ns/322/1",
        "322 with the registered data version MUST return changed=false and that version.",
        register(),
        ask(
            322, broker_ext(),
            found(
                Text('{"counter":1,"stateVersion":0,"timestamp":1000}'), ext={"changed": "false"},
            ),
            body=data_version(),
        ),
        evidence=QUERY, items=(80,), profiles=SINCE_5_3,
    ),
    case(
        "ns/322/2",
        "322 with another counter, timestamp or stateVersion MUST return changed=true and the "
        "stored version.",
        register(),
        query(data_version(2), "true", data_version()),
        query(data_version(timestamp=1001), "true", data_version()),
        query(data_version(state_version=1), "true", data_version()),
        query(data_version(), "false", data_version()),
        evidence=f"{QUERY}, DataVersion.equals", items=(80,), profiles=SINCE_5_3,
    ),
    case(
        "ns/322/3", "322 for an unknown broker MUST return changed=true without a body.",
        ask(322, broker_ext(), CHANGED, body=data_version()),
        evidence=QUERY, items=(80,),
    ),
    case(
        "ns/322/4", "322 without a data version MUST return changed=true and the stored version.",
        register(),
        query(None, "true", data_version()),
        evidence=QUERY, items=(80,), profiles=SINCE_5_3,
    ),
    case(
        "ns/322/5", "322 without clusterName or brokerAddr MUST be answered with code 1.",
        ask(
            322, {"brokerAddr": "{address}", "brokerName": "{broker}", "brokerId": "0"}, FAILED,
            body=data_version(),
        ),
        ask(
            322, {"clusterName": "{cluster}", "brokerName": "{broker}", "brokerId": "0"}, FAILED,
            body=data_version(),
        ),
        evidence=QUERY, items=(81,), profiles=SINCE_5_3,
    ),
    case(
        "ns/322/6", "322 without brokerId and brokerName MUST be answered normally.",
        register(),
        ask(
            322, {"brokerAddr": "{address}", "clusterName": "{cluster}"},
            found(ANY, ext={"changed": "false"}), body=data_version(),
        ),
        evidence=QUERY, items=(81,),
    ),
    case(
        "ns/322/7", "322 with an invalid body MUST be answered with code 1.",
        ask(322, broker_ext(), FAILED, body=b"{x"),
        evidence="DataVersion.decode @ 5.5.0", items=(80,),
    ),
    case(
        "ns/322/8", "322 MUST compare with the data version of the latest registration.",
        register(),
        register(None, registration(version=data_version(2, 0, 2000))),
        query(data_version(), "true", data_version(2, 0, 2000)),
        query(data_version(2, 0, 2000), "false", data_version(2, 0, 2000)),
        evidence=QUERY, items=(80,), profiles=SINCE_5_3,
    ),
    case(
        "ns/904/1", "A heartbeat MUST succeed without ext fields.",
        register(),
        ask(904, broker_ext(), DONE),
        evidence=HEARTBEAT, items=(82,), profiles=SINCE_5_3,
    ),
    case(
        "ns/904/2", "A heartbeat of an unknown broker MUST succeed and MUST NOT register it.",
        ask(904, broker_ext(), DONE),
        ask(322, broker_ext(), CHANGED, body=data_version()),
        ask(106, None, GONE),
        evidence=HEARTBEAT, items=(82,), profiles=SINCE_5_3,
    ),
    case(
        "ns/904/3", "A heartbeat without clusterName or brokerAddr MUST be answered with code 1.",
        ask(904, {"brokerAddr": "{address}", "brokerName": "{broker}"}, FAILED),
        ask(904, {"clusterName": "{cluster}", "brokerName": "{broker}"}, FAILED),
        ask(904, None, FAILED),
        evidence=HEARTBEAT, items=(82,), profiles=SINCE_5_3,
    ),
    case(
        "ns/904/4", "Invalid numbers in a heartbeat MUST be ignored.",
        register(),
        ask(
            904, broker_ext(broker_id="x", epoch="y", maxOffset="z", heartbeatTimeoutMills=""),
            DONE,
        ),
        evidence=HEARTBEAT, items=(82,), profiles=SINCE_5_3,
    ),
)  # fmt: skip
