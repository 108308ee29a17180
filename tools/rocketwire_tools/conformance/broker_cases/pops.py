"""Pops (200050) and their acknowledgements, invisible times and returns."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    FOUR,
    SOON,
    ask,
    bodies,
    finds,
    group,
    offset,
    only_4_9,
    put,
    refuses,
    silence,
    since_5_3,
    topic,
    until,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Like, Messages, Number, Response
from rocketwire_tools.conformance.model.requests import without
from rocketwire_tools.conformance.model.steps import Ask, Expect, Request, Send, Step, Wait

# Pops: codes 200050, 200052, 200054 and 200055.

POP: Final = "PopMessageProcessor.processRequest @ 5.5.0"
NOTIFY: Final = "NotificationProcessor.processRequest @ 5.5.0"
NONE: Final = Response(code=210, remark=ANY, ext=ANY)
# Without timers Java refuses pops.
POPS: Final = {"timerWheelEnable": "true"}


def pop_fields(
    *,
    of: str = "{topic}",
    queue: int = 0,
    count: int = 32,
    invisible: int = 60_000,
    poll: int = 0,
    **changes: str,
) -> dict[str, str]:
    """The ext fields of a pop. Times are milliseconds.

    A pop that may not wait is dated ahead: Java refuses one that is half a second late.
    """
    return {
        "consumerGroup": "{group}",
        "topic": of,
        "queueId": str(queue),
        "maxMsgNums": str(count),
        "invisibleTime": str(invisible),
        "pollTime": str(poll),
        "bornTime": "{=now}" if poll else "{=now+30000}",
        "initMode": "0",
        "order": "false",
    } | changes


def pop(
    *outcomes: Response, on: str = "main", save: Any = None, within: float = 10.0, **settings: Any
) -> Ask:
    return ask(200050, pop_fields(**settings), *outcomes, on=on, save=save, within=within)


def hold_pop(*, on: str = "reader", code: int = 200050, **settings: Any) -> Send:
    return Send((Request(code=code, ext=pop_fields(**settings)),), on)


def pops(address: str, evidence: str, requirement: str, *steps: Step, **settings: Any) -> Any:
    return since_5_3(address, evidence, requirement, *steps, requires=POPS, **settings)


# Acknowledgements, invisible times, returns and orderly pops: 200051, 200053, 200151.

ACK: Final = "AckMessageProcessor.processRequest @ 5.5.0"
CHANGE: Final = "ChangeInvisibleTimeProcessor.processRequest @ 5.5.0"
RETURN: Final = "PopReviveService.reviveRetry @ 5.5.0"
ORDER: Final = "ConsumerOrderInfoManager.update, checkBlock @ 5.5.0"
TIMES: Final = {"time": "ext.popTime", "invisible": "ext.invisibleTime", "revive": "ext.reviveQid"}
SLOW: Final = frozenset({"slow"})


def handle(
    queue_offset: int = 0, *, start: int = 0, retry: int = 0, revive: str = "{=revive}"
) -> str:
    """The handle of a popped message of queue 0 (Java: ``ExtraInfoUtil.buildExtraInfo``)."""
    return f"{start} {{=time}} {{=invisible}} {revive} {retry} {{=broker}} 0 {queue_offset}"


def ack(queue_offset: int = 0, *outcomes: Response, start: int = 0, **changes: str) -> Step:
    fields = {
        "consumerGroup": "{group}",
        "topic": "{topic}",
        "queueId": "0",
        "extraInfo": handle(queue_offset, start=start),
        "offset": str(queue_offset),
    }
    return ask(200051, fields | changes, *(outcomes or (Response(remark=ANY, ext=ANY),)))


def hide(milliseconds: int, queue_offset: int = 0, *outcomes: Response, **changes: str) -> Step:
    """Hide a popped message of queue 0 for another time from now (200053)."""
    fields = {
        "consumerGroup": "{group}",
        "topic": "{topic}",
        "queueId": "0",
        "extraInfo": handle(queue_offset),
        "offset": str(queue_offset),
        "invisibleTime": str(milliseconds),
    }
    return ask(200053, fields | changes, *(outcomes or (Response(remark=ANY, ext=ANY),)))


def returns(
    *patterns: object, within: float = 40.0, not_before: float = 0.0, **settings: Any
) -> Step:
    settings = {"invisible": 60_000} | settings
    return until(
        200050, pop_fields(**settings), finds(*patterns), within=within, not_before=not_before
    )


POPPED: Final[tuple[Step, ...]] = (
    *FOUR,
    group(),
    pop(finds(*bodies(0, 1)), count=2, save=TIMES),
)
SHORT: Final[tuple[Step, ...]] = (
    *FOUR,
    group(),
    pop(finds(*bodies(0, 1)), count=2, invisible=1000, save=TIMES),
)
IN_ORDER: Final[tuple[Step, ...]] = (
    *FOUR,
    group(consumeMessageOrderly=True),
    pop(
        finds(*bodies(0, 1), reviveQid="999"), count=2, order="true", attemptId="first", save=TIMES
    ),
)


CASES: Final = (
    # Pops: codes 200050, 200052, 200054 and 200055.
    pops("200050/1", POP, "A pop MUST find the messages of a queue.", *FOUR,
        pop(finds(*bodies(0, 1, 2, 3)))),
    pops("200050/2", POP, "A pop MUST name the offsets of its messages, the time and the queue of "
        "handles.",
        *FOUR, pop(finds(ANY, ANY, startOffsetInfo="0 0 0", msgOffsetInfo="0 0 0,1",
            popTime=Like(r"\d{13}"), invisibleTime="60000", reviveQid=Like("[0-7]"), restNum="2"),
            count=2),
    ),
    pops("200050/3", POP, "Popped messages MUST NOT be popped again while they are invisible.",
        *FOUR, pop(finds(*bodies(0, 1)), count=2), pop(finds(*bodies(2, 3))), pop(NONE)),
    pops("200050/4", POP, "Groups MUST pop the same messages independently.",
        *FOUR, pop(finds(*bodies(0, 1, 2, 3))),
        pop(finds(*bodies(0, 1, 2, 3)), consumerGroup="{groupB}")),
    pops("200050/5", POP, "A pop of all queues MUST find messages of each.",
        topic(), *(put(str(queue), queue=queue) for queue in range(4)),
        *(visible(1, queue=queue) for queue in range(4)),
        pop(finds(ANY, ANY, ANY, ANY, restNum="0"), queue=-1), pop(NONE, queue=-1)),
    pops("200050/6", POP, "A pop MUST find no more messages than it asks for, over all queues.",
        topic(), *(put(str(queue), queue=queue) for queue in range(4)),
        *(visible(1, queue=queue) for queue in range(4)),
        pop(finds(ANY, ANY, ANY), queue=-1, count=3), pop(finds(ANY), queue=-1, count=3)),
    pops("200050/7", POP, "A pop with a tag MUST find the messages with this tag only.",
        *FOUR, pop(finds(*bodies(1, 3), msgOffsetInfo="0 0 1,3"), exp="T1", expType="TAG")),
    pops("200050/8", POP, "A pop with an expression MUST find the messages that it matches.",
        *FOUR, pop(finds(*bodies(2, 3)), exp="a > 1", expType="SQL92")),
    pops("200050/9", POP, "A pop with an expression that does not compile MUST be refused with 23.",
        *FOUR, pop(refuses(23, "parse the consumer's subscription failed", ANY), exp="a !=",
            expType="SQL92"),
    ),
    pops("200050/10", POP, "A pop of an unknown topic MUST be refused with 17.", group(),
        pop(refuses(17, Like(r"topic\[{topic}\] not exist.*"), ANY))),
    pops("200050/11", POP, "A pop of an unknown queue MUST be refused with 29.", topic(),
        pop(refuses(29, Like(r"queueId\[4\] is illegal.*"), ANY), queue=4)),
    pops("200050/12", POP, "A pop of a topic that may not be read MUST be refused with 16.",
        topic(perm="2"), pop(refuses(16, ANY, ANY))),
    pops("200050/13", POP, "A pop by a group that may not consume MUST be refused with 16.",
        topic(), group(consumeEnable=False), pop(refuses(16, ANY, ANY))),
    pops("200050/14", POP, "A pop by a group with an illegal name MUST be refused with 26.",
        topic(), pop(refuses(26, ANY, ANY), consumerGroup="{group} b")),
    pops("200050/15", POP, "A pop of more than 32 messages MUST be refused with 29.", topic(),
        pop(refuses(29, ANY, ANY), count=33)),
    pops("200050/16", POP, "A pop of an empty queue MUST be answered with 210.", topic(),
        pop(NONE)),
    pops("200050/17", POP, "A pop whose time is over MUST be answered with 210.",
        *FOUR, pop(refuses(210, Like("the broker.* pop message is timeout too much"), ANY),
            bornTime="{=now-60000}", poll=1000),
    ),
    pops("200050/18", "PopLongPollingService.polling @ 5.5.0",
        "A pop that may wait MUST be answered when a message arrives.",
        topic(), group(), hold_pop(poll=60_000), silence(on="reader"), put("a"),
        Expect((finds(with_body("a")),), "reader", SOON)),
    pops("200050/19", "PopLongPollingService.polling @ 5.5.0",
        "A pop of all queues that waits MUST be woken by a message of any.",
        topic(), group(), hold_pop(poll=60_000, queue=-1), silence(on="reader"), put("a", queue=3),
        Expect((finds(with_body("a")),), "reader", SOON)),
    pops("200050/20", "PopLongPollingService.notifyMessageArriving @ 5.5.0",
        "A message with another tag MUST NOT wake a pop.",
        topic(), group(), hold_pop(poll=60_000, exp="T1", expType="TAG"), silence(on="reader"),
        put("no", properties={"TAGS": "T0"}), silence(on="reader"),
        put("yes", properties={"TAGS": "T1"}), Expect((finds(with_body("yes")),), "reader", SOON)),
    pops("200050/21", "PopLongPollingService.polling @ 5.5.0",
        "A pop that waited in vain MUST be answered with 210, and not before its time.",
        topic(), group(), hold_pop(poll=1500), silence(1.0, on="reader"),
        Expect((NONE,), "reader", 20.0)),
    pops("200050/22", "PopLongPollingService.polling @ 5.5.0",
        "A message MUST wake one of two pops of a group.",
        topic(), group(), hold_pop(poll=3000, on="a"), hold_pop(poll=3000, on="b"), silence(on="a"),
        silence(on="b"), put("x"), Expect((finds(with_body("x")), NONE), "a", 20.0),
        Expect((finds(with_body("x")), NONE), "b", 20.0), pop(NONE)),
    pops("200050/23", "PopBufferMergeService.getLatestOffset @ 5.5.0",
        "The offset of a group MUST be behind what it has popped.",
        *FOUR, group(), pop(finds(*bodies(0, 1)), count=2),
        # Java's thread for acknowledgements stores the offset soon after the answer.
        until(14, {"consumerGroup": "{group}", "topic": "{topic}", "queueId": "0"}, offset(2)),
    ),
    pops("200050/24", POP, "Pops MUST begin where offsets of the group were stored.",
        *FOUR, group(), ask(15, {"consumerGroup": "{group}", "topic": "{topic}", "queueId": "0",
            "commitOffset": "3"}), pop(finds(*bodies(3))),
    ),
    pops("200050/25", POP, "A pop without a number of messages SHOULD be answered with 210.",
        topic(), ask(200050, without(pop_fields(), "maxMsgNums"), NONE)),
    pops("200052/1", "PeekMessageProcessor.processRequest @ 5.5.0",
        "A peek MUST find messages without popping them.",
        *FOUR, group(), *(ask(200052, pop_fields(count=2),
            Response(remark="FOUND", ext=Has({"restNum": "4"}), body=Messages(bodies(0, 1))))
            for _ in range(2)),
        pop(finds(*bodies(0, 1, 2, 3))),
    ),
    pops("200054/1", NOTIFY, "A notification MUST say that there are messages.", *FOUR, group(),
        ask(200054, pop_fields(), Response(remark=ANY, ext=Has({"hasMsg": "true"})))),
    pops("200054/2", NOTIFY,
        "A notification MUST say that there are no messages when its time is over.",
        topic(), group(), ask(200054, pop_fields(poll=500),
            Response(remark=ANY, ext=Has({"hasMsg": "false", "pollingFull": "false"})),
            within=20.0),
    ),
    pops("200054/3", NOTIFY, "A notification that waits MUST be answered when a message arrives.",
        topic(), group(), hold_pop(code=200054, poll=60_000), silence(on="reader"), put("a"),
        Expect((Response(remark=ANY, ext=Has({"hasMsg": "true"})),), "reader", 20.0),
        pop(finds(with_body("a")))),
    pops("200055/1", "PollingInfoProcessor.processRequest @ 5.5.0",
        "The number of waiting pops MUST be told.",
        topic(), group(), ask(200055, {"consumerGroup": "{group}", "topic": "{topic}",
            "queueId": "0"}, Response(remark=ANY, ext=Has({"pollingNum": "0"}))),
        hold_pop(poll=60_000), silence(on="reader"),
        ask(200055, {"consumerGroup": "{group}", "topic": "{topic}", "queueId": "0"},
            Response(remark=ANY, ext=Has({"pollingNum": Number(equal=1)}))),
    ),
    only_4_9("200050/26", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "A pop MUST be refused with 3, as an unknown code.", topic(), pop(refuses(3))),
    # Acknowledgements, invisible times, returns and orderly pops: 200051, 200053, 200151.
    pops("200051/1", ACK, "A popped message MUST be acknowledged by its handle.", *POPPED, ack(0),
        ack(1)),
    pops("200051/2", ACK, "An acknowledged message MUST NOT come again, and the other one MUST.",
        *SHORT, ack(0), pop(finds(*bodies(2, 3))), returns(with_body("1", reconsumeTimes=1)),
        tags=SLOW),
    pops("200051/3", ACK, "A repeated acknowledgement MUST be answered with success.", *POPPED,
        ack(0), ack(0)),
    pops("200051/4", ACK, "An offset beyond the end MUST be refused with 208.",
        *POPPED,
        ack(9, Response(code=208, remark=Like("offset is illegal, key:.*commit:9.*"), ext=ANY))),
    pops("200051/5", ACK, "An acknowledgement in an unknown topic MUST be refused with 17.",
        *POPPED, ack(0, refuses(17, ANY, ANY), topic="{topicB}")),
    pops("200051/6", ACK, "An acknowledgement in an unknown queue MUST be refused with 13.",
        *POPPED, ack(0, refuses(13, ANY, ANY), queueId="9")),
    pops("200051/7", ACK, "A handle that is not one MUST be answered with 1.", *POPPED,
        ack(0, refuses(1, ANY, ANY), extraInfo="x")),
    pops("200051/8", ACK, "An acknowledgement without a handle MUST be answered with 1.",
        *POPPED, ask(200051, {"consumerGroup": "{group}", "topic": "{topic}", "queueId": "0",
            "offset": "0"}, refuses(1, ANY, ANY)),
    ),
    pops("200151/1", "AckMessageProcessor.appendAckNew @ 5.5.0",
        "A batch of acknowledgements MUST be accepted.",
        *POPPED, ask(200151, {}, body={"brokerName": "{=broker}",
            "acks": [{"c": "{group}", "t": "{topic}", "r": "0", "so": 0, "q": 0, "rq": 0, "pt": 1,
            "it": 60000, "b": "Aw=="}]}),
    ),
    pops("200151/2", "AckMessageProcessor.processRequest @ 5.5.0",
        "A batch without acknowledgements MUST be refused with 208.",
        ask(200151, {}, refuses(208, ANY, ANY), body={"brokerName": "{=broker}", "acks": []})),
    pops("200053/1", CHANGE, "A popped message MUST be hidden for another time, and the response "
        "have a new handle's parts.",
        *POPPED, hide(30_000, 0,
            Response(remark=ANY, ext=Has({"popTime": Number(least="{=time}"),
            "invisibleTime": "30000", "reviveQid": Like("[0-7]")}))),
    ),
    pops("200053/2", CHANGE, "A message whose time was made short MUST come again after it.",
        *POPPED, pop(finds(*bodies(2, 3))), hide(1000), returns(with_body("0", reconsumeTimes=1)),
        tags=SLOW),
    pops("200053/3", CHANGE, "An offset beyond the end MUST be refused with 208.", *POPPED,
        hide(30_000, 9, refuses(208, ANY, ANY))),
    pops("200053/4", CHANGE, "Another time in an unknown topic MUST be refused with 17.", *POPPED,
        hide(30_000, 0, refuses(17, ANY, ANY), topic="{topicB}")),
    pops("200053/5", CHANGE, "A message that gets a longer time MUST NOT come after the first one.",
        *SHORT, pop(finds(*bodies(2, 3))), hide(60_000, 0),
        returns(with_body("1", reconsumeTimes=1)), Wait(3.0), pop(NONE), tags=SLOW),
    pops("return/1", RETURN,
        "Messages that nobody acknowledges MUST come again when their time is over.",
        *SHORT, pop(finds(*bodies(2, 3))), returns(ANY, ANY), tags=SLOW),
    pops("return/2", RETURN, "A message that comes again MUST have its body and properties, and "
        "the time of its first pop.",
        topic(), put("a", properties={"own": "1", "UNIQ_KEY": "{client}"}), visible(1), group(),
        pop(finds(with_body("a")), invisible=1000),
        returns(with_body("a", reconsumeTimes=1,
            properties=Has({"own": "1", "UNIQ_KEY": "{client}", "1ST_POP_TIME": Like(r"\d{13}"),
            "POP_CK": Like(r"\d+ \d{13} \d+ \d 1 {=broker} 0 \d+")}))),
        tags=SLOW,
    ),
    pops("return/3", RETURN,
        "A message that comes again MUST be named as one of the retry topic in the offsets.",
        topic(), put("a"), visible(1), group(), pop(finds(with_body("a")), invisible=1000),
        until(200050, pop_fields(), finds(with_body("a"), startOffsetInfo="1 0 0",
            msgOffsetInfo="1 0 0"), within=40.0), tags=SLOW,
    ),
    pops("return/4", RETURN,
        "A message that comes again MUST be acknowledged by the name of its retry topic.",
        topic(), put("a"), visible(1), group(), pop(finds(with_body("a")), invisible=1000),
        until(200050, pop_fields(invisible=2000), finds(with_body("a")), within=40.0, save=TIMES),
        ack(0, extraInfo=handle(0, retry=1), topic="%RETRY%{group}_{topic}"), Wait(7.0), pop(NONE),
        tags=SLOW),
    pops("return/5", RETURN,
        "A message MUST come again as often as nobody acknowledges it, and count each time.",
        topic(), put("a"), visible(1), group(), pop(finds(with_body("a")), invisible=1000),
        returns(with_body("a", reconsumeTimes=1), invisible=1000),
        returns(with_body("a", reconsumeTimes=2)), tags=SLOW),
    pops("return/6", RETURN, "A message MUST NOT come again before its time is over.",
        topic(), put("a"), visible(1), group(), pop(finds(with_body("a")), invisible=4000),
        returns(with_body("a"), not_before=3.0), tags=SLOW),
    pops("order/1", ORDER,
        "An orderly pop MUST be blocked while messages of the queue are not acknowledged.",
        *IN_ORDER, pop(NONE, order="true", attemptId="second")),
    pops("order/2", ORDER, "The next orderly pop MUST go on when all messages were acknowledged.",
        *IN_ORDER, *(ack(offset, extraInfo=handle(offset, revive="999")) for offset in range(2)),
        pop(finds(*bodies(2, 3)), order="true", attemptId="second")),
    pops("order/3", ORDER,
        "An orderly pop MUST stay blocked while one of the messages is not acknowledged.",
        *IN_ORDER, ack(0, extraInfo=handle(0, revive="999")),
        pop(NONE, order="true", attemptId="second")),
    pops("order/4", ORDER, "The same attempt MUST get the same messages again.", *IN_ORDER,
        pop(finds(*bodies(0, 1)), count=2, order="true", attemptId="first")),
    pops("order/5", ORDER, "An orderly pop MUST get the messages again that were not acknowledged "
        "in time, and their count.",
        *FOUR, group(consumeMessageOrderly=True), pop(finds(*bodies(0, 1)), count=2,
            order="true", attemptId="first", invisible=1000),
        until(200050, pop_fields(count=2, order="true", attemptId="second"),
            Response(remark="FOUND", ext=Has({"orderCountInfo": Like(r"0 qo0%0 1.*")}),
            body=Messages(bodies(0, 1))), within=20.0, not_before=0.5),
    ),
    pops("order/6", ORDER, "Orderly pops of other groups MUST NOT be blocked.", *IN_ORDER,
        group("{groupB}", consumeMessageOrderly=True), pop(finds(*bodies(0, 1, 2, 3)),
        order="true", consumerGroup="{groupB}")),
)  # fmt: skip
