"""Pulls (11, 361), long polls, filters in SQL92, and queries by key and id (12, 33)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.conformance.broker_cases.common import (
    FOUR,
    OK,
    POSITION,
    SOON,
    ask,
    bodies,
    case,
    check_client,
    comes,
    fill,
    finds,
    group,
    message,
    nothing,
    offset,
    only_4_9,
    pull,
    pull_fields,
    put,
    refuses,
    silence,
    since_5_3,
    stores,
    topic,
    until,
    visible,
    with_body,
)
from rocketwire_tools.conformance.model.case import ALL_PROFILES, SINCE_5_3, Profile
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Has,
    Lacks,
    Like,
    Messages,
    Number,
    Response,
)
from rocketwire_tools.conformance.model.requests import without
from rocketwire_tools.conformance.model.steps import Close, Expect, Request, Send, Step

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.model.steps import Until


# Pulls: codes 11 and 361, next offsets, checks, limits and filters by tag.

PULL: Final = "PullMessageProcessor.processRequest @ 5.5.0"
GET: Final = "DefaultMessageStore.getMessage @ 5.5.0"
COMPOSE: Final = "PullMessageProcessor.composeResponseHeader @ 5.5.0"
EDGES: Final = {"minOffset": "0", "maxOffset": "3", "suggestWhichBrokerId": "0"}
THREE: Final[tuple[Step, ...]] = (topic(), *fill(3), visible(3))
MATCH: Final = "DefaultMessageFilter.isMatchedByConsumeQueue @ 5.5.0"

# Pulls that wait for messages.
#
# Java looks every 5 s whether a queue has any new message for a pull that waits, whatever its
# filter (``PullRequestHoldService.checkHoldRequest``): cases that a message with another tag would
# fail then have several attempts.

HOLD: Final = "PullRequestHoldService.suspendPullRequest, notifyMessageArriving @ 5.5.0"
TIMEOUT: Final = "PullRequestHoldService.checkHoldRequest @ 5.5.0"
# Milliseconds for which a pull may wait that a message wakes: much longer than ``SOON``.
HELD: Final = 60_000
# Seconds for a pull that waits for a few seconds in vain: Java looks every 5 s.
LIMIT: Final = 25.0


def hold_pull(
    queue_offset: int = 0, *, on: str = "reader", hold: int = HELD, **settings: Any
) -> Send:
    return Send((Request(code=11, ext=pull_fields(queue_offset, hold=hold, **settings)),), on)


def expect(*texts: str | int, on: str = "reader", within: float = SOON) -> Expect:
    return Expect((finds(*bodies(*texts)),), on, within)


# Filters in SQL92: pulls with expressions, and the check of an expression (46).

FILTER: Final = "ExpressionMessageFilter.isMatchedByCommitLog, SqlFilter.compile @ 5.5.0"
CHECK: Final = "ClientManageProcessor.checkClientConfig @ 5.5.0"
REQUIRES: Final = {"enablePropertyFilter": "true"}
# The properties of the messages 0 to 11, on which expressions are evaluated.
OF_MESSAGES: Final[tuple[dict[str, str], ...]] = (
    {"a": "3"}, {"a": "2.5"}, {"a": "abc"}, {"a": "-1"}, {"a": "true"}, {"a": ""},
    {"b": "x"}, {"a": "3", "b": "hello"}, {"A": "3"}, {"a": "3", "TAGS": "TagA"}, {"a": " 3"},
    {"a": "3000000000"},
)  # fmt: skip
MESSAGES: Final[tuple[Step, ...]] = (
    topic(),
    *(put(str(number), properties=own) for number, own in enumerate(OF_MESSAGES)),
    visible(len(OF_MESSAGES)),
)


def selects(expression: str, *numbers: int) -> Step:
    outcome = (
        finds(*bodies(*numbers)) if numbers else nothing(20, "NO_MATCHED_MESSAGE", len(OF_MESSAGES))
    )
    return pull(0, outcome, tags=expression, expressionType="SQL92")


def _sql(
    number: int, requirement: str, *steps: Step, profiles: frozenset[Profile] = ALL_PROFILES
) -> Case:
    address = f"sql/{number}"
    return case(
        address, FILTER, requirement, *MESSAGES, *steps, requires=REQUIRES, profiles=profiles
    )


def _check(
    number: int, requirement: str, code: int, *expressions: str, kind: str = "SQL92"
) -> Case:
    outcome = refuses(code) if code else refuses(0)
    steps = (check_client(expression, outcome, kind=kind) for expression in expressions)
    return case(f"46/{number}", CHECK, requirement, *steps, requires=REQUIRES)


# Queries by key and by id: codes 12 and 33.

QUERY: Final = "QueryMessageProcessor.queryMessage, IndexService.queryOffset @ 5.5.0"
VIEW: Final = "QueryMessageProcessor.viewMessageById @ 5.5.0"
FIVE: Final[tuple[Step, ...]] = (
    topic(),
    *(
        put(str(number), properties={"KEYS": f"k{number} all", "UNIQ_KEY": f"{{client}}U{number}"})
        for number in range(5)
    ),
)


def fields(key: str, count: int = 32, **changes: str) -> dict[str, str]:
    return {
        "topic": "{topic}",
        "key": key,
        "maxNum": str(count),
        "beginTimestamp": "0",
        "endTimestamp": str(2**62),
    } | changes


def indexes(key: str, *texts: str, count: int = 32, **changes: str) -> Until:
    body = Messages(tuple(with_body(text) for text in texts))
    return until(12, fields(key, count, **changes), Response(remark=ANY, body=body), within=20.0)


CASES: Final = (
    # Pulls: codes 11 and 361, next offsets, checks, limits and filters by tag.
    case("11/1", GET,
        "A pull at 0 MUST find all messages, with the offset after the last one as the next.",
        *THREE, pull(0, finds(*bodies(0, 1, 2), nextBeginOffset="3", **EDGES))),
    case("11/2", GET, "A pull MUST begin at the offset that it asks for.",
        *THREE, pull(1, finds(*bodies(1, 2), nextBeginOffset="3", **EDGES)),
        pull(2, finds(*bodies(2), nextBeginOffset="3"))),
    case("11/3", GET, "A pull at the end MUST be answered with 19 and that offset.",
        *THREE, pull(3, nothing(19, "OFFSET_OVERFLOW_ONE", 3, **EDGES))),
    case("11/4", GET, "A pull beyond the end MUST be answered with 21 and the end.",
        *THREE, pull(4, nothing(21, "OFFSET_OVERFLOW_BADLY", 3, **EDGES)),
        pull(105, nothing(21, "OFFSET_OVERFLOW_BADLY", 3, **EDGES))),
    case("11/5", GET,
        "A pull before the first message MUST be answered with 21 and the first offset.",
        *THREE, pull(-1, nothing(21, "OFFSET_TOO_SMALL", 0, **EDGES))),
    case("11/6", GET, "A pull of an empty queue at 0 MUST be answered with 19 and offset 0.",
        topic(), pull(0, nothing(19, Like("NO_MESSAGE_IN_QUEUE|NO_MATCHED_LOGIC_QUEUE"), 0,
            minOffset="0", maxOffset="0")),
    ),
    case("11/7", GET, "A pull of an empty queue at another offset MUST be answered with 21 and "
        "offset 0.",
        topic(), *(pull(offset, nothing(21, Like("NO_MESSAGE_IN_QUEUE|NO_MATCHED_LOGIC_QUEUE"), 0))
            for offset in (5, -1)),
    ),
    case("11/8", GET, "A pull MUST return no more messages than it asks for.",
        *THREE, pull(0, finds(*bodies(0, 1), nextBeginOffset="2"), count=2)),
    since_5_3("11/9", GET, "A pull that asks for 0 messages SHOULD get one.",
        *THREE, pull(0, finds(*bodies(0), nextBeginOffset="1"), count=0)),
    case("11/10", GET, "A pull MUST return at most 32 messages.",
        topic(), *fill(40), visible(40),
        pull(0, Response(remark="FOUND", ext=Has({"nextBeginOffset": "32"}),
            body=Messages(bodies(*range(32)))), count=100),
        requires={"maxTransferCountOnMessageInMemory": "32"}),
    case("11/11", "DefaultMessageStore.isTheBatchFull @ 5.5.0",
        "A pull MUST return at most 256 KiB, but one message in any case.",
        topic(), *(put("x" * 102_400, properties={"UNIQ_KEY": f"K{number}"})
            for number in range(3)), put("y" * 400_000), visible(4),
        pull(0, Response(remark="FOUND", ext=Has({"nextBeginOffset": "2"}), body=ANY)),
        pull(3, Response(remark="FOUND", ext=Has({"nextBeginOffset": "4"}), body=ANY)),
        requires={"maxTransferBytesOnMessageInMemory": "262144", "maxMessageSize": "4194304"},
    ),
    case("11/12", f"{PULL}", "A pull of an unknown topic MUST be answered with 17.",
        ask(352, {"group": "{group}"}, Response(code=ANY, remark=ANY, body=ANY)),
        pull(0, refuses(17, Like(r"topic\[{topic}\] not exist, apply first please!.*")))),
    since_5_3("11/13", PULL, "A pull of an unknown queue MUST be answered with 29.",
        topic(), *(pull(0, refuses(29, Like(r"queueId\[-?\d\] is illegal, topic:\[{topic}\].*")),
            queue=queue) for queue in (4, -1)),
    ),
    only_4_9("11/14", "PullMessageProcessor.processRequest @ 4.9.4",
        "A pull of an unknown queue MUST be answered with 1.",
        topic(), *(pull(0, refuses(1, Like(r"queueId\[-?\d\] is illegal, topic:\[{topic}\].*")),
            queue=queue) for queue in (4, -1)),
    ),
    since_5_3("11/15", PULL, "A pull of a topic that may not be read MUST be answered with 16.",
        topic(perm="2"), pull(0, refuses(16, Like("the topic.{topic}. pulling message is "
            "forbidden"), Has({"forbiddenType": "3"}))),
    ),
    only_4_9("11/16", "PullMessageProcessor.processRequest @ 4.9.4",
        "A pull of a topic that may not be read MUST be answered with 16.",
        topic(perm="2"),
        pull(0, refuses(16, Like("the topic.{topic}. pulling message is forbidden")))),
    since_5_3("11/17", PULL, "A pull by a group that may not consume MUST be answered with 16.",
        topic(), group(consumeEnable=False),
        pull(0, refuses(16, Like("subscription group no permission, {group}"),
            Has({"forbiddenType": "2"})))),
    only_4_9("11/18", "PullMessageProcessor.processRequest @ 4.9.4",
        "A pull by a group that may not consume MUST be answered with 16.",
        topic(), group(consumeEnable=False),
        pull(0, refuses(16, Like("subscription group no permission, {group}")))),
    since_5_3("11/19", "SubscriptionGroupManager.findSubscriptionGroupConfig @ 5.5.0",
        "A pull by a group with an illegal name MUST be answered with 26.",
        topic(), pull(0, refuses(26, Like("subscription group .*does not exist.*")),
            consumerGroup="{group} b"),
    ),
    case("11/20", PULL,
        "A pull without a subscription by a group that has no member MUST be answered with 24.",
        *THREE, pull(0, refuses(24, Like("the consumer's group info not exist.*")), sysFlag="0")),
    case("11/21", PULL, "A pull without an offset MUST be answered with 1.",
        topic(), ask(11, without(pull_fields(), "queueOffset"), refuses(1))),
    since_5_3("361/1", "PullMessageProcessor.processRequest, RequestCode.LITE_PULL_MESSAGE @ 5.5.0",
        "A lite pull MUST be answered as a pull.",
        *THREE, pull(0, finds(*bodies(0, 1, 2), nextBeginOffset="3", **EDGES), code=361),
        pull(3, nothing(19, "OFFSET_OVERFLOW_ONE", 3), code=361)),
    only_4_9("361/2", "NettyRemotingAbstract.processRequestCommand @ 4.9.4",
        "A lite pull MUST be refused with 3, as an unknown code.",
        *THREE, pull(0, refuses(3), code=361)),
    case("11/22", MATCH,
        "A pull with a tag MUST return the messages with this tag only, and pass the others.",
        *FOUR, pull(0, finds(*bodies(1, 3), nextBeginOffset="4"), tags="T1")),
    case("11/23", MATCH, "A pull with several tags MUST return messages with any of them.",
        topic(), *fill(6, tags=("A", "B", "C")), visible(6),
        pull(0, finds(*bodies(0, 2, 3, 5), nextBeginOffset="6"), tags="A || C")),
    case("11/24", MATCH,
        "A pull with a tag that no message has MUST be answered with 20 and the end.",
        *FOUR, pull(0, nothing(20, "NO_MATCHED_MESSAGE", 4), tags="T9")),
    case("11/25", "FilterAPI.buildSubscriptionData @ 5.5.0",
        "A blank subscription MUST select all messages.",
        *FOUR, pull(0, finds(*bodies(0, 1, 2, 3)), tags=""),
        pull(0, finds(*bodies(0, 1, 2, 3)), tags="*")),
    case("11/26", MATCH, "Messages without a tag MUST NOT be found by a tag.",
        topic(), put("a"), put("b", properties={"TAGS": "T"}), visible(2),
        pull(0, finds(*bodies("b"), nextBeginOffset="2"), tags="T")),
    case("11/27", "MessageExtBrokerInner.tagsString2tagsCode @ 5.5.0",
        "Tags MUST be compared by Java's hash codes: a tag with the same code is found too.",
        topic(), put("a", properties={"TAGS": "Aa"}), put("b", properties={"TAGS": "BB"}),
        put("c", properties={"TAGS": "C"}), visible(3),
        pull(0, finds(*bodies("a", "b")), tags="Aa")),
    case("11/28", "MessageExtBrokerInner.tagsString2tagsCode @ 5.5.0",
        "Tags beyond ASCII MUST be found.",
        topic(), put("a", properties={"TAGS": "größe"}), put("b", properties={"TAGS": "日本"}),
        visible(2), pull(0, finds(*bodies("a")), tags="größe"),
        pull(0, finds(*bodies("b")), tags="日本")),
    case("11/29", GET, "A filtered pull MUST stop after the number of messages that it asks for.",
        topic(), *fill(80), visible(80),
        pull(0, Response(remark="FOUND", ext=Has({"nextBeginOffset": Number(least=20, most=21)}),
            body=Messages(bodies(*range(1, 20, 2)))), tags="T1", count=10)),
    case("11/30", "PullMessageProcessor.processRequest, PullSysFlag.hasCommitOffsetFlag @ 5.5.0",
        "A pull with the commit flag MUST store the offset of the group.",
        *THREE, pull(0, OK, sysFlag="5", commitOffset="2"),
        ask(14, {"consumerGroup": "{group}", "topic": "{topic}", "queueId": "0"}, offset(2))),
    case("11/31", "PullSysFlag.hasCommitOffsetFlag @ 5.5.0",
        "A pull without the commit flag MUST NOT store an offset.",
        *THREE, group(), ask(15, {"consumerGroup": "{group}", "topic": "{topic}", "queueId": "0",
            "commitOffset": "1"}),
        pull(0, OK, commitOffset="3"),
        ask(14, {"consumerGroup": "{group}", "topic": "{topic}", "queueId": "0"}, offset(1)),
    ),
    case("11/32", "TopicConfig.getReadQueueNums @ 5.5.0",
        "Messages of queues that a topic lost MUST be readable when it has them again.",
        topic(), put("a", queue=3), visible(1, queue=3), topic(queues=2),
        pull(0, refuses(29), refuses(1), queue=3), topic(), comes(*bodies("a"), queue=3)),
    since_5_3("11/33", COMPOSE, "The response to a pull SHOULD have topicSysFlag and groupSysFlag.",
        *THREE, pull(0, Response(remark="FOUND",
            ext=Has({"topicSysFlag": "0", "groupSysFlag": "0"}), body=ANY)),
    ),
    only_4_9("11/34", "PullMessageProcessor.processRequest @ 4.9.4",
        "The response to a pull SHOULD NOT have topicSysFlag and groupSysFlag.",
        *THREE,
        pull(0, Response(remark="FOUND", ext=Lacks(("topicSysFlag", "groupSysFlag")), body=ANY))),
    case("11/35", PULL, "Two groups MUST be able to read the same messages.",
        *THREE, pull(0, finds(*bodies(0, 1, 2)), consumerGroup="{group}"),
        pull(0, finds(*bodies(0, 1, 2)), consumerGroup="{groupB}")),
    case("11/36", GET,
        "A pull MUST NOT change the messages: the same pull has the same response again.",
        *THREE, pull(0, finds(*bodies(0, 1, 2)), save={"first": "message.2.storeTimestamp"}),
        pull(0, finds(*bodies(0, 1), with_body("2", storeTimestamp=Number(equal="{=first}"))))),
    case("11/37", "ConsumeQueue.getIndexBuffer @ 5.5.0",
        "Queues of one topic MUST be read separately.",
        topic(), *(put(str(queue), queue=queue) for queue in range(4)),
        *(comes(*bodies(queue), queue=queue) for queue in range(4))),
    case("11/38", PULL,
        "Pulls of many queues on one connection MUST be answered with the right opaque each.",
        topic(), *(put(str(queue), queue=queue) for queue in range(4)),
        *(visible(1, queue=queue) for queue in range(4)),
        *(pull(0, finds(*bodies(queue)), queue=queue) for queue in (3, 1, 0, 2))),
    since_5_3("11/39", "PullMessageProcessor.processRequest @ 5.5.0",
        "A filter that does not compile SHOULD be ignored by a pull with its own subscription.",
        *THREE, pull(0, OK, tags="a !=", expressionType="SQL92")),
    case("11/40", GET, "The store time of messages of one queue MUST NOT decrease.",
        *THREE, pull(0, OK, save={"first": "message.0.storeTimestamp"}),
        pull(1, finds(Has({"storeTimestamp": Number(least="{=first}")}), ANY))),
    case("11/41", "MessageStoreConfig.maxFilterMessageSize @ 5.5.0",
        "A pull whose filter matches only a message behind many others MUST get it, or 20 with a "
        "higher offset.",
        topic(),
        Send(tuple(message(str(number), properties={"TAGS": "no"}) for number in range(300))),
        *(Expect((Response(),), within=30.0) for _ in range(300)),
        put("last", properties={"TAGS": "yes"}), visible(301),
        pull(0, finds(*bodies("last"), nextBeginOffset="301"), tags="yes")),
    case("11/42", "PullMessageProcessor.processRequest @ 5.5.0",
        "A pull MUST NOT depend on a heartbeat of its connection.",
        *THREE, pull(0, finds(*bodies(0, 1, 2)), on="another")),
    # Pulls that wait for messages.
    case("hold/1", HOLD, "A pull at the end that may wait MUST be answered when a message arrives.",
        topic(), hold_pull(), silence(on="reader"), put("a"), expect("a")),
    case("hold/2", HOLD, "A pull that waits behind messages MUST be answered with the next one.",
        topic(), *fill(2), visible(2), hold_pull(2), silence(on="reader"), put("a"), expect("a")),
    case("hold/3", HOLD, "A pull beyond the end MUST NOT wait.",
        topic(), *fill(2), visible(2), pull(5, nothing(21, "OFFSET_OVERFLOW_BADLY", 2), hold=HELD)),
    case("hold/4", HOLD, "A pull without the flag for waiting MUST NOT wait.",
        topic(), pull(0, nothing(19, ANY, 0), sysFlag="4", suspendTimeoutMillis=str(HELD))),
    case("hold/5", HOLD, "A message with another tag MUST NOT wake a pull.",
        topic(), hold_pull(tags="T1"), silence(on="reader"), put("no", properties={"TAGS": "T0"}),
        silence(on="reader"), put("yes", properties={"TAGS": "T1"}), expect("yes"), attempts=3),
    case("hold/6", HOLD, "All pulls that wait for a queue MUST be woken by one message.",
        topic(), hold_pull(on="a"), hold_pull(on="b", consumerGroup="{groupB}"), silence(on="a"),
        put("x"), expect("x", on="a"), expect("x", on="b")),
    case("hold/7", HOLD, "A message of another queue MUST NOT wake a pull.",
        topic(), hold_pull(), put("x", queue=1), silence(on="reader"), put("y"), expect("y")),
    case("hold/8", HOLD, "A pull that waits MUST NOT hold up later requests of its connection.",
        topic(), hold_pull(), put("x", stores(1, 0), queue=1, on="reader"), put("y", on="reader"),
        expect("y")),
    case("hold/9", HOLD, "Many pulls of one connection MUST be able to wait at once.",
        topic(queues=16), *(hold_pull(queue=queue) for queue in range(16)),
        put("x", stores(7, 0), queue=7, on="reader"), expect("x")),
    case("hold/10", TIMEOUT, "A pull that waited in vain MUST be answered with 19.",
        topic(), hold_pull(hold=1000), Expect((nothing(19, ANY, 0),), "reader", LIMIT)),
    case("hold/11", TIMEOUT,
        "A pull that waited behind messages in vain MUST be answered with 19 and its offset.",
        topic(), *fill(2), visible(2), hold_pull(2, hold=1000),
        Expect((nothing(19, "OFFSET_OVERFLOW_ONE", 2),), "reader", LIMIT)),
    case("hold/12", TIMEOUT, "A pull for a tag that got only messages with others MUST be answered "
        "with 20 and the offset behind them.",
        topic(), hold_pull(hold=2000, tags="T1"), silence(on="reader"),
        put("no", properties={"TAGS": "T0"}),
        Expect((nothing(20, "NO_MATCHED_MESSAGE", 1),), "reader", LIMIT),
    ),
    case("hold/13", HOLD, "The commit of a pull that waits MUST take effect on arrival.",
        topic(), *fill(2), visible(2),
        Send((Request(code=11, ext=pull_fields(2, hold=HELD) | {"sysFlag": "7",
            "commitOffset": "2"}),), "reader"),
        silence(on="reader"),
        ask(14, {"consumerGroup": "{group}", "topic": "{topic}", "queueId": "0"}, offset(2))),
    case("hold/14", HOLD, "A batch MUST wake a pull.",
        topic(), hold_pull(), silence(on="reader"), put("x", queue=0),
        Expect((Response(remark="FOUND", ext=Has({"nextBeginOffset": Number(least=1)}),
            body=Messages(bodies("x"))),), "reader", SOON)),
    case("hold/15", HOLD, "A pull whose connection was closed MUST NOT disturb others.",
        topic(), hold_pull(on="gone"), silence(on="gone"), Close("gone"), hold_pull(),
        silence(on="reader"), put("x"), expect("x"), comes(*bodies("x"))),
    case("hold/16", HOLD, "A pull that waits MAY be answered only once.",
        topic(), hold_pull(), silence(on="reader"), put("x"), expect("x"), put("y"),
        silence(on="reader")),
    case("hold/17", "PullMessageProcessor.processRequest @ 5.5.0",
        "A pull that may wait MUST be refused at once if its topic is unknown.",
        pull(0, refuses(17), hold=HELD)),
    case("hold/18", "DelayLevel, ScheduleMessageService @ 5.5.0",
        "A message whose delay is over MUST wake a pull.",
        topic(), hold_pull(), put("late", properties={"DELAY": "1"}), silence(on="reader"),
        expect("late")),
    case("hold/19", HOLD, "A pull MUST be woken although another connection sends the message.",
        topic(), hold_pull(), silence(on="reader"), put("x", on="producer"), expect("x")),
    case("hold/20", TIMEOUT,
        "The time for which a pull waits MUST NOT be shorter than it asks for.",
        topic(), hold_pull(hold=1500), silence(1.2, on="reader"),
        Expect((nothing(19, ANY, 0),), "reader", LIMIT)),
    # Filters in SQL92: pulls with expressions, and the check of an expression (46).
    _sql(1, "Comparisons with an integer MUST match 32-bit integers only.",
        *(selects(text, 0, 7, 9) for text in ("a > 2", "a >= 3", "a = 3", "a = 3L")),
        selects("a < 0", 3), selects("a > -2", 0, 3, 7, 9)),
    _sql(2, "Comparisons with a decimal MUST match all numbers.",
        selects("a > 2.4", 0, 1, 7, 9, 10, 11), selects("a = 2.50", 1)),
    _sql(3, "Comparisons with an integer beyond 32 bits MUST match 64-bit integers.",
        selects("a = 3000000000", 11)),
    _sql(4, "<> MUST match convertible values that differ, and no missing ones.",
        selects("a <> 3", 3), selects("a = -1", 3)),
    _sql(5, "Comparisons with a string MUST match the exact text.", selects("a = '3'", 0, 7, 9),
        selects("a = 'abc'", 2)),
    _sql(6, "Comparisons with TRUE MUST match the text true.", selects("a = true", 4),
        selects("a = TRUE", 4)),
    _sql(7, "IS NULL MUST match missing and empty properties, and IS NOT NULL the others.",
        selects("a is null", 5, 6, 8), selects("a is not null", 0, 1, 2, 3, 4, 7, 9, 10, 11)),
    _sql(8, "IN MUST match the listed strings, and NOT IN other texts, but no missing ones.",
        selects("a in ('3','abc')", 0, 2, 7, 9), selects("a not in ('3')", 1, 2, 3, 4, 10, 11)),
    _sql(9, "BETWEEN MUST match numbers in the closed range, and NOT BETWEEN other numbers.",
        selects("a between 2 and 4", 0, 7, 9), selects("a not between 2 and 4", 3)),
    _sql(10, "NOT MUST NOT match what cannot be compared.", selects("NOT (a > 2)", 3)),
    _sql(11, "AND and OR MUST combine comparisons, AND first.",
        selects("a > 2 AND b = 'hello'", 7), selects("a > 2 or b = 'x'", 0, 6, 7, 9),
        selects("b = 'x' or a > 2 and b = 'hello'", 6, 7)),
    _sql(12,
        "CONTAINS, STARTSWITH and ENDSWITH MUST match parts of a text, and NOT CONTAINS the "
        "others.",
        selects("b contains 'ell'", 7), selects("b startswith 'he'", 7),
        selects("b endswith 'lo'", 7), selects("b not contains 'ell'", 6), profiles=SINCE_5_3),
    _sql(13, "A constant expression MUST match all messages or none.",
        selects("TRUE", *range(12)), selects("'a' = 'a'", *range(12)), selects("3 > 2", *range(12)),
        selects("FALSE")),
    _sql(14, "Names of properties MUST be compared with their case.", selects("A = 3", 8)),
    _sql(15, "The tag of a message MUST be a property.", selects("TAGS = 'TagA'", 9)),
    _sql(16, "Comments MUST be ignored.", selects("a > 2 -- c", 0, 7, 9),
        selects("a > 2 /* c */", 0, 7, 9)),
    _sql(17, "A name alone SHOULD match nothing.", selects("a")),
    _sql(18, "Two doubled quotation marks in a string MUST be one.",
        put("12", properties={"b": "it's"}), visible(13),
        pull(0, finds(*bodies(12)), tags="b = 'it''s'", expressionType="SQL92")),
    case("sql/19", "PullRequestHoldService.notifyMessageArriving @ 5.5.0",
        "A pull that waits with an expression MUST be woken by a message that it matches, only.",
        topic(), hold_pull(tags="a > 2", expressionType="SQL92"), silence(on="reader"),
        put("no", properties={"a": "1"}), silence(on="reader"), put("yes", properties={"a": "5"}),
        expect("yes"), requires=REQUIRES, attempts=3),
    _sql(20, "Keywords MUST be accepted in any case.", selects("a BETWEEN 2 AND 4", 0, 7, 9),
        selects("a Is NoT nUlL and b = 'hello'", 7)),
    _check(1, "A client's expression that compiles MUST be accepted.", 0, "a > 2", "a in ('3')",
        "a is null", "(a > 2 or b = 'x') and TRUE", "a between 1 and 2", "b contains 'x'"),
    _check(2, "A client's expression with an operator of other languages MUST be refused with 23.",
        23, "a != 2", "a == 2", "a > 2 && b = 'x'", "a > 2 || b = 'x'"),
    _check(3, "A client's expression with numbers in a list MUST be refused with 23.", 23,
        "a in (3)"),
    _check(4, "A range whose bounds are in the wrong order MUST be refused with 23.", 23,
        "a between 4 and 2"),
    _check(5, "An order of strings MUST be refused with 23.", 23, "a > '2'", "a <= 'x'"),
    _check(6, "A comparison with NULL MUST be refused with 23.", 23, "a = NULL"),
    _check(7, "NOT without parentheses before a comparison MUST be refused with 23.", 23,
        "not a > 2"),
    _check(8, "An expression that is not complete MUST be refused with 23.", 23, "a >", "(a > 2",
        "a in ('3'", "and a > 2"),
    _check(9, "A client's tags MUST be accepted.", 0, "*", "a || b", kind="TAG"),
    _check(10, "An unknown type of expression MUST be refused with 23.", 23, "a", kind="XPATH"),
    # Queries by key and by id: codes 12 and 33.
    case("12/1", QUERY, "A query by a key MUST find the messages that have this word in KEYS.",
        *FIVE, indexes("k2", "2")),
    case("12/2", QUERY, "A query by a key of many messages MUST find them in the order of storing.",
        *FIVE, indexes("all", "0", "1", "2", "3", "4")),
    case("12/3", QUERY, "A query MUST find the newest messages if there are more than it asks for.",
        *FIVE, indexes("all", "3", "4", count=2)),
    case("12/4", QUERY, "A query by a unique key MUST find the message.", *FIVE,
        indexes("{client}U3", "3")),
    case("12/5", QUERY, "A query by a key that no message has MUST be answered with 22.",
        *FIVE, ask(12, fields("none"),
            refuses(22, "can not find message, maybe time range not correct", ANY)),
    ),
    case("12/6", QUERY, "A query in another topic MUST NOT find the messages.",
        *FIVE, topic("{topicB}"), indexes("k1", "1"),
        ask(12, fields("k1", topic="{topicB}"), refuses(22, ANY, ANY))),
    case("12/7", QUERY, "A query for an earlier time MUST NOT find the messages.",
        *FIVE, indexes("k1", "1"),
        ask(12, fields("k1", endTimestamp="1000"), refuses(22, ANY, ANY))),
    case("12/8", QUERY, "A query for a later time MUST NOT find the messages.",
        *FIVE, indexes("k1", "1"),
        ask(12, fields("k1", beginTimestamp="{=now+3600000}"), refuses(22, ANY, ANY))),
    case("12/9", QUERY, "The response to a query MUST have the fields of the index's last update.",
        *FIVE, until(12, fields("k4"), Response(remark=ANY, body=Messages((with_body("4"),)),
            ext=Has({"indexLastUpdateTimestamp": ANY, "indexLastUpdatePhyoffset": ANY}))),
    ),
    case("12/10", "IndexService.buildIndex @ 5.5.0",
        "The items of KEYS MUST be separated by single blanks.",
        topic(), put("a", properties={"KEYS": "one two"}), indexes("two", "a"),
        ask(12, fields("one two"), refuses(22, ANY, ANY))),
    case("12/11", QUERY, "A query without a time range MUST be answered with 1.",
        ask(12, {"topic": "{topic}", "key": "k"}, refuses(1))),
    case("12/12", "QueryMessageProcessor.queryMessage, _UNIQUE_KEY_QUERY @ 5.5.0",
        "A query marked as one by a unique key MUST find the message.",
        *FIVE, indexes("{client}U1", "1", count=1, _UNIQUE_KEY_QUERY="true")),
    case("33/1", VIEW, "A message MUST be found by its position.",
        topic(), put("a", save=POSITION), until(33, {"offset": "{=position}"},
            Response(remark=ANY, ext=ANY,
            body=Messages((with_body("a", topic="{topic}", queueId=0),)))),
    ),
    case("33/2", VIEW, "A position at which no message begins MUST be answered with 1.",
        topic(), put("a" * 200, save=POSITION),
        until(33, {"offset": "{=position}"}, Response(remark=ANY, ext=ANY, body=ANY)),
        ask(33, {"offset": "{=position+1}"}, refuses(1))),
    case("33/3", VIEW, "A position beyond the end MUST be answered with 1.",
        ask(33, {"offset": str(1 << 40)},
            refuses(1, f"can not find message by the offset, {1 << 40}"))),
    case("33/4", VIEW, "A message MUST be found by its position as it is found in its queue.",
        topic(), put("a", properties={"own": "1"}, save=POSITION),
        comes(with_body("a"), save={"stored": "message.0.storeTimestamp"}),
        ask(33, {"offset": "{=position}"},
            Response(remark=ANY, ext=ANY,
            body=Messages((Has({"properties": Has({"own": "1"}), "queueOffset": 0}),))))),
    case("33/5", VIEW, "A view without a position MUST be answered with 1.",
        ask(33, {}, refuses(1))),
)  # fmt: skip
