"""Frames and headers: lengths, types, splits, invalid data, unusual names and large sizes."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import ENTRY, ROUTE, SPACE, put, topics
from rocketwire_tools.conformance.model.case import (
    ALL_PROFILES,
    ONLY_5_5,
    SINCE_5_3,
    Case,
    Profile,
    case,
    only_5_5,
    since_5_3,
)
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    AllOf,
    Closed,
    Contains,
    Has,
    JsonBody,
    Like,
    Response,
    Silence,
    TextBody,
)
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    data_version,
    expect,
    has,
    in_flight,
    no_entry,
    not_supported,
    register,
    registration,
    send,
    success,
    topic_config,
    until,
)
from rocketwire_tools.conformance.model.steps import Frame, Open, Request, Step, Wait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.conformance.model.steps import Ask


# Frames: lengths, types, splits and invalid data. Java processes nothing before the twelfth byte of
# a connection, so each case sends at least twelve.

DECODER: Final = "NettyDecoder.decode @ 5.5.0"
HEADER_LENGTH: Final = "RemotingCommand.getHeaderLength @ 5.5.0"
PROTOCOL_TYPE: Final = "RemotingCommand.getProtocolType @ 5.5.0"
HEADER: Final = (
    b'{"code":101,"flag":0,"language":"PYTHON","opaque":1,"serializeTypeCurrentRPC":"JSON",'
    b'"version":479}'
)
WHOLE: Final = struct.pack(">II", len(HEADER) + 4, len(HEADER)) + HEADER
FIRST_ENTRY: Final = no_entry(opaque=1)


def _length(value: int, then: bytes = bytes(60)) -> bytes:
    return struct.pack(">i", value) + then


def _different(link: str) -> Iterator[Ask]:
    # Requests whose responses all differ, twice, for each connection in another order
    differing = [
        ask(105, ROUTE, has({"queueDatas": [Has({"perm": 4})]}), on=link),
        ask(105, {"topic": "{topicB}"}, has({"queueDatas": [Has({"perm": 6})]}), on=link),
        ask(105, {"topic": "{topicX}"}, Response(code=17, remark=Like("(?s).*{topicX}.*")),
            on=link),
        ask(101, ENTRY, Response(ext={"value": "{key}"}), on=link),
        ask(101, ENTRY | {"key": "{keyB}"}, Response(ext={"value": "{keyB}"}), on=link),
        ask(101, ENTRY | {"key": "{keyX}"}, Response(code=22, remark=Like(".*{keyX}")), on=link),
        ask(106, None, has({"clusterAddrTable": Has({"{cluster}": ["{broker}"]})}), on=link),
        ask(206, None, topics("{topic}"), on=link),
        ask(219, SPACE, has({"table": Has({"{key}": "{key}"})}), on=link),
        ask(224, {"cluster": "{cluster}"}, topics("{topic}", without=("{topicX}",)), on=link),
        ask(322, broker_ext(), success(ext={"changed": "false"}), body=data_version(), on=link),
        ask(901, {"brokerName": "{broker}"}, success(remark=ANY), on=link),
        ask(9999, None, not_supported(9999), on=link),
        ask(9998, None, not_supported(9998), on=link),
    ]  # fmt: skip
    turn = ord(link) % len(differing)
    yield from 2 * (differing[turn:] + differing[:turn])


def _closes(number: int, what: str, sent: bytes | Frame, evidence: str, item: int) -> Case:
    return case(f"transport/{number}", item, evidence,
        f"{what} MUST close the connection without a response.",
        send(sent),
        expect(Closed()),
    )  # fmt: skip


# Headers of requests: JSON and binary forms, flags and codes.

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


def _binary_header(
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


# Names with unusual characters, large frames, large registrations, frames cut at every byte.

# Maximum size of a frame in bytes, including the length word.
LARGEST: Final = 16_777_216
LARGE_HEADER: Final = (
    b'{"code":103,"extFields":{"brokerAddr":"198.18.255.1:10911","brokerId":"0",'
    b'"brokerName":"conformance-largest","clusterName":"conformance-largest",'
    b'"haServerAddr":"198.18.255.1:10912"},"flag":0,"language":"JAVA","opaque":1,"version":479}'
)
ODD: Final = "é漢😀\"\\/\u007f\u2028<&>'="
# Java's fastjson2 cannot parse a member name with an escape and a character above U+FFFF.
PLAIN: Final = 'é漢"\\/\u2028<&>'
ODD_JSON: Final = "é漢😀\\\"\\\\/\u007f\u2028<&>'="


def _filling(size: int) -> Frame:
    return Frame(header=LARGE_HEADER, body=b"{}".ljust(size - 8 - len(LARGE_HEADER)))


def _cut(length: int) -> tuple[Step, ...]:
    return send(WHOLE[:length]), Wait(0.002), send(WHOLE[length:]), expect(FIRST_ENTRY)


MANY: Final = tuple(f"{{topic{number}}}" for number in range(2000))


CASES: Final = (
    case("transport/5", 1, "RemotingCommand.encodeHeader, markResponseType @ 5.5.0",
        "The response to a request MUST have valid lengths, the request's opaque and only the "
        "response flag.",
        send(WHOLE), expect(FIRST_ENTRY)),
    case("transport/6", 2, DECODER,
        "A frame that arrives byte by byte MUST be answered like one that arrives in one segment.",
        send(WHOLE, pieces=1), expect(FIRST_ENTRY), tags=frozenset({"split"})),
    case("transport/9", (2, 3), DECODER,
        "One and a half frames followed by the other half MUST get two responses.",
        send(WHOLE + WHOLE[:50]), expect(FIRST_ENTRY), expect(Silence(seconds=0.1)),
        send(WHOLE[50:]), expect(FIRST_ENTRY)),
    since_5_3("transport/40", 3, "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "Different requests in one segment, on several connections at once, MUST each be "
        "answered with their own content.",
        register(None, registration((topic_config("{topic}", perm=4), "{topicB}"))),
        ask(100, put("{key}")), ask(100, put("{keyB}", "{keyB}")),
        *in_flight(*(different for link in "abc" for different in _different(link)))),
    _closes(10, "A length of 0", _length(0), HEADER_LENGTH, 4),
    _closes(11, "A length of 3", _length(3), HEADER_LENGTH, 4),
    _closes(12, "A length of -1", _length(-1), DECODER, 4),
    _closes(13, "A length of 2147483647", _length(2**31 - 1), DECODER, 4),
    _closes(14, "A length of -2147483648", _length(-(2**31)), DECODER, 4),
    _closes(15, "A length of 16777213, one more than the maximum,", _length(16_777_213), DECODER,
        4),
    case("transport/16", 5, DECODER,
        "After a length of 16777212 (a frame of 16777216 bytes) the server MUST wait for the "
        "frame.",
        send(_length(16_777_212, struct.pack(">I", 90) + bytes(100))),
        expect(Silence(seconds=1.0))),
    _closes(17, "A header length one byte larger than the frame",
        Frame(header=HEADER, header_length=len(HEADER) + 1), HEADER_LENGTH, 6),
    _closes(18, "A header length of 16777215 in a small frame",
        Frame(header=HEADER, header_length=0xFFFFFF), HEADER_LENGTH, 6),
    _closes(19, "A header length of 0", Frame(header=b"", body=bytes(20)), PROTOCOL_TYPE, 8),
    _closes(20, "A type byte of 2", Frame(header=HEADER, type=2), PROTOCOL_TYPE, 7),
    _closes(21, "A type byte of 255", Frame(header=HEADER, type=255), PROTOCOL_TYPE, 7),
    _closes(22, "A JSON header marked as binary", Frame(header=HEADER, type=1),
        "RocketMQSerializable.rocketMQProtocolDecode @ 5.5.0", 7),
    _closes(23, "An HTTP request", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", DECODER, 4),
    _closes(24, "A gRPC preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(20), DECODER, 4),
    _closes(25, "A Redis command", b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n", DECODER, 4),
    _closes(26, "An SSH banner", b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", DECODER, 4),
    case("transport/30", (), "NettyDecoder.decode, RemotingHelper.closeChannel @ 5.5.0",
        "A bad frame MUST close only its own connection.",
        ask(106, None, success(), on="other"), send(_length(-1)), expect(Closed()),
        ask(106, None, success(), on="other")),
    case("transport/31", 21, DECODER,
        "A bad frame before a good one in the same segment MUST close the connection.",
        send(Frame(header=b"[1]" + b" " * 20), Request(code=101, opaque=5)),
        expect(Closed(), no_entry(opaque=5))),
    case("transport/32", (), DECODER,
        "A good frame before a bad one in the same segment SHOULD be executed.",
        send(Request(code=100, ext=put(), opaque=5), Frame(header=b"[1]" + b" " * 20)),
        until(101, ENTRY, Response(ext={"value": "v"}), on="other")),
    case("transport/33", (), "NettyRemotingServer.initServerBootstrap @ 5.5.0",
        "A connection without any data MUST be accepted and stay open.",
        Open(), expect(Silence(seconds=0.5))),
    case("transport/34", 24, "DefaultRequestProcessor.getBrokerClusterInfo @ 5.5.0",
        "A body of one megabyte MUST be ignored if the request has no body by definition.",
        ask(106, None, success(), body=bytes(1_000_000))),
    case("transport/35", 24, "DefaultRequestProcessor.getBrokerClusterInfo @ 5.5.0",
        "A body MUST be ignored if the request has no body by definition.",
        ask(106, None, success(), body=b"\x00\xff not looked at")),
)  # fmt: skip


HEADERS: Final = (
    _header(1, "[1]            ", Closed(), 8),
    _header(2, "12             ", Closed(), 8),
    _header(3, "hello          ", Closed(), 8),
    _header(4, "null           ", Closed(), 8),
    _header(5, "               ", Closed(), 8),
    _header(6, "{}             ", not_supported(0, opaque=None), 8, ONLY_5_5),
    _header(7, '{"code":101,"opaque":7} x', Closed(), 9),
    _header(8, '{"code":101,"opaque":7}{}', Closed(), 9),
    _header(9, '{"code":101,"opaque":7', Closed(), 9),
    _header(10, "{'code':101,'opaque':7}", NOTHING, 10),
    _header(11, '{"code":101,"opaque":7,}', NOTHING, 10, word="SHOULD"),
    _header(12, '{/*c*/"code":101,"opaque":7}', NOTHING, 10, word="MAY"),
    _header(13, '  \n\t{"code":101,"opaque":7}', NOTHING, 10),
    _header(14, "{code:101,opaque:7}", Closed(), 10, ONLY_5_5, "MAY"),
    _header(15, b'\xef\xbb\xbf{"code":101,"opaque":7}', Closed(), 10, ONLY_5_5, "MAY"),
    _header(16, '{"CODE":101,"Opaque":7}', not_supported(0, opaque=None), 10, ONLY_5_5),
    _header(17, f'{{"code":"101",{NUMBERED}}}', NOTHING, 11),
    _header(18, f'{{"code":101.0,{NUMBERED}}}', NOTHING, 11),
    _header(19, f'{{"code":"abc",{NUMBERED}}}', Closed(), 11),
    _header(20, f'{{"code":true,{NUMBERED}}}', not_supported(1, opaque=7), 11, ONLY_5_5),
    _header(21, f'{{"code":null,{NUMBERED}}}', not_supported(0, opaque=7), 11, ONLY_5_5),
    _header(22, f'{{"code":{{}},{NUMBERED}}}', not_supported(0, opaque=7), 11, ONLY_5_5, "MAY"),
    _header(23, f"{{{NUMBERED}}}", not_supported(0, opaque=7), 11, ONLY_5_5),
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
    _header(44, '{"code":-1,"opaque":7}', not_supported(-1, opaque=7), 23, SINCE_5_3),
    _text_of(60, "1", "1"),
    _text_of(61, "true", "true"),
    _text_of(62, '{"a":1}', '{"a":1}', "MAY"),
    _text_of(63, '"\\u00e9\\n"', "é\n"),
    _text_of(64, "-12345678901234567890", "-12345678901234567890", "MAY"),
    since_5_3("header/80", 17,
        "RemotingCommand.createResponseCommand, getSerializeTypeConfigInThisServer @ 5.5.0",
        "A server configured for JSON MUST answer a request with a binary header with a JSON "
        "header.",
        ask(106, None, success(binary=False), binary=True)),
    since_5_3("header/81", 18,
        "RemotingCommand.makeCustomHeaderToNet, RocketMQSerializable.rocketMQProtocolEncode @ "
        "5.5.0",
        "A server configured for ROCKETMQ MUST answer with binary headers, even to a request "
        "with a JSON header.",
        ask(100, put(), Response(binary=True)),
        ask(101, ENTRY, Response(ext={"value": "v"}, binary=True)),
        ask(9999, None, not_supported(9999, binary=True)),
        jvm=("-Drocketmq.serialize.type=ROCKETMQ",)),
    _binary_case(82,
        "The code in a binary header MUST be read as a signed 16-bit number: 40000 is -25536.",
        _binary_header(40000), not_supported(-25536, opaque=7), 19, SINCE_5_3),
    _binary_case(83, "A remark longer than the binary header MUST close the connection.",
        _binary_header(remark_length=1000), Closed(), 20),
    _binary_case(84,
        "A negative length of the remark in a binary header MUST close the connection.",
        _binary_header(remark_length=-1), Closed(), 20),
    _binary_case(85,
        "A negative length of ext fields in a binary header MUST be read as no ext fields.",
        _binary_header(ext_length=-5), NOTHING, 20),
    _binary_case(86, "Ext fields longer than the binary header MUST close the connection.",
        _binary_header(ext_length=1000), Closed(), 20),
    _binary_case(87, "An entry beyond the end of the ext fields MUST close the connection.",
        _binary_header(ext=struct.pack(">H", 9) + b"namespace" + struct.pack(">i", 50) + b"n"),
        Closed(), 20),
    _binary_case(88, "A binary header of 5 bytes MUST close the connection.",
        b"\x00\x6a\x03\x01\xdf", Closed(), 20),
    _binary_case(89, "An unknown language in a binary header MUST be ignored.",
        _binary_header(language=200), NOTHING, 20),
    case("header/90", 17, BINARY, "Ext fields of a binary header MUST be read.",
        ask(100, {"namespace": "{namespace}", "key": "{key}", "value": "漢"}, binary=True),
        ask(101, ENTRY, Response(ext={"value": "漢"}, binary=None), binary=True)),
    _ignores(100, 1,
        "A message with the response flag MUST NOT be answered, and the connection MUST stay "
        "open."),
    _ignores(101, 2, "A one-way request MUST NOT be answered, and the connection MUST stay open."),
    _ignores(102, 3, "The response flag MUST take precedence over the one-way flag."),
    case("header/103", 22, DISPATCH, "Other flags MUST be ignored and MUST NOT be returned.",
        ask(106, None, success(flag=1), flag=4), ask(106, None, success(flag=1), flag=0x7FFFFFFC)),
    case("header/104", 22, DISPATCH, "A one-way request MUST be executed.",
        send(Request(code=100, ext=put(), flag=2)), expect(Silence()),
        ask(101, ENTRY, Response(ext={"value": "v"}))),
    case("header/105", 22, DISPATCH, "A request with the response flag MUST NOT be executed.",
        send(Request(code=100, ext=put(), flag=3)), expect(Silence()),
        ask(101, ENTRY, Response(code=22, remark=ANY))),
    since_5_3("header/106", 23, DISPATCH,
        "An unknown code MUST be answered with code 3 and a remark that begins with a space.",
        ask(9999, None, not_supported(9999)), ask(0, None, not_supported(0))),
    case("header/107", 23, DISPATCH, "A one-way request with an unknown code MUST NOT be answered.",
        send(Request(code=9999, flag=2)), expect(Silence()), ask(106, None, success())),
    case("header/108", 1, "RemotingCommand.createResponseCommand, setCmdVersion @ 5.5.0",
        "A response MUST contain the protocol version and the language of the server.",
        ask(106, None, success(language="JAVA"))),
    since_5_3("header/109", 23,
        "NamesrvController.registerProcessor, DefaultRequestProcessor.processRequest @ 5.5.0",
        "Request codes of brokers and clients MUST be answered as unknown.",
        *(ask(code, {}, not_supported(code)) for code in (10, 11, 34, 310, 905, 1001))),
)  # fmt: skip


SIZES: Final = (
    case("transport/36", 2, DECODER,
        "A frame split after any byte MUST be answered like a complete one.",
        *(step for length in range(1, len(WHOLE)) for step in _cut(length)),
        tags=frozenset({"split"})),
    case("transport/37", 5, DECODER,
        "A registration in a frame of 16777216 bytes MUST be answered.",
        send(_filling(LARGEST)), expect(Response(ext={}), within=20.0)),
    case("transport/38", 4, DECODER, "A frame of 16777217 bytes MUST close the connection.",
        send(_filling(LARGEST + 1)), expect(Closed(), within=20.0)),
    case("transport/39", 3, "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "Two requests with the same opaque MUST both be answered.",
        send(Request(code=101, opaque=5), Request(code=101, opaque=5)), expect(no_entry(opaque=5)),
        expect(no_entry(opaque=5))),
    case("ns/105/30", (45, 48), "RouteInfoManager.pickupTopicRouteData @ 5.5.0",
        "Names with non-ASCII characters and characters that JSON escapes MUST be returned "
        "unchanged.",
        register(broker_ext(name="{broker}" + ODD, cluster="{cluster}" + ODD),
            registration(("{topic}" + PLAIN, "{topicB}"))),
        ask(105, {"topic": "{topic}" + PLAIN},
            has({"brokerDatas": [
                Has({"brokerName": "{broker}" + ODD, "cluster": "{cluster}" + ODD})]}),
            on="reader"),
        ask(206, None, has({"topicList": Contains(("{topic}" + PLAIN,))}), on="reader")),
    *(
        only_5_5(f"ns/105/{number}", (45, 93),
            "JSONWriter.writeString of fastjson2 behind ClientRequestProcessor @ 5.5.0",
            f"Names in a route for version {version} MUST be written with the escapes of 5.5.0.",
            register(broker_ext(name="{broker}" + ODD, cluster="{cluster}" + ODD + "\n\x01"),
                registration(("{topic}", "{topicB}"))),
            ask(105, ROUTE,
                success(TextBody(
                    '{"brokerDatas":[{"brokerAddrs":{' + key + ':"{address}"},'
                    '"brokerName":"{broker}' + ODD_JSON + '","cluster":"{cluster}' + ODD_JSON
                    + '\\n\\u0001","enableActingMaster":false}],"filterServerTable":{},'
                    '"queueDatas":[{"brokerName":"{broker}' + ODD_JSON
                    + '","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}')),
                version=version, on="reader"),
        )
        for number, version, key in ((31, 513, '"0"'), (32, 400, "0"))
    ),
    case("ns/103/210", 48, "RouteInfoManager.registerBroker @ 5.5.0",
        "A broker with 2,000 topics MUST be registered and unregistered completely.",
        register(None, registration(MANY), Response(ext={}), within=10.0),
        ask(105, {"topic": "{topic0}"}, success(), on="reader"),
        ask(105, {"topic": "{topic1999}"}, success(), on="reader"),
        ask(224, {"cluster": "{cluster}"},
            success(JsonBody({"topicList": AllOf((Contains(("{topic0}", "{topic1999}")),))})),
            on="reader")),
    since_5_3("ns/100/40", (41, 43), "RocketMQSerializable.readStr @ 5.5.0",
        "An empty namespace or key in a binary header MUST be rejected as missing.",
        ask(100, {"namespace": "", "key": "{key}", "value": "v"},
            Response(code=1, remark="namespace or key is null"), binary=True)),
)  # fmt: skip
