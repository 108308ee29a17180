"""Flags and codes: which requests are answered, executed or ignored."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Silence
from rocketwire_tools.conformance.model.requests import ask, found, unsupported
from rocketwire_tools.conformance.model.steps import Expect, Request, Send

DISPATCH: Final = "NettyRemotingAbstract.processMessageReceived, processRequestCommand @ 5.5.0"


def _flagged(number: int, flag: int, what: str) -> Case:
    return case(
        f"header/{number}",
        what,
        Send((Request(code=106, flag=flag, opaque=9),)),
        Expect((Silence(),)),
        ask(106, None, found()),
        evidence=DISPATCH,
        items=(22,),
    )


CASES: Final = (
    _flagged(
        100, 1,
        "A message with the response flag MUST NOT be answered, and the connection MUST stay open.",
    ),
    _flagged(101, 2, "A one-way request MUST NOT be answered, and the connection MUST stay open."),
    _flagged(102, 3, "The response flag MUST take precedence over the one-way flag."),
    case(
        "header/103", "Other flags MUST be ignored and MUST NOT be returned.",
        ask(106, None, found(flag=1), flag=4),
        ask(106, None, found(flag=1), flag=0x7FFFFFFC),
        evidence=DISPATCH, items=(22,),
    ),
    case(
        "header/104", "A one-way request MUST be executed.",
        Send((
            Request(
                code=100, ext={"namespace": "{namespace}", "key": "{key}", "value": "v"}, flag=2,
            ),
        )),
        Expect((Silence(),)),
        ask(101, {"namespace": "{namespace}", "key": "{key}"}, Answer(ext={"value": "v"})),
        evidence=DISPATCH, items=(22,),
    ),
    case(
        "header/105", "A request with the response flag MUST NOT be executed.",
        Send((
            Request(
                code=100, ext={"namespace": "{namespace}", "key": "{key}", "value": "v"}, flag=3,
            ),
        )),
        Expect((Silence(),)),
        ask(101, {"namespace": "{namespace}", "key": "{key}"}, Answer(code=22, remark=ANY)),
        evidence=DISPATCH, items=(22,),
    ),
    case(
        "header/106",
        "An unknown code MUST be answered with code 3 and a remark that begins with a space.",
        ask(9999, None, unsupported(9999)),
        ask(0, None, unsupported(0)),
        evidence=DISPATCH, items=(23,), profiles=SINCE_5_3,
    ),
    case(
        "header/107", "A one-way request with an unknown code MUST NOT be answered.",
        Send((Request(code=9999, flag=2),)),
        Expect((Silence(),)),
        ask(106, None, found()),
        evidence=DISPATCH, items=(23,),
    ),
    case(
        "header/108",
        "A response MUST contain the protocol version and the language of the server.",
        ask(106, None, found(language="JAVA")),
        evidence="RemotingCommand.createResponseCommand, setCmdVersion @ 5.5.0", items=(1,),
    ),
    case(
        "header/109", "Request codes of brokers and clients MUST be answered as unknown.",
        *(ask(code, {}, unsupported(code)) for code in (10, 11, 34, 310, 905, 1001)),
        evidence="NamesrvController.registerProcessor, DefaultRequestProcessor.processRequest "
        "@ 5.5.0",
        items=(23,), profiles=SINCE_5_3,
    ),
)  # fmt: skip
