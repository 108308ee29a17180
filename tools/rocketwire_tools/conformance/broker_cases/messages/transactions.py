"""Transactions: half messages, their end (37) and their checks (39)."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    BEFORE_5_5,
    ask,
    case,
    comes,
    offset,
    one_way,
    only_5_5,
    put,
    refuses,
    silence,
    since_5_3,
    stores,
    topic,
    with_body,
)
from rocketwire_tools.conformance.broker_cases.heartbeats import beat
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Has,
    Incoming,
    Lacks,
    Messages,
    Number,
    Response,
)
from rocketwire_tools.conformance.model.steps import Expect, Request, Send, Step

HALF: Final = "TransactionalMessageBridge.parseHalfMessageInner @ 5.5.0"
END: Final = "EndTransactionProcessor.processRequest @ 5.5.0"
CHECK: Final = "AbstractTransactionalMessageCheckListener.sendCheckMessage @ 5.5.0"
COMMIT, ROLLBACK, UNKNOWN = "8", "12", "0"
MARKED: Final = {"TRAN_MSG": "true", "PGROUP": "{group}", "UNIQ_KEY": "{client}", "own": "1"}
LATE: Final = {"CHECK_IMMUNITY_TIME_IN_SECONDS": "60"}
"""The first check comes a minute later, so that none disturbs the case."""
OFFSETS: Final = {"position": "ext.msgId:position", "place": "ext.queueOffset"}
QUICK: Final = {"transactionCheckInterval": "1000", "transactionTimeOut": "2000"}


def half(*outcomes: Response, queue: int = 0, on: str = "main", **changes: str) -> Step:
    """Send a half message."""
    return put(
        "half", *outcomes, queue=queue, on=on, properties=MARKED | LATE | changes, save=OFFSETS
    )


def end(decision: str, *outcomes: Response, **changes: str) -> Step:
    """End the transaction as a request with a response (37)."""
    return ask(37, end_fields(decision, **changes), *(outcomes or (Response(remark=ANY, ext=ANY),)))


def end_fields(decision: str, **changes: str) -> dict[str, str]:
    """The ext fields of 37."""
    return {
        "topic": "{topic}",
        "producerGroup": "{group}",
        "tranStateTableOffset": "{=place}",
        "commitLogOffset": "{=position}",
        "commitOrRollback": decision,
        "fromTransactionCheck": "false",
        "msgId": "{client}",
        "transactionId": "{client}",
    } | changes


FIRST: Final = put("first")
"""So that no half message is at the position 0 of a new broker."""
HIDDEN: Final[tuple[Step, ...]] = tuple(
    ask(30, {"topic": "{topic}", "queueId": str(queue)}, offset(0)) for queue in (1, 2)
)


def checks(*, on: str = "producer", within: float = 40.0, save: Any = None) -> Expect:
    """The broker asks for the state of the transaction (39)."""
    request = Incoming(
        code=39,
        ext=Has({"transactionId": "{client}", "msgId": "{client}", "commitLogOffset": ANY,
            "tranStateTableOffset": ANY, "offsetMsgId": ANY}),
        flag=ANY,
        body=Messages((with_body("half", topic="{topic}", queueId=1),)),
    )  # fmt: skip
    return Expect((request,), on, within, save or {})


CASES = (
    case("37/1", HALF, "A half message MUST NOT be visible in its topic.", topic(), FIRST,
        half(queue=1), *HIDDEN),
    case("37/2", HALF, "The response to a half message MUST have its own queue and the offset "
        "among half messages.",
        topic(), FIRST, half(stores(1, ANY), queue=1),
    ),
    since_5_3("37/3", "SendMessageProcessor.handlePutMessageResult @ 5.5.0",
        "The response to a half message MUST have its unique key as transactionId.",
        topic(), FIRST, half(stores(0, ANY, transactionId="{client}")),
    ),
    case("37/4", END, "A committed message MUST come in the queue that it was sent to.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", queueId=1, queueOffset=0), queue=1),
    ),
    case("37/5", END, "A committed message MUST have the system flag 8 and the position of its "
        "half message.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", sysFlag=8,
            preparedTransactionOffset=Number(equal="{=position}")), queue=1),
    ),
    case("37/6", END, "A committed message MUST keep its own properties.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", properties=Has({"own": "1", "UNIQ_KEY": "{client}",
            "PGROUP": "{group}"})), queue=1),
    ),
    only_5_5("37/7", END, "A committed message SHOULD NOT name its real topic and queue.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", properties=Lacks(("REAL_TOPIC", "REAL_QID"))), queue=1),
    ),
    case("37/8", "EndTransactionProcessor.endMessageTransaction @ 5.3.3",
        "A committed message SHOULD name its real topic and queue.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", properties=Has({"REAL_TOPIC": "{topic}", "REAL_QID": "1"})),
            queue=1),
        profiles=BEFORE_5_5,
    ),
    case("37/9", END, "A message that is rolled back MUST NOT come.", topic(), FIRST, half(queue=1),
        end(ROLLBACK), silence(), *HIDDEN),
    case("37/10", END, "A one-way commit MUST take effect.",
        topic(), FIRST, half(queue=1), one_way(37, end_fields(COMMIT)),
        comes(with_body("half"), queue=1),
    ),
    case("37/11", END, "An end without a decision MUST NOT be answered.",
        topic(), FIRST, half(queue=1), Send((Request(code=37, ext=end_fields(UNKNOWN)),)),
        silence(), *HIDDEN,
    ),
    case("37/12", END, "An end with an unknown decision MUST be answered with 1, or not at all.",
        topic(), FIRST, half(queue=1), end("4", refuses(1, ANY, ANY)), *HIDDEN,
    ),
    case("37/13", END, "A commit by another group MUST be refused with 1.",
        topic(), FIRST, half(queue=1), end(COMMIT, refuses(1, "The producer group wrong", ANY),
            producerGroup="{groupB}"), *HIDDEN,
    ),
    case("37/14", END, "A commit with another offset MUST be refused with 1.",
        topic(), FIRST, half(queue=1), end(COMMIT, refuses(1, "The transaction state table offset "
            "wrong", ANY), tranStateTableOffset="{=place+1}"), *HIDDEN,
    ),
    case("37/15", END, "A commit of a position without a message MUST be refused with 1.",
        topic(), FIRST, half(queue=1), end(COMMIT, refuses(1, ANY, ANY),
            commitLogOffset=str(1 << 40)), *HIDDEN,
    ),
    case("37/16", END, "Two half messages MUST be ended each by its own offsets.",
        topic(), FIRST, half(queue=1), put("other", queue=2, properties=MARKED | LATE,
            save={"position2": "ext.msgId:position", "place2": "ext.queueOffset"}),
        end(COMMIT, tranStateTableOffset="{=place2}", commitLogOffset="{=position2}"),
        comes(with_body("other"), queue=2),
        ask(30, {"topic": "{topic}", "queueId": "1"}, offset(0)), end(COMMIT),
        comes(with_body("half"), queue=1),
    ),
    case("37/17", HALF, "A message whose TRAN_MSG is not true MUST be an ordinary message.",
        topic(), put("a", properties={"TRAN_MSG": "false", "PGROUP": "{group}"}),
        comes(with_body("a")),
    ),
    case("37/18", END, "A committed message MUST be found by its tag.",
        topic(), FIRST, half(queue=1, TAGS="red"), end(COMMIT), comes(with_body("half"), queue=1,
            tags="red"),
    ),
    since_5_3("39/1", CHECK,
        "A half message that nobody ends MUST be checked at a producer of its group.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        half(queue=1, CHECK_IMMUNITY_TIME_IN_SECONDS="2"), checks(), requires=QUICK,
    ),
    case("39/2", CHECK, "A check MUST name positions by which the transaction can be ended.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        put("half", queue=1, properties=MARKED),
        checks(save={"position": "ext.commitLogOffset", "place": "ext.tranStateTableOffset"}),
        end(COMMIT, fromTransactionCheck="true"),
        comes(with_body("half"), queue=1), requires=QUICK,
    ),
    case("39/3", CHECK, "A half message MUST be checked again if the check is not answered.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        put("half", queue=1, properties=MARKED), checks(), checks(), requires=QUICK,
    ),
    case("39/4", CHECK, "A transaction that was rolled back after a check MUST NOT come.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        put("half", queue=1, properties=MARKED),
        checks(save={"position": "ext.commitLogOffset", "place": "ext.tranStateTableOffset"}),
        one_way(37, end_fields(ROLLBACK, fromTransactionCheck="true")), silence(), *HIDDEN,
        requires=QUICK,
    ),
    case("39/5", CHECK, "A check MUST go to producers of its group only.",
        topic(), FIRST, beat(producers=["{groupB}"], on="other"),
        beat(producers=["{group}"], on="producer"), put("half", queue=1, properties=MARKED),
        checks(), silence(on="other"), requires=QUICK,
    ),
    case("39/6", CHECK, "A message that was ended MUST NOT be checked.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        half(queue=1, CHECK_IMMUNITY_TIME_IN_SECONDS="3"), end(COMMIT),
        comes(with_body("half"), queue=1),
        silence(6.0, on="producer"), requires=QUICK, attempts=3, tags=frozenset({"slow"}),
    ),
)  # fmt: skip
