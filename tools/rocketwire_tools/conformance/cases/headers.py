"""Headers of requests: JSON and binary forms, flags and codes."""

from __future__ import annotations

import struct
from typing import Final

from rocketwire_tools.conformance.cases.common import ENTRY, put
from rocketwire_tools.conformance.model.case import (
    ALL_PROFILES,
    ONLY_5_5,
    SINCE_5_3,
    Case,
    Profile,
    case,
    since_5_3,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Closed, Response, Silence
from rocketwire_tools.conformance.model.requests import (
    ask,
    expect,
    no_entry,
    send,
    success,
    unknown,
)
from rocketwire_tools.conformance.model.steps import Frame, Request

DECODE: Final = "RemotingCommand.decode, RemotingSerializable.decode @ 5.5.0"
NAMES: Final = '"extFields":{"namespace":"{namespace}","key":"{key}"'
BINARY: Final = "RocketMQSerializable.rocketMQProtocolDecode @ 5.5.0"
DISPATCH: Final = "NettyRemotingAbstract.processMessageReceived, processRequestCommand @ 5.5.0"
NOTHING: Final = no_entry(opaque=7)
NUMBERED: Final = '"flag":0,"language":"JAVA","opaque":7,"version":479'


def _header(
    number: int,
    header: str | bytes,
    outcome: Response | Closed,
    item: int,
    profiles: frozenset[Profile] = ALL_PROFILES,
    word: str = "MUST",
) -> Case:
    text = header if isinstance(header, str) else header.decode(errors="backslashreplace")
    what = "close the connection without an answer"
    if isinstance(outcome, Response):
        what = f"be answered with {f'code {outcome.code}' if outcome.code else 'success'}"
    return case(f"header/{number}", item, DECODE, f"The header {text.strip()!r} {word} {what}.",
        send(Frame(header=header)),
        expect(outcome),
        profiles=profiles,
    )  # fmt: skip


def _text_of(number: int, written: str, kept: str, word: str = "MUST") -> Case:
    header = f'{{"code":100,"opaque":7,{NAMES},"value":{written}}}}}'
    return case(f"header/{number}", 13, "RemotingSerializable.decode @ 5.5.0 (a map of texts)",
        f"An ext field with the value {written} {word} be read as the string {kept!r}.",
        send(Frame(header=header)),
        expect(Response(opaque=7)),
        ask(101, ENTRY, Response(ext={"value": kept})),
        cleanup=(ask(102, ENTRY),),
    )  # fmt: skip


def _binary(
    code: int = 101,
    *,
    ext: bytes = b"",
    remark_length: int = 0,
    ext_length: int | None = None,
    language: int = 3,
) -> bytes:
    length = len(ext) if ext_length is None else ext_length
    fixed = struct.pack(">HBhiii", code & 0xFFFF, language, 479, 7, 0, remark_length)
    return fixed + struct.pack(">i", length) + ext


def _binary_case(
    number: int,
    what: str,
    header: bytes,
    outcome: Response | Closed,
    item: int,
    profiles: frozenset[Profile] = ALL_PROFILES,
) -> Case:
    return case(f"header/{number}", item, BINARY, what,
        send(Frame(header=header, type=1)),
        expect(outcome),
        profiles=profiles,
    )  # fmt: skip


def _ignores(number: int, flag: int, what: str) -> Case:
    return case(f"header/{number}", 22, DISPATCH, what,
        send(Request(code=106, flag=flag, opaque=9)),
        expect(Silence()),
        ask(106, None, success()),
    )  # fmt: skip


CASES: Final = (
    _header(1, "[1]            ", Closed(), 8),
    _header(2, "12             ", Closed(), 8),
    _header(3, "hello          ", Closed(), 8),
    _header(4, "null           ", Closed(), 8),
    _header(5, "               ", Closed(), 8),
    _header(6, "{}             ", unknown(0, opaque=None), 8, ONLY_5_5),
    _header(7, '{"code":101,"opaque":7} x', Closed(), 9),
    _header(8, '{"code":101,"opaque":7}{}', Closed(), 9),
    _header(9, '{"code":101,"opaque":7', Closed(), 9),
    _header(10, "{'code':101,'opaque':7}", NOTHING, 10),
    _header(11, '{"code":101,"opaque":7,}', NOTHING, 10, word="SHOULD"),
    _header(12, '{/*c*/"code":101,"opaque":7}', NOTHING, 10, word="MAY"),
    _header(13, '  \n\t{"code":101,"opaque":7}', NOTHING, 10),
    _header(14, "{code:101,opaque:7}", Closed(), 10, ONLY_5_5, "MAY"),
    _header(15, b'\xef\xbb\xbf{"code":101,"opaque":7}', Closed(), 10, ONLY_5_5, "MAY"),
    _header(16, '{"CODE":101,"Opaque":7}', unknown(0, opaque=None), 10, ONLY_5_5),
    _header(17, f'{{"code":"101",{NUMBERED}}}', NOTHING, 11),
    _header(18, f'{{"code":101.0,{NUMBERED}}}', NOTHING, 11),
    _header(19, f'{{"code":"abc",{NUMBERED}}}', Closed(), 11),
    _header(20, f'{{"code":true,{NUMBERED}}}', unknown(1, opaque=7), 11, ONLY_5_5),
    _header(21, f'{{"code":null,{NUMBERED}}}', unknown(0, opaque=7), 11, ONLY_5_5),
    _header(22, f'{{"code":{{}},{NUMBERED}}}', unknown(0, opaque=7), 11, ONLY_5_5,
        "MAY"),
    _header(23, f"{{{NUMBERED}}}", unknown(0, opaque=7), 11, ONLY_5_5),
    _header(24, '{"code":101,"language":"KLINGON","opaque":7}', NOTHING, 12),
    _header(25, '{"code":101,"language":99,"opaque":7}', Closed(), 12),
    _header(26, '{"code":101,"language":3,"opaque":7}', NOTHING, 12),
    _header(27, '{"code":101,"language":null,"opaque":7}', NOTHING, 12),
    _header(28, '{"code":101,"extFields":["a"],"opaque":7}', Closed(), 13),
    _header(29, '{"code":101,"extFields":"a","opaque":7}', Closed(), 13),
    _header(30, '{"code":101,"extFields":null,"opaque":7}', NOTHING, 13),
    _header(31, '{"code":101,"extFields":{},"opaque":7}', NOTHING, 13),
    _header(32, b'{"code":101,"remark":"\xff\xfe","opaque":7}', Closed(), 14, SINCE_5_3),
    _header(33, '{"code":101,"flag":0,"version":479}', no_entry(), 15),
    _header(34, '{"code":101,"opaque":-7}', no_entry(opaque=-7), 16),
    _header(35, '{"code":101,"opaque":2147483647}', no_entry(opaque=2**31 - 1), 16),
    _header(36, '{"code":101,"opaque":-2147483648}', no_entry(opaque=-(2**31)), 16),
    _header(37, '{"code":101,"opaque":2147483648}', Closed(), 16, ONLY_5_5),
    _header(38, '{"code":5000000000,"opaque":7}', Closed(), 16, ONLY_5_5),
    _header(39, '{"code":101,"opaque":7,"unknown":{"a":[1,2,{}]}}', NOTHING, 10),
    _header(40, '{"code":101,"opaque":7,"serializeTypeCurrentRPC":"ROCKETMQ"}', NOTHING, 17),
    _header(41, '{"code":101,"opaque":7,"version":-1}', NOTHING, 16),
    _header(42, '{"code":101,"opaque":7,"version":2147483647}', NOTHING, 16),
    _header(43, '{"code":101,"opaque":7,"remark":"told to a server"}', NOTHING, 10),
    _header(44, '{"code":-1,"opaque":7}', unknown(-1, opaque=7), 23, SINCE_5_3),
    _text_of(60, "1", "1"),
    _text_of(61, "true", "true"),
    _text_of(62, '{"a":1}', '{"a":1}', "MAY"),
    _text_of(63, '"\\u00e9\\n"', "é\n"),
    _text_of(64, "-12345678901234567890", "-12345678901234567890", "MAY"),
    since_5_3("header/80", 17,
        "RemotingCommand.createResponseCommand, getSerializeTypeConfigInThisServer @ 5.5.0",
        "A server configured for JSON MUST answer a request with a binary header with a JSON "
        "header.",
        ask(106, None, success(binary=False), binary=True),
    ),
    since_5_3("header/81", 18,
        "RemotingCommand.makeCustomHeaderToNet, RocketMQSerializable.rocketMQProtocolEncode @ "
        "5.5.0",
        "A server configured for ROCKETMQ MUST answer with binary headers, even to a request with "
        "a JSON header.",
        ask(100, put(), Response(binary=True)),
        ask(101, ENTRY, Response(ext={"value": "v"}, binary=True)),
        ask(9999, None, unknown(9999, binary=True)),
        jvm=("-Drocketmq.serialize.type=ROCKETMQ",),
    ),
    _binary_case(82,
        "The code in a binary header MUST be read as a signed 16-bit number: 40000 is -25536.",
        _binary(40000), unknown(-25536, opaque=7), 19, SINCE_5_3),
    _binary_case(83, "A remark longer than the binary header MUST close the connection.",
        _binary(remark_length=1000), Closed(), 20),
    _binary_case(84,
        "A negative length of the remark in a binary header MUST close the connection.",
        _binary(remark_length=-1), Closed(), 20),
    _binary_case(85,
        "A negative length of ext fields in a binary header MUST be read as no ext fields.",
        _binary(ext_length=-5), NOTHING, 20),
    _binary_case(86, "Ext fields longer than the binary header MUST close the connection.",
        _binary(ext_length=1000), Closed(), 20),
    _binary_case(87, "An entry beyond the end of the ext fields MUST close the connection.",
        _binary(ext=struct.pack(">H", 9) + b"namespace" + struct.pack(">i", 50) + b"n"), Closed(),
        20),
    _binary_case(88, "A binary header of 5 bytes MUST close the connection.",
        b"\x00\x6a\x03\x01\xdf", Closed(), 20),
    _binary_case(89, "An unknown language in a binary header MUST be ignored.",
        _binary(language=200), NOTHING, 20),
    case("header/90", 17, BINARY, "Ext fields of a binary header MUST be read.",
        ask(100, {"namespace": "{namespace}", "key": "{key}", "value": "漢"}, binary=True),
        ask(101, ENTRY, Response(ext={"value": "漢"}, binary=None), binary=True),
    ),
    _ignores(100, 1,
        "A message with the response flag MUST NOT be answered, and the connection MUST stay "
        "open."),
    _ignores(101, 2, "A one-way request MUST NOT be answered, and the connection MUST stay open."),
    _ignores(102, 3, "The response flag MUST take precedence over the one-way flag."),
    case("header/103", 22, DISPATCH, "Other flags MUST be ignored and MUST NOT be returned.",
        ask(106, None, success(flag=1), flag=4),
        ask(106, None, success(flag=1), flag=0x7FFFFFFC),
    ),
    case("header/104", 22, DISPATCH, "A one-way request MUST be executed.",
        send(Request(code=100, ext=put(), flag=2)),
        expect(Silence()),
        ask(101, ENTRY, Response(ext={"value": "v"})),
    ),
    case("header/105", 22, DISPATCH, "A request with the response flag MUST NOT be executed.",
        send(Request(code=100, ext=put(), flag=3)),
        expect(Silence()),
        ask(101, ENTRY, Response(code=22, remark=ANY)),
    ),
    since_5_3("header/106", 23, DISPATCH,
        "An unknown code MUST be answered with code 3 and a remark that begins with a space.",
        ask(9999, None, unknown(9999)),
        ask(0, None, unknown(0)),
    ),
    case("header/107", 23, DISPATCH, "A one-way request with an unknown code MUST NOT be answered.",
        send(Request(code=9999, flag=2)),
        expect(Silence()),
        ask(106, None, success()),
    ),
    case("header/108", 1, "RemotingCommand.createResponseCommand, setCmdVersion @ 5.5.0",
        "A response MUST contain the protocol version and the language of the server.",
        ask(106, None, success(language="JAVA")),
    ),
    since_5_3("header/109", 23,
        "NamesrvController.registerProcessor, DefaultRequestProcessor.processRequest @ 5.5.0",
        "Request codes of brokers and clients MUST be answered as unknown.",
        *(ask(code, {}, unknown(code)) for code in (10, 11, 34, 310, 905, 1001)),
    ),
)  # fmt: skip
