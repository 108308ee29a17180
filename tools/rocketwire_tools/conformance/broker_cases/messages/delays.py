"""Delay levels, messages with a time of delivery, and their recall (370)."""

from __future__ import annotations

import base64
from typing import Final

from rocketwire_tools.conformance.broker_cases.common import (
    THROWN,
    ask,
    case,
    comes,
    json_body,
    offset,
    only_4_9,
    put,
    refuses,
    since_5_3,
    stores,
    topic,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Lacks, Like, Number, Response
from rocketwire_tools.conformance.model.steps import Step, Wait

LEVEL: Final = "ScheduleMessageService, PutMessageHook.handleScheduleMessage @ 5.5.0"
TIMER: Final = "TimerMessageStore, HookUtils.transformTimerMessage @ 5.5.0"
RECALL: Final = "RecallMessageProcessor.processRequest @ 5.5.0"
TIMERS: Final = {"timerWheelEnable": "true"}
RECALLS: Final = TIMERS | {"recallMessageEnable": "true"}
EMPTY: Final = ask(30, {"topic": "{topic}", "queueId": "0"}, offset(0))
ILLEGAL: Final = refuses(13, Like("timer message illegal, .*"), ANY)
TOO_LATE: Final = str(259_201)


def handle(*words: str) -> str:
    """A handle of recall with these words."""
    return base64.urlsafe_b64encode(" ".join(words).encode()).decode()


def recall(*outcomes: Response, **changes: str) -> Step:
    """Recall a message (370)."""
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

CASES = (
    case("delay/1", LEVEL, "A message with a delay level MUST come after the delay, and not "
        "before.",
        topic(), put("a", properties={"DELAY": "1"}), EMPTY, comes(with_body("a"), not_before=0.5),
    ),
    case("delay/2", LEVEL, "A message with a delay level MUST come in the queue that it was sent "
        "to.",
        topic(), put("a", stores(2, ANY), queue=2, properties={"DELAY": "1"}),
        comes(with_body("a", queueId=2, queueOffset=0), queue=2),
    ),
    case("delay/3", LEVEL, "A message that was delayed MUST have its level, topic and queue in its "
        "properties, and a new store time.",
        topic(), put("a", queue=1, properties={"DELAY": "1", "own": "1", "TAGS": "red"},
            g="{=now}"),
        comes(with_body("a", properties=Has({"DELAY": "1", "REAL_TOPIC": "{topic}", "REAL_QID": "1",
            "own": "1", "TAGS": "red"})), queue=1),
    ),
    case("delay/4", LEVEL, "A message with a delay level MUST be found by its tag when it has "
        "come.",
        topic(), put("a", properties={"DELAY": "1", "TAGS": "red"}),
        put("b", properties={"DELAY": "1", "TAGS": "blue"}), visible(2),
        comes(with_body("a"), tags="red"),
    ),
    case("delay/5", LEVEL, "A message with the level 0 or a negative one MUST be visible at once.",
        topic(), put("a", properties={"DELAY": "0"}), put("b", properties={"DELAY": "-1"}),
        comes(with_body("a"), with_body("b")),
    ),
    case("delay/6", LEVEL, "A level that is not a number MUST be answered with 1.",
        topic(), put("a", THROWN, properties={"DELAY": "x"}), EMPTY,
    ),
    case("delay/7", LEVEL, "A level beyond the last MUST be the last.",
        topic(), put("a", properties={"DELAY": "99"}), EMPTY,
    ),
    case("delay/8", LEVEL, "Messages of a level MUST come in the order of sending.",
        topic(), *(put(str(number), properties={"DELAY": "1"}) for number in range(5)), visible(5),
        comes(*(with_body(str(number)) for number in range(5))),
    ),
    case("delay/9", LEVEL, "The response to a delayed message MUST have the id of the copy that "
        "waits.",
        topic(), put("a", stores(0, ANY), properties={"DELAY": "1"},
            save={"position": "ext.msgId:position"}),
        comes(with_body("a", commitLogOffset=Number(least="{=position+1}"))),
    ),
    case("delay/10", LEVEL, "The level 2 MUST be five seconds.",
        topic(), put("a", properties={"DELAY": "2"}), comes(with_body("a"), not_before=4.0,
            within=30.0), tags=frozenset({"slow"}),
        requires={"messageDelayLevel": "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h "
            "2h"},
    ),
    case("45/1", "AdminBrokerProcessor.getAllDelayOffset @ 5.5.0",
        "The dump of delayed messages MUST have the offset of each level.",
        topic(), put("a", properties={"DELAY": "1"}), visible(1),
        ask(45, {}, json_body(Has({"offsetTable": Has({"1": Number(least=1)})}))),
    ),
    since_5_3("timer/1", TIMER, "A message with TIMER_DELAY_SEC MUST come after about that time.",
        topic(), put("a", stores(1, ANY), queue=1, properties={"TIMER_DELAY_SEC": "2"}),
        ask(30, {"topic": "{topic}", "queueId": "1"}, offset(0)), comes(with_body("a"), queue=1,
            not_before=0.5, within=30.0), requires=TIMERS,
    ),
    since_5_3("timer/2", TIMER, "A message with TIMER_DELAY_MS MUST come after about that time.",
        topic(), put("a", properties={"TIMER_DELAY_MS": "2500"}), EMPTY,
        comes(with_body("a"), not_before=0.5, within=30.0), requires=TIMERS,
    ),
    since_5_3("timer/3", TIMER, "A message with TIMER_DELIVER_MS MUST come at about that time.",
        topic(), put("a", properties={"TIMER_DELIVER_MS": "{=now+2500}"}), EMPTY,
        comes(with_body("a"), not_before=0.5, within=30.0), requires=TIMERS,
    ),
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
        requires=TIMERS | {"timerMaxDelaySec": "259200"},
    ),
    since_5_3("timer/7", TIMER, "A delay level MUST win over a time.",
        topic(), put("a", Response(ext=Lacks(("recallHandle",))),
            properties={"DELAY": "1", "TIMER_DELAY_SEC": "600"}), comes(with_body("a")),
        requires=TIMERS,
    ),
    since_5_3("timer/8", TIMER, "Of several times, TIMER_DELAY_SEC MUST win.",
        topic(), put("a", properties={"TIMER_DELAY_SEC": "2", "TIMER_DELAY_MS": "600000"}),
        comes(with_body("a"), within=30.0), requires=TIMERS,
    ),
    since_5_3("timer/9", "SendMessageProcessor.attachRecallHandle @ 5.5.0",
        "The response to a message with a time MUST have the handle of its recall.",
        topic(), put("a", stores(0, ANY, recallHandle=Like(r"[A-Za-z0-9_-]+={0,2}")),
            properties={"TIMER_DELAY_SEC": "30", "UNIQ_KEY": "{client}"}), requires=TIMERS,
    ),
    only_4_9("timer/10", "CommitLog.asyncPutMessage @ 4.9.4",
        "The properties of times MUST be ignored.",
        topic(), put("a", properties={"TIMER_DELAY_SEC": "600"}), comes(with_body("a")),
    ),
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
        *TIMED, recall(refuses(604, ANY, ANY), recallHandle="djEgYSBiIDEgYw=="), requires=RECALLS,
    ),
    since_5_3("370/8", RECALL, "A recall without a handle MUST be refused with 604.", *TIMED,
        ask(370, {"topic": "{topic}"}, refuses(604, ANY, ANY)), requires=RECALLS),
    only_4_9("370/9", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "A recall MUST be refused with 3, as an unknown code.", ask(370, {"topic": "{topic}"},
        refuses(3))),
)  # fmt: skip
