"""Lite topics, which Java has since 5.5 and serves with the setting ``enableLmq``."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    OK,
    THROWN,
    ask,
    bodies,
    comes,
    finds,
    group,
    json_body,
    offset,
    only_5_5,
    pull,
    put,
    refuses,
    silence,
    stores,
    topic,
    until,
    with_body,
)
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Contains,
    Has,
    Incoming,
    Lacks,
    Like,
    Number,
    Response,
)
from rocketwire_tools.conformance.model.requests import without
from rocketwire_tools.conformance.model.steps import Ask, Expect, Request, Send, Step

# Lite topics: subscriptions (200071), pops (200070), and what follows (200051, 200053).

CONTROL: Final = "LiteSubscriptionCtlProcessor.processRequest @ 5.5.0"
POP: Final = "PopLiteMessageProcessor.processRequest @ 5.5.0"
CHECK: Final = "PopLiteMessageProcessor.preCheck @ 5.5.0"
ACK: Final = "AckMessageProcessor.ackLite @ 5.5.0"
CHANGE: Final = "ChangeInvisibleTimeProcessor.processChangeInvisibleTimeForLite @ 5.5.0"
LIGHT: Final = {"enableLmq": "true"}
SLOW: Final = frozenset({"slow"})
SOON: Final = 20.0
TIMES: Final = {"time": "ext.popTime", "invisible": "ext.invisibleTime"}
QUEUE: Final = "%LMQ%${topic}$a"
# Write a case of a broker that serves lite topics.
lite = partial(only_5_5, requires=LIGHT)


def parent(name: str = "{topic}", queues: int = 1, **fields: str) -> Ask:
    return topic(name, queues, **({"attributes": "+message.type=LITE"} | fields))


def readers(name: str = "{group}", *, of: str = "{topic}", **attributes: str) -> Ask:
    changes = {"lite.bind.topic": of} | attributes
    return group(name, attributes={f"+{key}": text for key, text in changes.items()})


def fill(count: int, *, of: str = "a") -> tuple[Step, ...]:
    return (
        *(put(str(index), properties={"__LITE_TOPIC": of}) for index in range(count)),
        ends_at(count, of=of),
    )


def ends_at(count: int, *, of: str = "a") -> Step:
    end = json_body(Has({"topicOffset": Has({"maxOffset": count})}))
    return until(200076, {"parentTopic": "{topic}", "liteTopic": of}, end, within=SOON)


def change(
    action: str,
    *names: str,
    client: str = "{client}",
    of: str = "{group}",
    under: str = "{topic}",
    **members: object,
) -> dict[str, object]:
    one = {
        "action": action,
        "clientId": client,
        "group": of,
        "topic": under,
        "liteTopicSet": list(names),
        "version": 1,
    }
    return {"subscriptionSet": [one | members]}


def subscribe(*names: str, on: str = "main", **settings: Any) -> Ask:
    return ask(200071, {}, body=change("PARTIAL_ADD", *names, **settings), on=on)


def pop_fields(
    client: str = "{client}", count: int = 32, invisible: int = 60_000, poll: int = 0, **more: str
) -> dict[str, str]:
    """The ext fields of a pop of lite topics; the broker takes its own time for ``bornTime`` 0."""
    return {
        "clientId": client,
        "consumerGroup": "{group}",
        "topic": "{topic}",
        "maxMsgNum": str(count),
        "invisibleTime": str(invisible),
        "pollTime": str(poll),
        "bornTime": "0",
    } | more


def pop(*outcomes: Response, on: str = "main", save: Any = None, **settings: Any) -> Ask:
    return ask(200070, pop_fields(**settings), *outcomes, on=on, save=save)


def returns(*patterns: object, not_before: float = 0.0, counts: object = ANY) -> Step:
    outcome = finds(*patterns, orderCountInfo=counts)
    return until(200070, pop_fields(), outcome, within=40.0, not_before=not_before)


def ack(queue_offset: int = 0, *outcomes: Response, of: str = "a", **changes: str) -> Ask:
    fields = {
        "consumerGroup": "{group}",
        "topic": "{topic}",
        "liteTopic": of,
        "queueId": "0",
        "extraInfo": handle(queue_offset),
        "offset": str(queue_offset),
    }
    return ask(200051, fields | changes, *(outcomes or (Response(ext=ANY),)))


def handle(queue_offset: int = 0, revive: int = 999) -> str:
    """The handle of a lite message (Java: ``MQClientAPIImpl.processPopLiteResponse``)."""
    return f"0 {{=time}} {{=invisible}} {revive} 0 {{=broker}} 0 {queue_offset}"


def hide(milliseconds: int, queue_offset: int, *outcomes: Response, **changes: str) -> Ask:
    fields = {
        "consumerGroup": "{group}",
        "topic": "{topic}",
        "liteTopic": "a",
        "queueId": "0",
        "extraInfo": handle(queue_offset),
        "offset": str(queue_offset),
        "invisibleTime": str(milliseconds),
    }
    return ask(200053, fields | changes, *(outcomes or (Response(remark=ANY, ext=ANY),)))


def has_topics(count: int, *names: str, client: str = "{client}") -> Ask:
    queues = Contains(tuple(f"%LMQ%${{topic}}${name}" for name in names))
    fields = {"parentTopic": "{topic}", "group": "{group}", "clientId": client, "maxCount": "100"}
    members = {"liteTopicCount": count} | ({"liteTopicSet": queues} if names else {})
    return ask(200077, fields, json_body(Has(members)))


READY: Final[tuple[Step, ...]] = (parent(), readers())
TWO: Final[tuple[Step, ...]] = (*READY, *fill(2), subscribe("a"))
TWO_POPPED: Final[tuple[Step, ...]] = (*TWO, pop(finds(*bodies(0, 1)), save=TIMES))
SHORT: Final[tuple[Step, ...]] = (
    *TWO,
    pop(finds(*bodies(0, 1)), invisible=2_000, save=TIMES),
)
NONE: Final = refuses(210, "NO_MESSAGE_IN_QUEUE", Has({"reviveQid": "999", "orderCountInfo": ""}))
ZEROS: Final = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}

# Lite topics for operators: codes 200074 to 200079, and the end of a parent topic (215).

MANAGER: Final = "LiteManagerProcessor.processRequest @ 5.5.0"
LAGS: Final = "LiteConsumerLagCalculator.getLagCountTopK @ 5.5.0"
OF_GROUP: Final = {"group": "{group}", "topK": "10"}
OF_CLIENT: Final = {
    "parentTopic": "{topic}",
    "group": "{group}",
    "clientId": "{client}",
    "maxCount": "100",
}


CASES: Final = (
    lite("200071/1", CONTROL, "A client MUST be subscribed to the lite topics that it names.",
        *READY, subscribe("a", "b"), has_topics(2, "a", "b")),
    lite("200071/2", CONTROL, "A request without a body MUST be refused with 604.",
        ask(200071, {}, refuses(604, "Request body is null."))),
    lite("200071/3", CONTROL, "A request without changes MUST be refused with 604.",
        ask(200071, {}, refuses(604, "LiteSubscriptionCtlRequestBody is empty."),
            body={"subscriptionSet": []})),
    lite("200071/4", CONTROL, "A group that may not consume MUST be refused with 604.",
        parent(), group(consumeEnable=False, attributes={"+lite.bind.topic": "{topic}"}),
        *(ask(200071, {}, refuses(604, "java.lang.IllegalStateException: Consumer group is not "
            "allowed to consume."), body=change(action, "a"))
            for action in ("PARTIAL_ADD", "COMPLETE_ADD"))),
    lite("200071/5", "LiteSubscriptionRegistryImpl.addPartialSubscription @ 5.5.0",
        "A group with a wildcard MUST NOT subscribe to single lite topics.",
        parent(), readers(**{"lite.sub.wildcard": "true"}),
        ask(200071, {}, refuses(604, "java.lang.IllegalStateException: subscribe lite operation is "
            "not supported for this group"), body=change("PARTIAL_ADD", "a"))),
    lite("200071/6", CONTROL, "A subscription MUST end when the client ends it.",
        *READY, subscribe("a", "b"), ask(200071, {}, body=change("PARTIAL_REMOVE", "a")),
        has_topics(1, "b")),
    lite("200071/7", CONTROL, "A complete list of lite topics MUST replace the earlier ones.",
        *READY, subscribe("a", "b"), ask(200071, {}, body=change("COMPLETE_ADD", "b", "c")),
        has_topics(2, "b", "c")),
    lite("200071/8", CONTROL, "All subscriptions of a client MUST end when it asks for it.",
        *READY, subscribe("a", "b"), ask(200071, {}, body=change("COMPLETE_REMOVE")),
        has_topics(-1)),
    lite("200071/9", "LiteSubscriptionRegistryImpl.excludeClientByLmqName @ 5.5.0",
        "In an exclusive group a lite topic MUST be taken from its client, who is told.",
        parent(), readers(**{"lite.sub.model": "Exclusive"}), subscribe("a", "b", on="first"),
        subscribe("a", client="{clientB}"),
        Expect((Incoming(code=200073, ext={"liteTopic": "a", "consumerGroup": "{group}",
            "clientId": "{client}"}, flag=2),), "first", SOON),
        has_topics(1, "b"), has_topics(1, "a", client="{clientB}")),
    lite("200071/10", CONTROL, "A change without a client, group or topic MUST be ignored.",
        *READY, subscribe("a", client=""), subscribe("a", of=" "), subscribe("a", under=""),
        has_topics(-1)),
    lite("200071/11", CONTROL, "A lite topic without a name MUST be answered with 1.", *READY,
        ask(200071, {}, THROWN, body=change("PARTIAL_ADD", ""))),
    lite("200071/12", CONTROL, "Ending subscriptions that do not exist MUST be a success.",
        *READY, ask(200071, {}, body=change("PARTIAL_REMOVE", "a")),
        ask(200071, {}, body=change("COMPLETE_REMOVE", client="{clientB}"))),
    lite("200071/13", CONTROL, "A body that is not JSON SHOULD be answered with 1.",
        ask(200071, {}, THROWN, body="nothing")),
    lite("200070/1", POP, "A pop MUST find the messages of a lite topic, with the parts of their "
        "handles.",
        *TWO, pop(finds(*bodies(0, 1), popTime=Like(r"\d{13}"), invisibleTime="60000",
            reviveQid="999", orderCountInfo="0;0")),
    ),
    lite("200070/2", POP, "A message of a lite topic MUST be stored in its parent topic, and name "
        "its LMQ and its offset in it.",
        *TWO, pop(finds(ANY, Has({"topic": "{topic}", "queueId": 0, "queueOffset": 1,
            "properties": Has({"__LITE_TOPIC": "a", "INNER_MULTI_DISPATCH": QUEUE,
            "INNER_MULTI_QUEUE_OFFSET": "1"})}))),
    ),
    lite("200070/3", POP, "A pop MUST find messages of several lite topics.",
        *READY, *fill(1, of="a"), *fill(1, of="b"), *fill(1, of="c"), subscribe("a"),
        subscribe("b"), pop(finds(ANY, ANY, orderCountInfo="0;0")), pop(NONE)),
    lite("200070/4", POP, "A pop MUST find no more messages than it asks for.",
        *READY, *fill(3), subscribe("a"), pop(finds(*bodies(0, 1)), count=2)),
    lite("200070/5", POP,
        "A message that is not acknowledged MUST hide the later ones of its lite topic.",
        *READY, *fill(3), subscribe("a"), pop(finds(*bodies(0, 1)), count=2, save=TIMES), ack(0),
        pop(NONE), ack(1), pop(finds(with_body("2"), orderCountInfo="0"))),
    lite("200070/6", "LiteEventDispatcher.dispatch @ 5.5.0",
        "A pop that may wait MUST be answered when a message arrives.",
        *READY, subscribe("a"), Send((Request(code=200070, ext=pop_fields(poll=60_000)),),
            "reader"), silence(on="reader"), put("x", properties={"__LITE_TOPIC": "a"}),
        Expect((finds(with_body("x"), orderCountInfo="0"),), "reader", SOON),
    ),
    lite("200070/7", "PopLiteLongPollingService.polling @ 5.5.0",
        "A pop that has waited in vain MUST be answered with 210.",
        *READY, subscribe("a"), pop(NONE, poll=1_000)),
    lite("200070/8", POP, "A client without a subscription MUST get nothing.",
        *TWO, pop(NONE, client="{clientB}"), pop(finds(*bodies(0, 1)))),
    lite("200070/9", "LiteEventDispatcher.selectAndDispatch @ 5.5.0",
        "Groups MUST get the same messages independently.",
        *TWO, readers("{groupB}"), subscribe("a", of="{groupB}", client="{clientB}"),
        pop(finds(*bodies(0, 1))),
        pop(finds(*bodies(0, 1)), client="{clientB}", consumerGroup="{groupB}")),
    lite("200070/10", CHECK, "A pop of an unknown topic MUST be refused with 17.", group(),
        pop(refuses(17, Like(r"topic \[{topic}\] not exist, apply first please! .*"), ZEROS))),
    lite("200070/11", CHECK, "A pop of a topic without lite topics MUST be refused with 29.",
        topic(), readers(), pop(refuses(29, "the topic [{topic}] message type not match", ZEROS))),
    lite("200070/12", CHECK, "A pop by a group of another topic MUST be refused with 29.",
        parent(), readers(of="{topicB}"),
        pop(refuses(29, "subscription bind topic not match, {group}", ZEROS))),
    lite("200070/13", CHECK, "A pop by a group without a topic MUST be refused with 29.",
        parent(), pop(refuses(29, "subscription bind topic not match, {group}", ZEROS))),
    lite("200070/14", CHECK, "A pop of more than 32 messages MUST be refused with 29.",
        *READY, pop(refuses(29, Like("the broker.* pop message's num is greater than 32"), ZEROS),
            count=33)),
    lite("200070/15", CHECK, "A pop whose time is over MUST be answered with 210.",
        *TWO, pop(refuses(210, Like("the broker.* pop message is timeout too much"), ZEROS),
            bornTime="{=now-60000}", poll=1_000)),
    lite("200070/16", CHECK, "A pop of a topic that may not be read MUST be refused with 16.",
        parent(perm="2"), readers(),
        pop(refuses(16, "the topic [{topic}] peeking message is forbidden", ZEROS))),
    lite("200070/17", CHECK, "A pop by a group that may not consume MUST be refused with 16.",
        parent(), group(consumeEnable=False),
        pop(refuses(16, "subscription group no permission, {group}", ZEROS))),
    lite("200070/18", CHECK, "A pop by a group with an illegal name MUST be refused with 26.",
        parent(), pop(refuses(26, Like(r"subscription group \[{group} b\] not exist, .*"), ZEROS),
            consumerGroup="{group} b")),
    lite("200070/19", POP, "A pop without a client MUST be answered with 1.",
        *READY, ask(200070, without(pop_fields(), "clientId"), THROWN)),
    lite("200070/20", "QueueLevelConsumerManager.OrderInfo.needBlock @ 5.5.0",
        "A pop with the name of an earlier attempt MUST get the same messages again.",
        *TWO, pop(finds(*bodies(0, 1)), attemptId="one"),
        ask(200079, {"group": "{group}", "clientId": "{client}"}, OK),
        pop(finds(*bodies(0, 1), orderCountInfo="0;0"), attemptId="one")),
    lite("200070/21", "QueueLevelConsumerOrderInfoLockManager.notifyLockIsFree @ 5.5.0",
        "Messages whose time is over MUST come again, with the number of their deliveries.",
        *SHORT, returns(*bodies(0, 1), not_before=0.5, counts="0 qo0%0 1;0 qo0%1 1"), tags=SLOW),
    lite("200070/22", "QueueLevelConsumerManager.update @ 5.5.0",
        "After a redelivery, counts MUST name only the messages that came before.",
        *READY, *fill(3), subscribe("a"), pop(finds(*bodies(0)), count=1, invisible=1_000),
        returns(*bodies(0, 1, 2), counts="0 qo0%0 1"), tags=SLOW),
    lite("200070/23", "LiteSubscriptionRegistryImpl.resetOffset @ 5.5.0",
        "A subscription MAY begin at the end.",
        *READY, *fill(2), subscribe("a", offsetOption={"type": "POLICY", "value": 2}), pop(NONE),
        put("2", properties={"__LITE_TOPIC": "a"}), returns(*bodies(2))),
    lite("200070/24", "LiteSubscriptionRegistryImpl.resetOffset @ 5.5.0",
        "A subscription MAY begin at an offset.",
        *READY, *fill(3), subscribe("a", offsetOption={"type": "OFFSET", "value": 1}),
        pop(finds(*bodies(1, 2)))),
    lite("200070/25", "LiteSubscriptionRegistryImpl.resetOffset @ 5.5.0",
        "A subscription MAY begin some messages before the committed offset.",
        *READY, *fill(3), subscribe("a"), pop(finds(*bodies(0, 1, 2)), save=TIMES), ack(0), ack(1),
        ack(2), ask(200071, {}, body=change("PARTIAL_REMOVE", "a")),
        subscribe("a", offsetOption={"type": "TAIL_N", "value": 2}), pop(finds(*bodies(1, 2)))),
    lite("200070/26", "LiteSubscriptionRegistryImpl.removePartialSubscription @ 5.5.0",
        "A group MAY begin anew when a client ends its subscription.",
        parent(), readers(**{"lite.sub.reset.offset.unsubscribe": "true"}), *fill(1),
        subscribe("a"), pop(finds(*bodies(0)), save=TIMES), ack(0),
        ask(200071, {}, body=change("PARTIAL_REMOVE", "a")), subscribe("a"),
        pop(finds(*bodies(0)))),
    lite("200070/27", "LiteSubscriptionRegistryImpl.getWildcardGroupClients @ 5.5.0",
        "A group with a wildcard MUST get messages of every lite topic.",
        parent(), readers(**{"lite.sub.wildcard": "true"}),
        ask(200071, {}, body=change("COMPLETE_ADD")), put("x", properties={"__LITE_TOPIC": "any"}),
        returns(with_body("x"))),
    lite("200070/28", "LiteEventDispatcher.onRegister @ 5.5.0",
        "A group with a wildcard MUST get messages that came before it.",
        parent(), readers(**{"lite.sub.wildcard": "true"}), *fill(1, of="any"),
        ask(200071, {}, body=change("COMPLETE_ADD")), returns(*bodies(0)), tags=SLOW),
    lite("200070/29", "LiteEventDispatcher.onRemoveAll @ 5.5.0",
        "Messages of a client that has ended MUST come to another one of its group.",
        *TWO, subscribe("a", client="{clientB}"), ask(200071, {}, body=change("COMPLETE_REMOVE")),
        pop(finds(*bodies(0, 1)), client="{clientB}")),
    lite("200070/30", "PopLiteMessageProcessor.getPopOffset @ 5.5.0",
        "The first pop of a group MUST commit where it begins.",
        *TWO_POPPED,
        ask(14, {"consumerGroup": "{group}", "topic": QUEUE, "queueId": "0"}, offset(0))),
    lite("200070/31", "MixAll.topicAllowsLMQ @ 5.5.0",
        "A message of a lite topic with a delay MUST come when the delay is over.",
        *READY, subscribe("a"), put("x", properties={"__LITE_TOPIC": "a", "DELAY": "2"}), pop(NONE),
        returns(with_body("x"), not_before=0.2), tags=SLOW),
    lite("310/201", "SendMessageProcessor.sendMessage @ 5.5.0",
        "A message of a lite topic MUST be stored in the parent topic's queue.",
        parent(queues=2), put("x", stores(1, 0), queue=1, properties={"__LITE_TOPIC": "a"}),
        comes(Has({"properties": Has({"INNER_MULTI_DISPATCH": QUEUE})}), queue=1)),
    lite("310/202", "SendMessageProcessor.sendMessage @ 5.5.0",
        "Messages of lite topics MUST be taken by topics of other types, too.",
        topic(), put("x", stores(0, 0), properties={"__LITE_TOPIC": "a"}),
        comes(Has({"properties": Has({"INNER_MULTI_DISPATCH": QUEUE})}))),
    lite("310/203", "LmqDispatch.wrapLmqDispatch @ 5.5.0",
        "A message of a lite topic MUST be stored with its offset in its LMQ.",
        parent(), *fill(1), put("x", properties={"__LITE_TOPIC": "a", "WAIT": "true"}),
        comes(ANY, Has({"properties": Has({"INNER_MULTI_QUEUE_OFFSET": "1"})}))),
    lite("11/105", "PullMessageProcessor.processRequest @ 5.5.0",
        "A pull MUST read a lite topic that it names.",
        *READY, *fill(1, of="b"), *fill(2), pull(0, finds(*bodies(0, 1), nextBeginOffset="2",
            minOffset="0", maxOffset="2"), liteTopic="a"),
        pull(2, refuses(19, ANY, Has({"nextBeginOffset": "2"})), liteTopic="a"),
    ),
    lite("11/106", "LmqTopicConfigManager.selectTopicConfig @ 5.5.0",
        "A pull MUST read an LMQ by its name.",
        *READY, *fill(2), pull(1, finds(*bodies(1), nextBeginOffset="2"), of=QUEUE)),
    lite("29/8", "AdminBrokerProcessor.searchOffsetByTimestamp @ 5.5.0",
        "A search by time MUST look at the lite topic that it names.",
        *READY, *fill(2), ask(29, {"topic": "{topic}", "queueId": "0", "timestamp": "0",
            "liteTopic": "a"}, offset(0)),
        ask(29, {"topic": "{topic}", "queueId": "0", "timestamp": "{=now+60000}",
            "liteTopic": "a"}, offset(2)),
        ask(29, {"topic": "{topic}", "queueId": "0", "timestamp": "0", "liteTopic": "x"},
            offset(0)),
    ),
    lite("200051/9", ACK, "An acknowledgement MUST commit the offset after the message.",
        *TWO_POPPED, ack(0),
        ask(14, {"consumerGroup": "{group}", "topic": QUEUE, "queueId": "0"}, offset(1))),
    lite("200051/10", ACK, "An acknowledgement out of order MUST NOT commit.",
        *TWO_POPPED, ack(1),
        ask(14, {"consumerGroup": "{group}", "topic": QUEUE, "queueId": "0"}, offset(0)), ack(0),
        ask(14, {"consumerGroup": "{group}", "topic": QUEUE, "queueId": "0"}, offset(2))),
    lite("200051/11", ACK, "A repeated acknowledgement MUST be answered with success.",
        *TWO_POPPED, ack(0), ack(0)),
    lite("200051/12", ACK,
        "An acknowledgement by a group of another topic MUST be refused with 29.",
        *TWO_POPPED, readers("{groupB}", of="{topicB}"),
        ack(0, refuses(29, "group type or bind topic not match."), consumerGroup="{groupB}")),
    lite("200051/13", ACK, "An offset beyond the end MUST be refused with 208.",
        *TWO_POPPED, ack(9, refuses(208, "ack offset illegal."))),
    lite("200051/14", ACK, "A handle of another kind of pop MUST be refused with 29.",
        *TWO_POPPED, ack(0, refuses(29, "ack queue illegal."), extraInfo=handle(0, 3))),
    lite("200051/15", ACK, "An offset that was not popped MUST be refused with 13.",
        *READY, *fill(3), subscribe("a"), pop(finds(*bodies(0)), count=1, save=TIMES),
        ack(2, refuses(13, "ack offset illegal."))),
    lite("200051/16", ACK,
        "An acknowledgement of an earlier pop MUST be answered with success, and do nothing.",
        *TWO_POPPED, ack(0, extraInfo="0 1 60000 999 0 {=broker} 0 0"),
        ask(14, {"consumerGroup": "{group}", "topic": QUEUE, "queueId": "0"}, offset(0))),
    lite("200051/17", ACK, "An acknowledgement in an unknown topic MUST be refused with 17.",
        *TWO_POPPED, ack(0, refuses(17), topic="{topicB}")),
    lite("200051/18", ACK, "A queue other than 0 MUST be refused with 29.",
        parent(queues=2), readers(), *fill(1), subscribe("a"), pop(finds(*bodies(0)), save=TIMES),
        ack(0, refuses(29, "ack queue illegal."), queueId="1")),
    lite("200053/6", CHANGE, "A message MUST be hidden for another time, and the response "
        "have the time since the pop.",
        *TWO_POPPED, hide(90_000, 0, Response(remark="not set any response code",
            ext=Has({"popTime": "{=time}", "invisibleTime": Number(least=90_000),
            "reviveQid": "999"}))),
    ),
    lite("200053/7", CHANGE, "An offset beyond the end MUST be refused with 208.",
        *TWO_POPPED, hide(1_000, 9, refuses(208, "not set any response code"))),
    lite("200053/8", CHANGE, "Messages whose time was made short MUST come again after it.",
        *TWO_POPPED, hide(2_000, 0), hide(2_000, 1),
        returns(*bodies(0, 1), not_before=0.5, counts="0 qo0%0 1;0 qo0%1 1"), tags=SLOW),
    lite("200053/9", "MemoryConsumerOrderInfoManager.suspendQueue @ 5.5.0",
        "A suspension MUST hide all messages of the pop; their next delivery counts as any other.",
        *TWO_POPPED, hide(2_000, 0, suspend="true"),
        returns(*bodies(0, 1), not_before=0.5, counts="0 qo0%0 1;0 qo0%1 1"), tags=SLOW),
    lite("200053/10", CHANGE, "A message that was acknowledged MUST stay so.",
        *TWO_POPPED, ack(0), hide(1_000, 0, Response(remark=ANY, ext=ANY)),
        ask(14, {"consumerGroup": "{group}", "topic": QUEUE, "queueId": "0"}, offset(1))),
)  # fmt: skip


FIGURES: Final = (
    only_5_5("200074/2", MANAGER,
        "The figures MUST name parent topics with their time to live, and their groups.",
        parent(attributes="+message.type=LITE,+lite.topic.expiration=30"), readers(),
        ask(200074, None, json_body(Has({"topicMeta": Has({"{topic}": 30}),
            "groupMeta": Has({"{topic}": ["{group}"]}), "maxLmqNum": Number(least=1),
            "currentLmqNum": Number(least=0), "liteSubscriptionCount": Number(least=0),
            "orderInfoCount": Number(least=0), "eventMapSize": Number(least=0)})))),
    lite("200074/3", MANAGER, "The figures MUST count LMQs, subscriptions and pops.",
        *TWO_POPPED, ask(200074, None, json_body(Has({"currentLmqNum": Number(least=1),
            "liteSubscriptionCount": Number(least=1), "orderInfoCount": Number(least=1),
            "eventMapSize": Number(least=1)}))),
    ),
    only_5_5("200075/1", MANAGER, "A parent topic MUST have its groups and its time to live.",
        *READY, ask(200075, {"topic": "{topic}"}, json_body({"topic": "{topic}", "ttl": -1,
            "liteTopicCount": 0, "lmqNum": Number(least=0), "groups": ["{group}"]})),
    ),
    only_5_5("200075/2", MANAGER, "A parent topic without groups MUST have none.",
        parent(), ask(200075, {"topic": "{topic}"}, json_body(Lacks(("groups",))))),
    lite("200075/3", MANAGER, "The lite topics of a parent topic MUST be counted.",
        *READY, *fill(1, of="a"), *fill(1, of="b"), until(200075, {"topic": "{topic}"},
            json_body(Has({"liteTopicCount": 2, "lmqNum": Number(least=2)}))),
    ),
    only_5_5("200075/4", MANAGER, "An unknown topic MUST be refused with 17.",
        ask(200075, {"topic": "{topic}"}, refuses(17, "Topic [{topic}] not exist."))),
    only_5_5("200075/5", MANAGER, "A topic without lite topics MUST be refused with 29.",
        topic(), ask(200075, {"topic": "{topic}"}, refuses(29, "Topic [{topic}] type not match."))),
    only_5_5("200075/6", MANAGER, "A request without a topic MUST be answered with 1.",
        ask(200075, {}, THROWN)),
    lite("200076/1", MANAGER, "A lite topic MUST have its offsets and its readers.",
        *TWO, ask(200076, {"parentTopic": "{topic}", "liteTopic": "a"}, json_body({
            "parentTopic": "{topic}", "liteTopic": "a", "shardingToBroker": True,
            "subscriber": [{"clientId": "{client}", "group": "{group}"}],
            "topicOffset": {"minOffset": 0, "maxOffset": 2,
                "lastUpdateTimestamp": Number(least=1)}})),
    ),
    only_5_5("200076/2", MANAGER, "A lite topic without messages MUST be empty.",
        *READY, ask(200076, {"parentTopic": "{topic}", "liteTopic": "a"}, json_body(Has({
            "subscriber": [], "topicOffset": {"minOffset": 0, "maxOffset": 0,
                "lastUpdateTimestamp": 0}}))),
    ),
    only_5_5("200076/3", MANAGER,
        "An unknown topic MUST be refused with 17, one without lite topics with 29.",
        topic("{topicB}"),
        ask(200076, {"parentTopic": "{topic}", "liteTopic": "a"},
            refuses(17, "Topic [{topic}] not exist.")),
        ask(200076, {"parentTopic": "{topicB}", "liteTopic": "a"},
            refuses(29, "Topic [{topicB}] type not match."))),
    lite("200076/4", MANAGER, "A group with a wildcard MUST be shown with one reader.",
        parent(), readers(**{"lite.sub.wildcard": "true"}),
        ask(200071, {}, body=change("COMPLETE_ADD")),
        ask(200076, {"parentTopic": "{topic}", "liteTopic": "a"}, json_body(Has({
            "subscriber": [{"clientId": "*", "group": "{group}"}]})))),
    only_5_5("200077/1", MANAGER, "An unknown client MUST be answered with -1.",
        *READY, ask(200077, OF_CLIENT, json_body({"parentTopic": "{topic}", "group": "{group}",
            "clientId": "{client}", "liteTopicCount": -1, "lastAccessTime": -1,
            "lastConsumeTime": ANY})),
    ),
    lite("200077/2", MANAGER, "A client's lite topics MUST be named, as many as are asked for.",
        *READY, subscribe("a", "b", "c"), ask(200077, OF_CLIENT,
            json_body(Has({"liteTopicCount": 3, "liteTopicSet": Contains((QUEUE,))}))),
        ask(200077, OF_CLIENT | {"maxCount": "1"},
            json_body(Has({"liteTopicCount": 3, "liteTopicSet": [ANY]}))),
    ),
    only_5_5("200077/3", MANAGER, "Another topic than that of the group MUST be refused with 29.",
        parent(), readers(of="{topicB}"),
        ask(200077, OF_CLIENT, refuses(29, "Subscription [{group}]-[{topic}] not match."))),
    lite("200077/4", MANAGER, "The time of a client's last pop MUST be told.",
        *TWO_POPPED,
        ask(200077, OF_CLIENT, json_body(Has({"lastAccessTime": Number(least="{=time}")})))),
    lite("200078/1", LAGS, "A group's lag MUST be the messages behind its committed offsets.",
        *READY, *fill(3), subscribe("a"), pop(finds(*bodies(0)), count=1, save=TIMES), ack(0),
        ask(200078, OF_GROUP, json_body(Has({"group": "{group}", "parentTopic": "{topic}",
            "totalLagCount": 2, "earliestUnconsumedTimestamp": -1, "lagTimestampTopK": [],
            "lagCountTopK": [{"liteTopic": "a", "lagCount": 2,
                "earliestUnconsumedTimestamp": Number(least=1)}]})))),
    lite("200078/2", LAGS,
        "The lite topics that are furthest behind MUST come first, as many as are asked for.",
        *READY, *fill(1, of="a"), *fill(2, of="b"), subscribe("a"), subscribe("b"),
        pop(finds(ANY, ANY, ANY)),
        ask(200078, OF_GROUP | {"topK": "1"}, json_body(Has({"totalLagCount": 3,
            "lagCountTopK": [Has({"liteTopic": "b", "lagCount": 2})]})))),
    lite("200078/3", MANAGER, "The lag in one lite topic MUST have its offsets.",
        *READY, *fill(3), subscribe("a"), pop(finds(*bodies(0)), count=1, save=TIMES), ack(0),
        ask(200078, OF_GROUP | {"liteTopic": "a"}, json_body(Has({"liteTopic": "a",
            "totalLagCount": 2, "earliestUnconsumedTimestamp": Number(least=1),
            "liteTopicOffsetWrapper": Has({"brokerOffset": 3, "consumerOffset": 1,
                "lastTimestamp": Number(least=1)})})))),
    only_5_5("200078/4", MANAGER, "The lag in an unknown lite topic MUST be -1.",
        *READY, ask(200078, OF_GROUP | {"liteTopic": "a"},
            json_body(Has({"totalLagCount": -1, "earliestUnconsumedTimestamp": -1}))),
    ),
    only_5_5("200078/5", MANAGER, "A group without a parent topic MUST be refused with 29.",
        ask(200078, OF_GROUP, refuses(29, "Group [{group}] is not a LITE group.")),
        ask(200079, {"group": "{group}"}, refuses(29, "Group [{group}] is not a LITE group."))),
    only_5_5("200078/6", MANAGER, "A request for no lite topics SHOULD be answered with 1.",
        *READY, ask(200078, OF_GROUP | {"topK": "0"}, THROWN)),
    lite("200079/1", "LiteEventDispatcher.doFullDispatchByGroup @ 5.5.0",
        "A group's clients MUST be told of all messages when an operator asks for it.",
        *TWO_POPPED, ack(0), ack(1), put("2", properties={"__LITE_TOPIC": "b"}), subscribe("b"),
        ask(200079, {"group": "{group}"}, Response(remark="not set any response code")),
        until(200070, {"clientId": "{client}", "consumerGroup": "{group}", "topic": "{topic}",
            "maxMsgNum": "32", "invisibleTime": "60000", "pollTime": "0", "bornTime": "0"},
            finds(*bodies(2)))),
    lite("215/11", "AbstractLiteLifecycleManager.cleanByParentTopic @ 5.5.0",
        "The lite topics of a deleted topic MUST be deleted.",
        *TWO_POPPED, ack(0), ack(1), ask(215, {"topic": "{topic}"}), parent(),
        until(200075, {"topic": "{topic}"}, json_body(Has({"liteTopicCount": 0}))), *fill(1),
        subscribe("a"), pop(finds(*bodies(0)))),
)  # fmt: skip
