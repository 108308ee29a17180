"""Registration (103): header fields in good and bad forms."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import Case, Severity
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Has, Json, Like, Outcome
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    found,
    register,
    registration,
    unregister,
)

ACCEPTED: Final = Answer(ext={})
THROWN: Final = Answer(code=1, remark=Like(".+"), ext=None)


def _without(name: str) -> dict[str, str]:
    return {key: value for key, value in broker_ext().items() if key != name}


def _header(
    number: int,
    what: str,
    ext: dict[str, str],
    outcome: Outcome,
    item: int,
    severity: Severity = Severity.MUST,
) -> Case:
    return Case(
        id=f"ns/103/{number}",
        requirement=what,
        evidence="RemotingCommand.decodeCommandCustomHeader, DefaultRequestProcessor.registerBroker @ 5.5.0",
        severity=severity,
        items=(item,),
        steps=(ask(103, ext, outcome, body=registration()),),
    )


BAD: Final = broker_ext(cluster="{clusterX}", name="{brokerX}", address="{addressX}")

CASES: Final = (
    _header(
        130,
        "A registration without brokerId MUST be answered with code 1.",
        _without("brokerId"),
        THROWN,
        55,
    ),
    _header(
        131,
        "A brokerId that is not a number MUST be answered with code 1.",
        broker_ext(broker_id="abc"),
        THROWN,
        55,
    ),
    _header(
        132,
        "A brokerId with a space MUST be answered with code 1.",
        broker_ext(broker_id=" 1"),
        THROWN,
        55,
    ),
    _header(
        133,
        "A brokerId beyond 64 bits MUST be answered with code 1.",
        broker_ext(broker_id="9223372036854775808"),
        THROWN,
        55,
    ),
    Case(
        id="ns/103/134",
        requirement="A brokerId with a plus sign SHOULD be accepted.",
        evidence="RemotingCommand.decodeCommandCustomHeader @ 5.5.0 (Long.parseLong)",
        severity=Severity.SHOULD,
        items=(55,),
        steps=(
            register(broker_ext(broker_id="+1"), None, ACCEPTED),
            ask(
                106,
                None,
                found(
                    Json(
                        Has(
                            {
                                "brokerAddrTable": Has(
                                    {"{broker}": Has({"brokerAddrs": {"1": "{address}"}})}
                                )
                            }
                        )
                    )
                ),
            ),
        ),
        cleanup=(unregister(broker_ext(broker_id=1)),),
    ),
    _header(
        135,
        "A registration without haServerAddr MUST be accepted.",
        _without("haServerAddr"),
        ACCEPTED,
        55,
    ),
    _header(136, "A registration without ext fields MUST be answered with code 1.", {}, THROWN, 55),
    Case(
        id="ns/103/140",
        requirement="A registration without brokerName, brokerAddr or clusterName MUST be answered without side effects.",
        evidence="RouteInfoManager.registerBroker @ 5.5.0 (its exceptions are only logged)",
        options={"conformance.key": "mine"},
        items=(76,),
        steps=(
            register(on="a"),
            *(
                ask(
                    103,
                    {name: text for name, text in BAD.items() if name != left_out},
                    Answer(code=ANY, remark=ANY, body=ANY),
                    body=registration(("{topicX}", "{topicY}")),
                    on="x",
                )
                for left_out in ("brokerName", "brokerAddr", "clusterName")
            ),
            ask(105, {"topic": "{topic}"}, found(), on="a"),
            register(on="a"),
            unregister(on="a"),
            ask(106, None, found(), on="a"),
        ),
    ),
)
