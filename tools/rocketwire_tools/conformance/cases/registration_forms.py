"""Registration (103): header fields, bodies, checksums and packed bodies in good and bad forms."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.cases.common import (
    ACCEPTED,
    MISMATCH,
    ROUTE,
    ROUTED,
    THROWN,
    route_with,
)
from rocketwire_tools.conformance.model.case import ALL_PROFILES, SINCE_5_3, case, since_5_3
from rocketwire_tools.conformance.model.outcomes import ANY, Has, JsonBody, Like, Response
from rocketwire_tools.conformance.model.packed_body import Packed
from rocketwire_tools.conformance.model.requests import (
    NO_ROUTE,
    ask,
    broker_ext,
    data_version,
    has,
    register,
    registration,
    success,
    topic_config,
    unregister,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Case, Profile
    from rocketwire_tools.conformance.model.outcomes import Outcome


def _without(name: str) -> dict[str, str]:
    return {key: value for key, value in broker_ext().items() if key != name}


def _header(number: int, what: str, ext: dict[str, str], outcome: Outcome, item: int) -> Case:
    return case(f"ns/103/{number}", item,
        "RemotingCommand.decodeCommandCustomHeader, DefaultRequestProcessor.registerBroker @ 5.5.0",
        what,
        ask(103, ext, outcome, body=registration()),
    )  # fmt: skip


BODY: Final = "RegisterBrokerBody.decode @ 5.5.0"


def body_case(
    number: int,
    what: str,
    body: Any,
    outcome: Outcome,
    item: int,
    *,
    then: Outcome | None = None,
    evidence: str = BODY,
    version: int = 513,
    profiles: frozenset[Profile] = ALL_PROFILES,
    **ext: str,
) -> Case:
    """A case of one registration and the result of 105 for ``{topic}`` after it."""
    expected = then or (ROUTED if outcome is ACCEPTED else NO_ROUTE)
    return case(f"ns/103/{number}", item, evidence, what,
        ask(103, broker_ext(**ext), outcome, body=body, version=version),
        ask(105, ROUTE, expected, on="reader"),
        profiles=profiles,
    )  # fmt: skip


BAD: Final = broker_ext(cluster="{clusterX}", name="{brokerX}", address="{addressX}")
EXTRACT: Final = "DefaultRequestProcessor.extractRegisterBrokerBodyFromRequest @ 5.5.0"
CHECKSUM: Final = "DefaultRequestProcessor.checksum @ 5.5.0"

CASES: Final = (
    _header(130, "A registration without brokerId MUST be answered with code 1.",
        _without("brokerId"), THROWN, 55),
    _header(131, "A brokerId that is not a number MUST be answered with code 1.",
        broker_ext(broker_id="abc"), THROWN, 55),
    _header(132, "A brokerId with a space MUST be answered with code 1.",
        broker_ext(broker_id=" 1"), THROWN, 55),
    _header(133, "A brokerId beyond 64 bits MUST be answered with code 1.",
        broker_ext(broker_id="9223372036854775808"), THROWN, 55),
    case("ns/103/134", 55, "RemotingCommand.decodeCommandCustomHeader @ 5.5.0 (Long.parseLong)",
        "A brokerId with a plus sign SHOULD be accepted.",
        register(broker_ext(broker_id="+1"), None, ACCEPTED),
        ask(106, None,
            has({"brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": {"1": "{address}"}})})})),
        cleanup=(unregister(broker_ext(broker_id=1)),),
    ),
    _header(135, "A registration without haServerAddr MUST be accepted.", _without("haServerAddr"),
        ACCEPTED, 55),
    _header(136, "A registration without ext fields MUST be answered with code 1.", {}, THROWN, 55),
    case("ns/103/140", 76,
        "RouteInfoManager.registerBroker @ 5.5.0 (its exceptions are only logged)",
        "A registration without brokerName, brokerAddr or clusterName MUST be answered without "
        "side effects.",
        register(on="a"),
        *(
            ask(
                103,
                {name: text for name, text in BAD.items() if name != left_out},
                Response(code=ANY, remark=ANY, body=ANY),
                body=registration(("{topicX}", "{topicY}")),
                on="x",
            )
            for left_out in ("brokerName", "brokerAddr", "clusterName")
        ),
        ask(105, ROUTE, success(), on="a"),
        register(on="a"),
        unregister(on="a"),
        ask(106, None, success(), on="a"),
        options={"conformance.key": "mine"},
    ),
    since_5_3("ns/103/106", 53, EXTRACT,
        "A registration without a body MUST be read as one without topics and with data version 0.",
        ask(103, broker_ext(), ACCEPTED),
        ask(322, broker_ext(), success(JsonBody(data_version(0, 0, 0)), ext={"changed": "false"}),
            body=data_version(0, 0, 0)),
    ),
    case("ns/103/107", 54, BODY,
        "A registration with the body {} MUST be read as one without topics.",
        register(None, b"{}", ACCEPTED),
        ask(106, None,
            has({"brokerAddrTable": Has({"{broker}": Has({"brokerAddrs": {"0": "{address}"}})})})),
    ),
    body_case(108, "A registration with the body null MUST be answered with code 1.", b"null",
        THROWN, 54, evidence=EXTRACT),
    body_case(109, "A registration with an invalid body MUST be answered with code 1 and a remark.",
        b"xx", Response(code=1, ext=None, remark=Like(".*Failed to decode RegisterBrokerBody.*")),
        54, profiles=SINCE_5_3, evidence=EXTRACT),
    body_case(110, "A registration with a truncated body MUST be answered with code 1.",
        b'{"filterServerList":[],"topicConfig', THROWN, 54, evidence=EXTRACT),
    body_case(111, "A registration whose body is not an object MUST be answered with code 1.",
        b"[1,2]", THROWN, 54, evidence=EXTRACT),
    body_case(112, "A negative version MUST be answered with code 1.", registration(), THROWN, 56,
        evidence="MQVersion.value2Version @ 5.5.0", version=-1),
    body_case(113, "A version above the known ones MUST be read as the newest.", registration(),
        ACCEPTED, 56, evidence="MQVersion.value2Version @ 5.5.0", version=9999),
    body_case(114,
        "A registration of a version below 37 MUST be accepted: its body contains only the topics.",
        registration()["topicConfigSerializeWrapper"], ACCEPTED, 57,
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0", version=36),
    body_case(115,
        "From version 37, a body that contains only the topics MUST be read as a body without "
        "topics.", registration()["topicConfigSerializeWrapper"], ACCEPTED, 57, then=NO_ROUTE,
        evidence="DefaultRequestProcessor.registerBroker @ 5.5.0", version=37),
    body_case(116, "A topic without numbers MUST get 16 queues and permission 6.",
        {"topicConfigSerializeWrapper": {"topicConfigTable": {
            "{topic}": {"topicName": "{topic}"},
            "x": {"topicName": "{topicB}"},
        }}}, ACCEPTED, 48,
        then=route_with(readQueueNums=16, writeQueueNums=16, perm=6, topicSysFlag=0),
        evidence="TopicConfig.defaultReadQueueNums @ 5.5.0"),
    body_case(117,
        "A topic's name SHOULD be read from its configuration, not from its key in the table.",
        {"topicConfigSerializeWrapper": {"topicConfigTable": {
            "{topic}": topic_config("{topicC}"),
            "y": topic_config("{topicB}"),
        }}}, ACCEPTED, 79, then=NO_ROUTE,
        evidence="RouteInfoManager.createAndUpdateQueueData @ 5.5.0"),
    body_case(118, "Unknown members of a body MUST be ignored.",
        registration() | {"unknown": {"a": [1, None, {"b": True}]}}, ACCEPTED, 48),
    body_case(100, "A registration with a wrong bodyCrc32 MUST be rejected without side effects.",
        registration(), MISMATCH, 52, evidence=CHECKSUM, bodyCrc32="5"),
    body_case(101, "With bodyCrc32=0 the checksum MUST NOT be verified.", registration(), ACCEPTED,
        52, evidence=CHECKSUM, bodyCrc32="0"),
    body_case(102, "With an invalid bodyCrc32 the checksum SHOULD NOT be verified.", registration(),
        ACCEPTED, 52, evidence=CHECKSUM, bodyCrc32="zz"),
    case("ns/103/103", 52, f"{CHECKSUM}, UtilAll.crc32", "A correct bodyCrc32 MUST be accepted.",
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{}") & 0x7FFFFFFF)), b"{}", ACCEPTED),
    ),
    case("ns/103/104", 52, f"{CHECKSUM}, UtilAll.crc32",
        "The highest bit of the checksum MUST be ignored.",
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{ }") & 0x7FFFFFFF)), b"{ }", ACCEPTED),
        register(broker_ext(bodyCrc32=str(zlib.crc32(b"{  }") & 0x7FFFFFFF)), b"{  }", ACCEPTED),
    ),
    case("ns/103/105", 52, CHECKSUM, "A checksum without a body MUST be rejected.",
        ask(103, broker_ext(bodyCrc32="5"), MISMATCH),
    ),
    body_case(150, "A packed registration MUST be accepted.", Packed(), ACCEPTED, 58,
        profiles=SINCE_5_3, compressed="true"),
    body_case(149,
        "A packed registration of a broker before 5.0.0, whose topics have no attributes, MUST be "
        "accepted.",
        Packed(topics=("{topic} 8 8 6 SINGLE_TAG", "{topicB} 8 8 6 SINGLE_TAG"),
            version='{"counter":1,"timestamp":1000}', mappings=None), ACCEPTED, 58, version=399,
        compressed="true"),
    body_case(151, "compressed=TRUE MUST be read as true.", Packed(), ACCEPTED, 60,
        profiles=SINCE_5_3, compressed="TRUE"),
    body_case(152,
        "A packed registration of a version before 5.0.0, which has no mappings, MUST be accepted.",
        Packed(mappings=None), ACCEPTED, 58, version=399, profiles=SINCE_5_3, compressed="true"),
    body_case(153,
        "A packed registration of 5.0.0 or later without the part of mappings MUST be answered "
        "with code 1.", Packed(mappings=None), THROWN, 58, version=413, profiles=SINCE_5_3,
        compressed="true"),
    body_case(154,
        "In a packed registration of a version before 5.0.0, the part of mappings SHOULD be "
        "ignored.", Packed(), ACCEPTED, 58, version=399, profiles=SINCE_5_3, compressed="true"),
    body_case(155, "A packed topic MUST get the numbers of its line and no flags.",
        Packed(topics=("{topic} 3 5 4 MULTI_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), ACCEPTED, 58,
        then=route_with(readQueueNums=3, writeQueueNums=5, perm=4, topicSysFlag=0),
        profiles=SINCE_5_3, compressed="true"),
    body_case(156, "A packed topic without its last part MUST be answered with code 1.",
        Packed(topics=("{topic} 8 8 6", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true"),
    body_case(157, "An unknown filter type of a packed topic MUST be answered with code 1.",
        Packed(topics=("{topic} 8 8 6 NO_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true"),
    body_case(158, "An invalid number in a packed topic MUST be answered with code 1.",
        Packed(topics=("{topic} 8 x 6 SINGLE_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")), THROWN, 59,
        compressed="true"),
    body_case(159, "Attributes of a packed topic that are not JSON SHOULD be ignored.",
        Packed(topics=("{topic} 8 8 6 SINGLE_TAG {{{", "{topicB} 8 8 6 SINGLE_TAG {}")), ACCEPTED,
        59, profiles=SINCE_5_3, compressed="true"),
    body_case(160, "Filter servers of a packed registration that are not JSON SHOULD be ignored.",
        Packed(filters="[[["), ACCEPTED, 59, profiles=SINCE_5_3, compressed="true"),
    body_case(161, "A packed registration as gzip MUST be answered with code 1.",
        Packed(form="gzip"), THROWN, 60, compressed="true"),
    body_case(162, "compressed=true with a JSON body MUST be answered with code 1.", registration(),
        THROWN, 60, compressed="true"),
    body_case(163, "compressed=1 MUST be read as false.", registration(), ACCEPTED, 60,
        compressed="1"),
    body_case(164, "A truncated packed registration MUST be answered with code 1.", Packed(cut=20),
        THROWN, 59, compressed="true"),
    body_case(165, "Bytes after the last part of a packed registration SHOULD be ignored.",
        Packed(tail=b"more"), ACCEPTED, 59, profiles=SINCE_5_3, compressed="true"),
    body_case(166, "A packed registration that is not compressed MUST be answered with code 1.",
        Packed(form="plain"), THROWN, 60, compressed="true"),
    body_case(167, "If a packed registration contains a topic twice, the last line SHOULD be used.",
        Packed(topics=(
            "{topic} 3 3 6 SINGLE_TAG {}",
            "{topic} 4 4 6 SINGLE_TAG {}",
            "{topicB} 1 1 6 SINGLE_TAG {}",
        )), ACCEPTED, 58, then=route_with(readQueueNums=4, writeQueueNums=4), profiles=SINCE_5_3,
        compressed="true"),
    body_case(168,
        "A packed body marked as JSON is answered: Java rejects it, another server MAY accept it.",
        Packed(), Response(code=ANY, remark=ANY, body=ANY), 58,
        then=Response(code=ANY, remark=ANY, body=ANY), compressed="false"),
)  # fmt: skip
