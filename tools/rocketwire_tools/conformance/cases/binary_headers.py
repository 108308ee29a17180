"""Binary (ROCKETMQ) headers of requests, and the header type of responses."""

from __future__ import annotations

import struct
from typing import Final

from rocketwire_tools.conformance.model.case import ALL_PROFILES, SINCE_5_3, Case, Profile, case
from rocketwire_tools.conformance.model.outcomes import Answer, Closed
from rocketwire_tools.conformance.model.requests import ask, found, no_entry, unsupported
from rocketwire_tools.conformance.model.steps import Expect, Frame, Send

BINARY: Final = "RocketMQSerializable.rocketMQProtocolDecode @ 5.5.0"


NOTHING: Final = no_entry(opaque=7)


def _binary(
    code: int = 101,
    *,
    ext: bytes = b"",
    opaque: int = 7,
    remark_length: int = 0,
    ext_length: int | None = None,
    language: int = 3,
) -> bytes:
    length = len(ext) if ext_length is None else ext_length
    fixed = struct.pack(">HBhiii", code & 0xFFFF, language, 479, opaque, 0, remark_length)
    return fixed + struct.pack(">i", length) + ext


def _binary_case(
    number: int,
    what: str,
    header: bytes,
    outcome: Answer | Closed,
    item: int,
    profiles: frozenset[Profile] = ALL_PROFILES,
) -> Case:
    return case(
        f"header/{number}",
        what,
        Send((Frame(header=header, type=1),)),
        Expect((outcome,)),
        evidence=BINARY,
        items=(item,),
        profiles=profiles,
    )


CASES: Final = (
    case(
        "header/80",
        "A server configured for JSON MUST answer a request with a binary header with a JSON "
        "header.",
        ask(106, None, found(binary=False), binary=True),
        evidence="RemotingCommand.createResponseCommand, "
        "getSerializeTypeConfigInThisServer @ 5.5.0",
        items=(17,), profiles=SINCE_5_3,
    ),
    case(
        "header/81",
        "A server configured for ROCKETMQ MUST answer with binary headers, even to a request with "
        "a JSON header.",
        ask(100, {"namespace": "{namespace}", "key": "{key}", "value": "v"}, Answer(binary=True)),
        ask(
            101, {"namespace": "{namespace}", "key": "{key}"},
            Answer(ext={"value": "v"}, binary=True),
        ),
        ask(9999, None, unsupported(9999, binary=True)),
        evidence="RemotingCommand.makeCustomHeaderToNet, "
        "RocketMQSerializable.rocketMQProtocolEncode @ 5.5.0",
        items=(18,), profiles=SINCE_5_3, jvm=("-Drocketmq.serialize.type=ROCKETMQ",),
    ),
    _binary_case(
        82, "The code in a binary header MUST be read as a signed 16-bit number: 40000 is -25536.",
        _binary(40000), unsupported(-25536, opaque=7), 19, SINCE_5_3,
    ),
    _binary_case(
        83, "A remark longer than the binary header MUST close the connection.",
        _binary(remark_length=1000), Closed(), 20,
    ),
    _binary_case(
        84, "A negative length of the remark in a binary header MUST close the connection.",
        _binary(remark_length=-1), Closed(), 20,
    ),
    _binary_case(
        85, "A negative length of ext fields in a binary header MUST be read as no ext fields.",
        _binary(ext_length=-5), NOTHING, 20,
    ),
    _binary_case(
        86, "Ext fields longer than the binary header MUST close the connection.",
        _binary(ext_length=1000), Closed(), 20,
    ),
    _binary_case(
        87, "An entry beyond the end of the ext fields MUST close the connection.",
        _binary(ext=struct.pack(">H", 9) + b"namespace" + struct.pack(">i", 50) + b"n"), Closed(),
        20,
    ),
    _binary_case(
        88, "A binary header of 5 bytes MUST close the connection.", b"\x00\x6a\x03\x01\xdf",
        Closed(), 20,
    ),
    _binary_case(
        89, "An unknown language in a binary header MUST be ignored.", _binary(language=200),
        NOTHING, 20,
    ),
    case(
        "header/90", "Ext fields of a binary header MUST be read.",
        ask(100, {"namespace": "{namespace}", "key": "{key}", "value": "漢"}, binary=True),
        ask(
            101, {"namespace": "{namespace}", "key": "{key}"},
            Answer(ext={"value": "漢"}, binary=None), binary=True,
        ),
        evidence=BINARY, items=(17,),
    ),
)  # fmt: skip
