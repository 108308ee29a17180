"""Topics, groups, the configuration and figures, and the protocol itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.policy.java_strings import string_hash
from rocketwire_tools.conformance.broker_cases.common import (
    BEFORE_5_5,
    OK,
    ONE_WAY,
    ask,
    case,
    comes,
    fill,
    group,
    group_body,
    groups_have,
    json_body,
    message,
    offset,
    one_way,
    only_4_9,
    only_5_5,
    pull,
    put,
    queue_key,
    refuses,
    silence,
    since_5_3,
    stores,
    topic,
    topic_fields,
    topics_have,
    until,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    AllOf,
    Check,
    Closed,
    Contains,
    Has,
    JsonBody,
    Lacks,
    Like,
    Number,
    Response,
)
from rocketwire_tools.conformance.model.requests import without
from rocketwire_tools.conformance.model.steps import Ask, Expect, Frame, Request, Send, Wait

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

# Topics: codes 17, 21, 202, 215, 305 and 351.

CREATE_TOPIC: Final = "AdminBrokerProcessor.updateAndCreateTopic @ 5.5.0"
DELETE_TOPIC: Final = "AdminBrokerProcessor.deleteTopic @ 5.5.0"
GET_TOPIC: Final = "AdminBrokerProcessor.getTopicConfig @ 5.5.0"
ALL_TOPICS: Final = "AdminBrokerProcessor.getAllTopicConfig @ 5.5.0"
TOPIC_STATS: Final = "AdminBrokerProcessor.getTopicStatsInfo @ 5.5.0"
NAMED: Final = {"topic": "{topic}"}
TOPIC_CONFIG: Final = {
    "topicName": "{topic}", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6,
    "topicFilterType": "SINGLE_TAG",
    "topicSysFlag": 0, "order": False,
}  # fmt: skip
LATER: Final = Number(least="{=version+1}")


def offsets(last_time: object, end: int) -> dict[str, object]:
    return {"lastUpdateTimestamp": last_time, "maxOffset": end, "minOffset": 0}


NO_ATTRIBUTES: Final[dict[str, str]] = {}
# Groups of consumers: codes 200, 201, 207, 208, 303 and 352.

CREATE_GROUP: Final = "AdminBrokerProcessor.updateAndCreateSubscriptionGroup @ 5.5.0"
DELETE_GROUP: Final = "AdminBrokerProcessor.deleteSubscriptionGroup @ 5.5.0"
GET_GROUP: Final = "AdminBrokerProcessor.getSubscriptionGroup @ 5.5.0"
GROUP_STATS: Final = "AdminBrokerProcessor.getConsumeStats @ 5.5.0"
DEFAULTS: Final = {
    "groupName": "{group}", "brokerId": 0, "consumeBroadcastEnable": True, "consumeEnable": True,
    "retryMaxTimes": 16, "retryQueueNums": 1,
    "whichBrokerWhenConsumeSlowly": 1,
}  # fmt: skip
COMMITTED: Final = ask(
    15, {"topic": "{topic}", "queueId": "0", "consumerGroup": "{group}", "commitOffset": "2"}
)
CONSUMED: Final[tuple[Step, ...]] = (topic(), group(), *fill(3), visible(3), COMMITTED)
TOO_LONG: Final = Like("The specified group: g+, is longer than group max length: 120")
# Configuration, runtime figures and statistics: codes 25, 26, 28, 315 and others.

CONFIG: Final = "AdminBrokerProcessor.getBrokerConfig @ 5.5.0"
UPDATE: Final = "AdminBrokerProcessor.updateBrokerConfig @ 5.5.0"
RUNTIME: Final = "AdminBrokerProcessor.prepareRuntimeInfo @ 5.5.0"
STATS: Final = "AdminBrokerProcessor.viewBrokerStatsData @ 5.5.0"
NUMBER: Final = Like(r"-?\d+(\.\d+)?")
# Rates over 10 s, a minute and ten minutes; those of a broker that just started are empty.
RATES: Final = Like(r"[\d.]*( [\d.]*){2}")
NOTHING_TO_DO: Final = Response(remark=ANY, body=ANY)
ENTRIES: Final = {
    "topic": "{topic}",
    "queueId": "0",
    "index": "0",
    "count": "10",
    "consumerGroup": "",
}
NEGATIVE: Final = string_hash("orders")


def runtime(**figures: object) -> Response:
    return json_body(Has({"table": Has(figures)}))


DECODE: Final = "RemotingCommand.decode, NettyDecoder.decode @ 5.5.0"
PROCESS: Final = "NettyRemotingAbstract.processRequestCommand @ 5.5.0"
QUEUE: Final = {"topic": "{topic}", "queueId": "0"}


def not_supported(code: int) -> Response:
    return Response(code=3, remark=f" request type {code} not supported", ext=ANY)


def header(text: str) -> Frame:
    return Frame(header=text)


CASES: Final = (
    # Topics: codes 17, 21, 202, 215, 305 and 351.
    case("17/1", CREATE_TOPIC, "A topic that was created MUST be in the table of topics.", topic(),
        ask(21, {}, topics_have(**{"{topic}": Has(TOPIC_CONFIG)}))),
    case("17/2", CREATE_TOPIC,
        "A topic MUST have the numbers of queues and the permission that were asked for.",
        topic(readQueueNums="3", writeQueueNums="5", perm="4"),
        ask(21, {}, topics_have(**{"{topic}": Has({"readQueueNums": 3, "writeQueueNums": 5,
            "perm": 4})}))),
    case("17/3", CREATE_TOPIC, "A changed topic MUST keep its messages.",
        topic(), *fill(2), visible(2), topic(queues=8),
        ask(30, NAMED | {"queueId": "0"}, offset(2)), put("new", stores(7, 0), queue=7)),
    case("17/4", CREATE_TOPIC, "The same topic MUST be accepted again.", topic(), topic(),
        ask(21, {}, topics_have(**{"{topic}": Has(TOPIC_CONFIG)}))),
    since_5_3("17/5", CREATE_TOPIC, "The name of a system topic MUST be refused with 29.",
        topic("TBW102", 4, refuses(29, "The topic[TBW102] is conflict with system topic.", ANY))),
    only_4_9("17/6", "AdminBrokerProcessor.updateAndCreateTopic @ 4.9.4",
        "The name of a system topic MUST be refused with 1.",
        topic("TBW102", 4, refuses(1, ANY, ANY))),
    since_5_3("17/7", CREATE_TOPIC, "An illegal name MUST be refused with 29.",
        topic("a b", 4, refuses(29, ANY, ANY)), topic("t" * 128, 4, refuses(29, ANY, ANY))),
    only_4_9("17/8", "AdminBrokerProcessor.updateAndCreateTopic @ 4.9.4",
        "An illegal name MUST be refused with 1.", topic("a b", 4, refuses(1, ANY, ANY))),
    since_5_3("17/9", "AttributeUtil.alterCurrentAttributes @ 5.5.0",
        "The attributes of a topic MUST be set, shown and removed.",
        topic(attributes="+message.type=FIFO"),
        ask(351, NAMED, json_body(Has({"attributes": {"message.type": "FIFO"}}))),
        topic(attributes="-message.type"),
        ask(351, NAMED, json_body(Has({"attributes": NO_ATTRIBUTES})))),
    since_5_3("17/10", "AttributeUtil.alterCurrentAttributes @ 5.5.0",
        "An unknown attribute MUST be refused with 1.",
        topic("{topic}", 4, refuses(1, Like(".*unsupported key: foo.*"), ANY),
        attributes="+foo=bar")),
    since_5_3("17/11", CREATE_TOPIC, "The order flag and the system flag of a topic MUST be kept.",
        topic(order="true", topicSysFlag="1"),
        ask(21, {}, topics_have(**{"{topic}": Has({"order": True, "topicSysFlag": 1})}))),
    case("17/12", CREATE_TOPIC, "A topic without a number of queues MUST be refused with 1.",
        ask(17, without(topic_fields(), "readQueueNums"), refuses(1, ANY, ANY))),
    case("17/13", CREATE_TOPIC, "A retry topic MUST be accepted.", topic("%RETRY%{group}", 1),
        ask(21, {}, topics_have(**{"%RETRY%{group}": Has({"readQueueNums": 1})}))),
    case("21/1", ALL_TOPICS, "The table of topics MUST have the system topics and a version.",
        ask(21, {}, json_body(Has({"dataVersion": Has({"counter": ANY, "timestamp": ANY}),
            "topicConfigTable": Has({
            "TBW102": Has({"perm": 7}), "SELF_TEST_TOPIC": ANY, "OFFSET_MOVED_EVENT": ANY,
            "RMQ_SYS_TRANS_HALF_TOPIC": Has({"readQueueNums": 1}), "{=cluster}": ANY,
            "{=broker}": ANY})}))),
        requires={"autoCreateTopicEnable": "true"}),
    case("21/2", "TopicConfigManager.updateTopicConfig @ 5.5.0",
        "The version of the table MUST grow with each new topic.",
        ask(21, {}, save={"version": "body.dataVersion.counter"}), topic(),
        ask(21, {}, json_body(Has({"dataVersion": Has({"counter": LATER})})))),
    since_5_3("351/1", GET_TOPIC, "The configuration of a topic MUST be shown.", topic(),
        ask(351, NAMED, json_body(Has(TOPIC_CONFIG | {"attributes": NO_ATTRIBUTES})))),
    since_5_3("351/2", GET_TOPIC, "The configuration of an unknown topic MUST be refused with 17.",
        ask(351, NAMED, refuses(17, Like("No topic in this broker. topic: {topic}")))),
    only_4_9("351/3", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "The question for one topic MUST be refused with 3, as an unknown code.",
        ask(351, NAMED, refuses(3))),
    case("215/1", DELETE_TOPIC, "A topic that was deleted MUST NOT be in the table of topics.",
        topic(), ask(215, NAMED),
        ask(21, {}, json_body(Has({"topicConfigTable": Lacks(("{topic}",))})))),
    case("215/2", DELETE_TOPIC, "The deletion of an unknown topic MUST be answered with success.",
        ask(215, NAMED)),
    since_5_3("215/3", DELETE_TOPIC, "The deletion of a system topic MUST be refused with 29.",
        ask(215, {"topic": "TBW102"},
        refuses(29, "The topic[TBW102] is conflict with system topic.", ANY))),
    case("215/4", DELETE_TOPIC, "A pull of a deleted topic MUST be answered with 17.",
        topic(), *fill(1), visible(1), pull(0, OK), ask(215, NAMED), pull(0, refuses(17))),
    since_5_3("215/5", DELETE_TOPIC,
        "The deletion of a topic without a name MUST be refused with 29.",
        ask(215, {"topic": ""}, refuses(29, ANY, ANY))),
    case("202/1", TOPIC_STATS,
        "The statistics of a topic MUST have the first and the next offset of each queue, and "
        "the time of the last message.",
        topic(queues=2), *fill(3), visible(3),
        pull(2, OK, save={"time": "message.0.storeTimestamp"}),
        ask(202, NAMED, json_body(Has({"offsetTable": AllOf((
            Has({queue_key(): offsets(Number(equal="{=time}"), 3)}),
            Has({queue_key(1): offsets(0, 0)}),
        ))})))),
    case("202/2", TOPIC_STATS, "The statistics of an unknown topic MUST be refused with 17.",
        ask(202, NAMED, refuses(17, ANY))),
    case("202/3", TOPIC_STATS,
        "The statistics of a topic MUST have all queues that can be read or written.",
        topic(readQueueNums="1", writeQueueNums="3"),
        ask(202, NAMED, json_body(Has({
            "offsetTable": {queue_key(queue): ANY for queue in range(3)}})))),
    case("305/1", "AdminBrokerProcessor.getSystemTopicListFromBroker @ 5.5.0",
        "The list of system topics MUST have the broker's own.",
        ask(305, {}, json_body(Has({"topicList": Contains(("SCHEDULE_TOPIC_XXXX",
            "RMQ_SYS_TRANS_HALF_TOPIC", "SELF_TEST_TOPIC", "TBW102"))})))),
    case("305/2", "AdminBrokerProcessor.getSystemTopicListFromBroker @ 5.5.0",
        "The list of system topics MUST NOT have others.",
        topic(), ask(305, {}, Response(remark=ANY, ext=ANY,
            body=JsonBody(Has({"topicList": Lacks(("{topic}",))})))),
    ),
    only_5_5("18/1", "AdminBrokerProcessor.updateAndCreateTopicList @ 5.5.0",
        "Several topics MUST be created by one request.",
        ask(18, {}, OK, body={"topicConfigList": [TOPIC_CONFIG,
            TOPIC_CONFIG | {"topicName": "{topicB}", "readQueueNums": 2}]}),
        ask(21, {}, topics_have(**{"{topic}": Has({"readQueueNums": 4}),
            "{topicB}": Has({"readQueueNums": 2})}))),
    case("215/6", DELETE_TOPIC, "Two topics whose names differ in case MUST be different.",
        topic(), topic("X{topic}"), ask(215, {"topic": "X{topic}"}),
        ask(21, {}, topics_have(**{"{topic}": ANY}))),
    case("317/1", "AdminBrokerProcessor.fetchAllConsumeStatsInBroker @ 5.5.0",
        "The statistics of all groups MUST have their sums.",
        ask(317, {"isOrder": "false"},
            json_body(Has({"totalDiff": ANY, "consumeStatsList": ANY,
            "brokerAddr": Like(r".+:\d+")})), within=30.0)),
    # Groups of consumers: codes 200, 201, 207, 208, 303 and 352.
    case("200/1", CREATE_GROUP, "A group that was created MUST be in the table of groups.",
        group(retryMaxTimes=3), ask(201, {},
        groups_have(**{"{group}": Has(DEFAULTS | {"retryMaxTimes": 3})}))),
    case("200/2", CREATE_GROUP, "A group that is changed MUST have the new values.",
        group(retryMaxTimes=3), group(retryMaxTimes=5, consumeEnable=False),
        ask(201, {}, groups_have(**{"{group}": Has({"retryMaxTimes": 5, "consumeEnable": False})})),
    ),
    only_5_5("200/3", CREATE_GROUP, "A group with an illegal name MUST be refused with 29.",
        ask(200, {}, refuses(29, ANY, ANY), body=group_body("{group} b"))),
    only_5_5("200/4", "TopicValidator.validateGroup @ 5.5.0",
        "A group whose name has more than 255 characters MUST be refused with 29.",
        ask(200, {}, refuses(29, TOO_LONG, ANY), body=group_body("g" * 256))),
    case("200/6", "AdminBrokerProcessor.updateAndCreateSubscriptionGroup @ 5.3.3",
        "A request without a group MUST be answered with 1.", ask(200, {}, refuses(1, ANY, ANY)),
        profiles=BEFORE_5_5),
    only_5_5("200/5", CREATE_GROUP,
        "A request without a group MUST be answered with success, and change nothing.",
        ask(200, {}, OK)),
    case("201/1", "AdminBrokerProcessor.getAllSubscriptionGroup @ 5.5.0",
        "The table of groups MUST have the system groups and a version.",
        ask(201, {}, json_body(Has({"dataVersion": Has({"counter": ANY}),
            "subscriptionGroupTable": Has({"TOOLS_CONSUMER": ANY, "SELF_TEST_C_GROUP": ANY,
            "FILTERSRV_CONSUMER": ANY})})))),
    case("207/1", DELETE_GROUP,
        "A group that was deleted with its offsets MUST NOT be in the table of groups.",
        group(), ask(207, {"groupName": "{group}", "cleanOffset": "true"}),
        ask(201, {}, json_body(Has({"subscriptionGroupTable": Lacks(("{group}",))})))),
    case("207/3", DELETE_GROUP,
        "A group that was deleted without its offsets MUST lose its settings.",
        group(retryMaxTimes=3), ask(207, {"groupName": "{group}"}),
        ask(201, {}, json_body(Has({"subscriptionGroupTable": Lacks(("{group}",))})),
            groups_have(**{"{group}": Has({"retryMaxTimes": 16})}))),
    case("207/2", DELETE_GROUP, "The deletion of an unknown group MUST be answered with success.",
        ask(207, {"groupName": "{group}"})),
    since_5_3("352/1", GET_GROUP, "The configuration of a group MUST be shown.",
        group(retryMaxTimes=3),
        ask(352, {"group": "{group}"},
        json_body(Has(DEFAULTS | {"retryMaxTimes": 3, "attributes": NO_ATTRIBUTES,
        "consumeTimeoutMinute": 15})))),
    since_5_3("352/2", GET_GROUP, "The question for an unknown group MUST create it.",
        ask(352, {"group": "{group}"}, json_body(Has(DEFAULTS))),
        ask(201, {}, groups_have(**{"{group}": ANY})),
        requires={"autoCreateSubscriptionGroup": "true"}),
    only_5_5("352/3", GET_GROUP,
        "The question for a group with an illegal name MUST be refused with 26.",
        ask(352, {"group": "{group} b"}, refuses(26, ANY, ANY))),
    only_4_9("352/4", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "The question for one group MUST be refused with 3, as an unknown code.",
        ask(352, {"group": "{group}"}, refuses(3))),
    case("208/1", GROUP_STATS,
        "The progress of a group MUST have the broker's and the consumer's offset of each queue.",
        *CONSUMED, ask(208, {"consumerGroup": "{group}"},
            json_body(Has({"offsetTable": Has({queue_key(): Has({"brokerOffset": 3,
            "consumerOffset": 2, "lastTimestamp": Number(least=1)})})}))),
    ),
    case("208/2", GROUP_STATS,
        "The progress of a group MUST have the time of the last consumed message.",
        topic(), group(), *fill(2), Wait(0.2), *fill(1), visible(3), COMMITTED,
        pull(1, OK, save={"time": "message.0.storeTimestamp"}),
        ask(208, {"consumerGroup": "{group}"}, json_body(Has({
            "offsetTable": Has({queue_key(): Has({"lastTimestamp": Number(equal="{=time}")})})})))),
    case("208/3", GROUP_STATS, "Queues without an offset MUST have the offset 0 or none.",
        *CONSUMED, ask(208, {"consumerGroup": "{group}"},
            json_body(Has({"offsetTable": Has({queue_key(1): Has({"brokerOffset": 0,
            "consumerOffset": Number(most=0)})})}))),
    ),
    case("208/4", GROUP_STATS, "The progress of an unknown group MUST be an empty table.",
        ask(208, {"consumerGroup": "{group}"}, json_body(Has({"offsetTable": {}})))),
    case("208/5", GROUP_STATS, "The progress of a group in one topic MUST have no other.",
        *CONSUMED, ask(208, {"consumerGroup": "{group}", "topic": "{topic}"},
            json_body(Has({"offsetTable": Has({queue_key(): ANY})}))),
    ),
    case("303/1", "AdminBrokerProcessor.queryConsumeTimeSpan @ 5.5.0",
        "The time span of a group MUST have the times of each queue.",
        *CONSUMED, ask(303, {"topic": "{topic}", "group": "{group}"},
            json_body(Has({"consumeTimeSpanSet": ANY}))),
    ),
    case("303/2", "AdminBrokerProcessor.queryConsumeTimeSpan @ 5.5.0",
        "The time span in an unknown topic MUST be refused with 17.",
        ask(303, {"topic": "{topic}", "group": "{group}"}, refuses(17, ANY, ANY))),
    since_5_3("353/1", "AdminBrokerProcessor.updateAndGetGroupForbidden @ 5.5.0",
        "The permission of a group to read a topic MUST be changed and shown.",
        topic(), group(), ask(353, {"group": "{group}", "topic": "{topic}", "readable": "false"},
            json_body(Has({"group": "{group}", "topic": "{topic}", "readable": False}))),
        ask(353, {"group": "{group}", "topic": "{topic}"}, json_body(Has({"readable": False}))),
        ask(353, {"group": "{group}", "topic": "{topic}", "readable": "true"},
            json_body(Has({"readable": True}))),
    ),
    # Configuration, runtime figures and statistics: codes 25, 26, 28, 315 and others.
    case("26/1", CONFIG, "The configuration MUST be lines with names and values.",
        ask(26, {}, Response(remark=ANY, ext=Has({"version": Like(r'\{.*"counter":.*\}')}),
            body=Check("has-lines", ("brokerName={=broker}", "brokerClusterName={=cluster}",
            "brokerId=0"))))),
    case("26/2", CONFIG, "The configuration MUST name what clients and tools depend on.",
        ask(26, {}, Response(remark=ANY,
            body=Check("has-names", ("listenPort", "namesrvAddr", "brokerIP1",
            "autoCreateTopicEnable", "maxMessageSize", "messageDelayLevel", "fileReservedTime",
            "deleteWhen", "flushDiskType", "brokerRole", "storePathRootDir"))))),
    case("25/1", UPDATE, "A change without a body MUST be answered with success.",
        ask(25, {}, Response(remark=ANY, body=ANY))),
    since_5_3("25/2", "BrokerConfig.configBlackList @ 5.5.0",
        "A change of a key of the black list MUST be refused with 16.",
        ask(25, {}, refuses(16, ANY, ANY), body="brokerConfigPath=x")),
    case("28/1", RUNTIME, "The runtime figures MUST have those that tools print.",
        ask(28, {}, runtime(brokerVersionDesc=Like(r"V\d.*"), bootTimestamp=Like(r"\d{13}"),
            msgPutTotalTodayNow=NUMBER, msgGetTotalTodayNow=NUMBER,
            msgPutTotalTodayMorning=NUMBER, msgPutTotalYesterdayMorning=NUMBER,
            msgGetTotalTodayMorning=NUMBER, msgGetTotalYesterdayMorning=NUMBER,
            sendThreadPoolQueueSize=NUMBER, pullThreadPoolQueueSize=NUMBER,
            sendThreadPoolQueueHeadWaitTimeMills=NUMBER,
            pullThreadPoolQueueHeadWaitTimeMills=NUMBER,
            pageCacheLockTimeMills=NUMBER, earliestMessageTimeStamp=NUMBER,
            commitLogDiskRatio=NUMBER, consumeQueueDiskRatio=NUMBER, putTps=RATES,
            getTotalTps=RATES))),
    case("28/2", RUNTIME, "The number of stored messages MUST grow with each message.",
        topic(), ask(28, {}, save={"before": "body.table.msgPutTotalTodayNow"}), put("a"), put("b"),
        until(28, {}, runtime(msgPutTotalTodayNow=Number(least="{=before+2}")))),
    case("28/3", RUNTIME, "The end of the commit log MUST grow with each message.",
        topic(), ask(28, {}, save={"before": "body.table.commitLogMaxOffset"}), put("a" * 500),
        until(28, {}, runtime(commitLogMaxOffset=Number(least="{=before+500}")))),
    case("28/4", RUNTIME, "The number of messages that were read MUST grow with each message.",
        topic(), *fill(3), visible(3),
        ask(28, {}, save={"before": "body.table.msgGetTotalTodayNow"}), pull(0, OK),
        until(28, {}, runtime(msgGetTotalTodayNow=Number(least="{=before+3}")))),
    case("28/5", RUNTIME,
        "The runtime figures MUST have the offsets of the delay levels that are in use.",
        topic(), put("a", properties={"DELAY": "1"}), visible(1),
        until(28, {}, runtime(scheduleMessageOffset_1=Like(r"\d+,\d+")), within=30.0),
        tags=frozenset({"slow"})),
    since_5_3("28/6", RUNTIME,
        "The runtime figures MUST have those of timers, and the rate under its right name.",
        ask(28, {}, runtime(getTransferredTps=RATES, timerReadBehind=NUMBER,
            timerOffsetBehind=NUMBER, timerCongestNum=NUMBER, timerEnqueueTps=NUMBER,
            timerDequeueTps=NUMBER, brokerActive="true")),
        requires={"timerWheelEnable": "true"}),
    case("315/1", STATS, "The statistics of a topic that got messages MUST have minute, hour and "
        "day.",
        topic(), *fill(3), until(315, {"statsName": "TOPIC_PUT_NUMS", "statsKey": "{topic}"},
            json_body(Has({name: Has({"sum": ANY, "tps": ANY, "avgpt": ANY})
            for name in ("statsMinute", "statsHour", "statsDay")}))),
    ),
    case("315/2", STATS, "Statistics that do not exist MUST be refused with 1.",
        ask(315, {"statsName": "TOPIC_PUT_NUMS", "statsKey": "{topic}"},
            refuses(1, Like("The stats <TOPIC_PUT_NUMS> <{topic}> not exist"), ANY))),
    case("315/3", STATS, "The name of unknown statistics MUST be refused with 1.",
        ask(315, {"statsName": "{client}", "statsKey": "k"},
            refuses(1, Like("The stats <{client}> <k> not exist"), ANY))),
    case("321/1", "AdminBrokerProcessor.queryConsumeQueue @ 5.5.0",
        "The entries of a queue MUST have the positions, sizes and codes of tags of its messages.",
        topic(), put("a", properties={"TAGS": "red"}, save={"position": "ext.msgId:position"}),
        visible(1),
        ask(321, {"topic": "{topic}", "queueId": "0", "index": "0", "count": "10",
            "consumerGroup": ""}, json_body(Has({
            "minQueueIndex": 0, "maxQueueIndex": 1,
            "queueData": [Has({"physicOffset": Number(equal="{=position}"),
            "physicSize": Number(least=91), "tagsCode": 112785})]})))),
    case("321/3", "MessageExtBrokerInner.tagsString2tagsCode @ 5.5.0",
        "The code of a tag MUST be Java's hash code, with its sign.",
        topic(), put("a", properties={"TAGS": "orders"}), visible(1),
        ask(321, ENTRIES, json_body(Has({"queueData": [Has({"tagsCode": NEGATIVE})]})))),
    case("321/2", "AdminBrokerProcessor.queryConsumeQueue @ 5.5.0",
        "The entries of an unknown queue MUST be answered with an error.",
        topic(), ask(321, {"topic": "{topicB}", "queueId": "0", "index": "0", "count": "10",
            "consumerGroup": ""}, Response(code=1, remark=ANY, body=ANY),
            Response(code=0, remark=ANY, body=ANY), Response(code=17, remark=ANY, body=ANY)),
    ),
    case("316/1", "AdminBrokerProcessor.cleanUnusedTopic @ 5.5.0",
        "The order to clean unused topics MUST be answered with success, and leave topics in use.",
        topic(), ask(316, {}, NOTHING_TO_DO), ask(202, {"topic": "{topic}"})),
    case("28/7", "AdminBrokerProcessor.getBrokerRuntimeInfo @ 5.5.0",
        "A one-way question for figures MUST NOT be answered.", one_way(28, {}),
        ask(30, {"topic": "{topic}", "queueId": "0"})),
)  # fmt: skip


PROTOCOL: Final = (
    case("header/1", PROCESS, "The response MUST have the opaque of the request.",
        *(ask(30, QUEUE, Response(remark=ANY, ext=ANY, opaque=number), opaque=number)
            for number in (0, 7, 2**31 - 1, -5))),
    case("header/2", PROCESS, "The response to an unknown code MUST be 3, with a remark that names "
        "the code.", *(ask(code, {}, not_supported(code)) for code in (9999, 105, 106, 103, 901))),
    case("header/3", PROCESS, "An unknown one-way request MUST NOT be answered.",
        Send((Request(code=9999, ext={}, flag=ONE_WAY),)), ask(30, QUEUE)),
    case("header/4", PROCESS, "A response that belongs to no request MUST be ignored.",
        Send((Request(code=0, flag=1, opaque=99),)), silence(), ask(30, QUEUE)),
    case("header/5", "RocketMQSerializable.rocketMQProtocolDecode @ 5.5.0",
        "A request with a binary header MUST be handled.",
        topic(), Ask(Request(code=310, ext=message().ext, body="binary", binary=True),
            (stores(0, 0),)), comes(with_body("binary")),
    ),
    case("header/6", DECODE,
        "A header without the language, the version or the flag MUST be accepted.",
        Send((header('{"code":30,"opaque":1,"extFields":{"topic":"{topic}","queueId":"0"}}'),)),
        Expect((Response(remark=ANY, opaque=1, ext=Has({"offset": "0"})),))),
    case("header/7", DECODE, "Unknown members and fields of a header MUST be ignored.",
        Send((header('{"code":30,"opaque":2,"unknown":[1],"extFields":'
            '{"topic":"{topic}","queueId":"0","other":"x"}}'),)),
        Expect((Response(remark=ANY, opaque=2, ext=Has({"offset": "0"})),))),
    case("header/8", DECODE, "Fields that are JSON numbers MUST be read as texts.",
        Send((header('{"code":30,"opaque":3,"extFields":{"topic":"{topic}","queueId":0}}'),)),
        Expect((Response(remark=ANY, opaque=3, ext=Has({"offset": "0"})),))),
    case("header/9", DECODE, "A header that is not JSON MUST end the connection.",
        Send((Frame(header="no JSON at all"),)), Expect((Closed(),))),
    case("header/10", DECODE, "A frame whose header is longer than the frame MUST end the "
        "connection.", Send((Frame(header="{}" + " " * 20, header_length=5000),)),
        Expect((Closed(),))),
    case("header/11", DECODE, "A frame that is too large MUST end the connection.",
        Send((b"\x7f\xff\xff\xff" + b"\0" * 20,)), Expect((Closed(),))),
    case("header/12", DECODE, "A bad frame MUST NOT disturb other connections.",
        ask(30, QUEUE, on="good"), Send((Frame(header="no JSON at all"),)), Expect((Closed(),)),
        ask(30, QUEUE, offset(0), on="good")),
    case("header/13", DECODE, "A frame that comes in pieces MUST be read.",
        Send((Request(code=30, ext=QUEUE),), pieces=7, pause=0.005),
        Expect((Response(remark=ANY, ext=Has({"offset": "0"})),))),
    case("header/14", DECODE, "Several frames in one segment MUST be answered each.",
        Send(tuple(Request(code=30, ext=QUEUE) for _ in range(10))),
        *(Expect((Response(remark=ANY, ext=Has({"offset": "0"})),)) for _ in range(10))),
    case("header/15", PROCESS, "The flag of a response MUST be 1.",
        ask(30, QUEUE, Response(remark=ANY, ext=ANY, flag=1)),
        ask(9999, {}, Response(code=3, remark=ANY, flag=1))),
    case("header/16", "RemotingCommand.createResponseCommand @ 5.5.0",
        "The language of a response SHOULD be that of the broker, JAVA.",
        ask(30, QUEUE, Response(remark=ANY, ext=ANY, language="JAVA"))),
    case("header/17", DECODE, "A request without ext fields MUST be answered with 1 where fields "
        "are needed.", *(ask(code, None, Response(code=1, remark=ANY, body=ANY))
        for code in (14, 29, 30, 31, 32, 33))),
    case("header/18", "RemotingCommand.decodeCommandCustomHeader @ 5.5.0",
        "A field that is not a number MUST be answered with 1.",
        *(ask(code, QUEUE | {"queueId": "x"}, Response(code=1, remark=ANY, body=ANY))
        for code in (30, 31, 32))),
    case("header/19", DECODE, "Texts beyond ASCII MUST be read in header, properties and body.",
        topic(), put("Grüße 日本 🚀", properties={"own": "größer 🚀"}),
        comes(with_body("Grüße 日本 🚀", properties=Has({"own": "größer 🚀"})))),
    case("header/20", PROCESS,
        "Two connections with the same opaques MUST get their own responses.",
        topic(), put("a"), put("b"), visible(2), ask(30, QUEUE, offset(2), opaque=1, on="a"),
        ask(30, QUEUE | {"queueId": "1"}, offset(0), opaque=1, on="b")),
    since_5_3("header/21", "RequestCode.GET_BROKER_EPOCH_CACHE, AdminBrokerProcessor @ 5.5.0",
        "A request for controllers MUST be refused with 1 by a broker without one.",
        ask(907, {}, Response(code=ANY, remark=ANY, body=ANY))),
    case("header/22", DECODE, "A header in the binary form with a wrong length MUST end the "
        "connection.", Send((Frame(header=b"\x00\x1e\x00" + b"\xff" * 30, type=1),)),
        Expect((Closed(),))),
    case("header/23", PROCESS, "A request MUST be handled although its connection sends nothing "
        "else and stays open.", ask(30, QUEUE, on="idle"), silence(1.0, on="idle"),
        ask(30, QUEUE, on="idle")),
    case("header/24", "NettyRemotingAbstract.processRequestCommand @ 5.5.0",
        "An order for a name server MUST NOT be handled.",
        ask(103, {"brokerName": "x", "brokerAddr": "127.0.0.1:1", "clusterName": "x",
            "haServerAddr": "", "brokerId": "0"}, not_supported(103), body="{}"),
        ask(105, {"topic": "{topic}"}, not_supported(105))),
    case("header/25", DECODE, "A version in the header that does not exist MUST be accepted.",
        ask(30, QUEUE, version=99_999), ask(30, QUEUE, version=0)),
    case("header/26", "RocketMQSerializable.rocketMQProtocolEncode @ 5.5.0",
        "The response to a binary header SHOULD have the form that the broker is set to, JSON by "
        "default.",
        Ask(Request(code=30, ext=QUEUE, binary=True),
            (Response(remark=ANY, ext=Has({"offset": "0"})),))),
)  # fmt: skip
