"""Frames: lengths, types, splits and invalid data.

Java processes nothing before the twelfth byte of a connection, so each case sends at least twelve.
"""

from __future__ import annotations

import struct

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, case
from rocketwire_tools.conformance.model.outcomes import ANY, Answer, Closed, Silence
from rocketwire_tools.conformance.model.requests import ask, found, no_entry, until
from rocketwire_tools.conformance.model.steps import Expect, Frame, Open, Request, Send

DECODER = "NettyDecoder.decode @ 5.5.0"
HEADER_LENGTH = "RemotingCommand.getHeaderLength @ 5.5.0"
PROTOCOL_TYPE = "RemotingCommand.getProtocolType @ 5.5.0"

HEADER = (
    b'{"code":101,"flag":0,"language":"PYTHON","opaque":1,"serializeTypeCurrentRPC":"JSON",'
    b'"version":479}'
)
WHOLE = struct.pack(">II", len(HEADER) + 4, len(HEADER)) + HEADER
NOTHING = no_entry(opaque=1)
PADDED = b"{}" + b" " * 40


def _length(value: int, then: bytes = bytes(60)) -> bytes:
    return struct.pack(">i", value) + then


def _closes(number: int, what: str, sent: bytes | Frame, evidence: str, item: int) -> Case:
    return case(
        f"transport/{number}",
        f"{what} MUST close the connection without a response.",
        Send((sent,)),
        Expect((Closed(),)),
        evidence=evidence,
        items=(item,),
    )


def _split(number: int, at: int) -> Case:
    return case(
        f"transport/{number}",
        f"A frame in two segments, the first of {at} bytes, MUST be answered like one in one.",
        Send((WHOLE[:at],)),
        Expect((Silence(seconds=0.1),)),
        Send((WHOLE[at:],)),
        Expect((NOTHING,)),
        evidence=DECODER,
        items=(2,),
        tags=frozenset({"split"}),
    )


SPLITS = tuple(
    _split(100 + at, at) for at in (1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 40, len(WHOLE) - 1)
)

