"""Registration (103): the sum of the body."""

from __future__ import annotations

import zlib
from typing import Final

from rocketwire_tools.conformance.cases.common import ACCEPTED, body_case
from rocketwire_tools.conformance.model.case import case
from rocketwire_tools.conformance.model.outcomes import Answer
from rocketwire_tools.conformance.model.requests import ask, broker_ext, register, registration

CHECKSUM: Final = "DefaultRequestProcessor.checksum @ 5.5.0"
MISMATCH: Final = Answer(code=1, ext={}, remark="crc32 not match")


CASES: Final = (
    body_case(
        100, "A registration with a wrong bodyCrc32 MUST be rejected without side effects.",
        registration(), MISMATCH, 52, evidence=CHECKSUM, bodyCrc32="5",
    ),
    body_case(
        101, "With bodyCrc32=0 the checksum MUST NOT be verified.", registration(), ACCEPTED, 52,
        evidence=CHECKSUM, bodyCrc32="0",
    ),
    body_case(
        102, "With an invalid bodyCrc32 the checksum SHOULD NOT be verified.", registration(),
        ACCEPTED, 52, evidence=CHECKSUM, bodyCrc32="zz",
    ),
    case(
        "ns/103/103", "A correct bodyCrc32 MUST be accepted.",
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{}") & 0x7FFFFFFF)), b"{}", ACCEPTED),
        evidence=f"{CHECKSUM}, UtilAll.crc32", items=(52,),
    ),
    case(
        "ns/103/104", "The highest bit of the checksum MUST be ignored.",
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{ }") & 0x7FFFFFFF)), b"{ }", ACCEPTED),
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{  }") & 0x7FFFFFFF)), b"{  }", ACCEPTED),
        evidence=f"{CHECKSUM}, UtilAll.crc32", items=(52,),
    ),
    case(
        "ns/103/105", "A checksum without a body MUST be rejected.",
        ask(103, broker_ext(bodyCrc32="5"), MISMATCH),
        evidence=CHECKSUM, items=(52,),
    ),
)  # fmt: skip
