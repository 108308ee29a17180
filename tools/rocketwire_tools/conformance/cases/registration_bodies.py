"""Registration (103): bodies and header fields in good and bad forms."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.build import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    found,
    register,
    registration,
    topic_config,
)
from rocketwire_tools.conformance.case import ALL_PROFILES, SINCE_5_3, Case, Profile, Severity
from rocketwire_tools.conformance.outcomes import Answer, Has, Json, Like, Outcome

EXTRACT: Final = "DefaultRequestProcessor.extractRegisterBrokerBodyFromRequest @ 5.5.0"
BODY: Final = "RegisterBrokerBody.decode @ 5.5.0"
ROUTE: Final = {"topic": "{topic}"}
ACCEPTED: Final = Answer(ext={})
THROWN: Final = Answer(code=1, remark=Like(".+"), ext=None)
ROUTED: Final = found(Json(Has({"queueDatas": [Has({"brokerName": "{broker}"})]})))


def _route(**members: object) -> Answer:
    queue = Has({"brokerName": "{broker}"} | members)
    return found(Json(Has({"queueDatas": [queue]})))


def _body(
    number: int,
    what: str,
    body: Any,
    outcome: Outcome,
    item: int,
    *,
    then: Outcome | None = None,
    evidence: str = BODY,
    version: int = 513,
    severity: Severity = Severity.MUST,
    profiles: frozenset[Profile] = ALL_PROFILES,
    **ext: str,
) -> Case:
    """One registration, and what 105 says of ``{topic}`` afterwards."""
    wanted = then or (ROUTED if outcome is ACCEPTED else NO_ROUTE)
    return Case(
        id=f"ns/103/{number}",
        requirement=what,
        evidence=evidence,
        severity=severity,
        profiles=profiles,
        items=(item,),
        steps=(
            ask(103, broker_ext(**ext), outcome, body=body, version=version),
            ask(105, ROUTE, wanted, on="reader"),
        ),
    )


CASES: Final = (
    Case(
        id="ns/103/106",
        requirement="A registration without a body MUST count as one without topics, of the data version 0.",
        evidence=EXTRACT,
        items=(53,),
        profiles=SINCE_5_3,
        steps=(
            ask(103, broker_ext(), ACCEPTED),
            ask(
                322,
                broker_ext(),
                found(Json(data_version(0, 0, 0)), ext={"changed": "false"}),
                body=data_version(0, 0, 0),
            ),
        ),
    ),
    Case(
        id="ns/103/107",
        requirement="A registration with the body {} MUST count as one without topics.",
        evidence=BODY,
        items=(54,),
        steps=(
            register(None, b"{}", ACCEPTED),
            ask(
                106,
                None,
                found(
                    Json(
                        Has(
                            {
                                "brokerAddrTable": Has(
                                    {"{broker}": Has({"brokerAddrs": {"0": "{address}"}})}
                                )
                            }
                        )
                    )
                ),
            ),
        ),
    ),
    _body(
        108,
        "A registration with the body null MUST be answered code 1.",
        b"null",
        THROWN,
        54,
        evidence=EXTRACT,
    ),
    _body(
        109,
        "A registration whose body cannot be read MUST be answered code 1, and say so.",
        b"xx",
        Answer(code=1, ext=None, remark=Like(".*Failed to decode RegisterBrokerBody.*")),
        54,
        profiles=SINCE_5_3,
        evidence=EXTRACT,
    ),
    _body(
        110,
        "A registration whose body is cut off MUST be answered code 1.",
        b'{"filterServerList":[],"topicConfig',
        THROWN,
        54,
        evidence=EXTRACT,
    ),
    _body(
        111,
        "A registration whose body is no object MUST be answered code 1.",
        b"[1,2]",
        THROWN,
        54,
        evidence=EXTRACT,
    ),
    _body(
        112,
        "A version below 0 MUST be answered code 1.",
        registration(),
        THROWN,
        56,
        evidence="MQVersion.value2Version @ 5.5.0",
        version=-1,
    ),
    _body(
        113,
        "A version beyond those that are known MUST be taken for the newest.",
        registration(),
        ACCEPTED,
        56,
        evidence="MQVersion.value2Version @ 5.5.0",
        version=9999,
    ),
    _body(
        114,
        "A broker of a version below 37 MUST be understood: its body is the topics alone.",
        registration()["topicConfigSerializeWrapper"],
        ACCEPTED,
        57,
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0",
        version=36,
    ),
    _body(
        115,
        "From version 37 on topics alone MUST count as a body without topics.",
        registration()["topicConfigSerializeWrapper"],
        ACCEPTED,
        57,
        then=NO_ROUTE,
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0",
        version=37,
    ),
    _body(
        116,
        "A topic without numbers MUST have 16 queues and permission 6.",
        {
            "topicConfigSerializeWrapper": {
                "topicConfigTable": {
                    "{topic}": {"topicName": "{topic}"},
                    "x": {"topicName": "{topicB}"},
                }
            }
        },
        ACCEPTED,
        48,
        then=_route(readQueueNums=16, writeQueueNums=16, perm=6, topicSysFlag=0),
        evidence="TopicConfig.defaultReadQueueNums @ 5.5.0",
    ),
    _body(
        117,
        "A topic's name SHOULD be that of its configuration, not its key in the table.",
        {
            "topicConfigSerializeWrapper": {
                "topicConfigTable": {
                    "{topic}": topic_config("{topicC}"),
                    "y": topic_config("{topicB}"),
                }
            }
        },
        ACCEPTED,
        79,
        then=NO_ROUTE,
        evidence="RouteInfoManager.createAndUpdateQueueData @ 5.5.0",
        severity=Severity.SHOULD,
    ),
    _body(
        118,
        "Members of a body that nobody knows MUST be ignored.",
        registration() | {"unknown": {"a": [1, None, {"b": True}]}},
        ACCEPTED,
        48,
    ),
)
