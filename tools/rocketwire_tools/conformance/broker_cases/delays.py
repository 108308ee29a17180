"""Messages that come later: retries (36), delays, and transactions (37, 39)."""

from __future__ import annotations

import base64
from typing import Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    BEFORE_5_5,
    POSITION,
    THROWN,
    ask,
    beat,
    case,
    comes,
    group,
    json_body,
    offset,
    one_way,
    only_4_9,
    only_5_5,
    put,
    refuses,
    silence,
    since_5_3,
    stores,
    topic,
    topics_have,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Has,
    Incoming,
    Lacks,
    Like,
    Messages,
    Number,
    Response,
)
from rocketwire_tools.conformance.model.steps import Expect, Request, Send, Step, Wait

# Messages that a consumer sends back: code 36, retry topics and dead letters.

BACK: Final = "AbstractSendMessageProcessor.consumerSendMsgBack @ 5.5.0"
RETRY: Final = "%RETRY%{group}"
DEAD: Final = "%DLQ%{group}"
SENT: Final[tuple[Step, ...]] = (
    topic(),
    group(),
    put(
        "a",
        properties={"TAGS": "red", "KEYS": "k", "own": "1", "UNIQ_KEY": "{client}"},
        h="7",
        save=POSITION | {"id": "ext.msgId"},
    ),
    visible(1),
)


def back(*outcomes: Response, position: str = "{=position}", **changes: str) -> Step:
    fields = {
        "offset": position,
        "group": "{group}",
        "delayLevel": "1",
        "originTopic": "{topic}",
        "originMsgId": "x",
        "unitMode": "false",
    }
    return ask(36, fields | changes, *(outcomes or (Response(remark=ANY, ext=ANY),)))


# Delay levels, messages with a time of delivery, and their recall (370).

LEVEL: Final = "ScheduleMessageService, PutMessageHook.handleScheduleMessage @ 5.5.0"
TIMER: Final = "TimerMessageStore, HookUtils.transformTimerMessage @ 5.5.0"
RECALL: Final = "RecallMessageProcessor.processRequest @ 5.5.0"
TIMERS: Final = {"timerWheelEnable": "true"}
RECALLS: Final = TIMERS | {"recallMessageEnable": "true"}
EMPTY: Final = ask(30, {"topic": "{topic}", "queueId": "0"}, offset(0))
ILLEGAL: Final = refuses(13, Like("timer message illegal, .*"), ANY)
TOO_LATE: Final = str(259_201)


def handle(*words: str) -> str:
    return base64.urlsafe_b64encode(" ".join(words).encode()).decode()


def recall(*outcomes: Response, **changes: str) -> Step:
    fields = {"producerGroup": "{client}", "topic": "{topic}", "recallHandle": "{=handle}"}
    return ask(370, fields | changes, *outcomes)


RECALLED: Final = Response(remark=ANY, ext=Has({"msgId": "{client}"}))
TIMED: Final[tuple[Step, ...]] = (
    topic(),
    put(
        "timed",
        properties={"TIMER_DELAY_SEC": "30", "UNIQ_KEY": "{client}"},
        save={"handle": "ext.recallHandle"},
    ),
)

# Transactions: half messages, their end (37) and their checks (39).

HALF: Final = "TransactionalMessageBridge.parseHalfMessageInner @ 5.5.0"
END: Final = "EndTransactionProcessor.processRequest @ 5.5.0"
CHECK: Final = "AbstractTransactionalMessageCheckListener.sendCheckMessage @ 5.5.0"
COMMIT, ROLLBACK, UNKNOWN = "8", "12", "0"
TABLE_OFFSET: Final = "ext.tranStateTableOffset"
MARKED: Final = {"TRAN_MSG": "true", "PGROUP": "{group}", "UNIQ_KEY": "{client}", "own": "1"}
# The first check comes a minute later, so that none disturbs the case.
LATE: Final = {"CHECK_IMMUNITY_TIME_IN_SECONDS": "60"}
QUICK: Final = {"transactionCheckInterval": "1000", "transactionTimeOut": "2000"}


def half(*outcomes: Response, queue: int = 0, on: str = "main", **changes: str) -> Step:
    return put(
        "half", *outcomes, queue=queue, on=on, properties=MARKED | LATE | changes, save=POSITION
    )


def end(decision: str, *outcomes: Response, **changes: str) -> Step:
    return ask(37, end_fields(decision, **changes), *(outcomes or (Response(remark=ANY, ext=ANY),)))


