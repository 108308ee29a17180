"""Request and reply: codes 324, 325 and 326."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    case,
    comes,
    message,
    put,
    refuses,
    silence,
    topic,
    visible,
    with_body,
)
from rocketwire_tools.conformance.broker_cases.heartbeats import beat
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    AllOf,
    Has,
    Incoming,
    Like,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.steps import Expect, Reply, Request, Send, Step

REPLY: Final = "ReplyMessageProcessor.processReplyMessageRequest @ 5.5.0"
PUSH: Final = "ReplyMessageProcessor.pushReplyMessage @ 5.5.0"
TO_CLIENT: Final = {"REPLY_TO_CLIENT": "{client}", "CORRELATION_ID": "{clientC}", "own": "1"}
OWN: Final = Like(".*own\x011\x02?.*")
PUSH_TIME: Final = Like(".*PUSH_REPLY_TIME\x01\\d{13}\x02.*")
ASKER: Final[tuple[Step, ...]] = (topic(), beat(producers=["{client}"], on="asker"))
"""A producer that waits for replies; its group has the name of the client."""


def sends(code: int = 325, **changes: str) -> Send:
    """Send a reply; the response comes when the asker has answered."""
    fields: dict[str, Any] = {"h": "7"} | changes
    request = message("pong", code=code, properties=TO_CLIENT, **fields)
    return Send((request,))


def pushes(text: str = "pong", **ext: object) -> Expect:
    """The asker gets the reply."""
    fields = {
        "topic": "{topic}",
        "flag": "7",
        "bornHost": Like(r".+:\d+"),
        "storeHost": Like(r".+:\d+"),
    }
    return Expect(
        (Incoming(code=326, ext=Has(fields | ext), flag=ANY, body=TextBody(text)),), "asker", 10.0
    )


def answers(code: int = 0, within: float = 20.0) -> Expect:
    """The replier gets the response."""
    return Expect((Response(code=code, remark=ANY),), within=within)


CASES = (
    case("325/1", PUSH, "A reply MUST be pushed to the client that it names.", *ASKER, sends(),
        pushes(), Reply(on="asker"), answers()),
    case("325/2", PUSH, "A pushed reply MUST have its body, flag and properties, and the time of "
        "pushing.",
        *ASKER, sends(), pushes(properties=AllOf((OWN, PUSH_TIME))), Reply(on="asker"), answers(),
    ),
    case("325/3", PUSH, "The response to a reply MUST come when the client has answered, and not "
        "before.",
        *ASKER, sends(), pushes(), silence(), Reply(on="asker"), answers(),
    ),
    case("325/4", PUSH, "A reply that the client refuses MUST be answered with 1.", *ASKER, sends(),
        pushes(), Reply(on="asker", code=1), answers(1)),
    case("325/5", PUSH, "A reply to a client that is not there MUST be answered with 1.",
        topic(), put("pong", Response(code=1,
            remark=Like("push reply message fail, channel of <{clientB}> not found."), ext=ANY),
            code=325, properties={"REPLY_TO_CLIENT": "{clientB}"}),
    ),
    case("325/6", REPLY, "A reply that names no client MUST be answered with 1.",
        topic(), put("pong", Response(code=1,
            remark=Like("reply message properties.REPLY_TO_CLIENT. is null"), ext=ANY), code=325),
    ),
    case("325/7", REPLY, "A reply MUST be stored.", *ASKER, sends(), pushes(), Reply(on="asker"),
        answers(), visible(1), comes(with_body("pong")),
        requires={"storeReplyMessageEnable": "true"}),
    case("325/8", REPLY, "A reply to an unknown queue MUST be refused.", *ASKER,
        put("pong", refuses(29, ANY, ANY), refuses(1, ANY, ANY), code=325, queue=9,
        properties=TO_CLIENT)),
    case("325/9", REPLY, "The response to a reply MUST have an id and a queue offset.",
        *ASKER, sends(), pushes(), Reply(on="asker"),
        Expect((Response(remark=ANY,
            ext=Has({"msgId": ANY, "queueId": "0", "queueOffset": "0"})),), within=20.0),
    ),
    case("324/1", REPLY, "A reply with the long names of code 324 MUST be pushed.",
        *ASKER,
        Send((Request(code=324, ext={
            "producerGroup": "{client}", "topic": "{topic}", "defaultTopic": "TBW102",
            "defaultTopicQueueNums": "4", "queueId": "0", "sysFlag": "0", "bornTimestamp": "5",
            "flag": "7", "properties": "REPLY_TO_CLIENT\x01{client}\x02", "reconsumeTimes": "0",
            "unitMode": "false"}, body="pong"),)),
        pushes(bornTimestamp="5"), Reply(on="asker"), answers(),
    ),
    case("325/10", PUSH, "A reply MUST NOT hold up later requests of the replier.",
        *ASKER, sends(), pushes(), put("other", queue=1), Reply(on="asker"), answers(),
    ),
    case("325/11", "RemotingServer.invokeSync @ 5.5.0",
        "A reply that the client does not answer MUST be answered with 1 after about 10 s.",
        *ASKER, sends(), pushes(), answers(1, within=30.0), tags=frozenset({"slow"}),
    ),
)  # fmt: skip
