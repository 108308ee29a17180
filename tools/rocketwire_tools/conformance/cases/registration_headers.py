"""Registration (103): header fields in good and bad forms."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ACCEPTED, THROWN
from rocketwire_tools.conformance.model.case import Case, case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Has, Json, Outcome
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    found,
    register,
    registration,
    unregister,
)


def _without(name: str) -> dict[str, str]:
    return {key: value for key, value in broker_ext().items() if key != name}


def _header(number: int, what: str, ext: dict[str, str], outcome: Outcome, item: int) -> Case:
    return case(
        f"ns/103/{number}",
        what,
        ask(103, ext, outcome, body=registration()),
        evidence="RemotingCommand.decodeCommandCustomHeader, "
        "DefaultRequestProcessor.registerBroker @ 5.5.0",
        items=(item,),
    )


BAD: Final = broker_ext(cluster="{clusterX}", name="{brokerX}", address="{addressX}")

CASES: Final = (
    _header(
        130, "A registration without brokerId MUST be answered with code 1.", _without("brokerId"),
        THROWN, 55,
    ),
    _header(
        131, "A brokerId that is not a number MUST be answered with code 1.",
        broker_ext(broker_id="abc"), THROWN, 55,
    ),
    _header(
        132, "A brokerId with a space MUST be answered with code 1.", broker_ext(broker_id=" 1"),
        THROWN, 55,
    ),
    _header(
        133, "A brokerId beyond 64 bits MUST be answered with code 1.",
        broker_ext(broker_id="9223372036854775808"), THROWN, 55,
    ),
    case(
        "ns/103/134", "A brokerId with a plus sign SHOULD be accepted.",
        register(broker_ext(broker_id="+1"), None, ACCEPTED),
        ask(
            106, None,
            found(Json(Has({
                "brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": {"1": "{address}"}})}),
            }))),
        ),
        evidence="RemotingCommand.decodeCommandCustomHeader @ 5.5.0 (Long.parseLong)", items=(55,),
        cleanup=(unregister(broker_ext(broker_id=1)),),
    ),
    _header(
        135, "A registration without haServerAddr MUST be accepted.", _without("haServerAddr"),
        ACCEPTED, 55,
    ),
    _header(136, "A registration without ext fields MUST be answered with code 1.", {}, THROWN, 55),
    case(
        "ns/103/140",
        "A registration without brokerName, brokerAddr or clusterName MUST be answered without "
        "side effects.",
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
        evidence="RouteInfoManager.registerBroker @ 5.5.0 (its exceptions are only logged)",
        items=(76,), options={"conformance.key": "mine"},
    ),
)  # fmt: skip
