"""Frames: lengths, types, splits and invalid data.

Java processes nothing before the twelfth byte of a connection, so each case sends at least twelve.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.cases.common import ENTRY, ROUTE, SPACE, put, topics
from rocketwire_tools.conformance.model.case import Case, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Closed, Has, Like, Response, Silence
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    data_version,
    expect,
    has,
    in_flight,
    no_entry,
    register,
    registration,
    send,
    success,
    topic_config,
    unknown,
    until,
)
from rocketwire_tools.conformance.model.steps import Frame, Open, Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_tools.conformance.model.steps import Ask

DECODER: Final = "NettyDecoder.decode @ 5.5.0"
HEADER_LENGTH: Final = "RemotingCommand.getHeaderLength @ 5.5.0"
PROTOCOL_TYPE: Final = "RemotingCommand.getProtocolType @ 5.5.0"
HEADER: Final = (
    b'{"code":101,"flag":0,"language":"PYTHON","opaque":1,"serializeTypeCurrentRPC":"JSON",'
    b'"version":479}'
)
WHOLE: Final = struct.pack(">II", len(HEADER) + 4, len(HEADER)) + HEADER
NOTHING: Final = no_entry(opaque=1)


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
        ask(9999, None, unknown(9999), on=link),
        ask(9998, None, unknown(9998), on=link),
    ]  # fmt: skip
    turn = ord(link) % len(differing)
    yield from 2 * (differing[turn:] + differing[:turn])


def _closes(number: int, what: str, sent: bytes | Frame, evidence: str, item: int) -> Case:
    return case(f"transport/{number}", item, evidence,
        f"{what} MUST close the connection without a response.",
        send(sent),
        expect(Closed()),
    )  # fmt: skip


CASES: Final = (
    case("transport/5", 1, "RemotingCommand.encodeHeader, markResponseType @ 5.5.0",
        "The response to a request MUST have valid lengths, the request's opaque and only the "
        "response flag.",
        send(WHOLE),
        expect(NOTHING),
    ),
    case("transport/6", 2, DECODER,
        "A frame that arrives byte by byte MUST be answered like one that arrives in one segment.",
        send(WHOLE, pieces=1),
        expect(NOTHING),
        tags=frozenset({"split"}),
    ),
    case("transport/9", (2, 3), DECODER,
        "One and a half frames followed by the other half MUST get two responses.",
        send(WHOLE + WHOLE[:50]),
        expect(NOTHING),
        expect(Silence(seconds=0.1)),
        send(WHOLE[50:]),
        expect(NOTHING),
    ),
    since_5_3("transport/40", 3, "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "Different requests in one segment, on several connections at once, MUST each be answered "
        "with their own content.",
        register(None, registration((topic_config("{topic}", perm=4), "{topicB}"))),
        ask(100, put("{key}")),
        ask(100, put("{keyB}", "{keyB}")),
        *in_flight(*(different for link in "abc" for different in _different(link))),
    ),
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
        expect(Silence(seconds=1.0)),
    ),
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
        ask(106, None, success(), on="other"),
        send(_length(-1)),
        expect(Closed()),
        ask(106, None, success(), on="other"),
    ),
    case("transport/31", 21, DECODER,
        "A bad frame before a good one in the same segment MUST close the connection.",
        send(Frame(header=b"[1]" + b" " * 20), Request(code=101, opaque=5)),
        expect(Closed(), no_entry(opaque=5)),
    ),
    case("transport/32", (), DECODER,
        "A good frame before a bad one in the same segment SHOULD be executed.",
        send(Request(code=100, ext=put(), opaque=5), Frame(header=b"[1]" + b" " * 20)),
        until(101, ENTRY, Response(ext={"value": "v"}), on="other"),
    ),
    case("transport/33", (), "NettyRemotingServer.initServerBootstrap @ 5.5.0",
        "A connection without any data MUST be accepted and stay open.",
        Open(),
        expect(Silence(seconds=0.5)),
    ),
    case("transport/34", 24, "DefaultRequestProcessor.getBrokerClusterInfo @ 5.5.0",
        "A body of one megabyte MUST be ignored if the request has no body by definition.",
        ask(106, None, success(), body=bytes(1_000_000)),
    ),
    case("transport/35", 24, "DefaultRequestProcessor.getBrokerClusterInfo @ 5.5.0",
        "A body MUST be ignored if the request has no body by definition.",
        ask(106, None, success(), body=b"\x00\xff not looked at"),
    ),
)  # fmt: skip
