"""Messages that a consumer sends back: code 36, retry topics and dead letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.broker_cases.common import (
    POSITION,
    ask,
    case,
    comes,
    group,
    offset,
    put,
    refuses,
    since_5_3,
    topic,
    topics_have,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Like, Number, Response

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

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
    """Send the message back (36)."""
    fields = {
        "offset": position,
        "group": "{group}",
        "delayLevel": "1",
        "originTopic": "{topic}",
        "originMsgId": "x",
        "unitMode": "false",
    }
    return ask(36, fields | changes, *(outcomes or (Response(remark=ANY, ext=ANY),)))


CASES = (
    case("36/1", BACK, "A message that is sent back MUST come again through the retry topic of the "
        "group.",
        *SENT, back(), comes(with_body("a", reconsumeTimes=1, topic=RETRY), of=RETRY),
    ),
    case("36/2", BACK, "A message that is sent back MUST come again after its delay.",
        *SENT, back(delayLevel="2"), comes(with_body("a"), of=RETRY, not_before=4.0, within=30.0),
        tags=frozenset({"slow"}),
    ),
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
            of=DEAD),
    ),
    case("36/8", BACK, "The maximum of the group MUST send a message with so many attempts to the "
        "dead letters.",
        topic(), group(retryMaxTimes=0), put("a", save=POSITION), visible(1), back(),
        comes(with_body("a"), of=DEAD),
    ),
    case("36/9", BACK, "The topic of dead letters MUST have one queue.",
        *SENT, back(delayLevel="-1"), comes(with_body("a"), of=DEAD),
        ask(21, {}, topics_have(**{DEAD: Has({"readQueueNums": 1, "writeQueueNums": 1})})),
    ),
    case("36/10", BACK, "A position without a message MUST be answered with 1.",
        *SENT, back(refuses(1, Like(r"look message by offset failed, \d+")), position=str(1 << 40)),
    ),
    since_5_3("36/11", "SubscriptionGroupManager.findSubscriptionGroupConfig @ 5.5.0",
        "A group with an illegal name MUST be refused with 26.", *SENT,
        back(refuses(26), group="{group} b")),
    case("36/12", BACK, "A message of a group without retry queues MUST be dropped.",
        topic(), group(retryQueueNums=0), put("a", save=POSITION), visible(1), back(),
        ask(30, {"topic": RETRY, "queueId": "0"}, offset(0)),
    ),
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
        requires={"autoCreateSubscriptionGroup": "true"},
    ),
    case("36/19", BACK, "Dead letters MUST be readable by the group.", *SENT, back(delayLevel="-1"),
        comes(with_body("a"), of=DEAD)),
    case("310/200", "ScheduleMessageService.DeliverDelayedMessageTimerTask @ 5.5.0",
        "A message that a consumer itself sends to its retry topic with a delay MUST come after "
        "it.",
        put("a", to=RETRY, properties={"DELAY": "1", "RETRY_TOPIC": "{topic}"}, j="1", l="16"),
        comes(with_body("a", reconsumeTimes=1, properties=Has({"RETRY_TOPIC": "{topic}"})),
            of=RETRY, not_before=0.5),
    ),
)  # fmt: skip
