"""The protocol itself: forms of headers, unknown codes, frames that are none, limits."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.broker_cases.common import (
    ONE_WAY,
    ask,
    case,
    comes,
    message,
    offset,
    put,
    silence,
    since_5_3,
    stores,
    topic,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Closed, Has, Response
from rocketwire_tools.conformance.model.steps import Ask, Expect, Frame, Request, Send

DECODE: Final = "RemotingCommand.decode, NettyDecoder.decode @ 5.5.0"
PROCESS: Final = "NettyRemotingAbstract.processRequestCommand @ 5.5.0"
QUEUE: Final = {"topic": "{topic}", "queueId": "0"}


def unknown(code: int) -> Response:
    """The response to an unknown request code."""
    return Response(code=3, remark=f" request type {code} not supported", ext=ANY)


def header(text: str) -> Frame:
    """A frame with this JSON header."""
    return Frame(header=text)


CASES = (
    case("header/1", PROCESS, "The response MUST have the opaque of the request.",
        *(ask(30, QUEUE, Response(remark=ANY, ext=ANY, opaque=number), opaque=number)
            for number in (0, 7, 2**31 - 1, -5)),
    ),
    case("header/2", PROCESS, "The response to an unknown code MUST be 3, with a remark that names "
        "the code.", *(ask(code, {}, unknown(code)) for code in (9999, 105, 106, 103, 901))),
    case("header/3", PROCESS, "An unknown one-way request MUST NOT be answered.",
        Send((Request(code=9999, ext={}, flag=ONE_WAY),)), ask(30, QUEUE)),
    case("header/4", PROCESS, "A response that belongs to no request MUST be ignored.",
        Send((Request(code=0, flag=1, opaque=99),)), silence(), ask(30, QUEUE)),
    case("header/5", "RocketMQSerializable.rocketMQProtocolDecode @ 5.5.0",
        "A request with a binary header MUST be handled.",
        topic(), Ask(Request(code=310, ext=message().ext, body="binary", binary=True),
            (stores(0, 0),)), comes(with_body("binary")),
    ),
    case("header/6", DECODE,
        "A header without the language, the version or the flag MUST be accepted.",
        Send((header('{"code":30,"opaque":1,"extFields":{"topic":"{topic}","queueId":"0"}}'),)),
        Expect((Response(remark=ANY, opaque=1, ext=Has({"offset": "0"})),)),
    ),
    case("header/7", DECODE, "Unknown members and fields of a header MUST be ignored.",
        Send((header('{"code":30,"opaque":2,"unknown":[1],"extFields":'
            '{"topic":"{topic}","queueId":"0","other":"x"}}'),)),
        Expect((Response(remark=ANY, opaque=2, ext=Has({"offset": "0"})),)),
    ),
    case("header/8", DECODE, "Fields that are JSON numbers MUST be read as texts.",
        Send((header('{"code":30,"opaque":3,"extFields":{"topic":"{topic}","queueId":0}}'),)),
        Expect((Response(remark=ANY, opaque=3, ext=Has({"offset": "0"})),)),
    ),
    case("header/9", DECODE, "A header that is not JSON MUST end the connection.",
        Send((Frame(header="no JSON at all"),)), Expect((Closed(),))),
    case("header/10", DECODE, "A frame whose header is longer than the frame MUST end the "
        "connection.", Send((Frame(header="{}" + " " * 20, header_length=5000),)),
        Expect((Closed(),))),
    case("header/11", DECODE, "A frame that is too large MUST end the connection.",
        Send((b"\x7f\xff\xff\xff" + b"\0" * 20,)), Expect((Closed(),))),
    case("header/12", DECODE, "A bad frame MUST NOT disturb other connections.",
        ask(30, QUEUE, on="good"), Send((Frame(header="no JSON at all"),)), Expect((Closed(),)),
        ask(30, QUEUE, offset(0), on="good"),
    ),
    case("header/13", DECODE, "A frame that comes in pieces MUST be read.",
        Send((Request(code=30, ext=QUEUE),), pieces=7, pause=0.005),
        Expect((Response(remark=ANY, ext=Has({"offset": "0"})),)),
    ),
    case("header/14", DECODE, "Several frames in one segment MUST be answered each.",
        Send(tuple(Request(code=30, ext=QUEUE) for _ in range(10))),
        *(Expect((Response(remark=ANY, ext=Has({"offset": "0"})),)) for _ in range(10)),
    ),
    case("header/15", PROCESS, "The flag of a response MUST be 1.",
        ask(30, QUEUE, Response(remark=ANY, ext=ANY, flag=1)),
        ask(9999, {}, Response(code=3, remark=ANY, flag=1))),
    case("header/16", "RemotingCommand.createResponseCommand @ 5.5.0",
        "The language of a response SHOULD be that of the broker, JAVA.",
        ask(30, QUEUE, Response(remark=ANY, ext=ANY, language="JAVA"))),
    case("header/17", DECODE, "A request without ext fields MUST be answered with 1 where fields "
        "are needed.", *(ask(code, None, Response(code=1, remark=ANY, body=ANY))
        for code in (14, 29, 30, 31, 32, 33))),
    case("header/18", "RemotingCommand.decodeCommandCustomHeader @ 5.5.0",
        "A field that is not a number MUST be answered with 1.",
        *(ask(code, QUEUE | {"queueId": "x"}, Response(code=1, remark=ANY, body=ANY))
        for code in (30, 31, 32))),
    case("header/19", DECODE, "Texts beyond ASCII MUST be read in header, properties and body.",
        topic(), put("Grüße 日本 🚀", properties={"own": "größer 🚀"}),
        comes(with_body("Grüße 日本 🚀", properties=Has({"own": "größer 🚀"}))),
    ),
    case("header/20", PROCESS,
        "Two connections with the same opaques MUST get their own responses.",
        topic(), put("a"), put("b"), visible(2), ask(30, QUEUE, offset(2), opaque=1, on="a"),
        ask(30, QUEUE | {"queueId": "1"}, offset(0), opaque=1, on="b"),
    ),
    since_5_3("header/21", "RequestCode.GET_BROKER_EPOCH_CACHE, AdminBrokerProcessor @ 5.5.0",
        "A request for controllers MUST be refused with 1 by a broker without one.",
        ask(907, {}, Response(code=ANY, remark=ANY, body=ANY))),
    case("header/22", DECODE, "A header in the binary form with a wrong length MUST end the "
        "connection.", Send((Frame(header=b"\x00\x1e\x00" + b"\xff" * 30, type=1),)),
        Expect((Closed(),))),
    case("header/23", PROCESS, "A request MUST be handled although its connection sends nothing "
        "else and stays open.", ask(30, QUEUE, on="idle"), silence(1.0, on="idle"),
        ask(30, QUEUE, on="idle")),
    case("header/24", "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "An order for a name server MUST NOT be handled.",
        ask(103, {"brokerName": "x", "brokerAddr": "127.0.0.1:1", "clusterName": "x",
            "haServerAddr": "", "brokerId": "0"}, unknown(103), body="{}"),
        ask(105, {"topic": "{topic}"}, unknown(105)),
    ),
    case("header/25", DECODE, "A version in the header that does not exist MUST be accepted.",
        ask(30, QUEUE, version=99_999), ask(30, QUEUE, version=0)),
    case("header/26", "RocketMQSerializable.rocketMQProtocolEncode @ 5.5.0",
        "The response to a binary header SHOULD have the form that the broker is set to, JSON by "
        "default.",
        Ask(Request(code=30, ext=QUEUE, binary=True),
            (Response(remark=ANY, ext=Has({"offset": "0"})),)),
    ),
)  # fmt: skip
