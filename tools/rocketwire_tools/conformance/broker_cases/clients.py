"""Groups, their offsets, members, locks and assignments, and requests to clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    FOUR,
    NOT_5_3,
    OK,
    ask,
    beat,
    bodies,
    case,
    comes,
    consumers,
    fill,
    finds,
    group,
    groups_have,
    json_body,
    leave,
    members_changed,
    message,
    nothing,
    offset,
    one_way,
    only_4_9,
    pull,
    put,
    refuses,
    silence,
    since_5_3,
    stores,
    subscription,
    topic,
    topics_have,
    until,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    AllOf,
    Has,
    Incoming,
    Like,
    Messages,
    Number,
    Response,
    TextBody,
)
from rocketwire_tools.conformance.model.steps import (
    Close,
    Expect,
    Reply,
    Request,
    Send,
    Step,
    Until,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.steps import Ask

# Offsets of groups and queues: codes 14, 15, 29 to 32 and 43, and resets (222).

QUERY: Final = "ConsumerManageProcessor.queryConsumerOffset @ 5.5.0"
UPDATE: Final = "ConsumerManageProcessor.updateConsumerOffset @ 5.5.0"
SEARCH: Final = "AdminBrokerProcessor.searchOffsetByTimestamp @ 5.5.0"
RESET: Final = "AdminBrokerProcessor.resetOffset, ConsumerOffsetManager.assignResetOffset @ 5.5.0"
QUEUE: Final = {"topic": "{topic}", "queueId": "0"}
OF_GROUP: Final = QUEUE | {"consumerGroup": "{group}"}
THREE: Final[tuple[Step, ...]] = (topic(), group(), *fill(3), visible(3))
NOT_FOUND: Final = refuses(22, Like("Not found.*"))
SERVER_SIDE: Final = {"useServerSideResetOffset": "true"}


def commit(queue_offset: int | str, *outcomes: Response, **changes: str) -> Step:
    return ask(
        15,
        OF_GROUP | {"commitOffset": str(queue_offset)} | changes,
        *(outcomes or (Response(remark=ANY),)),
    )


def keeps(queue_offset: int | str, **changes: str) -> Step:
    return ask(14, OF_GROUP | changes, offset(queue_offset))


def reset(*outcomes: Response, **changes: str) -> Step:
    fields = {"topic": "{topic}", "group": "{group}", "timestamp": "0", "isForce": "true"}
    return ask(222, fields | changes, *outcomes)


# Heartbeats, members of groups and notifications: codes 34, 35, 38, 40, 203, 204 and 328.

BEAT: Final = "ClientManageProcessor.heartBeat, ConsumerManager.registerConsumer @ 5.5.0"
CHANGED: Final = "DefaultConsumerIdsChangeListener.handle @ 5.5.0"
LIST: Final = "ConsumerManageProcessor.getConsumerListByGroup @ 5.5.0"
CONNECTIONS: Final = "AdminBrokerProcessor.getConsumerConnectionList @ 5.5.0"
PULL: Final = "PullMessageProcessor.processRequest @ 5.5.0"


def members(*clients: str, on: str = "main", group: str = "{group}") -> Step:
    outcome = json_body({"consumerIdList": list(clients)})
    return until(38, {"consumerGroup": group}, outcome, on=on)


NOBODY: Final = ask(
    38, {"consumerGroup": "{group}"}, refuses(1, "no consumer for this group, {group}")
)
# Locks of queues for orderly consumers: codes 41 and 42.

LOCK: Final = "AdminBrokerProcessor.lockBatchMQ, RebalanceLockManager.tryLockBatch @ 5.5.0"
UNLOCK: Final = "AdminBrokerProcessor.unlockBatchMQ, RebalanceLockManager.unlockBatch @ 5.5.0"


def _body(client: str, queues: tuple[int, ...], group: str) -> dict[str, object]:
    names = [{"topic": "{topic}", "brokerName": "{=broker}", "queueId": queue} for queue in queues]
    return {"clientId": client, "consumerGroup": group, "mqSet": names, "onlyThisBroker": False}


def locks(
    *queues: int,
    client: str = "{client}",
    gets: tuple[int, ...] | None = None,
    group: str = "{group}",
    on: str = "main",
) -> Step:
    """A client locks queues and gets these; all of them by default (41)."""
    held = [
        Has({"queueId": queue, "topic": "{topic}"}) for queue in (queues if gets is None else gets)
    ]
    return ask(41, {}, json_body({"lockOKMQSet": held}), body=_body(client, queues, group), on=on)


def unlocks(*queues: int, client: str = "{client}", group: str = "{group}") -> Step:
    return ask(42, {}, Response(remark=ANY), body=_body(client, queues, group))


# Request and reply: codes 324, 325 and 326.

REPLY: Final = "ReplyMessageProcessor.processReplyMessageRequest @ 5.5.0"
PUSH: Final = "ReplyMessageProcessor.pushReplyMessage @ 5.5.0"
TO_CLIENT: Final = {"REPLY_TO_CLIENT": "{client}", "CORRELATION_ID": "{clientC}", "own": "1"}
OWN: Final = Like(".*own\x011\x02?.*")
PUSH_TIME: Final = Like(".*PUSH_REPLY_TIME\x01\\d{13}\x02.*")
# A producer that waits for replies; its group has the name of the client.
ASKER: Final[tuple[Step, ...]] = (topic(), beat(producers=["{client}"], on="asker"))


def sends(code: int = 325, **changes: str) -> Send:
    """Send a reply; the response comes when the asker has answered."""
    fields: dict[str, Any] = {"h": "7"} | changes
    request = message("pong", code=code, properties=TO_CLIENT, **fields)
    return Send((request,))


def pushes(text: str = "pong", **ext: object) -> Expect:
    fields = {
        "topic": "{topic}",
        "flag": "7",
        "bornHost": Like(r".+:\d+"),
        "storeHost": Like(r".+:\d+"),
    }
    return Expect(
        (Incoming(code=326, ext=Has(fields | ext), flag=ANY, body=TextBody(text)),), "asker", 10.0
    )


def answers(code: int = 0, within: float = 20.0) -> Expect:
    return Expect((Response(code=code, remark=ANY),), within=within)


# Requests that a broker passes on to a consumer: codes 307, 309 and 223.

INFO: Final = "AdminBrokerProcessor.getConsumerRunningInfo, callConsumer @ 5.5.0"
DIRECT: Final = "AdminBrokerProcessor.consumeMessageDirectly, callConsumer @ 5.5.0"
STATUS: Final = "Broker2Client.getConsumeStatus @ 5.5.0"
OF_CLIENT: Final = {"consumerGroup": "{group}", "clientId": "{client}"}
MEMBER: Final[tuple[Step, ...]] = (
    topic(),
    beat(consumers(), on="client"),
    members_changed(on="client"),
)


def relays(code: int, body: Any = ANY, **ext: object) -> Expect:
    return Expect((Incoming(code=code, ext=Has(ext), flag=ANY, body=body),), "client")


# Queues that a broker assigns to its consumers: codes 400 and 401.

ASSIGNMENT: Final = "QueryAssignmentProcessor.queryAssignment @ 5.5.0"
MODE: Final = "QueryAssignmentProcessor.setMessageRequestMode @ 5.5.0"
MEMBERS: Final[tuple[Step, ...]] = (
    topic(),
    beat(consumers(), client="{clientA}", on="a"),
    beat(consumers(), client="{clientB}", on="b"),
)


def assigns(*queues: int, client: str = "{clientA}", mode: str = "PULL", **changes: str) -> Ask:
    entries = [
        Has({"messageQueue": Has({"topic": "{topic}", "queueId": queue}), "mode": mode})
        for queue in queues
    ]
    return ask_assignment(client, json_body(Has({"messageQueueAssignments": entries})), **changes)


def ask_assignment(client: str, outcome: Response, **changes: str) -> Ask:
    body = {
        "clientId": client,
        "consumerGroup": "{group}",
        "messageModel": "CLUSTERING",
        "strategyName": "AVG",
        "topic": "{topic}",
    } | changes
    return ask(400, {}, outcome, body=body)


def set_mode(mode: str, *outcomes: Response, topic_name: str = "{topic}", share: int = 0) -> Ask:
    body: dict[str, object] = {
        "consumerGroup": "{group}",
        "mode": mode,
        "popShareQueueNum": share,
        "topic": topic_name,
    }
    return ask(401, {}, *outcomes, body=body)


MODES: Final = Has({"{group}": Has({"mode": "POP", "popShareQueueNum": 2})})


CASES: Final = (
    # Offsets of groups and queues: codes 14, 15, 29 to 32 and 43, and resets (222).
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
        ask(30, {"topic": "{topicB}", "queueId": "0"}, offset(0))),
    case("31/1", "AdminBrokerProcessor.getMinOffset @ 5.5.0",
        "The first offset of a queue MUST be 0 while nothing was removed.", *THREE,
        ask(31, QUEUE, offset(0)), ask(31, QUEUE | {"queueId": "9"}, offset(0))),
    case("32/1", "AdminBrokerProcessor.getEarliestMsgStoretime @ 5.5.0",
        "The store time of the first message MUST be returned.",
        *THREE, pull(0, OK, save={"time": "message.0.storeTimestamp"}),
        ask(32, QUEUE, Response(remark=ANY, ext=Has({"timestamp": Number(equal="{=time}")})))),
    case("32/2", "AdminBrokerProcessor.getEarliestMsgStoretime @ 5.5.0",
        "The store time of the first message of an empty queue MUST be -1.",
        topic(), ask(32, QUEUE, Response(remark=ANY, ext=Has({"timestamp": "-1"})))),
    case("29/1", SEARCH, "The offset of a time before the first message MUST be 0.", *THREE,
        ask(29, QUEUE | {"timestamp": "0"}, offset(0))),
    only_4_9("29/7", "DefaultMessageStore.getOffsetInQueueByTime @ 4.9.4",
        "The offset of a time after the last message MUST be that of the last message.", *THREE,
        ask(29, QUEUE | {"timestamp": "{=now+3600000}"}, offset(2))),
    since_5_3("29/2", SEARCH, "The offset of a time after the last message MUST be the end.",
        *THREE, ask(29, QUEUE | {"timestamp": "{=now+3600000}"}, offset(3))),
    since_5_3("29/3", SEARCH,
        "The upper offset of a time after the last message MUST be that of the last message.",
        *THREE,
        ask(29, QUEUE | {"timestamp": "{=now+3600000}", "boundaryType": "UPPER"}, offset(2))),
    case("29/4", SEARCH,
        "The offset of a message's store time MUST be at most that of the message.",
        *THREE, pull(1, OK, save={"time": "message.0.storeTimestamp"}),
        ask(29, QUEUE | {"timestamp": "{=time}"},
            Response(remark=ANY, ext=Has({"offset": Number(least=0, most=1)})))),
    since_5_3("29/5", SEARCH,
        "The offset of a time after a message and before another MUST be that of the other.",
        topic(), *fill(1), visible(1), pull(0, OK, save={"time": "message.0.storeTimestamp"}),
        until(29, QUEUE | {"timestamp": "{=now}"}, offset(1)), *fill(1), visible(2),
        ask(29, QUEUE | {"timestamp": "{=time+1}"}, offset(1))),
    case("29/6", SEARCH, "The offset of any time in an empty queue MUST be 0.", topic(),
        ask(29, QUEUE | {"timestamp": "{=now}"}, offset(0))),
    case("43/1", "AdminBrokerProcessor.getAllConsumerOffset @ 5.5.0",
        "The dump of offsets MUST have the offsets by topic, group and queue.",
        *THREE, commit(2),
        ask(43, {}, json_body(Has({"offsetTable": Has({"{topic}@{group}": Has({"0": 2})})})))),
    since_5_3("222/1", RESET, "A reset MUST be answered with the new offsets.",
        *THREE, reset(Response(remark=ANY, body=ANY), queueId="0", offset="1"), keeps(1),
        requires=SERVER_SIDE),
    since_5_3("222/2", RESET,
        "A reset by time MUST set all queues to the first message stored since.",
        *THREE, commit(3), reset(OK), keeps(0), requires=SERVER_SIDE),
    since_5_3("222/3", RESET, "A commit MUST be ignored between a reset and the next pull.",
        *THREE, commit(3), reset(OK, queueId="0", offset="1"), commit(3, Response(remark=ANY)),
        keeps(1), pull(3, nothing(21, "OFFSET_RESET", 1)), keeps(1), requires=SERVER_SIDE),
    since_5_3("222/4", RESET,
        "The next pull after a reset MUST be answered with 21 and the new offset, once.",
        *THREE, commit(3), reset(OK, queueId="0", offset="1"),
        pull(3, nothing(21, "OFFSET_RESET", 1)), pull(3, nothing(19, ANY, 3)), commit(3), keeps(3),
        requires=SERVER_SIDE),
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
        keeps(2, consumerGroup="{groupB}")),
    since_5_3("207/10", "ConsumerOffsetManager.removeOffset @ 5.5.0",
        "The removal of a group with its offsets MUST remove them.",
        *THREE, commit(2), ask(207, {"groupName": "{group}", "cleanOffset": "true"}), group(),
        keeps(0)),
    case("215/10", "AdminBrokerProcessor.deleteTopic @ 5.5.0",
        "A topic that is created again MUST be empty.",
        *THREE, ask(215, {"topic": "{topic}"}), topic(), ask(30, QUEUE, offset(0)),
        pull(0, nothing(19, ANY, 0))),
    # Heartbeats, members of groups and notifications: codes 34, 35, 38, 40, 203, 204 and 328.
    since_5_3("34/1", BEAT, "The response to a heartbeat MUST say that subscriptions and "
        "heartbeats of version 2 are supported.",
        beat(consumers(), outcomes=[Response(remark=ANY,
            ext=Has({"IS_SUPPORT_HEART_BEAT_V2": "true", "IS_SUB_CHANGE": "true"}))]),
    ),
    only_4_9("34/2", "ClientManageProcessor.heartBeat @ 4.9.4",
        "The response to a heartbeat SHOULD NOT have ext fields.",
        beat(consumers(), outcomes=[Response(remark=ANY, ext=None)])),
    case("34/3", BEAT, "A heartbeat without groups MUST be accepted.", beat()),
    case("34/4", "ClientManageProcessor.heartBeat @ 5.5.0",
        "A heartbeat without a body MUST be answered with 1.", ask(34, {}, refuses(1))),
    case("34/5", BEAT, "The first heartbeat of a consumer MUST create its group.",
        topic(), beat(consumers()),
        ask(201, {}, groups_have(**{"{group}": Has({"consumeEnable": True, "retryMaxTimes": 16})})),
        requires={"autoCreateSubscriptionGroup": "true"}),
    case("34/6", BEAT,
        "The first heartbeat of a consumer MUST create the retry topic of its group.",
        topic(), beat(consumers()),
        ask(21, {}, topics_have(**{"%RETRY%{group}": Has({"readQueueNums": 1,
            "writeQueueNums": 1, "perm": 6})}))),
    case("34/7", BEAT, "A client MUST be a member of its group after the heartbeat.",
        beat(consumers()), members("{client}")),
    case("34/8", BEAT, "A request right behind a heartbeat MUST be answered, and the member be "
        "there soon.",
        Send((
            Request(code=34, ext={}, body={"clientID": "{client}", "consumerDataSet": [consumers()],
                "producerDataSet": []}),
            Request(code=38, ext={"consumerGroup": "{group}"}),
        )), Expect((OK, refuses(1))), Expect((OK, refuses(1))), members("{client}"),
    ),
    case("34/9", BEAT, "Two clients MUST both be members of their group.",
        beat(consumers(), on="a"), beat(consumers(), client="{clientB}", on="b"),
        members("{client}", "{clientB}")),
    case("34/10", BEAT, "One client MUST be able to be a member of several groups.",
        beat(consumers(), consumers("{groupB}")), members("{client}"),
        members("{client}", group="{groupB}")),
    case("34/11", BEAT, "A heartbeat of producers MUST NOT make members.",
        beat(producers=["{group}"]), NOBODY),
    case("38/1", LIST, "A group without members MUST be answered with 1.", NOBODY),
    case("38/2", "ClientHousekeepingService.onChannelClose @ 5.5.0",
        "A client whose connection closes MUST leave its groups.",
        beat(consumers(), on="a"), members("{client}"), Close("a"),
        until(38, {"consumerGroup": "{group}"}, refuses(1))),
    case("35/1", "ClientManageProcessor.unregisterClient @ 5.5.0",
        "A client MUST be able to leave its group.",
        beat(consumers()), members("{client}"), leave(), NOBODY),
    case("35/2", "ClientManageProcessor.unregisterClient @ 5.5.0",
        "A client that leaves MUST NOT take other members with it.",
        beat(consumers(), on="a"), beat(consumers(), client="{clientB}", on="b"), leave(on="a"),
        members("{clientB}")),
    case("35/3", "ClientManageProcessor.unregisterClient @ 5.5.0",
        "A client that is no member MUST be answered with success.", leave()),
    case("35/4", "ClientManageProcessor.unregisterClient @ 5.5.0",
        "A producer MUST be able to leave its group.",
        beat(producers=["{group}"]), ask(204, {"producerGroup": "{group}"}),
        ask(35, {"clientID": "{client}", "producerGroup": "{group}"}),
        ask(204, {"producerGroup": "{group}"},
            refuses(1, Like("the producer group.*{group}.* not exist")))),
    case("40/1", CHANGED, "The first heartbeat of a member MUST be told to all members, the new "
        "one included.",
        beat(consumers(), on="a"), members_changed(on="a"), beat(consumers(), client="{clientB}",
            on="b"), members_changed(on="a"), members_changed(on="b"),
    ),
    case("40/2", CHANGED, "A repeated heartbeat MUST NOT be told to anybody.",
        beat(consumers(), on="a"), members_changed(on="a"), beat(consumers(), on="a"),
        silence(1.0, on="a")),
    case("40/3", CHANGED, "A member that leaves MUST be told to the others.",
        beat(consumers(), on="a"), members_changed(on="a"),
        beat(consumers(), client="{clientB}", on="b"), members_changed(on="a"),
        members_changed(on="b"), leave(client="{clientB}", on="b"), members_changed(on="a")),
    case("40/4", "ClientHousekeepingService.onChannelClose @ 5.5.0",
        "A member whose connection closes MUST be told to the others.",
        beat(consumers(), on="a"), members_changed(on="a"),
        beat(consumers(), client="{clientB}", on="b"), members_changed(on="a"),
        members_changed(on="b"), Close("b"), members_changed(on="a")),
    case("40/5", "ConsumerGroupInfo.updateSubscription @ 5.5.0",
        "A new topic in the subscriptions of a group MUST be told to its members.",
        beat(consumers(), on="a"), members_changed(on="a"),
        beat(consumers(subscriptions=[subscription(), subscription("{topicB}")]), on="a"),
        members_changed(on="a")),
    case("40/6", "ConsumerGroupInfo.updateSubscription @ 5.5.0",
        "A topic that leaves the subscriptions of a group MUST be told to its members.",
        beat(consumers(subscriptions=[subscription(), subscription("{topicB}")]), on="a"),
        members_changed(on="a"), beat(consumers(), on="a"), members_changed(on="a")),
    case("40/7", "ConsumerGroupInfo.updateSubscription @ 5.5.0",
        "A changed filter of a topic MUST NOT be told to the members.",
        beat(consumers(), on="a"), members_changed(on="a"),
        beat(consumers(subscriptions=[subscription(text="red", version=2)]), on="a"),
        silence(1.0, on="a")),
    since_5_3("40/8", CHANGED, "Members of a broadcasting group SHOULD NOT be told anything.",
        beat(consumers(model="BROADCASTING"), on="a"),
        beat(consumers(model="BROADCASTING"), client="{clientB}", on="b"), silence(1.0, on="a")),
    only_4_9("40/9", "DefaultConsumerIdsChangeListener.handle @ 4.9.4",
        "Members of a broadcasting group SHOULD be told of new members.",
        beat(consumers(model="BROADCASTING"), on="a"), members_changed(on="a")),
    case("40/10", CHANGED, "Members of a group without notifications MUST NOT be told anything.",
        group(notifyConsumerIdsChangedEnable=False), beat(consumers(), on="a"),
        silence(1.0, on="a")),
    case("203/1", CONNECTIONS,
        "The connections of a group MUST name its clients and its subscriptions.",
        beat(consumers(subscriptions=[subscription(text="red")])),
        ask(203, {"consumerGroup": "{group}"}, json_body(Has({
            "connectionSet": [Has({"clientId": "{client}", "clientAddr": Like(r"[\d.]+:\d+"),
            "language": "JAVA"})],
            "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET", "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "subscriptionTable": Has({"{topic}": Has({"subString": "red", "topic": "{topic}"})}),
        })))),
    case("203/2", CONNECTIONS,
        "The connections of a group without members MUST be answered with 206.",
        ask(203, {"consumerGroup": "{group}"},
            refuses(206, Like("the consumer group.{group}. not online")))),
    case("203/3", "ConsumerGroupInfo.updateSubscription @ 5.5.0",
        "A heartbeat MUST replace the subscriptions of the whole group.",
        beat(consumers(subscriptions=[subscription("{topicA}")]), on="a"),
        beat(consumers(subscriptions=[subscription("{topicB}")]), client="{clientB}", on="b"),
        ask(203, {"consumerGroup": "{group}"},
            json_body(Has({"subscriptionTable": {"%RETRY%{group}": ANY, "{topicB}": ANY}})),
            json_body(Has({"subscriptionTable": {"{topicB}": ANY}})))),
    case("204/1", "AdminBrokerProcessor.getProducerConnectionList @ 5.5.0",
        "The connections of a group of producers MUST name its clients.",
        beat(producers=["{group}"]), ask(204, {"producerGroup": "{group}"},
            json_body({"connectionSet": [Has({"clientId": "{client}",
            "clientAddr": Like(r"[\d.]+:\d+")})]})),
    ),
    case("204/2", "AdminBrokerProcessor.getProducerConnectionList @ 5.5.0",
        "A group of producers without members MUST be answered with 1.",
        ask(204, {"producerGroup": "{group}"},
            refuses(1, Like("the producer group.*{group}.* not exist")))),
    since_5_3("204/3", "ProducerManager.doChannelCloseEvent @ 5.5.0",
        "A producer whose connection closes MUST leave its group.",
        beat(producers=["{group}"], on="a"), ask(204, {"producerGroup": "{group}"}), Close("a"),
        until(204, {"producerGroup": "{group}"}, refuses(1))),
    since_5_3("328/1", "AdminBrokerProcessor.getAllProducerInfo @ 5.5.0",
        "The table of all producers MUST name the clients of each group.",
        beat(producers=["{group}"]),
        ask(328, {}, json_body(Has({"data": Has({"{group}": [Has({"clientId": "{client}"})]})})))),
    case("11/100", PULL, "A pull without a subscription MUST use that of the heartbeat.",
        *FOUR, beat(consumers(subscriptions=[subscription(text="T1")])),
        pull(0, finds(*bodies(1, 3), nextBeginOffset="4"), sysFlag="0", subVersion="1")),
    case("11/101", PULL, "A pull without a subscription of a topic to which the group has not "
        "subscribed MUST be answered with 24.",
        *FOUR, beat(consumers(subscriptions=[subscription("{topicB}")])),
        pull(0, refuses(24, Like("the consumer's subscription not exist.*")), sysFlag="0",
            subVersion="1"),
    ),
    case("11/102", PULL, "A pull with a newer subscription than the heartbeat's MUST be answered "
        "with 25.",
        *FOUR, beat(consumers()), pull(0, refuses(25, Like("the consumer's subscription not "
            "latest.*")), sysFlag="0", subVersion="2"),
    ),
    since_5_3("11/103", PULL,
        "A pull of a broadcasting group that may not broadcast MUST be answered with 16.",
        *FOUR, group(consumeBroadcastEnable=False), beat(consumers(model="BROADCASTING")),
        pull(0, refuses(16, ANY, Has({"forbiddenType": "4"})), sysFlag="0", subVersion="1")),
    since_5_3("11/104",
        "PullMessageProcessor.processRequest, SubscriptionGroupManager.getForbidden @ 5.5.0",
        "A pull of a topic that a group may not read (353) MUST be answered with 16, until it "
        "may again.",
        *FOUR, group(), ask(353, {"group": "{group}", "topic": "{topic}", "readable": "false"}),
        beat(consumers()),
        pull(0, refuses(16, ANY, Has({"forbiddenType": "5"})), sysFlag="0", subVersion="1"),
        ask(353, {"group": "{group}", "topic": "{topic}", "readable": "true"}),
        pull(0, OK, sysFlag="0", subVersion="1")),
    case("300/1", "AdminBrokerProcessor.queryTopicConsumeByWho @ 5.5.0",
        "The groups of a topic MUST be those whose members subscribe to it.",
        topic(), beat(consumers()),
        ask(300, {"topic": "{topic}"}, json_body(Has({"groupList": ["{group}"]}))),
        profiles=NOT_5_3),
    since_5_3("343/1", "AdminBrokerProcessor.queryTopicsByConsumer @ 5.5.0",
        "The topics of a group MUST be those in which it has offsets.",
        topic(), group(), ask(15, {"topic": "{topic}", "queueId": "0", "consumerGroup": "{group}",
            "commitOffset": "0"}),
        ask(343, {"group": "{group}"}, json_body(Has({"topicList": ["{topic}"]}))),
    ),
    since_5_3("345/1", "AdminBrokerProcessor.querySubscriptionByConsumer @ 5.5.0",
        "The subscription of a group to a topic MUST be that of the heartbeat.",
        beat(consumers(subscriptions=[subscription(text="red")])),
        ask(345, {"group": "{group}", "topic": "{topic}"},
            json_body(Has({"group": "{group}", "topic": "{topic}",
            "subscriptionData": Has({"subString": "red"})})))),
    since_5_3("345/2", "AdminBrokerProcessor.querySubscriptionByConsumer @ 5.5.0",
        "The subscription of a group without members MUST be empty.",
        ask(345, {"group": "{group}", "topic": "{topic}"},
            json_body({"group": "{group}", "topic": "{topic}"}))),
    # Locks of queues for orderly consumers: codes 41 and 42.
    case("41/1", LOCK, "A client MUST get the locks of free queues.", locks(0, 1)),
    case("41/2", LOCK, "A second client MUST NOT get a queue that is locked.", locks(0),
        locks(0, client="{clientB}", gets=())),
    case("41/3", LOCK, "A client MUST get its own locks again.", locks(0), locks(0)),
    case("41/4", LOCK, "A client MUST get the free ones of the queues that it asks for.", locks(0),
        locks(0, 1, 2, client="{clientB}", gets=(1, 2))),
    case("41/5", LOCK, "Groups MUST NOT share locks.", locks(0),
        locks(0, client="{clientB}", group="{groupB}")),
    case("41/6", LOCK, "A lock of a queue of an unknown topic MUST be given.", locks(9)),
    case("41/7", "RebalanceLockManager.tryLockBatch @ 5.5.0",
        "A lock MUST stay if the connection of its client closes.",
        locks(0, on="a"), Close("a"), locks(0, client="{clientB}", gets=())),
    case("41/8", "RebalanceLockManager.LockEntry.isExpired @ 5.5.0",
        "A lock that is not renewed MUST be free after 60 s, and not before 50 s.",
        locks(0),
        Until(Request(code=41, ext={}, body=_body("{clientB}", (0,), "{group}")),
            json_body({"lockOKMQSet": [Has({"queueId": 0})]}), within=75.0, not_before=50.0),
        tags=frozenset({"slow", "minute"})),
    case("41/9", LOCK, "A request without a body MUST be answered with 1.",
        ask(41, {}, Response(code=1, remark=ANY))),
    case("42/1", UNLOCK, "A queue that was given back MUST be free.", locks(0), unlocks(0),
        locks(0, client="{clientB}")),
    case("42/2", UNLOCK, "A client MUST NOT be able to give back the queue of another.", locks(0),
        unlocks(0, client="{clientB}"), locks(0, client="{clientB}", gets=())),
    case("42/3", UNLOCK, "A queue that was given back MUST NOT free others.", locks(0, 1),
        unlocks(0), locks(0, 1, client="{clientB}", gets=(0,))),
    case("42/4", UNLOCK, "A queue that is not locked MAY be given back.", unlocks(0)),
    since_5_3("41/10", "AbstractSendMessageProcessor.handleRetryAndDLQ, "
        "RebalanceLockManager.isLockAllExpired @ 5.5.0",
        "A message to the retry topic of a group with a locked queue MUST go to the dead letters.",
        locks(0), put("a", stores(0, 0), to="%RETRY%{group}"),
        comes(with_body("a"), of="%DLQ%{group}"),
    ),
    case("41/11", "AbstractSendMessageProcessor.handleRetryAndDLQ @ 5.5.0",
        "A message to the retry topic of a group whose queues were given back MUST go to the "
        "retry topic.",
        locks(0), unlocks(0), put("a", stores(0, 0), to="%RETRY%{group}"),
        comes(with_body("a"), of="%RETRY%{group}")),
    # Request and reply: codes 324, 325 and 326.
    case("325/1", PUSH, "A reply MUST be pushed to the client that it names.", *ASKER, sends(),
        pushes(), Reply(on="asker"), answers()),
    case("325/2", PUSH,
        "A pushed reply MUST have its body, flag and properties, and the time of pushing.",
        *ASKER, sends(), pushes(properties=AllOf((OWN, PUSH_TIME))), Reply(on="asker"), answers()),
    case("325/3", PUSH,
        "The response to a reply MUST come when the client has answered, and not before.",
        *ASKER, sends(), pushes(), silence(), Reply(on="asker"), answers()),
    case("325/4", PUSH, "A reply that the client refuses MUST be answered with 1.", *ASKER, sends(),
        pushes(), Reply(on="asker", code=1), answers(1)),
    case("325/5", PUSH, "A reply to a client that is not there MUST be answered with 1.",
        topic(), put("pong", Response(code=1,
            remark=Like("push reply message fail, channel of <{clientB}> not found."), ext=ANY),
            code=325, properties={"REPLY_TO_CLIENT": "{clientB}"}),
    ),
    case("325/6", REPLY, "A reply that names no client MUST be answered with 1.",
        topic(), put("pong", Response(code=1,
            remark=Like("reply message properties.REPLY_TO_CLIENT. is null"), ext=ANY), code=325),
    ),
    case("325/7", REPLY, "A reply MUST be stored.", *ASKER, sends(), pushes(), Reply(on="asker"),
        answers(), visible(1), comes(with_body("pong")),
        requires={"storeReplyMessageEnable": "true"}),
    case("325/8", REPLY, "A reply to an unknown queue MUST be refused.", *ASKER,
        put("pong", refuses(29, ANY, ANY), refuses(1, ANY, ANY), code=325, queue=9,
        properties=TO_CLIENT)),
    case("325/9", REPLY, "The response to a reply MUST have an id and a queue offset.",
        *ASKER, sends(), pushes(), Reply(on="asker"),
        Expect((Response(remark=ANY,
            ext=Has({"msgId": ANY, "queueId": "0", "queueOffset": "0"})),), within=20.0)),
    case("324/1", REPLY, "A reply with the long names of code 324 MUST be pushed.",
        *ASKER,
        Send((Request(code=324, ext={
            "producerGroup": "{client}", "topic": "{topic}", "defaultTopic": "TBW102",
            "defaultTopicQueueNums": "4", "queueId": "0", "sysFlag": "0", "bornTimestamp": "5",
            "flag": "7", "properties": "REPLY_TO_CLIENT\x01{client}\x02", "reconsumeTimes": "0",
            "unitMode": "false"}, body="pong"),)),
        pushes(bornTimestamp="5"), Reply(on="asker"), answers()),
    case("325/10", PUSH, "A reply MUST NOT hold up later requests of the replier.",
        *ASKER, sends(), pushes(), put("other", queue=1), Reply(on="asker"), answers()),
    case("325/11", "RemotingServer.invokeSync @ 5.5.0",
        "A reply that the client does not answer MUST be answered with 1 after about 10 s.",
        *ASKER, sends(), pushes(), answers(1, within=30.0), tags=frozenset({"slow"})),
    # Requests that a broker passes on to a consumer: codes 307, 309 and 223.
    case("307/1", INFO,
        "The question for a consumer's state MUST be passed on to it, and its response back.",
        *MEMBER, Send((Request(code=307, ext=OF_CLIENT | {"jstackEnable": "false"}),)),
        relays(307, consumerGroup="{group}", clientId="{client}"),
        Reply(on="client", body='{"state":"{client}"}'),
        Expect((Response(remark=ANY, body=TextBody('{"state":"{client}"}')),))),
    case("307/2", INFO, "The code of the consumer's response MUST be passed back.",
        *MEMBER, Send((Request(code=307, ext=OF_CLIENT | {"jstackEnable": "false"}),)), relays(307),
        Reply(on="client", code=1), Expect((Response(code=1, remark=ANY, body=ANY),))),
    case("307/3", INFO, "The question for a client that is not connected MUST be answered with 1.",
        ask(307, OF_CLIENT | {"jstackEnable": "false"},
            refuses(1, Like("The Consumer <{group}> <{client}> not online")))),
    case("307/4", INFO, "A consumer that does not answer MUST be answered with 207.",
        *MEMBER, Send((Request(code=307, ext=OF_CLIENT | {"jstackEnable": "false"}),)), relays(307),
        Expect((Response(code=207,
            remark=Like("consumer <{group}> <{client}> Timeout: .*")),), within=30.0),
        tags=frozenset({"slow"})),
    case("307/5", INFO, "A consumer that waits MUST NOT hold up later requests of the asker.",
        *MEMBER, Send((Request(code=307, ext=OF_CLIENT | {"jstackEnable": "false"}),)), relays(307),
        put("other"), Reply(on="client", body="x"),
        Expect((Response(remark=ANY, body=TextBody("x")),))),
    case("309/1", DIRECT, "A message that is to be consumed directly MUST be passed on to the "
        "consumer, and its response back.",
        *MEMBER, put("direct", save={"id": "ext.msgId"}),
        comes(with_body("direct"), save={"position": "message.0.commitLogOffset"}),
        Send((Request(code=309, ext=OF_CLIENT | {"msgId": "{=id}"}),)),
        relays(309, Messages((with_body("direct", commitLogOffset=Number(equal="{=position}")),)),
            consumerGroup="{group}", clientId="{client}"),
        Reply(on="client", body='{"consumeResult":"CR_SUCCESS"}'),
        Expect((Response(remark=ANY, body=TextBody('{"consumeResult":"CR_SUCCESS"}')),)),
    ),
    case("309/2", DIRECT,
        "The direct consumption by a client that is not connected MUST be answered with 1.",
        topic(), put("direct", save={"id": "ext.msgId"}), comes(with_body("direct")),
        ask(309, OF_CLIENT | {"msgId": "{=id}"},
            refuses(1, Like("The Consumer <{group}> <{client}> not online")))),
    case("309/3", DIRECT, "An id that is not one MUST be answered with 1.", *MEMBER,
        ask(309, OF_CLIENT | {"msgId": "x"}, refuses(1))),
    case("223/1", STATUS,
        "The question for the status of an offline group MUST be answered with 1.",
        topic(), ask(223, {"topic": "{topic}", "group": "{group}", "clientAddr": ""}, refuses(1))),
    case("223/2", STATUS, "The question for the status of a group MUST be passed on to its "
        "members, and their tables back.",
        *MEMBER, Send((Request(code=223, ext={"topic": "{topic}", "group": "{group}",
            "clientAddr": ""}),)),
        relays(221, topic="{topic}", group="{group}"),
        Reply(on="client", body='{"messageQueueTable":{}}'),
        Expect((Response(remark=ANY, body=ANY),)),
    ),
    # Queues that a broker assigns to its consumers: codes 400 and 401.
    since_5_3("400/1", ASSIGNMENT,
        "The queues of a topic MUST be divided among the members of a group, in the order of "
        "their ids.",
        *MEMBERS, assigns(0, 1), assigns(2, 3, client="{clientB}")),
    since_5_3("400/2", ASSIGNMENT, "The strategy AVG_BY_CIRCLE MUST deal the queues in turn.",
        *MEMBERS, assigns(0, 2, strategyName="AVG_BY_CIRCLE"),
        assigns(1, 3, client="{clientB}", strategyName="AVG_BY_CIRCLE")),
    since_5_3("400/3", ASSIGNMENT, "A broadcasting client MUST get all queues.", *MEMBERS,
        assigns(0, 1, 2, 3, messageModel="BROADCASTING")),
    since_5_3("400/4", ASSIGNMENT, "A client that is no member MUST get no queue.", *MEMBERS,
        assigns(client="{clientC}")),
    since_5_3("400/5", ASSIGNMENT, "A single member MUST get all queues.", topic(),
        beat(consumers(), client="{clientA}"), assigns(0, 1, 2, 3)),
    since_5_3("400/6", ASSIGNMENT, "A member too many MUST get no queue.",
        topic(queues=1), beat(consumers(), client="{clientA}", on="a"),
        beat(consumers(), client="{clientB}", on="b"), assigns(0), assigns(client="{clientB}")),
    since_5_3("401/1", MODE,
        "A group that is to pop a topic MUST get one assignment for all queues.",
        *MEMBERS, set_mode("POP"), assigns(-1, mode="POP"),
        assigns(-1, client="{clientB}", mode="POP")),
    since_5_3("401/2", MODE, "A group that is to pull again MUST get queues again.", *MEMBERS,
        set_mode("POP"), set_mode("PULL"), assigns(0, 1)),
    since_5_3("401/3", MODE, "The mode of a retry topic MUST be refused with 16.", topic(), group(),
        set_mode("POP", refuses(16, ANY, ANY), topic_name="%RETRY%{group}")),
    since_5_3("401/4", MODE, "The mode of an unknown topic MUST be refused with 17.", group(),
        set_mode("POP", refuses(17, ANY, ANY))),
    since_5_3("402/1", "AdminBrokerProcessor.getAllMessageRequestMode @ 5.5.0",
        "The table of modes MUST have the mode of each group.",
        topic(), group(), set_mode("POP", OK, share=2),
        ask(402, {}, json_body(Has({"messageRequestModeMap": Has({"{topic}": MODES})})))),
    only_4_9("400/7", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "The question for queues MUST be refused with 3, as an unknown code.",
        ask_assignment("{client}", refuses(3))),
)  # fmt: skip
