"""Acknowledgements of pops, invisible times, returns and orderly pops: codes 200051, 200053, "
"200151."""

from __future__ import annotations

from typing import Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    ask,
    bodies,
    group,
    put,
    refuses,
    topic,
    until,
    visible,
    with_body,
)
from rocketwire_tools.conformance.broker_cases.messages.pops import (
    FILLED,
    NONE,
    pop,
    pop_fields,
    pops,
    yields,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Like, Messages, Number, Response
from rocketwire_tools.conformance.model.steps import Step, Wait

ACK: Final = "AckMessageProcessor.processRequest @ 5.5.0"
CHANGE: Final = "ChangeInvisibleTimeProcessor.processRequest @ 5.5.0"
RETURN: Final = "PopReviveService.reviveRetry @ 5.5.0"
ORDER: Final = "ConsumerOrderInfoManager.update, checkBlock @ 5.5.0"
TIMES: Final = {"time": "ext.popTime", "invisible": "ext.invisibleTime", "revive": "ext.reviveQid"}
SLOW: Final = frozenset({"slow"})


def handle(place: int = 0, *, start: int = 0, retry: int = 0, revive: str = "{=revive}") -> str:
    """The handle of a popped message of queue 0 (Java: ``ExtraInfoUtil.buildExtraInfo``)."""
    return f"{start} {{=time}} {{=invisible}} {revive} {retry} {{=broker}} 0 {place}"


def ack(place: int = 0, *outcomes: Response, start: int = 0, **changes: str) -> Step:
    """Acknowledge a message of queue 0 (200051)."""
    fields = {
        "consumerGroup": "{group}",
        "topic": "{topic}",
        "queueId": "0",
        "extraInfo": handle(place, start=start),
        "offset": str(place),
    }
    return ask(200051, fields | changes, *(outcomes or (Response(remark=ANY, ext=ANY),)))


def hide(milliseconds: int, place: int = 0, *outcomes: Response, **changes: str) -> Step:
    """Hide a popped message of queue 0 for another time from now (200053)."""
    fields = {
        "consumerGroup": "{group}",
        "topic": "{topic}",
        "queueId": "0",
        "extraInfo": handle(place),
        "offset": str(place),
        "invisibleTime": str(milliseconds),
    }
    return ask(200053, fields | changes, *(outcomes or (Response(remark=ANY, ext=ANY),)))


def returns(
    *patterns: object, within: float = 40.0, not_before: float = 0.0, **settings: Any
) -> Step:
    """The messages come again."""
    settings = {"invisible": 60_000} | settings
    return until(
        200050, pop_fields(**settings), yields(*patterns), within=within, not_before=not_before
    )


POPPED: Final[tuple[Step, ...]] = (
    *FILLED,
    group(),
    pop(yields(*bodies(0, 1)), count=2, save=TIMES),
)
SHORT: Final[tuple[Step, ...]] = (
    *FILLED,
    group(),
    pop(yields(*bodies(0, 1)), count=2, invisible=1000, save=TIMES),
)
IN_ORDER: Final[tuple[Step, ...]] = (
    *FILLED,
    group(consumeMessageOrderly=True),
    pop(
        yields(*bodies(0, 1), reviveQid="999"), count=2, order="true", attemptId="first", save=TIMES
    ),
)

CASES = (
    pops("200051/1", ACK, "A popped message MUST be acknowledged by its handle.", *POPPED, ack(0),
        ack(1)),
    pops("200051/2", ACK, "An acknowledged message MUST NOT come again, and the other one MUST.",
        *SHORT, ack(0), pop(yields(*bodies(2, 3))), returns(with_body("1", reconsumeTimes=1)),
        tags=SLOW,
    ),
    pops("200051/3", ACK, "A repeated acknowledgement MUST be answered with success.", *POPPED,
        ack(0), ack(0)),
    pops("200051/4", ACK, "An offset beyond the end MUST be refused with 208.",
        *POPPED, ack(9, Response(code=208, remark=Like("offset is illegal, key:.*commit:9.*"),
            ext=ANY)),
    ),
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
        ask(200151, {}, refuses(208, ANY, ANY), body={"brokerName": "{=broker}", "acks": []}),
    ),
    pops("200053/1", CHANGE, "A popped message MUST be hidden for another time, and the response "
        "have a new handle's parts.",
        *POPPED, hide(30_000, 0,
            Response(remark=ANY, ext=Has({"popTime": Number(least="{=time}"),
            "invisibleTime": "30000", "reviveQid": Like("[0-7]")}))),
    ),
    pops("200053/2", CHANGE, "A message whose time was made short MUST come again after it.",
        *POPPED, pop(yields(*bodies(2, 3))), hide(1000), returns(with_body("0", reconsumeTimes=1)),
        tags=SLOW,
    ),
    pops("200053/3", CHANGE, "An offset beyond the end MUST be refused with 208.", *POPPED,
        hide(30_000, 9, refuses(208, ANY, ANY))),
    pops("200053/4", CHANGE, "Another time in an unknown topic MUST be refused with 17.", *POPPED,
        hide(30_000, 0, refuses(17, ANY, ANY), topic="{topicB}")),
    pops("200053/5", CHANGE, "A message that gets a longer time MUST NOT come after the first one.",
        *SHORT, pop(yields(*bodies(2, 3))), hide(60_000, 0),
        returns(with_body("1", reconsumeTimes=1)), Wait(3.0), pop(NONE), tags=SLOW,
    ),
    pops("return/1", RETURN,
        "Messages that nobody acknowledges MUST come again when their time is over.",
        *SHORT, pop(yields(*bodies(2, 3))), returns(ANY, ANY), tags=SLOW,
    ),
    pops("return/2", RETURN, "A message that comes again MUST have its body and properties, and "
        "the time of its first pop.",
        topic(), put("a", properties={"own": "1", "UNIQ_KEY": "{client}"}), visible(1), group(),
        pop(yields(with_body("a")), invisible=1000),
        returns(with_body("a", reconsumeTimes=1,
            properties=Has({"own": "1", "UNIQ_KEY": "{client}", "1ST_POP_TIME": Like(r"\d{13}"),
            "POP_CK": Like(r"\d+ \d{13} \d+ \d 1 {=broker} 0 \d+")}))),
        tags=SLOW,
    ),
    pops("return/3", RETURN,
        "A message that comes again MUST be named as one of the retry topic in the offsets.",
        topic(), put("a"), visible(1), group(), pop(yields(with_body("a")), invisible=1000),
        until(200050, pop_fields(), yields(with_body("a"), startOffsetInfo="1 0 0",
            msgOffsetInfo="1 0 0"), within=40.0), tags=SLOW,
    ),
    pops("return/4", RETURN,
        "A message that comes again MUST be acknowledged by the name of its retry topic.",
        topic(), put("a"), visible(1), group(), pop(yields(with_body("a")), invisible=1000),
        until(200050, pop_fields(invisible=2000), yields(with_body("a")), within=40.0, save=TIMES),
        ack(0, extraInfo=handle(0, retry=1), topic="%RETRY%{group}_{topic}"), Wait(7.0), pop(NONE),
        tags=SLOW,
    ),
    pops("return/5", RETURN,
        "A message MUST come again as often as nobody acknowledges it, and count each time.",
        topic(), put("a"), visible(1), group(), pop(yields(with_body("a")), invisible=1000),
        returns(with_body("a", reconsumeTimes=1), invisible=1000),
        returns(with_body("a", reconsumeTimes=2)), tags=SLOW,
    ),
    pops("return/6", RETURN, "A message MUST NOT come again before its time is over.",
        topic(), put("a"), visible(1), group(), pop(yields(with_body("a")), invisible=4000),
        returns(with_body("a"), not_before=3.0), tags=SLOW,
    ),
    pops("order/1", ORDER, "An orderly pop MUST be blocked while messages of the queue are not "
        "acknowledged.",
        *IN_ORDER, pop(NONE, order="true", attemptId="second"),
    ),
    pops("order/2", ORDER, "The next orderly pop MUST go on when all messages were acknowledged.",
        *IN_ORDER, *(ack(place, extraInfo=handle(place, revive="999")) for place in range(2)),
        pop(yields(*bodies(2, 3)), order="true", attemptId="second"),
    ),
    pops("order/3", ORDER, "An orderly pop MUST stay blocked while one of the messages is not "
        "acknowledged.",
        *IN_ORDER, ack(0, extraInfo=handle(0, revive="999")),
        pop(NONE, order="true", attemptId="second"),
    ),
    pops("order/4", ORDER, "The same attempt MUST get the same messages again.", *IN_ORDER,
        pop(yields(*bodies(0, 1)), count=2, order="true", attemptId="first")),
    pops("order/5", ORDER, "An orderly pop MUST get the messages again that were not acknowledged "
        "in time, and their count.",
        *FILLED, group(consumeMessageOrderly=True), pop(yields(*bodies(0, 1)), count=2,
            order="true", attemptId="first", invisible=1000),
        until(200050, pop_fields(count=2, order="true", attemptId="second"),
            Response(remark="FOUND", ext=Has({"orderCountInfo": Like(r"0 qo0%0 1.*")}),
            body=Messages(bodies(0, 1))), within=20.0, not_before=0.5),
    ),
    pops("order/6", ORDER, "Orderly pops of other groups MUST NOT be blocked.", *IN_ORDER,
        group("{groupB}", consumeMessageOrderly=True), pop(yields(*bodies(0, 1, 2, 3)),
        order="true", consumerGroup="{groupB}")),
)  # fmt: skip
