"""Names with unusual characters, large frames, large registrations, frames cut at every byte."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.transport import NOTHING, WHOLE
from rocketwire_tools.conformance.model.case import ONLY_5_5, SINCE_5_3, Case
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
"""Bytes of the largest frame, its first four included."""
HEADER: Final = (
    b'{"code":103,"extFields":{"brokerAddr":"198.18.255.1:10911","brokerId":"0",'
    b'"brokerName":"conformance-largest","clusterName":"conformance-largest",'
    b'"haServerAddr":"198.18.255.1:10912"},"flag":0,"language":"JAVA","opaque":1,"version":479}'
)
ODD: Final = "é漢😀\"\\/\u007f\u2028<&>'="
PLAIN: Final = 'é漢"\\/\u2028<&>'
"""Java's fastjson2 cannot read a member name that has an escape and a character beyond U+FFFF."""
ODD_JSON: Final = "é漢😀\\\"\\\\/\u007f\u2028<&>'="


def _filling(size: int) -> Frame:
    """A registration whose frame has that many bytes in all, most of them blanks."""
    return Frame(header=HEADER, body=b"{}".ljust(size - 8 - len(HEADER)))


def _cut(length: int) -> tuple[Step, ...]:
    return Send((WHOLE[:length],)), Wait(0.002), Send((WHOLE[length:],)), Expect((NOTHING,))


MANY: Final = tuple(f"{{topic{number}}}" for number in range(2000))

CASES: Final = (
    Case(
        id="transport/36",
        requirement="A frame split after any byte MUST be answered like a complete one.",
        evidence=DECODER,
        items=(2,),
        tags=frozenset({"split"}),
        steps=tuple(step for at in range(1, len(WHOLE)) for step in _cut(at)),
    ),
    Case(
        id="transport/37",
        requirement="A registration in a frame of 16777216 bytes MUST be answered.",
        evidence=DECODER,
        items=(5,),
        steps=(Send((_filling(LARGEST),)), Expect((Answer(ext={}),), within=20.0)),
    ),
    Case(
        id="transport/38",
        requirement="A frame of 16777217 bytes MUST close the connection.",
        evidence=DECODER,
        items=(4,),
        steps=(Send((_filling(LARGEST + 1),)), Expect((Closed(),), within=20.0)),
    ),
    Case(
        id="transport/39",
        requirement="Two requests with the same opaque MUST both be answered.",
        evidence="NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        items=(3,),
        steps=(
            Send((Request(code=101, opaque=5), Request(code=101, opaque=5))),
            Expect((no_entry(opaque=5),)),
            Expect((no_entry(opaque=5),)),
        ),
    ),
    Case(
        id="ns/105/30",
        requirement="Names with non-ASCII characters and characters that JSON escapes MUST be returned unchanged.",
        evidence="RouteInfoManager.pickupTopicRouteData @ 5.5.0",
        items=(45, 48),
        steps=(
            register(
                broker_ext(name="{broker}" + ODD, cluster="{cluster}" + ODD),
                registration(("{topic}" + PLAIN, "{topicB}")),
            ),
            ask(
                105,
                {"topic": "{topic}" + PLAIN},
                found(
                    Json(
                        Has(
                            {
                                "brokerDatas": [
                                    Has(
                                        {
                                            "brokerName": "{broker}" + ODD,
                                            "cluster": "{cluster}" + ODD,
                                        }
                                    )
                                ]
                            }
                        )
                    )
                ),
                on="reader",
            ),
            ask(
                206,
                None,
                found(Json(Has({"topicList": Contains(("{topic}" + PLAIN,))}))),
                on="reader",
            ),
        ),
    ),
    *(
        Case(
            id=f"ns/105/{number}",
            requirement=f"Names in a route for version {version} MUST be written with the escapes of 5.5.0.",
            evidence="JSONWriter.writeString of fastjson2 behind ClientRequestProcessor @ 5.5.0",
            profiles=ONLY_5_5,
            items=(45, 93),
            steps=(
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
            ),
        )
        for number, version, key in ((31, 513, '"0"'), (32, 400, "0"))
    ),
    Case(
        id="ns/103/210",
        requirement="A broker with 2,000 topics MUST be registered and unregistered completely.",
        evidence="RouteInfoManager.registerBroker @ 5.5.0",
        items=(48,),
        steps=(
            register(None, registration(MANY), Answer(ext={}), within=10.0),
            ask(105, {"topic": "{topic0}"}, found(), on="reader"),
            ask(105, {"topic": "{topic1999}"}, found(), on="reader"),
            ask(
                224,
                {"cluster": "{cluster}"},
                found(Json({"topicList": AllOf((Contains(("{topic0}", "{topic1999}")),))})),
                on="reader",
            ),
        ),
    ),
    Case(
        id="ns/100/40",
        requirement="An empty namespace or key in a binary header MUST be rejected as missing.",
        evidence="RocketMQSerializable.readStr @ 5.5.0",
        profiles=SINCE_5_3,
        items=(41, 43),
        steps=(
            ask(
                100,
                {"namespace": "", "key": "{key}", "value": "v"},
                Answer(code=1, remark="namespace or key is null"),
                binary=True,
            ),
        ),
    ),
)
