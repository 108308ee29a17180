"""Registration (103): bodies and header fields in good and bad forms."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ACCEPTED, BODY, THROWN, body_case, route_with
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import Answer, Has, Json, Like
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    registration,
    topic_config,
)

EXTRACT: Final = "DefaultRequestProcessor.extractRegisterBrokerBodyFromRequest @ 5.5.0"


CASES: Final = (
    case(
        "ns/103/106",
        "A registration without a body MUST be read as one without topics and with data version 0.",
        ask(103, broker_ext(), ACCEPTED),
        ask(
            322, broker_ext(), found(Json(data_version(0, 0, 0)), ext={"changed": "false"}),
            body=data_version(0, 0, 0),
        ),
        evidence=EXTRACT, items=(53,), profiles=SINCE_5_3,
    ),
    case(
        "ns/103/107", "A registration with the body {} MUST be read as one without topics.",
        register(None, b"{}", ACCEPTED),
        ask(
            106, None,
            found(Json(Has({
                "brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": {"0": "{address}"}})}),
            }))),
        ),
        evidence=BODY, items=(54,),
    ),
    body_case(
        108, "A registration with the body null MUST be answered with code 1.", b"null", THROWN, 54,
        evidence=EXTRACT,
    ),
    body_case(
        109, "A registration with an invalid body MUST be answered with code 1 and a remark.",
        b"xx", Answer(code=1, ext=None, remark=Like(".*Failed to decode RegisterBrokerBody.*")), 54,
        profiles=SINCE_5_3, evidence=EXTRACT,
    ),
    body_case(
        110, "A registration with a truncated body MUST be answered with code 1.",
        b'{"filterServerList":[],"topicConfig', THROWN, 54, evidence=EXTRACT,
    ),
    body_case(
        111, "A registration whose body is not an object MUST be answered with code 1.", b"[1,2]",
        THROWN, 54, evidence=EXTRACT,
    ),
    body_case(
        112, "A negative version MUST be answered with code 1.", registration(), THROWN, 56,
        evidence="MQVersion.value2Version @ 5.5.0", version=-1,
    ),
    body_case(
        113, "A version above the known ones MUST be read as the newest.", registration(), ACCEPTED,
        56, evidence="MQVersion.value2Version @ 5.5.0", version=9999,
    ),
    body_case(
        114,
        "A registration of a version below 37 MUST be accepted: its body contains only the topics.",
        registration()["topicConfigSerializeWrapper"], ACCEPTED, 57,
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0", version=36,
    ),
    body_case(
        115,
        "From version 37, a body that contains only the topics MUST be read as a body without "
        "topics.",
        registration()["topicConfigSerializeWrapper"], ACCEPTED, 57, then=NO_ROUTE,
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0", version=37,
    ),
    body_case(
        116, "A topic without numbers MUST get 16 queues and permission 6.",
        {
            "topicConfigSerializeWrapper": {
                "topicConfigTable": {
                    "{topic}": {"topicName": "{topic}"},
                    "x": {"topicName": "{topicB}"},
                },
            },
        },
        ACCEPTED, 48, then=route_with(readQueueNums=16, writeQueueNums=16, perm=6, topicSysFlag=0),
        evidence="TopicConfig.defaultReadQueueNums @ 5.5.0",
    ),
    body_case(
        117, "A topic's name SHOULD be read from its configuration, not from its key in the table.",
        {
            "topicConfigSerializeWrapper": {
                "topicConfigTable": {
                    "{topic}": topic_config("{topicC}"),
                    "y": topic_config("{topicB}"),
                },
            },
        },
        ACCEPTED, 79, then=NO_ROUTE, evidence="RouteInfoManager.createAndUpdateQueueData @ 5.5.0",
    ),
    body_case(
        118, "Unknown members of a body MUST be ignored.",
        registration() | {"unknown": {"a": [1, None, {"b": True}]}}, ACCEPTED, 48,
    ),
)  # fmt: skip
