"""Checks of sends, and topics that a send creates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.broker_cases.common import (
    THROWN,
    ask,
    case,
    comes,
    offset,
    only_4_9,
    only_5_3,
    only_5_5,
    put,
    refuses,
    since_5_3,
    stores,
    topic,
    topics_have,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Like

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Ask

CHECK: Final = "AbstractSendMessageProcessor.msgCheck @ 5.5.0"
CHECK_4_9: Final = "AbstractSendMessageProcessor.msgCheck @ 4.9.4"
NAME: Final = "TopicValidator.validateTopic @ 5.5.0"
CREATE: Final = "TopicConfigManager.createTopicInSendMessageMethod @ 5.5.0"
BLANK: Final = "The specified topic is blank."
MISSING: Final = Like(r"topic\[{topic}\] not exist, apply first please!.*")
REFUSED: Final = (refuses(29), refuses(1))
AUTOMATIC: Final = {"autoCreateTopicEnable": "true"}


def _creates(queues: int) -> tuple[Ask, ...]:
    config = Has({"readQueueNums": queues, "writeQueueNums": queues, "perm": 6})
    return (ask(21, {}, topics_have(**{"{topic}": config})),)


CASES = (
    since_5_3("names/1", NAME, "A send to a blank topic MUST be refused with 29.",
        put("a", refuses(29, BLANK), to=""), put("a", refuses(29, BLANK), to="  "),
    ),
    only_4_9("names/2", "TopicValidator.validateTopic @ 4.9.4",
        "A send to a blank topic MUST be refused with 1.",
        put("a", refuses(1, ANY), to=""),
    ),
    only_5_5("names/3", NAME, "A send to a topic with illegal characters MUST be refused with 29, "
        "and the remark names them.",
        *(put("a", refuses(29, Like(r"The specified topic: .*, contains illegal characters, "
            r"allowing only \^\[%\|a-zA-Z0-9_-\]\+\$")), to=name)
          for name in ("a b", "a.b", "a@b", "tést", "a/b")),
    ),
    only_5_3("names/4", "TopicValidator.validateTopic @ 5.3.3",
        "A send to a topic with illegal characters MUST be refused with 29.",
        *(put("a", refuses(29, Like(".*contains illegal characters.*")), to=name)
            for name in ("a b", "a.b", "tést")),
    ),
    only_4_9("names/5", "TopicValidator.validateTopic @ 4.9.4",
        "A send to a topic with illegal characters MUST be refused with 1.",
        *(put("a", refuses(1, Like(".*contains illegal characters.*")), to=name)
            for name in ("a b", "a.b")),
    ),
    since_5_3("names/6", NAME,
        "A send to a topic of more than 127 characters MUST be refused with 29.",
        put("a", refuses(29, Like(".*longer than topic max length.*")), to="t" * 128),
    ),
    only_4_9("names/7", "TopicValidator.validateTopic @ 4.9.4",
        "A send to a topic of more than 127 characters MUST be refused with 1.",
        put("a", refuses(1, Like(".*longer than topic max length.*")), to="t" * 128),
    ),
    case("names/8", NAME, "All legal characters MUST be accepted in the name of a topic.",
        topic("{topic}-%|_Z09"), put("a", stores(), to="{topic}-%|_Z09"),
        cleanup=(ask(215, {"topic": "{topic}-%|_Z09"}),),
    ),
    since_5_3("310/100", CHECK, "A send to a queue that the topic has not MUST be refused with 29.",
        topic(), put("a", refuses(29, Like(r"request queueId\[4\] is illegal.*")), queue=4),
        ask(30, {"topic": "{topic}", "queueId": "4"}, offset(0)),
    ),
    only_4_9("310/101", CHECK_4_9,
        "A send to a queue that the topic has not MUST be refused with 1.",
        topic(), put("a", refuses(1, Like(r"request queueId\[4\] is illegal.*")), queue=4),
    ),
    case("310/102", CHECK, "A send MUST be accepted by the queues that are only readable.",
        topic(readQueueNums="4", writeQueueNums="2"), put("a", stores(3, 0), queue=3),
    ),
    case("310/103", CREATE, "A send to an unknown topic MUST create it from its template, and "
        "store the message.",
        put("a", stores(3, 0), queue=3), *_creates(4), requires=AUTOMATIC,
    ),
    case("310/104", CREATE, "A topic that a send creates MUST have at most the queues of its "
        "template.",
        put("a", stores(7, 0), queue=7, d="16"), *_creates(8),
        requires=AUTOMATIC | {"defaultTopicQueueNums": "8"},
    ),
    case("310/105", CREATE, "A topic that a send creates MUST have as many queues as the send asks "
        "for.",
        put("a", *REFUSED, queue=2, d="2"), put("a", stores(1, 0), queue=1), *_creates(2),
        requires=AUTOMATIC,
    ),
    case("310/106", CHECK, "A send to an unknown topic with an unknown template MUST be refused "
        "with 17.",
        put("a", refuses(17, MISSING), c="{topicB}"),
    ),
    case("310/107", CHECK, "A send to an unknown topic whose template is an ordinary topic MUST be "
        "refused with 17.",
        topic("{topicB}"), put("a", refuses(17, MISSING), c="{topicB}"),
    ),
    case("310/108", CREATE, "The template of a created topic MUST be the named topic if that has "
        "the inherit bit.",
        topic("{topicB}", 3, perm="7"), put("a", stores(2, 0), queue=2, c="{topicB}", d="16"),
        *_creates(3),
    ),
    case("310/109", "TopicConfigManager.createTopicInSendMessageBackMethod @ 5.5.0",
        "A send to the retry topic of a group without one MUST create it.",
        put("a", stores(0, 0), to="%RETRY%{group}"),
        ask(21, {}, topics_have(**{"%RETRY%{group}": Has({"perm": 6})})),
    ),
    case("310/110", "TopicConfigManager.createTopicInSendMessageBackMethod @ 5.5.0",
        "The retry topic that a send without a template creates MUST have one queue.",
        put("a", stores(0, 0), to="%RETRY%{group}", c="{topicB}"),
        ask(21, {}, topics_have(**{"%RETRY%{group}": Has({"readQueueNums": 1, "perm": 6})})),
    ),
    case("310/111", "AbstractSendMessageProcessor.handleRetryAndDLQ @ 5.5.0",
        "A message to a retry topic with more attempts than allowed MUST go to the dead letters, "
        "and be answered as stored.",
        put("a", stores(0, 0), to="%RETRY%{group}", j="17", l="16"),
        comes(with_body("a"), of="%DLQ%{group}"),
    ),
    since_5_3("310/112", "AbstractSendMessageProcessor.handleRetryAndDLQ @ 5.5.0",
        "A message to a retry topic with the last allowed attempt MUST go to the retry topic.",
        put("a", stores(0, 0), to="%RETRY%{group}", j="16", l="16"),
        ask(30, {"topic": "%DLQ%{group}", "queueId": "0"}, offset(0)),
    ),
    only_4_9("310/118", "SendMessageProcessor.handleRetryAndDLQ @ 4.9.4",
        "A message to a retry topic with the last allowed attempt MUST go to the dead letters.",
        put("a", stores(0, 0), to="%RETRY%{group}", j="16", l="16"),
        comes(with_body("a"), of="%DLQ%{group}"),
    ),
    since_5_3("310/113", "AbstractSendMessageProcessor.handleRetryAndDLQ @ 5.5.0",
        "A send to the retry topic of a group whose name is too long MUST be refused.",
        put("a", refuses(26), refuses(29), to="%RETRY%" + "g" * 125),
    ),
    only_5_5("310/114", NAME, "The name of a retry topic MAY have up to 255 characters.",
        put("a", refuses(26, ANY), to="%RETRY%" + "g" * 130),
    ),
    case("310/115", "SendMessageProcessor.sendMessage @ 5.5.0",
        "A header field flag MUST be a number, or the send fails with 1.",
        topic(), put("a", THROWN, h="x"),
    ),
    case("310/116", CHECK, "A refused send MUST NOT store anything.",
        topic(), put("a", *REFUSED, queue=77),
        *(ask(30, {"topic": "{topic}", "queueId": str(queue)}, offset(0)) for queue in range(4)),
    ),
    case("310/117", "TopicConfigManager.createTopicInSendMessageMethod @ 5.5.0",
        "A send to a topic that was deleted MUST begin at offset 0 again.",
        topic(), put("a"), put("b"), ask(215, {"topic": "{topic}"}), put("c", stores(0, 0)),
        requires=AUTOMATIC,
    ),
)  # fmt: skip
