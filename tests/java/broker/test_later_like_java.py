"""Ours does the same with messages later as Java's broker, where no case of conformance has it.

Each dialogue is carried out with both, in topics and groups of its own. Ids with positions, ports,
times, and offsets in topics that all share cannot be equal, and are left out.
"""

import re
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack

import pytest

from rocketwire.messages.heartbeat import HeartbeatData, ProducerData
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage
from tests.peers.cluster import JavaCluster
from tests.peers.dev_cluster import DevCluster
from tests.support.broker import messages
from tests.support.broker_wire import WireClient

Shown = tuple[object, ...]
Connect = Callable[[], WireClient]

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


def keep_comparable(values: Mapping[str, str | None] | None) -> dict[str, object]:
    # Fields or properties, those that cannot be equal without their values.
    return {name: name in UNEQUAL or value for name, value in (values or {}).items()}


def show(answer: RemotingCommand | None) -> Shown:
    # The parts of an answer that must be equal, without messages.
    if answer is None:
        return ("no answer",)
    remark = re.sub(r"127\.0\.0\.1:\d+|\d{13}", "...", answer.remark or "")
    if re.search("Exception|custom field|rejects|For input string", remark):
        remark = "an exception"
    if remark == "not set any response code":  # a left-over of some of Java's successes
        remark = ""
    return answer.code, remark, keep_comparable(dict(answer.ext_fields or {}))


def show_message(message: StoredMessage) -> Shown:
    properties = {name: value or "" for name, value in (message.properties or {}).items()}
    return (
        *(message.topic, message.queue_id, message.body, message.flag, message.sys_flag),
        *(message.reconsume_times, message.born_timestamp > 0),
        message.prepared_transaction_offset > 0,
        keep_comparable(properties),
    )


def wait_for_messages(
    client: WireClient, topic: str, count: int, queue: int = 0
) -> list[StoredMessage]:
    offset, received = 0, list[StoredMessage]()
    deadline = time.monotonic() + 60
    while len(received) < count and time.monotonic() < deadline:
        answer = client.answer_to(client.pull(offset, topic, queue=queue, hold=1_000))
        assert answer is not None
        if answer.code == 0:
            received += messages(answer)
            offset = received[-1].queue_offset + 1
        elif answer.code in {17, 29}:  # the topic is created later
            time.sleep(0.05)
    assert len(received) >= count, f"{topic} has {len(received)} messages"
    return received


def find_message(client: WireClient, topic: str, name: str) -> StoredMessage:
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


# ---------------------------------------------------------------------------- dialogues


def own_retries(connect: Connect, name: str) -> list[Shown]:
    # Messages that a consumer sends to its retry topic itself, because 36 failed.
    client = connect()
    topic = f"%RETRY%{name}"
    properties: dict[str, str | None] = {"DELAY": "1", "RETRY_TOPIC": name}
    committed = {**properties, "TRAN_MSG": "true"}
    shown = [
        show(client.send(topic, b"x", properties=committed, j=16, l=16)),
        show(client.send(topic, b"x", properties=properties, j=17, l=16)),
    ]
    [retried], [dead] = (
        wait_for_messages(client, topic, 1),
        wait_for_messages(client, f"%DLQ%{name}", 1),
    )
    return [*shown, show_message(retried), show_message(dead)]


def returns(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    group = f"{name}-g"
    client.send(name, b"x", h=7, properties={"DELAY": "1", "TAGS": "red"})
    wait_for_messages(client, name, 1)
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
    [returned] = wait_for_messages(client, f"%RETRY%{group}_{name}", 1)
    is_late = returned.store_timestamp - first.store_timestamp >= 2_000
    return [(answer.code, is_late), show_message(returned)]


def late_checks(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    data = ProducerData(group_name=name)
    client.call(34, {}, HeartbeatData(client_id=name, producer_data_set=(data,)))
    properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": name}
    properties["CHECK_IMMUNITY_TIME_IN_SECONDS"] = "4"
    client.send(name, b"x", queue=3, h=7, properties=properties)
    check = client.request(39)
    assert check is not None
    [message] = messages(check)
    properties_ = keep_comparable(dict(message.properties or {}))
    checks = (message.properties or {})["TRANSACTION_CHECK_TIMES"]
    del properties_["TRANSACTION_CHECK_TIMES"]
    return [(message.flag, properties_), (int(checks or 0) > 1, *show(check))]


def give_up_checks(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": name, "own": name}
    shown = [show(client.send(name, b"x", h=7, properties=properties, g=1))]
    topic = "TRANS_CHECK_MAX_TIME_TOPIC"
    message = find_message(client, topic, name)
    position = f"7F00000100001F90{message.commit_log_offset:016X}"
    return [
        *shown,
        show_message(message),
        show(client.call(323, {"topic": topic, "msgId": position})),
        show(client.call(323, {"topic": topic, "msgId": "x"})),
        show(client.call(323, {"topic": topic, "msgId": "7F00000100001F900000000000000001"})),
    ]


def commit_after_giving_up(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    properties: dict[str, str | None] = {"TRAN_MSG": "true", "PGROUP": name, "own": name}
    properties["TRANSACTION_CHECK_TIMES"] = "2147483647"
    # a half message at offset 0 of the log looks like a message without one
    client.send(name, b"first")
    sent = client.send(name, b"x", queue=3, h=7, properties=properties)
    fields = sent.ext_fields or {}
    message = find_message(client, "TRANS_CHECK_MAX_TIME_TOPIC", name)
    end: dict[str, object] = {
        "producerGroup": name,
        "tranStateTableOffset": fields["queueOffset"],
        "commitLogOffset": int(fields["msgId"][16:], 16),
        "commitOrRollback": COMMIT,
        "msgId": "KEY",
    }
    return [
        show(sent),
        show_message(message),
        show(client.call(37, end)),
        *map(show_message, wait_for_messages(client, name, 1, queue=3)),
    ]


def bits_of_brokers(connect: Connect, name: str) -> list[Shown]:
    # Bits that brokers set, in messages of a client; 4 and 12 are in no queue of Java.
    client = connect()
    shown = [show(client.send(name, b"x", f=bits)) for bits in (8, 0x40, 0x80, 0xC0)]
    return [*shown, *map(show_message, wait_for_messages(client, name, 2))]


def names_of_light_queues(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    topic = f"%LMQ%{name}"
    return [show(client.send(topic, b"x")), *map(show_message, wait_for_messages(client, topic, 1))]


DIALOGUES = (
    bits_of_brokers,
    names_of_light_queues,
    own_retries,
    returns,
    late_checks,
    give_up_checks,
    commit_after_giving_up,
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
