"""Names with unusual characters, large frames, large registrations, frames cut at every byte."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.transport import NOTHING, WHOLE
from rocketwire_tools.conformance.model.case import ONLY_5_5, SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import (
    AllOf,
    Answer,
    Closed,
    Contains,
    Has,
    Json,
    Text,
)
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    found,
    no_entry,
    register,
    registration,
)
from rocketwire_tools.conformance.model.steps import Expect, Frame, Request, Send, Step, Wait

DECODER: Final = "NettyDecoder.decode @ 5.5.0"
LARGEST: Final = 16_777_216
"""Maximum size of a frame in bytes, including the length word."""
HEADER: Final = (
    b'{"code":103,"extFields":{"brokerAddr":"198.18.255.1:10911","brokerId":"0",'
    b'"brokerName":"conformance-largest","clusterName":"conformance-largest",'
    b'"haServerAddr":"198.18.255.1:10912"},"flag":0,"language":"JAVA","opaque":1,"version":479}'
)
ODD: Final = "é漢😀\"\\/\u007f\u2028<&>'="
PLAIN: Final = 'é漢"\\/\u2028<&>'
"""Java's fastjson2 cannot parse a member name with an escape and a character above U+FFFF."""
ODD_JSON: Final = "é漢😀\\\"\\\\/\u007f\u2028<&>'="


def _filling(size: int) -> Frame:
    """A registration in a frame of ``size`` bytes, padded with spaces."""
    return Frame(header=HEADER, body=b"{}".ljust(size - 8 - len(HEADER)))


def _cut(length: int) -> tuple[Step, ...]:
    return Send((WHOLE[:length],)), Wait(0.002), Send((WHOLE[length:],)), Expect((NOTHING,))


MANY: Final = tuple(f"{{topic{number}}}" for number in range(2000))

CASES: Final = (
    case(
        "transport/36", "A frame split after any byte MUST be answered like a complete one.",
        *(step for at in range(1, len(WHOLE)) for step in _cut(at)),
        evidence=DECODER, items=(2,), tags=frozenset({"split"}),
    ),
    case(
        "transport/37", "A registration in a frame of 16777216 bytes MUST be answered.",
        Send((_filling(LARGEST),)),
        Expect((Answer(ext={}),), within=20.0),
        evidence=DECODER, items=(5,),
    ),
    case(
        "transport/38", "A frame of 16777217 bytes MUST close the connection.",
        Send((_filling(LARGEST + 1),)),
        Expect((Closed(),), within=20.0),
        evidence=DECODER, items=(4,),
    ),
    case(
        "transport/39", "Two requests with the same opaque MUST both be answered.",
        Send((Request(code=101, opaque=5), Request(code=101, opaque=5))),
        Expect((no_entry(opaque=5),)),
        Expect((no_entry(opaque=5),)),
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0", items=(3,),
    ),
    case(
        "ns/105/30",
        "Names with non-ASCII characters and characters that JSON escapes MUST be returned "
        "unchanged.",
        register(
            broker_ext(name="{broker}" + ODD, cluster="{cluster}" + ODD),
            registration(("{topic}" + PLAIN, "{topicB}")),
        ),
        ask(
            105, {"topic": "{topic}" + PLAIN},
            found(Json(Has({
                "brokerDatas": [
                    Has({"brokerName": "{broker}" + ODD, "cluster": "{cluster}" + ODD}),
                ],
            }))),
            on="reader",
        ),
        ask(
            206, None, found(Json(Has({"topicList": Contains(("{topic}" + PLAIN,))}))), on="reader",
        ),
        evidence="RouteInfoManager.pickupTopicRouteData @ 5.5.0", items=(45, 48),
    ),
    *(
        case(
            f"ns/105/{number}",
            f"Names in a route for version {version} MUST be written with the escapes of 5.5.0.",
            register(
                broker_ext(name="{broker}" + ODD, cluster="{cluster}" + ODD + "\n\x01"),
                registration(("{topic}", "{topicB}")),
            ),
            ask(
                105,
                {"topic": "{topic}"},
                found(
                    Text(
                        '{"brokerDatas":[{"brokerAddrs":{'
                        + key
                        + ':"{address}"},"brokerName":"{broker}'
                        + ODD_JSON
                        + '","cluster":"{cluster}'
                        + ODD_JSON
                        + '\\n\\u0001","enableActingMaster":false}],"filterServerTable":{},'
                        '"queueDatas":[{"brokerName":"{broker}'
                        + ODD_JSON
                        + '","perm":6,"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}'
                    )
                ),
                version=version,
                on="reader",
            ),
            evidence="JSONWriter.writeString of fastjson2 behind ClientRequestProcessor @ 5.5.0",
            items=(45, 93),
            profiles=ONLY_5_5,
        )
        for number, version, key in ((31, 513, '"0"'), (32, 400, "0"))
    ),
    case(
        "ns/103/210", "A broker with 2,000 topics MUST be registered and unregistered completely.",
        register(None, registration(MANY), Answer(ext={}), within=10.0),
        ask(105, {"topic": "{topic0}"}, found(), on="reader"),
        ask(105, {"topic": "{topic1999}"}, found(), on="reader"),
        ask(
            224, {"cluster": "{cluster}"},
            found(Json({"topicList": AllOf((Contains(("{topic0}", "{topic1999}")),))})),
            on="reader",
        ),
        evidence="RouteInfoManager.registerBroker @ 5.5.0", items=(48,),
    ),
    case(
        "ns/100/40", "An empty namespace or key in a binary header MUST be rejected as missing.",
        ask(
            100, {"namespace": "", "key": "{key}", "value": "v"},
            Answer(code=1, remark="namespace or key is null"), binary=True,
        ),
        evidence="RocketMQSerializable.readStr @ 5.5.0", items=(41, 43), profiles=SINCE_5_3,
    ),
)  # fmt: skip
