"""Packed registrations (103 with compressed = true) in good and bad forms."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ACCEPTED, THROWN, body_case, route_with
from rocketwire_tools.conformance.model.case import SINCE_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Answer
from rocketwire_tools.conformance.model.packed_body import Packed
from rocketwire_tools.conformance.model.requests import registration

CASES: Final = (
    body_case(
        150, "A packed registration MUST be accepted.", Packed(), ACCEPTED, 58, profiles=SINCE_5_3,
        compressed="true",
    ),
    body_case(
        149,
        "A packed registration of a broker before 5.0.0, whose topics have no attributes, MUST be "
        "accepted.",
        Packed(
            topics=("{topic} 8 8 6 SINGLE_TAG", "{topicB} 8 8 6 SINGLE_TAG"),
            version='{"counter":1,"timestamp":1000}', mappings=None,
        ),
        ACCEPTED, 58, version=399, compressed="true",
    ),
    body_case(
        151, "compressed=TRUE MUST be read as true.", Packed(), ACCEPTED, 60, profiles=SINCE_5_3,
        compressed="TRUE",
    ),
    body_case(
        152,
        "A packed registration of a version before 5.0.0, which has no mappings, MUST be accepted.",
        Packed(mappings=None), ACCEPTED, 58, version=399, profiles=SINCE_5_3, compressed="true",
    ),
    body_case(
        153,
        "A packed registration of 5.0.0 or later without the part of mappings MUST be answered "
        "with code 1.",
        Packed(mappings=None), THROWN, 58, version=413, profiles=SINCE_5_3, compressed="true",
    ),
    body_case(
        154,
        "In a packed registration of a version before 5.0.0, the part of mappings SHOULD be "
        "ignored.",
        Packed(), ACCEPTED, 58, version=399, profiles=SINCE_5_3, compressed="true",
    ),
    body_case(
        155, "A packed topic MUST get the numbers of its line and no flags.",
        Packed(topics=("{topic} 3 5 4 MULTI_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), ACCEPTED, 58,
        then=route_with(readQueueNums=3, writeQueueNums=5, perm=4, topicSysFlag=0),
        profiles=SINCE_5_3, compressed="true",
    ),
    body_case(
        156, "A packed topic without its last part MUST be answered with code 1.",
        Packed(topics=("{topic} 8 8 6", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true",
    ),
    body_case(
        157, "An unknown filter type of a packed topic MUST be answered with code 1.",
        Packed(topics=("{topic} 8 8 6 NO_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true",
    ),
    body_case(
        158, "An invalid number in a packed topic MUST be answered with code 1.",
        Packed(topics=("{topic} 8 x 6 SINGLE_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true",
    ),
    body_case(
        159, "Attributes of a packed topic that are not JSON SHOULD be ignored.",
        Packed(topics=("{topic} 8 8 6 SINGLE_TAG {{{", "{topicB} 8 8 6 SINGLE_TAG {}")), ACCEPTED,
        59, profiles=SINCE_5_3, compressed="true",
    ),
    body_case(
        160, "Filter servers of a packed registration that are not JSON SHOULD be ignored.",
        Packed(filters="[[["), ACCEPTED, 59, profiles=SINCE_5_3, compressed="true",
    ),
    body_case(
        161, "A packed registration as gzip MUST be answered with code 1.", Packed(form="gzip"),
        THROWN, 60, compressed="true",
    ),
    body_case(
        162, "compressed=true with a JSON body MUST be answered with code 1.", registration(),
        THROWN, 60, compressed="true",
    ),
    body_case(
        163, "compressed=1 MUST be read as false.", registration(), ACCEPTED, 60, compressed="1",
    ),
    body_case(
        164, "A truncated packed registration MUST be answered with code 1.", Packed(cut=20),
        THROWN, 59, compressed="true",
    ),
    body_case(
        165, "Bytes after the last part of a packed registration SHOULD be ignored.",
        Packed(tail=b"more"), ACCEPTED, 59, profiles=SINCE_5_3, compressed="true",
    ),
    body_case(
        166, "A packed registration that is not compressed MUST be answered with code 1.",
        Packed(form="plain"), THROWN, 60, compressed="true",
    ),
    body_case(
        167, "If a packed registration contains a topic twice, the last line SHOULD be used.",
        Packed(
            topics=(
                "{topic} 3 3 6 SINGLE_TAG {}", "{topic} 4 4 6 SINGLE_TAG {}",
                "{topicB} 1 1 6 SINGLE_TAG {}",
            ),
        ),
        ACCEPTED, 58, then=route_with(readQueueNums=4, writeQueueNums=4), profiles=SINCE_5_3,
        compressed="true",
    ),
    body_case(
        168,
        "A packed body marked as JSON is answered: Java rejects it, another server MAY accept it.",
        Packed(), Answer(code=ANY, remark=ANY, body=ANY), 58,
        then=Answer(code=ANY, remark=ANY, body=ANY), compressed="false",
    ),
)  # fmt: skip
