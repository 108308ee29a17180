"""Configuration, runtime figures and statistics: codes 25, 26, 28, 315 and others."""

from __future__ import annotations

from typing import Final

from rocketwire.policy.java_strings import string_hash
from rocketwire_tools.conformance.broker_cases.common import (
    OK,
    ask,
    case,
    fill,
    json_body,
    one_way,
    pull,
    put,
    refuses,
    since_5_3,
    topic,
    until,
    visible,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Check, Has, Like, Number, Response

CONFIG: Final = "AdminBrokerProcessor.getBrokerConfig @ 5.5.0"
UPDATE: Final = "AdminBrokerProcessor.updateBrokerConfig @ 5.5.0"
RUNTIME: Final = "AdminBrokerProcessor.prepareRuntimeInfo @ 5.5.0"
STATS: Final = "AdminBrokerProcessor.viewBrokerStatsData @ 5.5.0"
NUMBER: Final = Like(r"-?\d+(\.\d+)?")
RATES: Final = Like(r"[\d.]*( [\d.]*){2}")
"""Rates over 10 s, a minute and ten minutes; those of a broker that just started are empty."""
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
    """The runtime figures have these."""
    return json_body(Has({"table": Has(figures)}))


CASES = (
    case("26/1", CONFIG, "The configuration MUST be lines with names and values.",
        ask(26, {}, Response(remark=ANY, ext=Has({"version": Like(r'\{.*"counter":.*\}')}),
            body=Check("has-lines", ("brokerName={=broker}", "brokerClusterName={=cluster}",
            "brokerId=0")))),
    ),
    case("26/2", CONFIG, "The configuration MUST name what clients and tools depend on.",
        ask(26, {}, Response(remark=ANY,
            body=Check("has-names", ("listenPort", "namesrvAddr", "brokerIP1",
            "autoCreateTopicEnable", "maxMessageSize", "messageDelayLevel", "fileReservedTime",
            "deleteWhen", "flushDiskType", "brokerRole", "storePathRootDir")))),
    ),
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
            getTotalTps=RATES)),
    ),
    case("28/2", RUNTIME, "The number of stored messages MUST grow with each message.",
        topic(), ask(28, {}, save={"before": "body.table.msgPutTotalTodayNow"}), put("a"), put("b"),
        until(28, {}, runtime(msgPutTotalTodayNow=Number(least="{=before+2}"))),
    ),
    case("28/3", RUNTIME, "The end of the commit log MUST grow with each message.",
        topic(), ask(28, {}, save={"before": "body.table.commitLogMaxOffset"}), put("a" * 500),
        until(28, {}, runtime(commitLogMaxOffset=Number(least="{=before+500}"))),
    ),
    case("28/4", RUNTIME, "The number of messages that were read MUST grow with each message.",
        topic(), *fill(3), visible(3),
        ask(28, {}, save={"before": "body.table.msgGetTotalTodayNow"}), pull(0, OK),
        until(28, {}, runtime(msgGetTotalTodayNow=Number(least="{=before+3}"))),
    ),
    case("28/5", RUNTIME, "The runtime figures MUST have the offsets of the delay levels that are "
        "in use.",
        topic(), put("a", properties={"DELAY": "1"}), visible(1),
        until(28, {}, runtime(scheduleMessageOffset_1=Like(r"\d+,\d+")), within=30.0),
        tags=frozenset({"slow"}),
    ),
    since_5_3("28/6", RUNTIME,
        "The runtime figures MUST have those of timers, and the rate under its right name.",
        ask(28, {}, runtime(getTransferredTps=RATES, timerReadBehind=NUMBER,
            timerOffsetBehind=NUMBER, timerCongestNum=NUMBER, timerEnqueueTps=NUMBER,
            timerDequeueTps=NUMBER, brokerActive="true")),
        requires={"timerWheelEnable": "true"},
    ),
    case("315/1", STATS, "The statistics of a topic that got messages MUST have minute, hour and "
        "day.",
        topic(), *fill(3), until(315, {"statsName": "TOPIC_PUT_NUMS", "statsKey": "{topic}"},
            json_body(Has({name: Has({"sum": ANY, "tps": ANY, "avgpt": ANY})
            for name in ("statsMinute", "statsHour", "statsDay")}))),
    ),
    case("315/2", STATS, "Statistics that do not exist MUST be refused with 1.",
        ask(315, {"statsName": "TOPIC_PUT_NUMS", "statsKey": "{topic}"},
            refuses(1, Like("The stats <TOPIC_PUT_NUMS> <{topic}> not exist"), ANY)),
    ),
    case("315/3", STATS, "The name of unknown statistics MUST be refused with 1.",
        ask(315, {"statsName": "{client}", "statsKey": "k"},
            refuses(1, Like("The stats <{client}> <k> not exist"), ANY)),
    ),
    case("321/1", "AdminBrokerProcessor.queryConsumeQueue @ 5.5.0",
        "The entries of a queue MUST have the positions, sizes and codes of tags of its messages.",
        topic(), put("a", properties={"TAGS": "red"}, save={"position": "ext.msgId:position"}),
        visible(1),
        ask(321, {"topic": "{topic}", "queueId": "0", "index": "0", "count": "10",
            "consumerGroup": ""}, json_body(Has({
            "minQueueIndex": 0, "maxQueueIndex": 1,
            "queueData": [Has({"physicOffset": Number(equal="{=position}"),
            "physicSize": Number(least=91), "tagsCode": 112785})]}))),
    ),
    case("321/3", "MessageExtBrokerInner.tagsString2tagsCode @ 5.5.0",
        "The code of a tag MUST be Java's hash code, with its sign.",
        topic(), put("a", properties={"TAGS": "orders"}), visible(1),
        ask(321, ENTRIES, json_body(Has({"queueData": [Has({"tagsCode": NEGATIVE})]}))),
    ),
    case("321/2", "AdminBrokerProcessor.queryConsumeQueue @ 5.5.0",
        "The entries of an unknown queue MUST be answered with an error.",
        topic(), ask(321, {"topic": "{topicB}", "queueId": "0", "index": "0", "count": "10",
            "consumerGroup": ""}, Response(code=1, remark=ANY, body=ANY),
            Response(code=0, remark=ANY, body=ANY), Response(code=17, remark=ANY, body=ANY)),
    ),
    case("316/1", "AdminBrokerProcessor.cleanUnusedTopic @ 5.5.0",
        "The order to clean unused topics MUST be answered with success, and leave topics in use.",
        topic(), ask(316, {}, NOTHING_TO_DO), ask(202, {"topic": "{topic}"}),
    ),
    case("28/7", "AdminBrokerProcessor.getBrokerRuntimeInfo @ 5.5.0",
        "A one-way question for figures MUST NOT be answered.", one_way(28, {}),
        ask(30, {"topic": "{topic}", "queueId": "0"})),
)  # fmt: skip
