"""Frames, headers and flags, whatever the request."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.case import Case
from rocketwire_tools.conformance.outcomes import Answer, Closed, Silence
from rocketwire_tools.conformance.steps import Expect, Frame, Request, Send

_UNKNOWN: Final = Answer(code=3, remark=" request type 9999 not supported")

CASES: Final = (
    Case(
        id="transport/1",
        requirement="A frame whose length word is 0 MUST end the connection without an answer.",
        evidence="NettyDecoder.decode @ 5.5.0 (LengthFieldBasedFrameDecoder)",
        items=(4,),
        steps=(Send((b"\x00\x00\x00\x00" + bytes(12),)), Expect((Closed(),))),
    ),
    Case(
        id="transport/2",
        requirement="A request MUST be answered the same however its bytes are cut.",
        evidence="NettyDecoder.decode @ 5.5.0",
        items=(2,),
        steps=(Send((Request(code=9999),), pieces=1), Expect((_UNKNOWN,))),
    ),
    Case(
        id="transport/3",
        requirement="A header that is a JSON array MUST end the connection.",
        evidence="RemotingCommand.headerDecode @ 5.5.0",
        items=(8,),
        steps=(Send((Frame(header=b"[1]         "),)), Expect((Closed(),))),
    ),
    Case(
        id="transport/4",
        requirement="A one-way request of an unknown code MUST not be answered.",
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        items=(22, 23),
        steps=(Send((Request(code=9999, flag=2),)), Expect((Silence(),))),
    ),
)
