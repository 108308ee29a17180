"""What Java's broker does with messages later, ours does too: retries, delays, timers, transactions and replies.

Each dialogue is carried out with both, in topics and groups of its own. What cannot be equal is
left out: ids with positions, ports, times, and offsets in topics that all share.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.messages.heartbeat import HeartbeatData, ProducerData
from rocketwire.wire.message.properties import decode_properties, encode_properties
from rocketwire.wire.message.stored import StoredMessage
from tests.support.broker import messages
from tests.support.broker_wire import WireClient
from tests.support.java.dev_cluster import DevCluster

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.java.cluster import JavaCluster

Shown = tuple[object, ...]
Connect = Callable[[], WireClient]

HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
COMMIT, ROLLBACK = 8, 12

UNEQUAL = {
    *("msgId", "offsetMsgId", "transactionId", "recallHandle", "queueOffset"),
    *("tranStateTableOffset", "commitLogOffset", "bornHost", "storeHost", "storeTimestamp"),
    *(
        "UNIQ_KEY",
        "__transactionId__",
        "ORIGIN_MESSAGE_ID",
        "1ST_POP_TIME",
        "PUSH_REPLY_TIME",
        "TRAN_PREPARED_QUEUE_OFFSET",
    ),
    *("TIMER_OUT_MS", "TIMER_ENQUEUE_MS", "TIMER_DEQUEUE_MS", "TIMER_DELIVER_MS"),
}
"""Fields and properties with positions, ids or times: only that they are there is compared."""


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Generator[DevCluster]:
    with DevCluster(tmp_path_factory.mktemp("dev")) as cluster:
        yield cluster


def named(values: Mapping[str, str | None] | None) -> dict[str, object]:
    """Fields or properties, those that cannot be equal without their values."""
    return {name: name in UNEQUAL or value for name, value in (values or {}).items()}


def show(answer: RemotingCommand | None) -> Shown:
    """What must be equal of an answer without messages."""
    if answer is None:
        return ("no answer",)
    remark = re.sub(r"127\.0\.0\.1:\d+|\d{13}", "...", answer.remark or "")
    if (
        "Exception" in remark
        or "custom field" in remark
        or "rejects" in remark
        or "For input string" in remark
    ):
        remark = "an exception"
    if remark == "not set any response code":  # a left-over of some of Java's successes
        remark = ""
    return answer.code, remark, named(dict(answer.ext_fields or {}))


def show_message(message: StoredMessage) -> Shown:
    """What must be equal of a message."""
    properties = {name: value or "" for name, value in (message.properties or {}).items()}
    return (
        *(message.topic, message.queue_id, message.body, message.flag, message.sys_flag),
        *(message.reconsume_times, message.born_timestamp > 0),
        message.prepared_transaction_offset > 0,
        named(properties),
    )


def in_order(shown: Shown) -> str:
    """Sorts messages, whatever the order of their properties."""
    return json.dumps(shown, sort_keys=True, default=repr)


def come(client: WireClient, topic: str, count: int, queue: int = 0) -> list[StoredMessage]:
    """Wait until a queue shows that many messages, and return them all."""
    offset, found = 0, list[StoredMessage]()
    deadline = time.monotonic() + 60
    while len(found) < count and time.monotonic() < deadline:
        answer = client.answer_to(client.pull(offset, topic, queue=queue, hold=1_000))
        assert answer is not None
        if answer.code == 0:
            found += messages(answer)
            offset = found[-1].queue_offset + 1
        elif answer.code in {17, 29}:  # the topic is created later
            time.sleep(0.05)
    assert len(found) >= count, f"{topic} has {len(found)} messages"
    return found


def own(client: WireClient, topic: str, name: str) -> StoredMessage:
    """Wait for the message of a test in a topic that all tests share."""
    offset = 0
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        answer = client.answer_to(client.pull(offset, topic, hold=1_000))
        assert answer is not None
        page = messages(answer) if answer.code == 0 else []
        for message in page:
            if (message.properties or {}).get("own") == name:
                return message
        if page:
            offset = page[-1].queue_offset + 1
        elif answer.code in {17, 29}:  # the topic is created later
            time.sleep(0.05)
    raise AssertionError(f"{topic} has no message of {name}")


def send(client: WireClient, topic: str, **settings: Any) -> tuple[Shown, StoredMessage]:
    """Send one message to a new topic, and return it as stored."""
    answer = client.send(topic, b"x", h=7, **settings)
    return show(answer), come(client, topic, 1)[0]


def send_back(client: WireClient, message: StoredMessage, group: str, **changes: object) -> Shown:
    fields: dict[str, object] = {
        "offset": message.commit_log_offset,
        "group": group,
        "delayLevel": 1,
        "originTopic": message.topic,
        "originMsgId": "x",
        "unitMode": False,
    }
    return show(client.call(36, {**fields, **changes}))


# ---------------------------------------------------------------------------- dialogues


def delays(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    shown = [
        show(client.send(name, b"x", queue=2, properties={"DELAY": level, "TIMER_DELAY_SEC": "9"}))
        for level in ("1", "0", "-1", "x")
    ]
    delayed = client.send(name, b"1", queue=2, properties={"DELAY": "1", "TAGS": "red"})
    found = come(client, name, 4, queue=2)
    return [*shown, show(delayed), *sorted(map(show_message, found), key=in_order)]


def retries(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    group = f"{name}-g"
    sent, message = send(client, name, properties={"TAGS": "red", "KEYS": "k", "own": "1"})
    shown = [sent, send_back(client, message, group)]
    [first] = come(client, f"%RETRY%{group}", 1)
    shown += [show_message(first), send_back(client, first, group)]
    second = come(client, f"%RETRY%{group}", 2)[-1]
    shown += [show_message(second), send_back(client, second, group, maxReconsumeTimes=2)]
    [dead] = come(client, f"%DLQ%{group}", 1)
    shown += [show_message(dead), send_back(client, dead, f"{group}2", delayLevel=-1)]
    shown += map(show_message, come(client, f"%DLQ%{group}2", 1))
    return [
        *shown,
        send_back(client, message, "a b"),
        # not inside of a message: what Java reads there depends on what others have stored
        send_back(client, message, group, offset=1 << 40),
        show(client.call(36, {"group": group, "delayLevel": 1})),
        show(client.call(36, {"offset": 0, "delayLevel": 1})),
        show(client.call(36, {"offset": 0, "group": group})),
    ]


def own_retries(connect: Connect, name: str) -> list[Shown]:
    """Messages that a consumer sends to its retry topic itself, because 36 failed."""
    client = connect()
    topic = f"%RETRY%{name}"
    properties: dict[str, str | None] = {"DELAY": "1", "RETRY_TOPIC": name}
    committed = {**properties, "TRAN_MSG": "true"}
    shown = [
        show(client.send(topic, b"x", properties=committed, j=16, l=16)),
        show(client.send(topic, b"x", properties=properties, j=17, l=16)),
    ]
    [late], [dead] = come(client, topic, 1), come(client, f"%DLQ%{name}", 1)
    return [*shown, show_message(late), show_message(dead)]


def returns(connect: Connect, name: str) -> list[Shown]:
    """A delayed message that was popped and not acknowledged is delayed once more."""
    client = connect()
    group = f"{name}-g"
    client.send(name, b"x", h=7, properties={"DELAY": "1", "TAGS": "red"})
    come(client, name, 1)
    pop: dict[str, object] = {
        "consumerGroup": group,
        "topic": name,
        "queueId": 0,
        "maxMsgNums": 1,
        "invisibleTime": 1_000,
        "pollTime": 0,
        "bornTime": int(time.time() * 1000),
        "initMode": 0,
    }
    answer = client.call(200050, pop)
    [first] = messages(answer)
    [again] = come(client, f"%RETRY%{group}_{name}", 1)
    late = again.store_timestamp - first.store_timestamp >= 2_000
    return [(answer.code, late), show_message(again)]


def timers(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    now = int(time.time() * 1000)
    wishes: list[dict[str, str | None]] = [
        {"TIMER_DELAY_SEC": "2"},
        {"TIMER_DELAY_MS": "1500"},
        {"TIMER_DELIVER_MS": str(now + 2_000)},
        {"TIMER_DELIVER_MS": str(now - 2_000)},
        {"TIMER_DELAY_SEC": "2", "TIMER_DELAY_MS": "9000000", "TAGS": "red"},
        {"TIMER_DELAY_SEC": "0"},
        {"TIMER_DELAY_SEC": "-1"},
        {"TIMER_DELAY_SEC": "259201"},
        {"TIMER_DELAY_MS": "x"},
        {"TIMER_DELAY_SEC": "1.5"},
        {"TIMER_DELIVER_MS": str(now + 300_000_000)},
    ]
    shown = [show(client.send(name, b"x", queue=1, properties=wish)) for wish in wishes]
    found = come(client, name, 7, queue=1)
    return [*shown, *sorted(map(show_message, found), key=in_order)]


def recalls(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    wish: dict[str, str | None] = {"TIMER_DELAY_SEC": "6", "UNIQ_KEY": f"{name}-1"}
    answer = client.send(name, b"recalled", properties=wish)
    client.send(name, b"kept", properties={"TIMER_DELAY_SEC": "6", "UNIQ_KEY": f"{name}-2"})
    handle = (answer.ext_fields or {})["recallHandle"]
    client.send(f"{name}-other")

    def recall(**changes: object) -> Shown:
        fields = {"producerGroup": "p", "topic": name, "recallHandle": handle}
        return show(client.call(370, {**fields, **changes}))

    shown = [
        recall(),
        recall(),
        recall(topic=f"{name}-other"),
        recall(topic=f"{name}-missing"),
        recall(recallHandle="x y"),
        recall(recallHandle="djE="),
        recall(recallHandle="djEgYSBiIDEgYw=="),
        recall(recallHandle=handle.rstrip("=")),
        show(client.call(370, {"topic": name})),
    ]
    shown += map(show_message, come(client, name, 1))
    time.sleep(2)  # the recalled one would have come with the other
    return [*shown, *map(show_message, come(client, name, 1))]


def transactions(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": name, "TAGS": "red"}
    properties["CHECK_IMMUNITY_TIME_IN_SECONDS"] = "60"

    def half(**changes: str | None) -> tuple[Shown, dict[str, object]]:
        answer = client.send(name, b"x", queue=3, f=4, h=7, properties={**properties, **changes})
        fields = answer.ext_fields or {}
        return show(answer), {
            "topic": name,
            "producerGroup": name,
            "tranStateTableOffset": fields["queueOffset"],
            "commitLogOffset": int(fields["msgId"][16:], 16),
            "commitOrRollback": COMMIT,
            "fromTransactionCheck": False,
            "msgId": "KEY",
            "transactionId": "KEY",
        }

    def end(decision: dict[str, object], **changes: object) -> Shown:
        return show(client.call(37, {**decision, **changes}))

    client.send(name)  # so that no half message is at position 0
    sent, first = half(UNIQ_KEY="KEY", own="1")
    other_sent, second = half()
    shown = [
        sent,
        other_sent,
        end(first, producerGroup="another"),
        end(first, tranStateTableOffset=int(str(first["tranStateTableOffset"])) + 1),
        end(first, commitOrRollback=4),
        end(first),
        end(second, commitOrRollback=ROLLBACK),
    ]
    client.ask(37, {**second, "commitOrRollback": 0})
    shown += map(show_message, come(client, name, 1, queue=3))
    _, late = half(CHECK_IMMUNITY_TIME_IN_SECONDS="1")
    time.sleep(2.1)  # transactionTimeOut is 2 s
    return [*shown, end(late), end(late, commitOrRollback=ROLLBACK, fromTransactionCheck=True)]


def checks(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    data = ProducerData(group_name=name)
    client.call(34, {}, HeartbeatData(client_id=name, producer_data_set=(data,)))
    properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": name, "own": "1"}
    shown = [show(client.send(name, b"x", queue=3, h=7, properties=properties))]
    fields: Mapping[str, str] = {}
    for _ in range(2):
        check = client.request(39)
        assert check is not None
        fields = check.ext_fields or {}
        [message] = messages(check)
        shown += [
            (check.is_oneway, *show(check), *show_message(message)),
            (
                fields["offsetMsgId"][16:] == f"{int(fields['commitLogOffset']):016X}",
                message.queue_offset == int(fields["tranStateTableOffset"]),
                message.commit_log_offset == int(fields["commitLogOffset"]),
                message.store_size > 0,
            ),
        ]
    end: dict[str, object] = {
        "producerGroup": name,
        "tranStateTableOffset": fields["tranStateTableOffset"],
        "commitLogOffset": fields["commitLogOffset"],
        "commitOrRollback": COMMIT,
        "fromTransactionCheck": True,
        "msgId": "KEY",
    }
    return [*shown, show(client.call(37, end)), *map(show_message, come(client, name, 1, queue=3))]


def late_checks(connect: Connect, name: str) -> list[Shown]:
    """A message with its own time before the first check is stored anew at each check."""
    client = connect()
    data = ProducerData(group_name=name)
    client.call(34, {}, HeartbeatData(client_id=name, producer_data_set=(data,)))
    properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": name}
    properties["CHECK_IMMUNITY_TIME_IN_SECONDS"] = "4"
    client.send(name, b"x", queue=3, h=7, properties=properties)
    check = client.request(39)
    assert check is not None
    [message] = messages(check)
    properties_ = named(dict(message.properties or {}))
    checks = (message.properties or {})["TRANSACTION_CHECK_TIMES"]
    del properties_["TRANSACTION_CHECK_TIMES"]
    return [(message.flag, properties_), (int(checks or 0) > 1, *show(check))]


def given_up(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": name, "own": name}
    shown = [show(client.send(name, b"x", h=7, properties=properties, g=1))]
    topic = "TRANS_CHECK_MAX_TIME_TOPIC"
    message = own(client, topic, name)
    position = f"7F00000100001F90{message.commit_log_offset:016X}"
    return [
        *shown,
        show_message(message),
        show(client.call(323, {"topic": topic, "msgId": position})),
        show(client.call(323, {"topic": topic, "msgId": "x"})),
        show(client.call(323, {"topic": topic, "msgId": "7F00000100001F900000000000000001"})),
    ]


def decided_after_it_was_given_up(connect: Connect, name: str) -> list[Shown]:
    """A half message that says that it was checked often is given up, and can still be committed."""
    client = connect()
    properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": name, "own": name}
    properties["TRANSACTION_CHECK_TIMES"] = "2147483647"
    sent = client.send(name, b"x", queue=3, h=7, properties=properties)
    fields = sent.ext_fields or {}
    given_up = own(client, "TRANS_CHECK_MAX_TIME_TOPIC", name)
    end: dict[str, object] = {
        "producerGroup": name,
        "tranStateTableOffset": fields["queueOffset"],
        "commitLogOffset": int(fields["msgId"][16:], 16),
        "commitOrRollback": COMMIT,
        "msgId": "KEY",
    }
    return [
        show(sent),
        show_message(given_up),
        show(client.call(37, end)),
        *map(show_message, come(client, name, 1, queue=3)),
    ]


def replies(connect: Connect, name: str) -> list[Shown]:
    asker, replier = connect(), connect()
    data = ProducerData(group_name=name)
    asker.call(34, {}, HeartbeatData(client_id=name, producer_data_set=(data,)))
    topic = "DefaultCluster_REPLY_TOPIC"

    def reply(code: int | None, to: str | None, **changes: object) -> list[Shown]:
        fields: dict[str, object] = {
            "a": "repliers", "b": topic, "c": "TBW102", "d": 4, "e": 0, "f": 0, "g": 5, "h": 7,
            "i": encode_properties({"own": name, **({"REPLY_TO_CLIENT": to} if to else {})}),
            "j": 0, "k": False,
        }  # fmt: skip
        opaque = replier.ask(325, {**fields, **changes}, b"pong")
        shown: list[Shown] = []
        if code is not None:
            pushed = asker.request(326)
            assert pushed is not None
            ext = dict(pushed.ext_fields or {})
            text = ext.pop("properties", "")
            shown.append((pushed.code, pushed.is_oneway, pushed.body, named(ext)))
            shown.append((named({k: v or "" for k, v in decode_properties(text).items()}),))
            asker.respond(pushed, code=code)
        return [*shown, show(replier.answer_to(opaque))]

    shown = [
        *reply(0, name),
        *reply(0, name, e=-1, k=True, f=1, j=2),
        *reply(1, name),
        *reply(None, "nobody"),
        *reply(None, None),
        *reply(None, name, e=7),
        *reply(None, name, b="a b"),
    ]
    own = [
        message
        for message in come(replier, topic, 5)
        if (message.properties or {}).get("own") == name
    ]
    return [*shown, *map(show_message, own)]


DIALOGUES = (
    delays,
    retries,
    own_retries,
    returns,
    timers,
    recalls,
    transactions,
    checks,
    late_checks,
    given_up,
    decided_after_it_was_given_up,
    replies,
)


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue.__name__)
def test_what_happens_later_is_that_of_java(
    dialogue: Callable[[Connect, str], list[Shown]], java_cluster: JavaCluster, ours: DevCluster
) -> None:
    name = f"{dialogue.__name__}-{time.time_ns() % 10**9}"
    results: list[list[Shown]] = []
    for address in (java_cluster.master.address, ours.master.address):
        with ExitStack() as stack:
            results.append(
                dialogue(lambda: stack.enter_context(WireClient(address)), name)  # noqa: B023 - called at once
            )

    expected, answered = results
    assert answered == expected
