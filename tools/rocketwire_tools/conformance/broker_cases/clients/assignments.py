"""Queues that a broker assigns to its consumers: codes 400 and 401."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.broker_cases.common import (
    OK,
    ask,
    group,
    json_body,
    only_4_9,
    refuses,
    since_5_3,
    topic,
)
from rocketwire_tools.conformance.broker_cases.heartbeats import beat, consumers
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Response

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Ask, Step

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

CASES = (
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
