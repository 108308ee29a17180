"""Topics: codes 17, 21, 202, 215, 305 and 351."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.broker_cases.common import (
    OK,
    ask,
    case,
    fill,
    json_body,
    offset,
    only_4_9,
    only_5_5,
    pull,
    put,
    queue_key,
    refuses,
    since_5_3,
    stores,
    topic,
    topic_fields,
    topics_have,
    visible,
)
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    AllOf,
    Contains,
    Has,
    JsonBody,
    Lacks,
    Like,
    Number,
    Response,
)

CREATE: Final = "AdminBrokerProcessor.updateAndCreateTopic @ 5.5.0"
DELETE: Final = "AdminBrokerProcessor.deleteTopic @ 5.5.0"
GET: Final = "AdminBrokerProcessor.getTopicConfig @ 5.5.0"
ALL: Final = "AdminBrokerProcessor.getAllTopicConfig @ 5.5.0"
STATS: Final = "AdminBrokerProcessor.getTopicStatsInfo @ 5.5.0"
NAMED: Final = {"topic": "{topic}"}
CONFIG: Final = {
    "topicName": "{topic}", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6,
    "topicFilterType": "SINGLE_TAG",
    "topicSysFlag": 0, "order": False,
}  # fmt: skip
LATER: Final = Number(least="{=version+1}")


def offsets(last_time: object, end: int) -> dict[str, object]:
    """The statistics of a queue that has all its messages."""
    return {"lastUpdateTimestamp": last_time, "maxOffset": end, "minOffset": 0}


NO_ATTRIBUTES: Final[dict[str, str]] = {}

CASES = (
    case("17/1", CREATE, "A topic that was created MUST be in the table of topics.", topic(),
        ask(21, {}, topics_have(**{"{topic}": Has(CONFIG)}))),
    case("17/2", CREATE, "A topic MUST have the numbers of queues and the permission that were "
        "asked for.",
        topic(readQueueNums="3", writeQueueNums="5", perm="4"),
        ask(21, {}, topics_have(**{"{topic}": Has({"readQueueNums": 3, "writeQueueNums": 5,
            "perm": 4})})),
    ),
    case("17/3", CREATE, "A changed topic MUST keep its messages.",
        topic(), *fill(2), visible(2), topic(queues=8), ask(30, NAMED | {"queueId": "0"},
            offset(2)), put("new", stores(7, 0), queue=7),
    ),
    case("17/4", CREATE, "The same topic MUST be accepted again.", topic(), topic(),
        ask(21, {}, topics_have(**{"{topic}": Has(CONFIG)}))),
    since_5_3("17/5", CREATE, "The name of a system topic MUST be refused with 29.",
        topic("TBW102", 4, refuses(29, "The topic[TBW102] is conflict with system topic.", ANY)),
    ),
    only_4_9("17/6", "AdminBrokerProcessor.updateAndCreateTopic @ 4.9.4",
        "The name of a system topic MUST be refused with 1.",
        topic("TBW102", 4, refuses(1, ANY, ANY))),
    since_5_3("17/7", CREATE, "An illegal name MUST be refused with 29.",
        topic("a b", 4, refuses(29, ANY, ANY)), topic("t" * 128, 4, refuses(29, ANY, ANY))),
    only_4_9("17/8", "AdminBrokerProcessor.updateAndCreateTopic @ 4.9.4",
        "An illegal name MUST be refused with 1.", topic("a b", 4, refuses(1, ANY, ANY))),
    since_5_3("17/9", "AttributeUtil.alterCurrentAttributes @ 5.5.0",
        "The attributes of a topic MUST be set, shown and removed.",
        topic(attributes="+message.type=FIFO"),
        ask(351, NAMED, json_body(Has({"attributes": {"message.type": "FIFO"}}))),
        topic(attributes="-message.type"),
        ask(351, NAMED, json_body(Has({"attributes": NO_ATTRIBUTES}))),
    ),
    since_5_3("17/10", "AttributeUtil.alterCurrentAttributes @ 5.5.0",
        "An unknown attribute MUST be refused with 1.",
        topic("{topic}", 4, refuses(1, Like(".*unsupported key: foo.*"), ANY),
        attributes="+foo=bar")),
    since_5_3("17/11", CREATE, "The order flag and the system flag of a topic MUST be kept.",
        topic(order="true", topicSysFlag="1"),
        ask(21, {}, topics_have(**{"{topic}": Has({"order": True, "topicSysFlag": 1})})),
    ),
    case("17/12", CREATE, "A topic without a number of queues MUST be refused with 1.",
        ask(17, {name: text for name, text in topic_fields().items() if name != "readQueueNums"},
            refuses(1, ANY, ANY)),
    ),
    case("17/13", CREATE, "A retry topic MUST be accepted.", topic("%RETRY%{group}", 1),
        ask(21, {}, topics_have(**{"%RETRY%{group}": Has({"readQueueNums": 1})}))),
    case("21/1", ALL, "The table of topics MUST have the system topics and a version.",
        ask(21, {}, json_body(Has({"dataVersion": Has({"counter": ANY, "timestamp": ANY}),
            "topicConfigTable": Has({
            "TBW102": Has({"perm": 7}), "SELF_TEST_TOPIC": ANY, "OFFSET_MOVED_EVENT": ANY,
            "RMQ_SYS_TRANS_HALF_TOPIC": Has({"readQueueNums": 1}), "{=cluster}": ANY,
            "{=broker}": ANY})}))),
        requires={"autoCreateTopicEnable": "true"},
    ),
    case("21/2", "TopicConfigManager.updateTopicConfig @ 5.5.0",
        "The version of the table MUST grow with each new topic.",
        ask(21, {}, save={"version": "body.dataVersion.counter"}), topic(),
        ask(21, {}, json_body(Has({"dataVersion": Has({"counter": LATER})}))),
    ),
    since_5_3("351/1", GET, "The configuration of a topic MUST be shown.", topic(),
        ask(351, NAMED, json_body(Has(CONFIG | {"attributes": NO_ATTRIBUTES})))),
    since_5_3("351/2", GET, "The configuration of an unknown topic MUST be refused with 17.",
        ask(351, NAMED, refuses(17, Like("No topic in this broker. topic: {topic}")))),
    only_4_9("351/3", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "The question for one topic MUST be refused with 3, as an unknown code.",
        ask(351, NAMED, refuses(3))),
    case("215/1", DELETE, "A topic that was deleted MUST NOT be in the table of topics.", topic(),
        ask(215, NAMED), ask(21, {}, json_body(Has({"topicConfigTable": Lacks(("{topic}",))})))),
    case("215/2", DELETE, "The deletion of an unknown topic MUST be answered with success.",
        ask(215, NAMED)),
    since_5_3("215/3", DELETE, "The deletion of a system topic MUST be refused with 29.",
        ask(215, {"topic": "TBW102"},
        refuses(29, "The topic[TBW102] is conflict with system topic.", ANY))),
    case("215/4", DELETE, "A pull of a deleted topic MUST be answered with 17.", topic(), *fill(1),
        visible(1), pull(0, OK), ask(215, NAMED), pull(0, refuses(17))),
    since_5_3("215/5", DELETE, "The deletion of a topic without a name MUST be refused with 29.",
        ask(215, {"topic": ""}, refuses(29, ANY, ANY))),
    case("202/1", STATS, "The statistics of a topic MUST have the first and the next offset of "
        "each queue, and the time of the last message.",
        topic(queues=2), *fill(3), visible(3),
        pull(2, OK, save={"time": "message.0.storeTimestamp"}),
        ask(202, NAMED, json_body(Has({"offsetTable": AllOf((
            Has({queue_key(): offsets(Number(equal="{=time}"), 3)}),
            Has({queue_key(1): offsets(0, 0)}),
        ))}))),
    ),
    case("202/2", STATS, "The statistics of an unknown topic MUST be refused with 17.",
        ask(202, NAMED, refuses(17, ANY))),
    case("202/3", STATS, "The statistics of a topic MUST have all queues that can be read or "
        "written.",
        topic(readQueueNums="1", writeQueueNums="3"),
        ask(202, NAMED, json_body(Has({
            "offsetTable": {queue_key(queue): ANY for queue in range(3)}}))),
    ),
    case("305/1", "AdminBrokerProcessor.getSystemTopicListFromBroker @ 5.5.0",
        "The list of system topics MUST have the broker's own.",
        ask(305, {}, json_body(Has({"topicList": Contains(("SCHEDULE_TOPIC_XXXX",
            "RMQ_SYS_TRANS_HALF_TOPIC", "SELF_TEST_TOPIC", "TBW102"))}))),
    ),
    case("305/2", "AdminBrokerProcessor.getSystemTopicListFromBroker @ 5.5.0",
        "The list of system topics MUST NOT have others.",
        topic(), ask(305, {}, Response(remark=ANY, ext=ANY,
            body=JsonBody(Has({"topicList": Lacks(("{topic}",))})))),
    ),
    only_5_5("18/1", "AdminBrokerProcessor.updateAndCreateTopicList @ 5.5.0",
        "Several topics MUST be created by one request.",
        ask(18, {}, OK, body={"topicConfigList": [CONFIG, CONFIG | {"topicName": "{topicB}",
            "readQueueNums": 2}]}),
        ask(21, {}, topics_have(**{"{topic}": Has({"readQueueNums": 4}),
            "{topicB}": Has({"readQueueNums": 2})})),
    ),
    case("215/6", DELETE, "Two topics whose names differ in case MUST be different.",
        topic(), topic("X{topic}"), ask(215, {"topic": "X{topic}"}),
        ask(21, {}, topics_have(**{"{topic}": ANY})),
    ),
    case("317/1", "AdminBrokerProcessor.fetchAllConsumeStatsInBroker @ 5.5.0",
        "The statistics of all groups MUST have their sums.",
        ask(317, {"isOrder": "false"},
            json_body(Has({"totalDiff": ANY, "consumeStatsList": ANY,
            "brokerAddr": Like(r".+:\d+")})), within=30.0),
    ),
)  # fmt: skip
