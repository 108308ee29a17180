"""Flags and codes: what is answered, carried out or ignored."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Silence
from rocketwire_tools.conformance.model.requests import ask, found, unsupported
from rocketwire_tools.conformance.model.steps import Expect, Request, Send

DISPATCH: Final = "NettyRemotingAbstract.processMessageReceived, processRequestCommand @ 5.5.0"


def _flagged(number: int, flag: int, what: str) -> Case:
    return Case(
        id=f"header/{number}",
        requirement=what,
        evidence=DISPATCH,
        items=(22,),
        steps=(
            Send((Request(code=106, flag=flag, opaque=9),)),
            Expect((Silence(),)),
            ask(106, None, found()),
        ),
    )


CASES: Final = (
    _flagged(
        100,
        1,
        "A message with the response flag MUST NOT be answered, and the connection MUST stay open.",
    ),
    _flagged(101, 2, "A one-way request MUST NOT be answered, and the connection MUST stay open."),
    _flagged(102, 3, "The response flag MUST take precedence over the one-way flag."),
    Case(
        id="header/103",
        requirement="Other flags MUST be ignored and MUST NOT be returned.",
        evidence=DISPATCH,
        items=(22,),
        steps=(
            ask(106, None, found(flag=1), flag=4),
            ask(106, None, found(flag=1), flag=0x7FFFFFFC),
        ),
    ),
    Case(
        id="header/104",
        requirement="A one-way request MUST be executed.",
        evidence=DISPATCH,
        items=(22,),
        steps=(
            Send(
                (
                    Request(
                        code=100,
                        ext={"namespace": "{namespace}", "key": "{key}", "value": "v"},
                        flag=2,
                    ),
                )
            ),
            Expect((Silence(),)),
            ask(101, {"namespace": "{namespace}", "key": "{key}"}, Answer(ext={"value": "v"})),
        ),
    ),
    Case(
        id="header/105",
        requirement="A request with the response flag MUST NOT be executed.",
        evidence=DISPATCH,
        items=(22,),
        steps=(
            Send(
                (
                    Request(
                        code=100,
                        ext={"namespace": "{namespace}", "key": "{key}", "value": "v"},
                        flag=3,
                    ),
                )
            ),
            Expect((Silence(),)),
            ask(101, {"namespace": "{namespace}", "key": "{key}"}, Answer(code=22, remark=ANY)),
        ),
    ),
    Case(
        id="header/106",
        requirement="An unknown code MUST be answered with code 3 and a remark that begins with a space.",
        evidence=DISPATCH,
        profiles=SINCE_5_3,
        items=(23,),
        steps=(ask(9999, None, unsupported(9999)), ask(0, None, unsupported(0))),
    ),
    Case(
        id="header/107",
        requirement="A one-way request with an unknown code MUST NOT be answered.",
        evidence=DISPATCH,
        items=(23,),
        steps=(Send((Request(code=9999, flag=2),)), Expect((Silence(),)), ask(106, None, found())),
    ),
    Case(
        id="header/108",
        requirement="A response MUST contain the protocol version and the language of the server.",
        evidence="RemotingCommand.createResponseCommand, setCmdVersion @ 5.5.0",
        items=(1,),
        steps=(ask(106, None, found(language="JAVA")),),
    ),
    Case(
        id="header/109",
        requirement="Request codes of brokers and clients MUST be answered as unknown.",
        evidence="NamesrvController.registerProcessor, DefaultRequestProcessor.processRequest @ 5.5.0",
        profiles=SINCE_5_3,
        items=(23,),
        steps=tuple(ask(code, {}, unsupported(code)) for code in (10, 11, 34, 310, 905, 1001)),
    ),
)
