"""Packed registrations (103 with compressed = true) in good and bad forms."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.build import (
    NO_ROUTE,
    ask,
    broker_ext,
    found,
    registration,
)
from rocketwire_tools.conformance.case import ALL_PROFILES, SINCE_5_3, Case, Profile, Severity
from rocketwire_tools.conformance.outcomes import ANY, Answer, Has, Json, Like, Outcome
from rocketwire_tools.conformance.packed import Packed

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
    _body(
        150,
        "A packed registration MUST be understood.",
        Packed(),
        ACCEPTED,
        58,
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        149,
        "A packed registration of a broker before 5.0.0, whose topics have no attributes, MUST be understood.",
        Packed(
            topics=("{topic} 8 8 6 SINGLE_TAG", "{topicB} 8 8 6 SINGLE_TAG"),
            version='{"counter":1,"timestamp":1000}',
            mappings=None,
        ),
        ACCEPTED,
        58,
        version=399,
        compressed="true",
    ),
    _body(
        151,
        "compressed=TRUE MUST mean true.",
        Packed(),
        ACCEPTED,
        60,
        profiles=SINCE_5_3,
        compressed="TRUE",
    ),
    _body(
        152,
        "A packed registration of a version before 5.0.0 has no mappings and MUST be understood.",
        Packed(mappings=None),
        ACCEPTED,
        58,
        version=399,
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        153,
        "A packed registration of 5.0.0 or later without the mappings' part MUST be answered code 1.",
        Packed(mappings=None),
        THROWN,
        58,
        version=413,
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        154,
        "The mappings' part of a packed registration of a version before 5.0.0 SHOULD be ignored.",
        Packed(),
        ACCEPTED,
        58,
        version=399,
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        155,
        "A packed topic MUST have the numbers of its line, and no flags.",
        Packed(topics=("{topic} 3 5 4 MULTI_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")),
        ACCEPTED,
        58,
        then=_route(readQueueNums=3, writeQueueNums=5, perm=4, topicSysFlag=0),
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        156,
        "A packed topic without its last part MUST be answered code 1.",
        Packed(topics=("{topic} 8 8 6", "{topicB} 8 8 6 SINGLE_TAG {}")),
        THROWN,
        59,
        compressed="true",
    ),
    _body(
        157,
        "An unknown filter type of a packed topic MUST be answered code 1.",
        Packed(topics=("{topic} 8 8 6 NO_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")),
        THROWN,
        59,
        compressed="true",
    ),
    _body(
        158,
        "A number of a packed topic that is none MUST be answered code 1.",
        Packed(topics=("{topic} 8 x 6 SINGLE_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")),
        THROWN,
        59,
        compressed="true",
    ),
    _body(
        159,
        "Attributes of a packed topic that are no JSON SHOULD be lost and nothing else.",
        Packed(topics=("{topic} 8 8 6 SINGLE_TAG {{{", "{topicB} 8 8 6 SINGLE_TAG {}")),
        ACCEPTED,
        59,
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        160,
        "Filter servers of a packed registration that are no JSON SHOULD be lost and nothing else.",
        Packed(filters="[[["),
        ACCEPTED,
        59,
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        161,
        "A packed registration as gzip MUST be answered code 1.",
        Packed(form="gzip"),
        THROWN,
        60,
        compressed="true",
    ),
    _body(
        162,
        "compressed=true with a JSON body MUST be answered code 1.",
        registration(),
        THROWN,
        60,
        compressed="true",
    ),
    _body(163, "compressed=1 MUST mean false.", registration(), ACCEPTED, 60, compressed="1"),
    _body(
        164,
        "A packed registration that is cut off MUST be answered code 1.",
        Packed(cut=20),
        THROWN,
        59,
        compressed="true",
    ),
    _body(
        165,
        "Bytes behind the last part of a packed registration SHOULD be ignored.",
        Packed(tail=b"more"),
        ACCEPTED,
        59,
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        166,
        "A packed registration whose parts are not compressed MUST be answered code 1.",
        Packed(form="plain"),
        THROWN,
        60,
        compressed="true",
    ),
    _body(
        167,
        "Of a topic that a packed registration names twice the last line SHOULD count.",
        Packed(
            topics=(
                "{topic} 3 3 6 SINGLE_TAG {}",
                "{topic} 4 4 6 SINGLE_TAG {}",
                "{topicB} 1 1 6 SINGLE_TAG {}",
            )
        ),
        ACCEPTED,
        58,
        then=_route(readQueueNums=4, writeQueueNums=4),
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        compressed="true",
    ),
    _body(
        168,
        "A packed body that is labelled as JSON MUST be answered: Java refuses it, a server MAY see what it is.",
        Packed(),
        Answer(code=ANY, remark=ANY, body=ANY),
        58,
        then=Answer(code=ANY, remark=ANY, body=ANY),
        severity=Severity.NOTE,
        compressed="false",
    ),
)
