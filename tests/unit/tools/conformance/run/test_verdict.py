"""The evidence of a verdict has no notation of a programming language."""

from rocketwire.wire.command import RemotingCommand
from rocketwire_tools.conformance.cases.frames import HEADERS
from rocketwire_tools.conformance.run.raw_connection import Arrival
from rocketwire_tools.conformance.run.verdict import arrival_text


def test_evidence_is_json_without_absent_members() -> None:
    nothing = Arrival("response", command=RemotingCommand(code=0, flag=1, opaque=7))
    full = RemotingCommand(code=1, flag=1, remark='a"b', ext_fields={"a": "b"}, body=b"\xff{}")

    assert arrival_text(nothing) == "response code=0 flag=1 opaque=7"
    assert arrival_text(Arrival("response", command=full)) == (
        'response code=1 flag=1 opaque=0 remark="a\\"b" ext={"a": "b"} body="\\\\xff{}"'
    )


def test_a_byte_order_mark_in_a_requirement_is_escaped() -> None:
    (case,) = [case for case in HEADERS if case.id == "header/15"]

    assert case.requirement.startswith(r"The header '\ufeff{")
