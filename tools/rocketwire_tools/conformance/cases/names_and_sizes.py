"""Names with unusual characters, large frames, large registrations, frames cut at every byte."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ROUTE
from rocketwire_tools.conformance.cases.transport import NOTHING, WHOLE
from rocketwire_tools.conformance.model.case import case, only_5_5, since_5_3
from rocketwire_tools.conformance.model.outcomes import (
    AllOf,
    Closed,
    Contains,
    Has,
    JsonBody,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    expect,
    has,
    no_entry,
    register,
    registration,
    send,
    success,
)
from rocketwire_tools.conformance.model.steps import Frame, Request, Step, Wait

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
    return Frame(header=HEADER, body=b"{}".ljust(size - 8 - len(HEADER)))


def _cut(length: int) -> tuple[Step, ...]:
    return send(WHOLE[:length]), Wait(0.002), send(WHOLE[length:]), expect(NOTHING)


MANY: Final = tuple(f"{{topic{number}}}" for number in range(2000))

CASES: Final = (
    case("transport/36", 2, DECODER,
        "A frame split after any byte MUST be answered like a complete one.",
        *(step for length in range(1, len(WHOLE)) for step in _cut(length)),
        tags=frozenset({"split"}),
    ),
    case("transport/37", 5, DECODER,
        "A registration in a frame of 16777216 bytes MUST be answered.",
        send(_filling(LARGEST)),
        expect(Response(ext={}), within=20.0),
    ),
    case("transport/38", 4, DECODER, "A frame of 16777217 bytes MUST close the connection.",
        send(_filling(LARGEST + 1)),
        expect(Closed(), within=20.0),
    ),
    case("transport/39", 3, "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "Two requests with the same opaque MUST both be answered.",
        send(Request(code=101, opaque=5), Request(code=101, opaque=5)),
        expect(no_entry(opaque=5)),
        expect(no_entry(opaque=5)),
    ),
    case("ns/105/30", (45, 48), "RouteInfoManager.pickupTopicRouteData @ 5.5.0",
        "Names with non-ASCII characters and characters that JSON escapes MUST be returned "
        "unchanged.",
        register(broker_ext(name="{broker}" + ODD, cluster="{cluster}" + ODD),
            registration(("{topic}" + PLAIN, "{topicB}"))),
        ask(105, {"topic": "{topic}" + PLAIN},
            has({"brokerDatas": [
                Has({"brokerName": "{broker}" + ODD, "cluster": "{cluster}" + ODD})]}),
            on="reader"),
        ask(206, None, has({"topicList": Contains(("{topic}" + PLAIN,))}), on="reader"),
    ),
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
            on="reader"),
    ),
    since_5_3("ns/100/40", (41, 43), "RocketMQSerializable.readStr @ 5.5.0",
        "An empty namespace or key in a binary header MUST be rejected as missing.",
        ask(100, {"namespace": "", "key": "{key}", "value": "v"},
            Response(code=1, remark="namespace or key is null"), binary=True),
    ),
)  # fmt: skip
