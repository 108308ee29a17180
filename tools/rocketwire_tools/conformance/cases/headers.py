"""JSON headers of requests: accepted forms, and headers that close the connection."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import (
    ALL_PROFILES,
    ONLY_5_5,
    SINCE_5_3,
    Case,
    Profile,
    Severity,
    case,
)
from rocketwire_tools.conformance.model.outcomes import Answer, Closed
from rocketwire_tools.conformance.model.requests import ask, no_entry, unsupported
from rocketwire_tools.conformance.model.steps import Expect, Frame, Send

WORDS: Final = {Severity.MUST: "MUST", Severity.SHOULD: "SHOULD", Severity.NOTE: "MAY"}
DECODE: Final = "RemotingCommand.decode, RemotingSerializable.decode @ 5.5.0"


NOTHING: Final = no_entry(opaque=7)
NUMBERED: Final = '"flag":0,"language":"JAVA","opaque":7,"version":479'


def _closes(
    number: int,
    header: str | bytes,
    item: int,
    profiles: frozenset[Profile] = ALL_PROFILES,
    severity: Severity = Severity.MUST,
) -> Case:
    shown = header if isinstance(header, str) else header.decode("latin-1")
    return case(
        f"header/{number}",
        f"The header {shown.strip()!r} {WORDS[severity]} close the connection without an answer.",
        Send((Frame(header=header),)),
        Expect((Closed(),)),
        evidence=DECODE,
        items=(item,),
        profiles=profiles,
    )


def _answers(
    number: int,
    header: str,
    outcome: Answer,
    item: int,
    profiles: frozenset[Profile] = ALL_PROFILES,
    severity: Severity = Severity.MUST,
) -> Case:
    what = "success" if outcome.code == 0 else f"code {outcome.code}"
    return case(
        f"header/{number}",
        f"The header {header.strip()!r} {WORDS[severity]} be answered with {what}.",
        Send((Frame(header=header),)),
        Expect((outcome,)),
        evidence=DECODE,
        items=(item,),
        profiles=profiles,
    )


JSON_CASES: Final = (
    _closes(1, "[1]            ", 8),
    _closes(2, "12             ", 8),
    _closes(3, "hello          ", 8),
    _closes(4, "null           ", 8),
    _closes(5, "               ", 8),
    _answers(6, "{}             ", unsupported(0, opaque=None), 8, ONLY_5_5),
    _closes(7, '{"code":101,"opaque":7} x', 9),
    _closes(8, '{"code":101,"opaque":7}{}', 9),
    _closes(9, '{"code":101,"opaque":7', 9),
    _answers(10, "{'code':101,'opaque':7}", NOTHING, 10),
    _answers(11, '{"code":101,"opaque":7,}', NOTHING, 10, severity=Severity.SHOULD),
    _answers(12, '{/*c*/"code":101,"opaque":7}', NOTHING, 10, severity=Severity.SHOULD),
    _answers(13, '  \n\t{"code":101,"opaque":7}', NOTHING, 10),
    _closes(14, "{code:101,opaque:7}", 10, ONLY_5_5, Severity.NOTE),
    _closes(15, b'\xef\xbb\xbf{"code":101,"opaque":7}', 10, ONLY_5_5, Severity.NOTE),
    _answers(16, '{"CODE":101,"Opaque":7}', unsupported(0, opaque=None), 10, ONLY_5_5),
    _answers(17, f'{{"code":"101",{NUMBERED}}}', NOTHING, 11),
    _answers(18, f'{{"code":101.0,{NUMBERED}}}', NOTHING, 11),
    _closes(19, f'{{"code":"abc",{NUMBERED}}}', 11),
    _answers(20, f'{{"code":true,{NUMBERED}}}', unsupported(1, opaque=7), 11, ONLY_5_5),
    _answers(21, f'{{"code":null,{NUMBERED}}}', unsupported(0, opaque=7), 11, ONLY_5_5),
    _answers(
        22, f'{{"code":{{}},{NUMBERED}}}', unsupported(0, opaque=7), 11, ONLY_5_5, Severity.NOTE,
    ),
    _answers(23, f"{{{NUMBERED}}}", unsupported(0, opaque=7), 11, ONLY_5_5),
    _answers(24, '{"code":101,"language":"KLINGON","opaque":7}', NOTHING, 12),
    _closes(25, '{"code":101,"language":99,"opaque":7}', 12),
    _answers(26, '{"code":101,"language":3,"opaque":7}', NOTHING, 12),
    _answers(27, '{"code":101,"language":null,"opaque":7}', NOTHING, 12),
    _closes(28, '{"code":101,"extFields":["a"],"opaque":7}', 13),
    _closes(29, '{"code":101,"extFields":"a","opaque":7}', 13),
    _answers(30, '{"code":101,"extFields":null,"opaque":7}', NOTHING, 13),
    _answers(31, '{"code":101,"extFields":{},"opaque":7}', NOTHING, 13),
    _closes(32, b'{"code":101,"remark":"\xff\xfe","opaque":7}', 14, SINCE_5_3),
    _answers(33, '{"code":101,"flag":0,"version":479}', no_entry(), 15),
    _answers(34, '{"code":101,"opaque":-7}', no_entry(opaque=-7), 16),
    _answers(35, '{"code":101,"opaque":2147483647}', no_entry(opaque=2**31 - 1), 16),
    _answers(36, '{"code":101,"opaque":-2147483648}', no_entry(opaque=-(2**31)), 16),
    _closes(37, '{"code":101,"opaque":2147483648}', 16, ONLY_5_5),
    _closes(38, '{"code":5000000000,"opaque":7}', 16, ONLY_5_5),
    _answers(39, '{"code":101,"opaque":7,"unknown":{"a":[1,2,{}]}}', NOTHING, 10),
    _answers(40, '{"code":101,"opaque":7,"serializeTypeCurrentRPC":"ROCKETMQ"}', NOTHING, 17),
    _answers(41, '{"code":101,"opaque":7,"version":-1}', NOTHING, 16),
    _answers(42, '{"code":101,"opaque":7,"version":2147483647}', NOTHING, 16),
    _answers(43, '{"code":101,"opaque":7,"remark":"told to a server"}', NOTHING, 10),
    _answers(44, '{"code":-1,"opaque":7}', unsupported(-1, opaque=7), 23, SINCE_5_3),
)  # fmt: skip

NAMES: Final = '"extFields":{"namespace":"{namespace}","key":"{key}"'


def _text_of(number: int, written: str, kept: str, severity: Severity = Severity.MUST) -> Case:
    put = f'{{"code":100,"opaque":7,{NAMES},"value":{written}}}}}'
    return case(
        f"header/{number}",
        f"An ext field with the value {written} {WORDS[severity]} be read as the string {kept!r}.",
        Send((Frame(header=put),)),
        Expect((Answer(opaque=7),)),
        ask(101, {"namespace": "{namespace}", "key": "{key}"}, Answer(ext={"value": kept})),
        evidence="RemotingSerializable.decode @ 5.5.0 (a map of texts)",
        items=(13,),
        cleanup=(ask(102, {"namespace": "{namespace}", "key": "{key}"}),),
    )


TEXT_CASES: Final = (
    _text_of(60, "1", "1"),
    _text_of(61, "true", "true"),
    _text_of(62, '{"a":1}', '{"a":1}', Severity.NOTE),
    _text_of(63, '"\\u00e9\\n"', "é\n"),
    _text_of(64, "-12345678901234567890", "-12345678901234567890", Severity.NOTE),
)  # fmt: skip


CASES: Final = JSON_CASES + TEXT_CASES
