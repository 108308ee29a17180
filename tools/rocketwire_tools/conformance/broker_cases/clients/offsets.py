"""Offsets of groups and queues: codes 14, 15, 29 to 32 and 43, and resets (222)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.broker_cases.common import (
    OK,
    ask,
    case,
    fill,
    group,
    json_body,
    nothing,
    offset,
    one_way,
    only_4_9,
    pull,
    refuses,
    since_5_3,
    topic,
    until,
    visible,
)
from rocketwire_tools.conformance.model.outcomes import ANY, Has, Like, Number, Response

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Step

QUERY: Final = "ConsumerManageProcessor.queryConsumerOffset @ 5.5.0"
UPDATE: Final = "ConsumerManageProcessor.updateConsumerOffset @ 5.5.0"
SEARCH: Final = "AdminBrokerProcessor.searchOffsetByTimestamp @ 5.5.0"
RESET: Final = "AdminBrokerProcessor.resetOffset, ConsumerOffsetManager.assignResetOffset @ 5.5.0"
QUEUE: Final = {"topic": "{topic}", "queueId": "0"}
OF_GROUP: Final = QUEUE | {"consumerGroup": "{group}"}
THREE: Final[tuple[Step, ...]] = (topic(), group(), *fill(3), visible(3))
NOT_FOUND: Final = refuses(22, Like("Not found.*"))
SERVER_SIDE: Final = {"useServerSideResetOffset": "true"}


def commit(place: int | str, *outcomes: Response, **changes: str) -> Step:
    """The group has consumed up to this offset (15)."""
    return ask(
        15,
        OF_GROUP | {"commitOffset": str(place)} | changes,
        *(outcomes or (Response(remark=ANY),)),
    )


def keeps(place: int | str, **changes: str) -> Step:
    """The stored offset of the group (14)."""
    return ask(14, OF_GROUP | changes, offset(place))


def reset(*outcomes: Response, **changes: str) -> Step:
    """Reset the offsets of the group (222)."""
    fields = {"topic": "{topic}", "group": "{group}", "timestamp": "0", "isForce": "true"}
    return ask(222, fields | changes, *outcomes)


CASES = (
    case("15/1", UPDATE, "A stored offset MUST be returned to the group.", *THREE, commit(2),
        keeps(2)),
    case("15/2", UPDATE, "A lower offset MUST replace a higher one.", *THREE, commit(3), commit(1),
        keeps(1)),
    case("15/3", UPDATE, "An offset beyond the end MUST be stored all the same.", *THREE,
        commit(99), keeps(99)),
    case("15/4", UPDATE, "Offsets MUST be stored by group.", *THREE, group("{groupB}"), commit(2),
        commit(1, consumerGroup="{groupB}"), keeps(2), keeps(1, consumerGroup="{groupB}")),
    case("15/5", UPDATE, "Offsets MUST be stored by queue.", *THREE, commit(2),
        commit(7, queueId="1"), keeps(2), keeps(7, queueId="1")),
    case("15/6", UPDATE, "A one-way request MUST store the offset.", *THREE,
        one_way(15, OF_GROUP | {"commitOffset": "2"}), until(14, OF_GROUP, offset(2))),
    since_5_3("15/7", UPDATE, "The offset of an unknown group MUST be refused with 26.", topic(),
        commit(1, refuses(26, "Group {group} not exist!"))),
    since_5_3("15/8", UPDATE, "The offset in an unknown topic MUST be refused with 17.", group(),
        commit(1, refuses(17, "Topic {topic} not exist!"))),
    only_4_9("15/9", "ConsumerManageProcessor.updateConsumerOffset @ 4.9.4",
        "The offset of an unknown group in an unknown topic MUST be stored.", commit(1),
        keeps(1)),
    case("15/10", UPDATE, "A request without an offset MUST be refused.", *THREE,
        ask(15, OF_GROUP, refuses(29), refuses(1))),
    case("15/11", UPDATE, "The offset of a queue that the topic has not MUST be stored.", *THREE,
        commit(5, queueId="99"), keeps(5, queueId="99")),
    case("14/1", QUERY, "A group without an offset MUST begin at 0 if the queue still has its "
        "first message.", *THREE, keeps(0)),
    since_5_3("14/2", QUERY, "A group without an offset MUST get 22 for an empty queue.", *THREE,
        ask(14, OF_GROUP | {"queueId": "1"}, NOT_FOUND)),
    only_4_9("14/3", "ConsumerManageProcessor.queryConsumerOffset @ 4.9.4",
        "A group without an offset MUST get 0 for an empty queue.", *THREE,
        keeps(0, queueId="1")),
    since_5_3("14/4", QUERY, "A group that does not want 0 MUST get 22 if it has no offset.",
        *THREE, ask(14, OF_GROUP | {"setZeroIfNotFound": "false"}, NOT_FOUND)),
    case("14/5", QUERY, "A queue id that is not a number MUST be answered with 1.", topic(),
        group(), ask(14, OF_GROUP | {"queueId": "x"}, refuses(1))),
    case("30/1", "AdminBrokerProcessor.getMaxOffset @ 5.5.0",
        "The end of a queue MUST be the offset of its next message.", *THREE,
        ask(30, QUEUE, offset(3))),
    case("30/2", "AdminBrokerProcessor.getMaxOffset @ 5.5.0",
        "The end of an empty or unknown queue MUST be 0.",
        topic(), *(ask(30, QUEUE | {"queueId": queue}, offset(0)) for queue in ("0", "1", "9")),
        ask(30, {"topic": "{topicB}", "queueId": "0"}, offset(0)),
    ),
    case("31/1", "AdminBrokerProcessor.getMinOffset @ 5.5.0",
        "The first offset of a queue MUST be 0 while nothing was removed.", *THREE,
        ask(31, QUEUE, offset(0)), ask(31, QUEUE | {"queueId": "9"}, offset(0))),
    case("32/1", "AdminBrokerProcessor.getEarliestMsgStoretime @ 5.5.0",
        "The store time of the first message MUST be returned.",
        *THREE, pull(0, OK, save={"time": "message.0.storeTimestamp"}),
        ask(32, QUEUE, Response(remark=ANY, ext=Has({"timestamp": Number(equal="{=time}")}))),
    ),
    case("32/2", "AdminBrokerProcessor.getEarliestMsgStoretime @ 5.5.0",
        "The store time of the first message of an empty queue MUST be -1.",
        topic(), ask(32, QUEUE, Response(remark=ANY, ext=Has({"timestamp": "-1"}))),
    ),
    case("29/1", SEARCH, "The offset of a time before the first message MUST be 0.", *THREE,
        ask(29, QUEUE | {"timestamp": "0"}, offset(0))),
    only_4_9("29/7", "DefaultMessageStore.getOffsetInQueueByTime @ 4.9.4",
        "The offset of a time after the last message MUST be that of the last message.", *THREE,
        ask(29, QUEUE | {"timestamp": "{=now+3600000}"}, offset(2))),
    since_5_3("29/2", SEARCH, "The offset of a time after the last message MUST be the end.",
        *THREE, ask(29, QUEUE | {"timestamp": "{=now+3600000}"}, offset(3))),
    since_5_3("29/3", SEARCH,
        "The upper offset of a time after the last message MUST be that of the last message.",
        *THREE, ask(29, QUEUE | {"timestamp": "{=now+3600000}", "boundaryType": "UPPER"},
            offset(2)),
    ),
    case("29/4", SEARCH, "The offset of a message's store time MUST be at most that of the "
        "message.",
        *THREE, pull(1, OK, save={"time": "message.0.storeTimestamp"}),
        ask(29, QUEUE | {"timestamp": "{=time}"},
            Response(remark=ANY, ext=Has({"offset": Number(least=0, most=1)}))),
    ),
    since_5_3("29/5", SEARCH,
        "The offset of a time after a message and before another MUST be that of the other.",
        topic(), *fill(1), visible(1), pull(0, OK, save={"time": "message.0.storeTimestamp"}),
        until(29, QUEUE | {"timestamp": "{=now}"}, offset(1)), *fill(1), visible(2),
        ask(29, QUEUE | {"timestamp": "{=time+1}"}, offset(1)),
    ),
    case("29/6", SEARCH, "The offset of any time in an empty queue MUST be 0.", topic(),
        ask(29, QUEUE | {"timestamp": "{=now}"}, offset(0))),
    case("43/1", "AdminBrokerProcessor.getAllConsumerOffset @ 5.5.0",
        "The dump of offsets MUST have the offsets by topic, group and queue.",
        *THREE, commit(2), ask(43, {},
            json_body(Has({"offsetTable": Has({"{topic}@{group}": Has({"0": 2})})}))),
    ),
    since_5_3("222/1", RESET, "A reset MUST be answered with the new offsets.",
        *THREE, reset(Response(remark=ANY, body=ANY), queueId="0", offset="1"), keeps(1),
        requires=SERVER_SIDE,
    ),
    since_5_3("222/2", RESET,
        "A reset by time MUST set all queues to the first message stored since.",
        *THREE, commit(3), reset(OK), keeps(0), requires=SERVER_SIDE,
    ),
    since_5_3("222/3", RESET, "A commit MUST be ignored between a reset and the next pull.",
        *THREE, commit(3), reset(OK, queueId="0", offset="1"), commit(3, Response(remark=ANY)),
        keeps(1), pull(3, nothing(21, "OFFSET_RESET", 1)),
        keeps(1), requires=SERVER_SIDE,
    ),
    since_5_3("222/4", RESET,
        "The next pull after a reset MUST be answered with 21 and the new offset, once.",
        *THREE, commit(3), reset(OK, queueId="0", offset="1"),
        pull(3, nothing(21, "OFFSET_RESET", 1)), pull(3, nothing(19, ANY, 3)), commit(3),
        keeps(3),
        requires=SERVER_SIDE,
    ),
    since_5_3("222/5", RESET, "A reset to an offset outside of the queue MUST be refused with 1.",
        *THREE, reset(refuses(1, Like(r"Target offset 99 not in consume queue range \[0-\d\]")),
            queueId="0", offset="99"), requires=SERVER_SIDE,
    ),
    since_5_3("222/6", RESET, "A reset of an unknown topic MUST be refused with 17.", group(),
        reset(refuses(17, Like(".*{topic}.*not exist.*"))), requires=SERVER_SIDE),
    since_5_3("222/7", RESET, "A reset of an unknown group MUST be refused with 26.", *THREE,
        reset(refuses(26, Like(".*{groupB}.*not exist.*")), group="{groupB}"),
        requires=SERVER_SIDE),
    since_5_3("222/8", RESET, "A reset to the end MUST set the offset behind the last message.",
        *THREE, reset(OK, timestamp="-1"), keeps(3), requires=SERVER_SIDE),
    only_4_9("222/9", "Broker2Client.resetOffset @ 4.9.4",
        "A reset of a group without members MUST be refused with 1.", *THREE,
        reset(refuses(1, Like("T[Hh]e consumer group <{group}> not exist")))),
    case("314/1", "AdminBrokerProcessor.cloneGroupOffset @ 5.5.0",
        "Cloned offsets MUST be stored for the other group.",
        *THREE, group("{groupB}"), commit(2),
        ask(314, {"srcGroup": "{group}", "destGroup": "{groupB}", "topic": "{topic}",
            "offline": "true"}),
        keeps(2, consumerGroup="{groupB}"),
    ),
    since_5_3("207/10", "ConsumerOffsetManager.removeOffset @ 5.5.0",
        "The removal of a group with its offsets MUST remove them.",
        *THREE, commit(2), ask(207, {"groupName": "{group}", "cleanOffset": "true"}), group(),
        keeps(0),
    ),
    case("215/10", "AdminBrokerProcessor.deleteTopic @ 5.5.0",
        "A topic that is created again MUST be empty.",
        *THREE, ask(215, {"topic": "{topic}"}), topic(), ask(30, QUEUE, offset(0)),
        pull(0, nothing(19, ANY, 0)),
    ),
)  # fmt: skip
