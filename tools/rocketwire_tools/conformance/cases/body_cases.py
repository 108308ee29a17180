"""Cases that consist of one registration with a certain body, and of what a client sees of it afterwards."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.model.case import ALL_PROFILES, Case, Profile, Severity
from rocketwire_tools.conformance.model.outcomes import Answer, Has, Json, Like, Outcome
from rocketwire_tools.conformance.model.requests import NO_ROUTE, ask, broker_ext, found

BODY: Final = "RegisterBrokerBody.decode @ 5.5.0"
ROUTE: Final = {"topic": "{topic}"}
ACCEPTED: Final = Answer(ext={})
THROWN: Final = Answer(code=1, remark=Like(".+"), ext=None)
ROUTED: Final = found(Json(Has({"queueDatas": [Has({"brokerName": "{broker}"})]})))


def route_with(**members: object) -> Answer:
    """The route of ``{topic}``, whose queues at ``{broker}`` have these members."""
    queue = Has({"brokerName": "{broker}"} | members)
    return found(Json(Has({"queueDatas": [queue]})))


def body_case(
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
    expected = then or (ROUTED if outcome is ACCEPTED else NO_ROUTE)
    return Case(
        id=f"ns/103/{number}",
        requirement=what,
        evidence=evidence,
        severity=severity,
        profiles=profiles,
        items=(item,),
        steps=(
            ask(103, broker_ext(**ext), outcome, body=body, version=version),
            ask(105, ROUTE, expected, on="reader"),
        ),
    )