CASES = (
    case(
        "transport/5",
        "The response to a request MUST have valid lengths, the request's opaque and only the "
        "response flag.",
        Send((WHOLE,)),
        Expect((NOTHING,)),
        evidence="RemotingCommand.encodeHeader, markResponseType @ 5.5.0", items=(1,),
    ),
    case(
        "transport/6",
        "A frame that arrives byte by byte MUST be answered like one that arrives in one segment.",
        Send((WHOLE,), pieces=1),
        Expect((NOTHING,)),
        evidence=DECODER, items=(2,), tags=frozenset({"split"}),
    ),
    case(
        "transport/7", "Two frames in one segment MUST both be answered, each with its own opaque.",
        Send((Request(code=106, opaque=11), Request(code=206, opaque=12))),
        Expect((found(opaque=11), found(opaque=12))),
        Expect((found(opaque=11), found(opaque=12))),
        Expect((Silence(seconds=0.1),)),
        evidence=DECODER, items=(3,),
    ),
    case(
        "transport/8", "A hundred frames in one segment MUST all be answered.",
        Send(tuple(Request(code=99999, opaque=n) for n in range(100))),
        *(Expect((Answer(code=3, remark=ANY, opaque=None),)) for _ in range(100)),
        Expect((Silence(seconds=0.1),)),
        evidence=DECODER, profiles=SINCE_5_3,
    ),
    case(
        "transport/9", "One and a half frames followed by the other half MUST get two responses.",
        Send((WHOLE + WHOLE[:50],)),
        Expect((NOTHING,)),
        Expect((Silence(seconds=0.1),)),
        Send((WHOLE[50:],)),
        Expect((NOTHING,)),
        evidence=DECODER, items=(2, 3),
    ),
    _closes(10, "A length of 0", _length(0), HEADER_LENGTH, 4),
    _closes(11, "A length of 3", _length(3), HEADER_LENGTH, 4),
    _closes(12, "A length of -1", _length(-1), DECODER, 4),
    _closes(13, "A length of 2147483647", _length(2**31 - 1), DECODER, 4),
    _closes(14, "A length of -2147483648", _length(-(2**31)), DECODER, 4),
    _closes(
        15, "A length of 16777213, one more than the maximum,", _length(16_777_213), DECODER, 4,
    ),
    case(
        "transport/16",
        "After a length of 16777212 (a frame of 16777216 bytes) the server MUST wait for the "
        "frame.",
        Send((_length(16_777_212, struct.pack(">I", 90) + bytes(100)),)),
        Expect((Silence(seconds=1.0),)),
        evidence=DECODER, items=(5,),
    ),
    _closes(
        17, "A header length one byte larger than the frame",
        Frame(header=HEADER, header_length=len(HEADER) + 1), HEADER_LENGTH, 6,
    ),
    _closes(
        18, "A header length of 16777215 in a small frame",
        Frame(header=HEADER, header_length=0xFFFFFF), HEADER_LENGTH, 6,
    ),
    _closes(19, "A header length of 0", Frame(header=b"", body=bytes(20)), PROTOCOL_TYPE, 8),
    _closes(20, "A type byte of 2", Frame(header=HEADER, type=2), PROTOCOL_TYPE, 7),
    _closes(21, "A type byte of 255", Frame(header=HEADER, type=255), PROTOCOL_TYPE, 7),
    _closes(
        22, "A JSON header marked as binary", Frame(header=HEADER, type=1),
        "RocketMQSerializable.rocketMQProtocolDecode @ 5.5.0", 7,
    ),
    _closes(23, "An HTTP request", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", DECODER, 4),
    _closes(24, "A gRPC preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(20), DECODER, 4),
    _closes(25, "A Redis command", b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n", DECODER, 4),
    _closes(26, "An SSH banner", b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", DECODER, 4),
    case(
        "transport/30", "A bad frame MUST close only its own connection.",
        ask(106, None, found(), on="other"),
        Send((_length(-1),)),
        Expect((Closed(),)),
        ask(106, None, found(), on="other"),
        evidence="NettyDecoder.decode, RemotingHelper.closeChannel @ 5.5.0",
    ),
    case(
        "transport/31",
        "A bad frame before a good one in the same segment MUST close the connection.",
        Send((Frame(header=b"[1]" + b" " * 20), Request(code=101, opaque=5))),
        Expect((Closed(), no_entry(opaque=5))),
        evidence=DECODER, items=(21,),
    ),
    case(
        "transport/32", "A good frame before a bad one in the same segment SHOULD be executed.",
        Send((
            Request(
                code=100, ext={"namespace": "{namespace}", "key": "{key}", "value": "v"}, opaque=5,
            ),
            Frame(header=b"[1]" + b" " * 20),
        )),
        until(
            101, {"namespace": "{namespace}", "key": "{key}"}, Answer(ext={"value": "v"}),
            on="other",
        ),
        evidence=DECODER,
    ),
    case(
        "transport/33", "A connection without any data MUST be accepted and stay open.",
        Open(),
        Expect((Silence(seconds=0.5),)),
        evidence="NettyRemotingServer.initServerBootstrap @ 5.5.0",
    ),
    case(
        "transport/34",
        "A body of one megabyte MUST be ignored if the request has no body by definition.",
        ask(106, None, found(), body=bytes(1_000_000)),
        evidence="DefaultRequestProcessor.getBrokerClusterInfo @ 5.5.0", items=(24,),
    ),
    case(
        "transport/35", "A body MUST be ignored if the request has no body by definition.",
        ask(106, None, found(), body=b"\x00\xff not looked at"),
        evidence="DefaultRequestProcessor.getBrokerClusterInfo @ 5.5.0", items=(24,),
    ),
    *SPLITS,
)  # fmt: skip