def end_fields(decision: str, **changes: str) -> dict[str, str]:
    return {
        "topic": "{topic}",
        "producerGroup": "{group}",
        "tranStateTableOffset": "{=queue_offset}",
        "commitLogOffset": "{=position}",
        "commitOrRollback": decision,
        "fromTransactionCheck": "false",
        "msgId": "{client}",
        "transactionId": "{client}",
    } | changes


# So that no half message is at the position 0 of a new broker.
FIRST: Final = put("first")
HIDDEN: Final[tuple[Step, ...]] = tuple(
    ask(30, {"topic": "{topic}", "queueId": str(queue)}, offset(0)) for queue in (1, 2)
)


def checks(*, on: str = "producer", within: float = 40.0, save: Any = None) -> Expect:
    request = Incoming(
        code=39,
        ext=Has({"transactionId": "{client}", "msgId": "{client}", "commitLogOffset": ANY,
            "tranStateTableOffset": ANY, "offsetMsgId": ANY}),
        flag=ANY,
        body=Messages((with_body("half", topic="{topic}", queueId=1),)),
    )  # fmt: skip
    return Expect((request,), on, within, save or {})


CASES: Final = (
    # Messages that a consumer sends back: code 36, retry topics and dead letters.
    case("36/1", BACK,
        "A message that is sent back MUST come again through the retry topic of the group.",
        *SENT, back(), comes(with_body("a", reconsumeTimes=1, topic=RETRY), of=RETRY)),
    case("36/2", BACK, "A message that is sent back MUST come again after its delay.",
        *SENT, back(delayLevel="2"), comes(with_body("a"), of=RETRY, not_before=4.0, within=30.0),
        tags=frozenset({"slow"})),
    case("36/3", BACK, "A message that comes again MUST have its body, flag, birth time, tags, "
        "keys, unique key and own properties.",
        *SENT, back(), comes(with_body("a", flag=7, bornTimestamp=Number(least=1),
            properties=Has({"TAGS": "red", "KEYS": "k", "own": "1", "UNIQ_KEY": "{client}"})),
                of=RETRY),
    ),
    case("36/4", BACK, "A message that comes again MUST name its topic in RETRY_TOPIC and the id "
        "of the first message in ORIGIN_MESSAGE_ID.",
        *SENT, back(), comes(with_body("a",
            properties=Has({"RETRY_TOPIC": "{topic}", "ORIGIN_MESSAGE_ID": "{=id}"})), of=RETRY),
    ),
    case("36/5", BACK, "A message that is sent back twice MUST keep RETRY_TOPIC and "
        "ORIGIN_MESSAGE_ID, and count both.",
        *SENT, back(), comes(with_body("a"), of=RETRY, save={"again": "message.0.commitLogOffset"}),
        back(position="{=again}", originTopic=RETRY),
        comes(with_body("a", reconsumeTimes=2,
            properties=Has({"RETRY_TOPIC": "{topic}", "ORIGIN_MESSAGE_ID": "{=id}"})), of=RETRY,
            at=1),
    ),
    case("36/6", BACK, "The maximum of the request MUST send a message with so many attempts to "
        "the dead letters.",
        *SENT, back(maxReconsumeTimes="0"), comes(with_body("a", reconsumeTimes=1), of=DEAD),
    ),
    case("36/7", BACK, "A negative delay level MUST send a message to the dead letters at once.",
        *SENT, back(delayLevel="-1"),
        comes(with_body("a", reconsumeTimes=1, properties=Has({"RETRY_TOPIC": "{topic}"})),
            of=DEAD)),
    case("36/8", BACK,
        "The maximum of the group MUST send a message with so many attempts to the dead letters.",
        topic(), group(retryMaxTimes=0), put("a", save=POSITION), visible(1), back(),
        comes(with_body("a"), of=DEAD)),
    case("36/9", BACK, "The topic of dead letters MUST have one queue.",
        *SENT, back(delayLevel="-1"), comes(with_body("a"), of=DEAD),
        ask(21, {}, topics_have(**{DEAD: Has({"readQueueNums": 1, "writeQueueNums": 1})}))),
    case("36/10", BACK, "A position without a message MUST be answered with 1.",
        *SENT, back(refuses(1, Like(r"look message by offset failed, \d+")), position=str(1 << 40)),
    ),
    since_5_3("36/11", "SubscriptionGroupManager.findSubscriptionGroupConfig @ 5.5.0",
        "A group with an illegal name MUST be refused with 26.", *SENT,
        back(refuses(26), group="{group} b")),
    case("36/12", BACK, "A message of a group without retry queues MUST be dropped.",
        topic(), group(retryQueueNums=0), put("a", save=POSITION), visible(1), back(),
        ask(30, {"topic": RETRY, "queueId": "0"}, offset(0))),
    case("36/13", BACK, "A message that is sent back MUST be a new message, with another id and a "
        "later store time.",
        *SENT, comes(with_body("a"), save={"time": "message.0.storeTimestamp"}), back(),
        comes(with_body("a", storeTimestamp=Number(least="{=time+900}"),
            commitLogOffset=Number(least="{=position+1}")), of=RETRY),
    ),
    case("36/14", BACK, "The original message MUST stay where it is.", *SENT, back(),
        comes(with_body("a", reconsumeTimes=0))),
    case("36/15", BACK, "A request without a position MUST be answered with 1.",
        ask(36, {"group": "{group}", "delayLevel": "1"}, refuses(1))),
    case("36/16", BACK, "A request without a group MUST be answered with 1.",
        ask(36, {"offset": "0", "delayLevel": "1"}, Response(code=1, remark=ANY, body=ANY))),
    case("36/17", "MessageConst.PROPERTY_DELAY_TIME_LEVEL @ 5.5.0",
        "A message that comes again MUST have the delay level and its real queue in its "
        "properties.",
        *SENT, back(), comes(with_body("a",
            properties=Has({"DELAY": "1", "REAL_TOPIC": RETRY, "REAL_QID": "0"})), of=RETRY),
    ),
    case("36/18", BACK, "A message of a group that never sent a heartbeat MUST be taken back.",
        topic(), put("a", save=POSITION), visible(1), back(), comes(with_body("a"), of=RETRY),
        requires={"autoCreateSubscriptionGroup": "true"}),
    case("36/19", BACK, "Dead letters MUST be readable by the group.", *SENT, back(delayLevel="-1"),
        comes(with_body("a"), of=DEAD)),
    case("310/200", "ScheduleMessageService.DeliverDelayedMessageTimerTask @ 5.5.0",
        "A message that a consumer itself sends to its retry topic with a delay MUST come after "
        "it.",
        put("a", to=RETRY, properties={"DELAY": "1", "RETRY_TOPIC": "{topic}"}, j="1", l="16"),
        comes(with_body("a", reconsumeTimes=1, properties=Has({"RETRY_TOPIC": "{topic}"})),
            of=RETRY, not_before=0.5)),
    # Delay levels, messages with a time of delivery, and their recall (370).
    case("delay/1", LEVEL,
        "A message with a delay level MUST come after the delay, and not before.",
        topic(), put("a", properties={"DELAY": "1"}), EMPTY, comes(with_body("a"), not_before=0.5)),
    case("delay/2", LEVEL,
        "A message with a delay level MUST come in the queue that it was sent to.",
        topic(), put("a", stores(2, ANY), queue=2, properties={"DELAY": "1"}),
        comes(with_body("a", queueId=2, queueOffset=0), queue=2)),
    case("delay/3", LEVEL, "A message that was delayed MUST have its level, topic and queue in its "
        "properties, and a new store time.",
        topic(), put("a", queue=1, properties={"DELAY": "1", "own": "1", "TAGS": "red"},
            g="{=now}"),
        comes(with_body("a", properties=Has({"DELAY": "1", "REAL_TOPIC": "{topic}", "REAL_QID": "1",
            "own": "1", "TAGS": "red"})), queue=1),
    ),
    case("delay/4", LEVEL,
        "A message with a delay level MUST be found by its tag when it has come.",
        topic(), put("a", properties={"DELAY": "1", "TAGS": "red"}),
        put("b", properties={"DELAY": "1", "TAGS": "blue"}), visible(2),
        comes(with_body("a"), tags="red")),
    case("delay/5", LEVEL, "A message with the level 0 or a negative one MUST be visible at once.",
        topic(), put("a", properties={"DELAY": "0"}), put("b", properties={"DELAY": "-1"}),
        comes(with_body("a"), with_body("b"))),
    case("delay/6", LEVEL, "A level that is not a number MUST be answered with 1.",
        topic(), put("a", THROWN, properties={"DELAY": "x"}), EMPTY),
    case("delay/7", LEVEL, "A level beyond the last MUST be the last.",
        topic(), put("a", properties={"DELAY": "99"}), EMPTY),
    case("delay/8", LEVEL, "Messages of a level MUST come in the order of sending.",
        topic(), *(put(str(number), properties={"DELAY": "1"}) for number in range(5)), visible(5),
        comes(*(with_body(str(number)) for number in range(5)))),
    case("delay/9", LEVEL, "The response to a delayed message MUST have the id of the copy that "
        "waits.",
        topic(), put("a", stores(0, ANY), properties={"DELAY": "1"},
            save={"position": "ext.msgId:position"}),
        comes(with_body("a", commitLogOffset=Number(least="{=position+1}"))),
    ),
    case("delay/10", LEVEL, "The level 2 MUST be five seconds.",
        topic(), put("a", properties={"DELAY": "2"}),
        comes(with_body("a"), not_before=4.0, within=30.0), tags=frozenset({"slow"}),
        requires={"messageDelayLevel": "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h "
            "2h"}),
    case("45/1", "AdminBrokerProcessor.getAllDelayOffset @ 5.5.0",
        "The dump of delayed messages MUST have the offset of each level.",
        topic(), put("a", properties={"DELAY": "1"}), visible(1),
        ask(45, {}, json_body(Has({"offsetTable": Has({"1": Number(least=1)})})))),
    since_5_3("timer/1", TIMER, "A message with TIMER_DELAY_SEC MUST come after about that time.",
        topic(), put("a", stores(1, ANY), queue=1, properties={"TIMER_DELAY_SEC": "2"}),
        ask(30, {"topic": "{topic}", "queueId": "1"}, offset(0)),
        comes(with_body("a"), queue=1, not_before=0.5, within=30.0), requires=TIMERS),
    since_5_3("timer/2", TIMER, "A message with TIMER_DELAY_MS MUST come after about that time.",
        topic(), put("a", properties={"TIMER_DELAY_MS": "2500"}), EMPTY,
        comes(with_body("a"), not_before=0.5, within=30.0), requires=TIMERS),
    since_5_3("timer/3", TIMER, "A message with TIMER_DELIVER_MS MUST come at about that time.",
        topic(), put("a", properties={"TIMER_DELIVER_MS": "{=now+2500}"}), EMPTY,
        comes(with_body("a"), not_before=0.5, within=30.0), requires=TIMERS),
    since_5_3("timer/4", TIMER,
        "A message whose time has passed MUST be visible at once, and cannot be recalled.",
        topic(), put("a", Response(ext=Lacks(("recallHandle",))),
            properties={"TIMER_DELIVER_MS": "{=now-2000}"}), comes(with_body("a")), requires=TIMERS,
    ),
    since_5_3("timer/5", TIMER,
        "A message with a time that has come MUST name its topic and queue.",
        topic(), put("a", queue=1, properties={"TIMER_DELAY_SEC": "2", "own": "1"}),
        comes(with_body("a", properties=Has({"REAL_TOPIC": "{topic}", "REAL_QID": "1",
            "TIMER_OUT_MS": Like(r"\d{13}"), "own": "1"})), queue=1, within=30.0), requires=TIMERS,
    ),
    since_5_3("timer/6", TIMER,
        "A time beyond the maximum, or one that is not a number, MUST be refused with 13.",
        topic(), put("a", ILLEGAL, properties={"TIMER_DELAY_SEC": TOO_LATE}),
        put("a", ILLEGAL, properties={"TIMER_DELAY_MS": "x"}),
        put("a", ILLEGAL, properties={"TIMER_DELAY_SEC": "1.5"}), EMPTY,
        requires=TIMERS | {"timerMaxDelaySec": "259200"}),
    since_5_3("timer/7", TIMER, "A delay level MUST win over a time.",
        topic(), put("a", Response(ext=Lacks(("recallHandle",))),
            properties={"DELAY": "1", "TIMER_DELAY_SEC": "600"}), comes(with_body("a")),
        requires=TIMERS,
    ),
    since_5_3("timer/8", TIMER, "Of several times, TIMER_DELAY_SEC MUST win.",
        topic(), put("a", properties={"TIMER_DELAY_SEC": "2", "TIMER_DELAY_MS": "600000"}),
        comes(with_body("a"), within=30.0), requires=TIMERS),
    since_5_3("timer/9", "SendMessageProcessor.attachRecallHandle @ 5.5.0",
        "The response to a message with a time MUST have the handle of its recall.",
        topic(), put("a", stores(0, ANY, recallHandle=Like(r"[A-Za-z0-9_-]+={0,2}")),
            properties={"TIMER_DELAY_SEC": "30", "UNIQ_KEY": "{client}"}), requires=TIMERS,
    ),
    only_4_9("timer/10", "CommitLog.asyncPutMessage @ 4.9.4",
        "The properties of times MUST be ignored.",
        topic(), put("a", properties={"TIMER_DELAY_SEC": "600"}), comes(with_body("a"))),
    since_5_3("370/1", RECALL, "A message with a time MUST be recalled by its handle, and the "
        "response have its unique key.", *TIMED, recall(RECALLED), requires=RECALLS),
    since_5_3("370/2", RECALL, "A second recall of a message SHOULD be answered in the same way.",
        *TIMED, recall(RECALLED), recall(RECALLED), requires=RECALLS),
    since_5_3("370/3", RECALL, "A recalled message MUST NOT come.",
        topic(), put("gone", properties={"TIMER_DELAY_SEC": "5", "UNIQ_KEY": "{client}"},
            save={"handle": "ext.recallHandle"}),
        put("kept", properties={"TIMER_DELAY_SEC": "5", "UNIQ_KEY": "{clientB}"}),
        recall(RECALLED), comes(with_body("kept"), within=40.0), Wait(3.0),
        comes(with_body("kept")), requires=RECALLS, tags=frozenset({"slow"}),
    ),
    since_5_3("370/4", RECALL, "A handle of another topic MUST be refused with 604.",
        *TIMED, topic("{topicB}"), recall(refuses(604, Like("recall failed, topic not match.*"),
            ANY), topic="{topicB}"), requires=RECALLS,
    ),
    since_5_3("370/5", RECALL, "A recall in an unknown topic MUST be refused with 17.",
        *TIMED, recall(refuses(17, Like("recall failed, the topic.{topicB}. not exist.*"), ANY),
            topic="{topicB}"), requires=RECALLS,
    ),
    since_5_3("370/6", RECALL, "An invalid handle MUST be refused with 604.",
        *TIMED, *(recall(refuses(604, ANY, ANY), recallHandle=text)
            for text in ("x y", handle("v1"), handle("v9", "a", "b", "1", "c"))), requires=RECALLS,
    ),
    since_5_3("370/7", RECALL, "A handle whose time has passed MUST be refused with 604.",
        *TIMED, recall(refuses(604, ANY, ANY), recallHandle="djEgYSBiIDEgYw=="), requires=RECALLS),
    since_5_3("370/8", RECALL, "A recall without a handle MUST be refused with 604.", *TIMED,
        ask(370, {"topic": "{topic}"}, refuses(604, ANY, ANY)), requires=RECALLS),
    only_4_9("370/9", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "A recall MUST be refused with 3, as an unknown code.", ask(370, {"topic": "{topic}"},
        refuses(3))),
    # Transactions: half messages, their end (37) and their checks (39).
    case("37/1", HALF, "A half message MUST NOT be visible in its topic.", topic(), FIRST,
        half(queue=1), *HIDDEN),
    case("37/2", HALF, "The response to a half message MUST have its own queue and the offset "
        "among half messages.",
        topic(), FIRST, half(stores(1, ANY), queue=1),
    ),
    since_5_3("37/3", "SendMessageProcessor.handlePutMessageResult @ 5.5.0",
        "The response to a half message MUST have its unique key as transactionId.",
        topic(), FIRST, half(stores(0, ANY, transactionId="{client}"))),
    case("37/4", END, "A committed message MUST come in the queue that it was sent to.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", queueId=1, queueOffset=0), queue=1)),
    case("37/5", END,
        "A committed message MUST have the system flag 8 and the position of its half message.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", sysFlag=8,
            preparedTransactionOffset=Number(equal="{=position}")), queue=1)),
    case("37/6", END, "A committed message MUST keep its own properties.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", properties=Has({"own": "1", "UNIQ_KEY": "{client}",
            "PGROUP": "{group}"})), queue=1)),
    only_5_5("37/7", END, "A committed message SHOULD NOT name its real topic and queue.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", properties=Lacks(("REAL_TOPIC", "REAL_QID"))), queue=1)),
    case("37/8", "EndTransactionProcessor.endMessageTransaction @ 5.3.3",
        "A committed message SHOULD name its real topic and queue.",
        topic(), FIRST, half(queue=1), end(COMMIT),
        comes(with_body("half", properties=Has({"REAL_TOPIC": "{topic}", "REAL_QID": "1"})),
            queue=1),
        profiles=BEFORE_5_5),
    case("37/9", END, "A message that is rolled back MUST NOT come.", topic(), FIRST, half(queue=1),
        end(ROLLBACK), silence(), *HIDDEN),
    case("37/10", END, "A one-way commit MUST take effect.",
        topic(), FIRST, half(queue=1), one_way(37, end_fields(COMMIT)),
        comes(with_body("half"), queue=1)),
    case("37/11", END, "An end without a decision MUST NOT be answered.",
        topic(), FIRST, half(queue=1), Send((Request(code=37, ext=end_fields(UNKNOWN)),)),
        silence(), *HIDDEN),
    case("37/12", END, "An end with an unknown decision MUST be answered with 1, or not at all.",
        topic(), FIRST, half(queue=1), end("4", refuses(1, ANY, ANY)), *HIDDEN),
    case("37/13", END, "A commit by another group MUST be refused with 1.",
        topic(), FIRST, half(queue=1), end(COMMIT, refuses(1, "The producer group wrong", ANY),
            producerGroup="{groupB}"), *HIDDEN,
    ),
    case("37/14", END, "A commit with another offset MUST be refused with 1.",
        topic(), FIRST, half(queue=1), end(COMMIT, refuses(1, "The transaction state table offset "
            "wrong", ANY), tranStateTableOffset="{=queue_offset+1}"), *HIDDEN,
    ),
    case("37/15", END, "A commit of a position without a message MUST be refused with 1.",
        topic(), FIRST, half(queue=1),
        end(COMMIT, refuses(1, ANY, ANY), commitLogOffset=str(1 << 40)), *HIDDEN),
    case("37/16", END, "Two half messages MUST be ended each by its own offsets.",
        topic(), FIRST, half(queue=1), put("other", queue=2, properties=MARKED | LATE,
            save={"position2": "ext.msgId:position", "queue_offset2": "ext.queueOffset"}),
        end(COMMIT, tranStateTableOffset="{=queue_offset2}", commitLogOffset="{=position2}"),
        comes(with_body("other"), queue=2),
        ask(30, {"topic": "{topic}", "queueId": "1"}, offset(0)), end(COMMIT),
        comes(with_body("half"), queue=1),
    ),
    case("37/17", HALF, "A message whose TRAN_MSG is not true MUST be an ordinary message.",
        topic(), put("a", properties={"TRAN_MSG": "false", "PGROUP": "{group}"}),
        comes(with_body("a"))),
    case("37/18", END, "A committed message MUST be found by its tag.",
        topic(), FIRST, half(queue=1, TAGS="red"), end(COMMIT),
        comes(with_body("half"), queue=1, tags="red")),
    since_5_3("39/1", CHECK,
        "A half message that nobody ends MUST be checked at a producer of its group.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        half(queue=1, CHECK_IMMUNITY_TIME_IN_SECONDS="2"), checks(), requires=QUICK),
    case("39/2", CHECK, "A check MUST name positions by which the transaction can be ended.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        put("half", queue=1, properties=MARKED),
        checks(save={"position": "ext.commitLogOffset", "queue_offset": TABLE_OFFSET}),
        end(COMMIT, fromTransactionCheck="true"), comes(with_body("half"), queue=1),
        requires=QUICK),
    case("39/3", CHECK, "A half message MUST be checked again if the check is not answered.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        put("half", queue=1, properties=MARKED), checks(), checks(), requires=QUICK),
    case("39/4", CHECK, "A transaction that was rolled back after a check MUST NOT come.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        put("half", queue=1, properties=MARKED),
        checks(save={"position": "ext.commitLogOffset", "queue_offset": TABLE_OFFSET}),
        one_way(37, end_fields(ROLLBACK, fromTransactionCheck="true")), silence(), *HIDDEN,
        requires=QUICK),
    case("39/5", CHECK, "A check MUST go to producers of its group only.",
        topic(), FIRST, beat(producers=["{groupB}"], on="other"),
        beat(producers=["{group}"], on="producer"), put("half", queue=1, properties=MARKED),
        checks(), silence(on="other"), requires=QUICK),
    case("39/6", CHECK, "A message that was ended MUST NOT be checked.",
        topic(), FIRST, beat(producers=["{group}"], on="producer"),
        half(queue=1, CHECK_IMMUNITY_TIME_IN_SECONDS="3"), end(COMMIT),
        comes(with_body("half"), queue=1), silence(6.0, on="producer"), requires=QUICK, attempts=3,
        tags=frozenset({"slow"})),
)  # fmt: skip
