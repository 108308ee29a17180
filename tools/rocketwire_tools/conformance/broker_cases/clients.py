"""Requests to clients, replies (324 to 326), and assignments of queues (400, 401)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    OK,
    ask,
    beat,
    case,
    comes,
    consumers,
    group,
    json_body,
    members_changed,
    message,
    only_4_9,
    put,
    refuses,
    silence,
    since_5_3,
    topic,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    AllOf,
    Has,
    Incoming,
    Like,
    Messages,
    Number,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.steps import Expect, Reply, Request, Send, Step

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Ask


# Request and reply: codes 324, 325 and 326.

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


# Requests that a broker passes on to a consumer: codes 307, 309 and 223.

INFO: Final = "AdminBrokerProcessor.getConsumerRunningInfo, callConsumer @ 5.5.0"
DIRECT: Final = "AdminBrokerProcessor.consumeMessageDirectly, callConsumer @ 5.5.0"
STATUS: Final = "Broker2Client.getConsumeStatus @ 5.5.0"
OF_CLIENT: Final = {"consumerGroup": "{group}", "clientId": "{client}"}
MEMBER: Final[tuple[Step, ...]] = (
    topic(),
    beat(consumers(), on="client"),
    members_changed(on="client"),
)


def relays(code: int, body: Any = ANY, **ext: object) -> Expect:
    """The client gets the request."""
    return Expect((Incoming(code=code, ext=Has(ext), flag=ANY, body=body),), "client")


# Queues that a broker assigns to its consumers: codes 400 and 401.

QUERY: Final = "QueryAssignmentProcessor.queryAssignment @ 5.5.0"
MODE: Final = "QueryAssignmentProcessor.setMessageRequestMode @ 5.5.0"
MEMBERS: Final[tuple[Step, ...]] = (
    topic(),
    beat(consumers(), client="{clientA}", on="a"),
    beat(consumers(), client="{clientB}", on="b"),
)


def assigns(*queues: int, client: str = "{clientA}", mode: str = "PULL", **changes: str) -> Ask:
    """The client gets these queues (400)."""
    entries = [
        Has({"messageQueue": Has({"topic": "{topic}", "queueId": queue}), "mode": mode})
        for queue in queues
    ]
    return ask_assignment(client, json_body(Has({"messageQueueAssignments": entries})), **changes)


def ask_assignment(client: str, outcome: Response, **changes: str) -> Ask:
    """Ask for the queues of a client (400)."""
    body = {
        "clientId": client,
        "consumerGroup": "{group}",
        "messageModel": "CLUSTERING",
        "strategyName": "AVG",
        "topic": "{topic}",
    } | changes
    return ask(400, {}, outcome, body=body)


def set_mode(mode: str, *outcomes: Response, topic_name: str = "{topic}", share: int = 0) -> Ask:
    """Set how a group reads a topic (401)."""
    body: dict[str, object] = {
        "consumerGroup": "{group}",
        "mode": mode,
        "popShareQueueNum": share,
        "topic": topic_name,
    }
    return ask(401, {}, *outcomes, body=body)


MODES: Final = Has({"{group}": Has({"mode": "POP", "popShareQueueNum": 2})})


CASES: Final = (
    # Request and reply: codes 324, 325 and 326.
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
    # Requests that a broker passes on to a consumer: codes 307, 309 and 223.
    case("307/1", INFO, "The question for a consumer's state MUST be passed on to it, and its "
        "response back.",
        *MEMBER, Send((Request(code=307, ext=OF_CLIENT | {"jstackEnable": "false"}),)),
        relays(307, consumerGroup="{group}", clientId="{client}"),
        Reply(on="client", body='{"state":"{client}"}'),
        Expect((Response(remark=ANY, body=TextBody('{"state":"{client}"}')),)),
    ),
    case("307/2", INFO, "The code of the consumer's response MUST be passed back.",
        *MEMBER, Send((Request(code=307, ext=OF_CLIENT | {"jstackEnable": "false"}),)),
        relays(307), Reply(on="client", code=1),
        Expect((Response(code=1, remark=ANY, body=ANY),)),
    ),
    case("307/3", INFO, "The question for a client that is not connected MUST be answered with 1.",
        ask(307, OF_CLIENT | {"jstackEnable": "false"},
            refuses(1, Like("The Consumer <{group}> <{client}> not online"))),
    ),
    case("307/4", INFO, "A consumer that does not answer MUST be answered with 207.",
        *MEMBER, Send((Request(code=307, ext=OF_CLIENT | {"jstackEnable": "false"}),)),
        relays(307), Expect((Response(code=207,
            remark=Like("consumer <{group}> <{client}> Timeout: .*")),), within=30.0),
        tags=frozenset({"slow"}),
    ),
    case("307/5", INFO, "A consumer that waits MUST NOT hold up later requests of the asker.",
        *MEMBER, Send((Request(code=307, ext=OF_CLIENT | {"jstackEnable": "false"}),)),
        relays(307), put("other"), Reply(on="client", body="x"),
        Expect((Response(remark=ANY, body=TextBody("x")),)),
    ),
    case("309/1", DIRECT, "A message that is to be consumed directly MUST be passed on to the "
        "consumer, and its response back.",
        *MEMBER, put("direct", save={"id": "ext.msgId"}),
        comes(with_body("direct"), save={"position": "message.0.commitLogOffset"}),
        Send((Request(code=309, ext=OF_CLIENT | {"msgId": "{=id}"}),)),
        relays(309, Messages((with_body("direct", commitLogOffset=Number(equal="{=position}")),)),
            consumerGroup="{group}", clientId="{client}"),
        Reply(on="client", body='{"consumeResult":"CR_SUCCESS"}'),
        Expect((Response(remark=ANY, body=TextBody('{"consumeResult":"CR_SUCCESS"}')),)),
    ),
    case("309/2", DIRECT, "The direct consumption by a client that is not connected MUST be "
        "answered with 1.",
        topic(), put("direct", save={"id": "ext.msgId"}), comes(with_body("direct")),
        ask(309, OF_CLIENT | {"msgId": "{=id}"},
            refuses(1, Like("The Consumer <{group}> <{client}> not online"))),
    ),
    case("309/3", DIRECT, "An id that is not one MUST be answered with 1.", *MEMBER,
        ask(309, OF_CLIENT | {"msgId": "x"}, refuses(1))),
    case("223/1", STATUS, "The question for the status of an offline group MUST be answered with "
        "1.",
        topic(), ask(223, {"topic": "{topic}", "group": "{group}", "clientAddr": ""}, refuses(1)),
    ),
    case("223/2", STATUS, "The question for the status of a group MUST be passed on to its "
        "members, and their tables back.",
        *MEMBER, Send((Request(code=223, ext={"topic": "{topic}", "group": "{group}",
            "clientAddr": ""}),)),
        relays(221, topic="{topic}", group="{group}"),
        Reply(on="client", body='{"messageQueueTable":{}}'),
        Expect((Response(remark=ANY, body=ANY),)),
    ),
    # Queues that a broker assigns to its consumers: codes 400 and 401.
    since_5_3("400/1", QUERY, "The queues of a topic MUST be divided among the members of a group, "
        "in the order of their ids.",
        *MEMBERS, assigns(0, 1), assigns(2, 3, client="{clientB}"),
    ),
    since_5_3("400/2", QUERY, "The strategy AVG_BY_CIRCLE MUST deal the queues in turn.",
        *MEMBERS, assigns(0, 2, strategyName="AVG_BY_CIRCLE"), assigns(1, 3, client="{clientB}",
            strategyName="AVG_BY_CIRCLE"),
    ),
    since_5_3("400/3", QUERY, "A broadcasting client MUST get all queues.", *MEMBERS,
        assigns(0, 1, 2, 3, messageModel="BROADCASTING")),
    since_5_3("400/4", QUERY, "A client that is no member MUST get no queue.", *MEMBERS,
        assigns(client="{clientC}")),
    since_5_3("400/5", QUERY, "A single member MUST get all queues.", topic(),
        beat(consumers(), client="{clientA}"), assigns(0, 1, 2, 3)),
    since_5_3("400/6", QUERY, "A member too many MUST get no queue.",
        topic(queues=1), beat(consumers(), client="{clientA}", on="a"),
        beat(consumers(), client="{clientB}", on="b"), assigns(0),
        assigns(client="{clientB}"),
    ),
    since_5_3("401/1", MODE,
        "A group that is to pop a topic MUST get one assignment for all queues.",
        *MEMBERS, set_mode("POP"), assigns(-1, mode="POP"), assigns(-1, client="{clientB}",
            mode="POP"),
    ),
    since_5_3("401/2", MODE, "A group that is to pull again MUST get queues again.", *MEMBERS,
        set_mode("POP"), set_mode("PULL"), assigns(0, 1)),
    since_5_3("401/3", MODE, "The mode of a retry topic MUST be refused with 16.", topic(), group(),
        set_mode("POP", refuses(16, ANY, ANY), topic_name="%RETRY%{group}")),
    since_5_3("401/4", MODE, "The mode of an unknown topic MUST be refused with 17.", group(),
        set_mode("POP", refuses(17, ANY, ANY))),
    since_5_3("402/1", "AdminBrokerProcessor.getAllMessageRequestMode @ 5.5.0",
        "The table of modes MUST have the mode of each group.",
        topic(), group(), set_mode("POP", OK, share=2),
        ask(402, {}, json_body(Has({"messageRequestModeMap": Has({"{topic}": MODES})}))),
    ),
    only_4_9("400/7", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "The question for queues MUST be refused with 3, as an unknown code.",
        ask_assignment("{client}", refuses(3))),
)  # fmt: skip
