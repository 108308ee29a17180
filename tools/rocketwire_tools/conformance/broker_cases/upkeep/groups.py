"""Groups of consumers: codes 200, 201, 207, 208, 303 and 352."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.broker_cases.common import (
    BEFORE_5_5,
    OK,
    ask,
    case,
    fill,
    group,
    group_body,
    groups_have,
    json_body,
    only_4_9,
    only_5_5,
    pull,
    queue_key,
    refuses,
    since_5_3,
    topic,
    visible,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Lacks, Like, Number
from rocketwire_tools.conformance.model.steps import Wait

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

CREATE: Final = "AdminBrokerProcessor.updateAndCreateSubscriptionGroup @ 5.5.0"
DELETE: Final = "AdminBrokerProcessor.deleteSubscriptionGroup @ 5.5.0"
GET: Final = "AdminBrokerProcessor.getSubscriptionGroup @ 5.5.0"
STATS: Final = "AdminBrokerProcessor.getConsumeStats @ 5.5.0"
DEFAULTS: Final = {
    "groupName": "{group}", "brokerId": 0, "consumeBroadcastEnable": True, "consumeEnable": True,
    "retryMaxTimes": 16, "retryQueueNums": 1,
    "whichBrokerWhenConsumeSlowly": 1,
}  # fmt: skip
COMMITTED: Final = ask(
    15, {"topic": "{topic}", "queueId": "0", "consumerGroup": "{group}", "commitOffset": "2"}
)
CONSUMED: Final[tuple[Step, ...]] = (topic(), group(), *fill(3), visible(3), COMMITTED)

NO_ATTRIBUTES: Final[dict[str, str]] = {}
TOO_LONG: Final = Like("The specified group: g+, is longer than group max length: 120")

CASES = (
    case("200/1", CREATE, "A group that was created MUST be in the table of groups.",
        group(retryMaxTimes=3), ask(201, {},
        groups_have(**{"{group}": Has(DEFAULTS | {"retryMaxTimes": 3})}))),
    case("200/2", CREATE, "A group that is changed MUST have the new values.",
        group(retryMaxTimes=3), group(retryMaxTimes=5, consumeEnable=False),
        ask(201, {}, groups_have(**{"{group}": Has({"retryMaxTimes": 5, "consumeEnable": False})})),
    ),
    only_5_5("200/3", CREATE, "A group with an illegal name MUST be refused with 29.",
        ask(200, {}, refuses(29, ANY, ANY), body=group_body("{group} b"))),
    only_5_5("200/4", "TopicValidator.validateGroup @ 5.5.0",
        "A group whose name has more than 255 characters MUST be refused with 29.",
        ask(200, {}, refuses(29, TOO_LONG, ANY), body=group_body("g" * 256))),
    case("200/6", "AdminBrokerProcessor.updateAndCreateSubscriptionGroup @ 5.3.3",
        "A request without a group MUST be answered with 1.", ask(200, {}, refuses(1, ANY, ANY)),
        profiles=BEFORE_5_5),
    only_5_5("200/5", CREATE, "A request without a group MUST be answered with success, and change "
        "nothing.", ask(200, {}, OK)),
    case("201/1", "AdminBrokerProcessor.getAllSubscriptionGroup @ 5.5.0",
        "The table of groups MUST have the system groups and a version.",
        ask(201, {}, json_body(Has({"dataVersion": Has({"counter": ANY}),
            "subscriptionGroupTable": Has({"TOOLS_CONSUMER": ANY, "SELF_TEST_C_GROUP": ANY,
            "FILTERSRV_CONSUMER": ANY})}))),
    ),
    case("207/1", DELETE, "A group that was deleted with its offsets MUST NOT be in the table of "
        "groups.", group(), ask(207, {"groupName": "{group}", "cleanOffset": "true"}),
        ask(201, {}, json_body(Has({"subscriptionGroupTable": Lacks(("{group}",))})))),
    case("207/3", DELETE, "A group that was deleted without its offsets MUST lose its settings.",
        group(retryMaxTimes=3), ask(207, {"groupName": "{group}"}),
        ask(201, {}, json_body(Has({"subscriptionGroupTable": Lacks(("{group}",))})),
            groups_have(**{"{group}": Has({"retryMaxTimes": 16})})),
    ),
    case("207/2", DELETE, "The deletion of an unknown group MUST be answered with success.",
        ask(207, {"groupName": "{group}"})),
    since_5_3("352/1", GET, "The configuration of a group MUST be shown.", group(retryMaxTimes=3),
        ask(352, {"group": "{group}"},
        json_body(Has(DEFAULTS | {"retryMaxTimes": 3, "attributes": NO_ATTRIBUTES,
        "consumeTimeoutMinute": 15})))),
    since_5_3("352/2", GET, "The question for an unknown group MUST create it.",
        ask(352, {"group": "{group}"}, json_body(Has(DEFAULTS))),
        ask(201, {}, groups_have(**{"{group}": ANY})),
        requires={"autoCreateSubscriptionGroup": "true"}),
    only_5_5("352/3", GET, "The question for a group with an illegal name MUST be refused with 26.",
        ask(352, {"group": "{group} b"}, refuses(26, ANY, ANY))),
    only_4_9("352/4", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "The question for one group MUST be refused with 3, as an unknown code.",
        ask(352, {"group": "{group}"}, refuses(3))),
    case("208/1", STATS, "The progress of a group MUST have the broker's and the consumer's offset "
        "of each queue.",
        *CONSUMED, ask(208, {"consumerGroup": "{group}"},
            json_body(Has({"offsetTable": Has({queue_key(): Has({"brokerOffset": 3,
            "consumerOffset": 2, "lastTimestamp": Number(least=1)})})}))),
    ),
    case("208/2", STATS, "The progress of a group MUST have the time of the last consumed message.",
        topic(), group(), *fill(2), Wait(0.2), *fill(1), visible(3), COMMITTED,
        pull(1, OK, save={"time": "message.0.storeTimestamp"}),
        ask(208, {"consumerGroup": "{group}"}, json_body(Has({
            "offsetTable": Has({queue_key(): Has({"lastTimestamp": Number(equal="{=time}")})})}))),
    ),
    case("208/3", STATS, "Queues without an offset MUST have the offset 0 or none.",
        *CONSUMED, ask(208, {"consumerGroup": "{group}"},
            json_body(Has({"offsetTable": Has({queue_key(1): Has({"brokerOffset": 0,
            "consumerOffset": Number(most=0)})})}))),
    ),
    case("208/4", STATS, "The progress of an unknown group MUST be an empty table.",
        ask(208, {"consumerGroup": "{group}"}, json_body(Has({"offsetTable": {}})))),
    case("208/5", STATS, "The progress of a group in one topic MUST have no other.",
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
)  # fmt: skip
