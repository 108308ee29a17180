"""Registration (103): the sum of the body."""

from __future__ import annotations

import zlib
from typing import Any, Final

from rocketwire_tools.conformance.build import (
    NO_ROUTE,
    ask,
    broker_ext,
    found,
    register,
    registration,
)
from rocketwire_tools.conformance.case import ALL_PROFILES, Case, Profile, Severity
from rocketwire_tools.conformance.outcomes import Answer, Has, Json, Outcome

BODY: Final = "RegisterBrokerBody.decode @ 5.5.0"
CHECKSUM: Final = "DefaultRequestProcessor.checksum @ 5.5.0"
ROUTE: Final = {"topic": "{topic}"}
ACCEPTED: Final = Answer(ext={})
MISMATCH: Final = Answer(code=1, ext={}, remark="crc32 not match")
ROUTED: Final = found(Json(Has({"queueDatas": [Has({"brokerName": "{broker}"})]})))


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
        100,
        "A registration whose bodyCrc32 is not that of its body MUST be refused, and nothing be stored.",
        registration(),
        MISMATCH,
        52,
        evidence=CHECKSUM,
        bodyCrc32="5",
    ),
    _body(
        101,
        "bodyCrc32 = 0 MUST mean no check.",
        registration(),
        ACCEPTED,
        52,
        evidence=CHECKSUM,
        bodyCrc32="0",
    ),
    _body(
        102,
        "A bodyCrc32 that is no number SHOULD mean no check.",
        registration(),
        ACCEPTED,
        52,
        evidence=CHECKSUM,
        severity=Severity.SHOULD,
        bodyCrc32="zz",
    ),
    Case(
        id="ns/103/103",
        requirement="The right bodyCrc32 MUST be accepted.",
        evidence=f"{CHECKSUM}, UtilAll.crc32",
        items=(52,),
        steps=(
            register(broker_ext(bodyCrc32=str(zlib.crc32(b"{}") & 0x7FFFFFFF)), b"{}", ACCEPTED),
        ),
    ),
    Case(
        id="ns/103/104",
        requirement="The sum MUST count without its highest bit.",
        evidence=f"{CHECKSUM}, UtilAll.crc32",
        items=(52,),
        steps=(
            register(broker_ext(bodyCrc32=str(zlib.crc32(b"{ }") & 0x7FFFFFFF)), b"{ }", ACCEPTED),
            register(
                broker_ext(bodyCrc32=str(zlib.crc32(b"{  }") & 0x7FFFFFFF)), b"{  }", ACCEPTED
            ),
        ),
    ),
    Case(
        id="ns/103/105",
        requirement="A sum for a body that is not there MUST be refused.",
        evidence=CHECKSUM,
        items=(52,),
        steps=(ask(103, broker_ext(bodyCrc32="5"), MISMATCH),),
    ),
)
