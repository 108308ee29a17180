"""Requests that a broker passes on to a consumer: codes 307, 309 and 223."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    ask,
    case,
    comes,
    put,
    refuses,
    topic,
    with_body,
)
from rocketwire_tools.conformance.broker_cases.heartbeats import beat, consumers, members_changed
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Has,
    Incoming,
    Like,
    Messages,
    Number,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.steps import Expect, Reply, Request, Send, Step

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


CASES = (
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
)  # fmt: skip
