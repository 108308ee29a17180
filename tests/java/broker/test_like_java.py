"""The same requests to Java's broker and to ours have the same answers: codes, remarks, fields and bodies.

Each dialogue is carried out with both, in topics and groups of its own. What cannot be equal is
left out: ids with positions, ports and times.
"""

from __future__ import annotations

import pprint
import re
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.messages import decode_body
from rocketwire.messages.allocation import LockBatchRequestBody, UnlockBatchRequestBody
from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.heartbeat import (
    CheckClientRequestBody,
    ConsumerData,
    HeartbeatData,
    ProducerData,
)
from rocketwire.messages.kvconfig import KVTable
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.subscription import subscription_data
from rocketwire.wire.message.batch import BatchMessage, encode_batch
from tests.support.broker import messages
from tests.support.broker_wire import WireClient
from tests.support.java.dev_cluster import DevCluster

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.java.cluster import JavaCluster

Shown = tuple[object, ...]
Connect = Callable[[], WireClient]

UNEQUAL = ("msgId", "transactionId", "version", "indexLastUpdateTimestamp")
"""Fields with positions, ids or times."""
VISIBLE_SECONDS = 60.0
"""Java shows a message some milliseconds after it has acknowledged it."""


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Generator[DevCluster]:
    with DevCluster(tmp_path_factory.mktemp("dev")) as cluster:
        yield cluster


def show(answer: RemotingCommand) -> Shown:
    """What must be equal of an answer without messages."""
    fields = answer.ext_fields
    if fields is not None:
        fields = {name: value for name, value in fields.items() if name not in UNEQUAL}
    if fields is None and re.search(r"^java\.|the custom field", answer.remark or ""):
        return answer.code, "AN EXCEPTION", None, ""  # its text is free
    remark = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", answer.remark or "")
    return answer.code, remark, fields, _body(answer)


def _body(answer: RemotingCommand) -> object:
    body = (answer.body or b"").decode("utf-8", "replace")
    body = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", body)
    body = re.sub(r'("timestamp"|"lastUpdateTimestamp"|"lastTimestamp"):\d{10,}', r"\1:TIME", body)
    queues = re.compile(r'\{"brokerName":[^{}]*\}:(?:\{[^{}]*\}|\d+)')
    return queues.sub("QUEUE", body), sorted(queues.findall(body))  # in no order


def pulled(answer: RemotingCommand) -> Shown:
    """What must be equal of an answer with messages."""
    if answer.code != 0:
        return show(answer)
    found = [
        (
            *(message.topic, message.queue_id, message.queue_offset, message.body, message.flag),
            *(message.sys_flag, message.reconsume_times, message.born_timestamp > 0),
            {
                name: value
                for name, value in (message.properties or {}).items()
                if name != "UNIQ_KEY"
            },
        )
        for message in messages(answer)
    ]
    return answer.code, answer.remark, answer.ext_fields, found


def visible(client: WireClient, topic: str, count: int, queue: int = 0) -> None:
    """Wait until a queue shows that many messages."""
    deadline = time.monotonic() + VISIBLE_SECONDS
    while time.monotonic() < deadline:
        answer = client.call(30, {"topic": topic, "queueId": queue})
        if int((answer.ext_fields or {})["offset"]) >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{topic} has not {count} messages")


def fill(client: WireClient, topic: str, count: int, **settings: Any) -> None:
    """Send messages to queue 0, the tags T0 and T1 in turn."""
    for index in range(count):
        properties: dict[str, str | None] = {"TAGS": f"T{index % 2}", "a": str(index)}
        client.send(topic, b"%d" % index, properties={**properties, **settings})
    visible(client, topic, count)


# ---------------------------------------------------------------------------- dialogues


def sends(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    long_names: dict[str, object] = {
        "producerGroup": "p", "topic": name, "defaultTopic": "TBW102", "defaultTopicQueueNums": 4,
        "queueId": 1, "sysFlag": 0, "bornTimestamp": 5, "flag": 9, "properties": "a\x01b",
        "reconsumeTimes": 0, "unitMode": False,
    }  # fmt: skip
    return [
        *(show(client.send(name, b"x", queue=queue)) for queue in (0, 0, 3)),
        show(client.call(10, long_names, b"x")),
        show(client.send(name, b"x", queue=4)),
        show(client.send("a b")),
        show(client.send("")),
        show(client.send("t" * 128)),
        show(client.send("SCHEDULE_TOPIC_XXXX")),
        show(client.send(f"{name}-2", c="missing")),
        show(client.send(f"{name}-3", d=16, queue=7)),
        show(client.send(f"{name}-4", d=2, queue=2)),
        show(client.send("%RETRY%" + "g" * 130)),
        show(client.send(name, b"x" * (4 << 20))),
        show(client.send(name, b"x" * ((4 << 20) + 1))),
        show(client.send(name, properties={"a": "x" * 32_760})),
    ]


def batches(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    items = [
        BatchMessage(
            body=b"%d" % index, flag=index, properties={"UNIQ_KEY": f"U{index}", "TAGS": "T"}
        )
        for index in range(3)
    ]
    body = encode_batch(items)
    answers = [
        show(client.send(name, body, code=320, m=True)),
        show(client.send(name, body, code=310, m=True, properties={"UNIQ_KEY": "CONTAINER"})),
        show(client.send(name, body, code=320)),
        show(client.send(name, body, code=320, m=True, properties={"DELAY": "1"})),
        show(client.send(f"%RETRY%{name}", body, code=320, m=True)),
    ]
    visible(client, name, 7)
    return [*answers, pulled(client.pulled(0, name))]


def pulls(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    fill(client, name, 3)
    return [
        *(pulled(client.pulled(offset, name)) for offset in (-1, 0, 2, 3, 4, 105)),
        *(pulled(client.pulled(offset, name, queue=1)) for offset in (0, 5, -1)),
        pulled(client.pulled(0, name, tags="T1")),
        pulled(client.pulled(0, name, tags="T1 || T0")),
        pulled(client.pulled(0, name, tags="T9")),
        pulled(client.pulled(0, name, count=0)),
        pulled(client.pulled(0, name, tags="a > 0", expressionType="SQL92")),
        pulled(client.pulled(0, name, tags="a !=", expressionType="SQL92")),
        show(client.pulled(0, f"{name}-missing")),
        show(client.pulled(0, name, queue=4)),
        show(client.pulled(0, name, queue=-1)),
        show(client.pulled(0, name, consumerGroup="a b")),
        show(client.pulled(0, name, consumerGroup=f"{name}-unknown", sysFlag=0)),
        *(
            show(client.call(code, {"consumerGroup": name, "topic": name, "queueId": 0}))
            for code in (11, 361)
        ),
    ]  # fmt: skip


def filtered(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    fill(client, name, 80)
    answer = client.pulled(0, name, tags="T1", count=10)
    next_offset = int((answer.ext_fields or {})["nextBeginOffset"])
    assert 20 <= next_offset <= 21, "both are right: after the last match, or at the next one"
    return [pulled(answer)[:1], (len(messages(answer)),)]


def held(connect: Connect, name: str) -> list[Shown]:
    client, writer = connect(), connect()
    fill(client, name, 2)
    woken = client.pull(2, name, hold=30_000, tags="T1")
    any_tag = client.pull(2, name, hold=30_000, consumerGroup=f"{name}-2")
    at_once = pulled(client.pulled(5, name, hold=30_000))
    writer.send(name, b"other", properties={"TAGS": "T0"})
    first = client.answer_to(any_tag)
    writer.send(name, b"mine", properties={"TAGS": "T1"})
    second = client.answer_to(woken)
    assert first is not None
    assert second is not None
    return [at_once, pulled(first), pulled(second)]


def offsets(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    fill(client, name, 3)
    queue: dict[str, object] = {"topic": name, "queueId": 0}
    of_group: dict[str, object] = {**queue, "consumerGroup": name}
    client.call(352, {"group": name})
    later = int(time.time() * 1000) + 3_600_000
    return [
        *(show(client.call(code, {**queue, "queueId": number})) for code in (30, 31) for number in (0, 1, 9)),
        show(client.call(32, {**queue, "queueId": 1})),
        *(
            show(client.call(29, {**queue, "timestamp": at, "boundaryType": kind}))
            for at in (0, later)
            for kind in ("LOWER", "UPPER")
        ),
        show(client.call(14, of_group)),
        show(client.call(14, {**of_group, "setZeroIfNotFound": False})),
        show(client.call(14, {**of_group, "queueId": 1})),
        show(client.call(15, {**of_group, "commitOffset": 2})),
        show(client.call(14, of_group)),
        show(client.call(15, {**of_group, "commitOffset": 99})),
        show(client.call(14, of_group)),
        show(client.call(15, {**of_group, "consumerGroup": f"{name}-x", "commitOffset": 1})),
        show(client.call(15, {**of_group, "topic": f"{name}-x", "commitOffset": 1})),
        show(client.call(15, of_group)),
        show(client.call(15, {"consumerGroup": name, "topic": name, "commitOffset": 1})),
    ]  # fmt: skip


def resets(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    fill(client, name, 3, d=None)
    of_group: dict[str, object] = {"topic": name, "queueId": 0, "consumerGroup": name}
    reset: dict[str, object] = {"topic": name, "group": name, "timestamp": 0, "isForce": True}
    client.call(352, {"group": name})
    return [
        show(client.call(222, {**reset, "queueId": 0, "offset": 99})),
        show(client.call(222, {**reset, "topic": f"{name}-x"})),
        show(client.call(222, {**reset, "group": f"{name}-x"})),
        show(client.call(222, {**reset, "queueId": 0, "offset": 1})),
        show(client.call(14, of_group)),
        show(client.call(15, {**of_group, "commitOffset": 3})),
        show(client.call(14, of_group)),
        show(client.pulled(3, name, consumerGroup=name)),
        show(client.call(15, {**of_group, "commitOffset": 3})),
        show(client.call(14, of_group)),
    ]


def heartbeats(connect: Connect, name: str) -> list[Shown]:
    def beat(client: WireClient, number: int, *topics: str) -> RemotingCommand:
        consumer = ConsumerData(
            group_name=name,
            consume_type=ConsumeType.CONSUME_PASSIVELY,
            consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
            message_model=MessageModel.CLUSTERING,
            subscription_data_set=tuple(
                subscription_data(topic, "a", version=1) for topic in topics
            ),
        )
        producer = ProducerData(group_name=f"{name}-p")
        data = HeartbeatData(
            client_id=f"client-{number}", consumer_data_set=(consumer,), producer_data_set=(producer,)
        )  # fmt: skip
        return client.call(34, {}, data)

    def told(client: WireClient, seconds: float = 60.0) -> Shown:
        request = client.request(40, seconds)
        return (None,) if request is None else (request.flag & 2, request.ext_fields)

    one, two = connect(), connect()
    group: dict[str, object] = {"consumerGroup": name}
    shown = [
        show(one.call(38, group)),
        show(one.call(203, group)),
        show(one.call(204, {"producerGroup": f"{name}-p"})),
        show(beat(one, 1, "t")),
        told(one),
        show(beat(one, 1, "t")),
        told(one, 1.0),
        show(one.call(38, group)),
        show(one.call(203, group)),
        show(one.call(204, {"producerGroup": f"{name}-p"})),
        show(one.call(351, {"topic": f"%RETRY%{name}"})),
        show(one.call(345, {"group": name, "topic": "t"})),
        show(beat(two, 2, "t", "u")),
        told(one),
        told(two),
        show(two.call(35, {"clientID": "client-2", "consumerGroup": name})),
        told(one),
        show(one.call(34, {})),
    ]
    return [_without_ports(item) for item in shown]


def _without_ports(shown: Shown) -> Shown:
    return tuple(
        re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", item) if isinstance(item, str) else item
        for item in shown
    )


def locks(connect: Connect, name: str) -> list[Shown]:
    client = connect()

    def body(cls: Any, client_id: str, *queues: int) -> object:
        wanted = tuple(
            MessageQueue(topic=name, broker_name="broker-a", queue_id=queue) for queue in queues
        )
        return cls(consumer_group=name, client_id=client_id, mq_set=wanted)

    return [
        show(client.call(41, {}, body(LockBatchRequestBody, "a", 0))),
        show(client.call(41, {}, body(LockBatchRequestBody, "b", 0))),
        show(client.call(42, {}, body(UnlockBatchRequestBody, "b", 0))),
        show(client.call(41, {}, body(LockBatchRequestBody, "b", 0))),
        show(client.send(f"%RETRY%{name}", queue=0)),
        show(client.call(42, {}, body(UnlockBatchRequestBody, "a", 0))),
        show(client.call(41, {}, body(LockBatchRequestBody, "b", 0))),
    ]


def topics(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    fields: dict[str, object] = {
        "topic": name, "defaultTopic": "TBW102", "readQueueNums": 3, "writeQueueNums": 4,
        "perm": 6, "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": False,
    }  # fmt: skip
    return [
        show(client.call(351, {"topic": name})),
        show(client.call(17, fields)),
        show(client.call(351, {"topic": name})),
        show(client.call(202, {"topic": name})),
        show(client.send(name, queue=3)),
        show(client.pulled(0, name, queue=3)),
        show(client.call(17, {**fields, "attributes": "+message.type=FIFO"})),
        show(client.call(351, {"topic": name})),
        show(client.call(17, {**fields, "attributes": "-message.type"})),
        show(client.call(351, {"topic": name})),
        show(client.call(17, {**fields, "topic": "TBW102"}))[:2],
        show(client.call(17, {**fields, "topic": "a b"}))[:2],
        show(client.call(17, {**fields, "attributes": "+foo=bar"}))[:1],
        show(client.call(202, {"topic": f"{name}-x"})),
        show(client.call(300, {"topic": name})),
        show(client.call(215, {"topic": name}))[:1],
        show(client.call(215, {"topic": name}))[:1],
        show(client.call(215, {"topic": "TBW102"}))[:2],
        show(client.call(351, {"topic": name})),
    ]


def groups(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    config = SubscriptionGroupConfig(group_name=name, retry_max_times=3)
    return [
        show(client.call(352, {"group": f"{name}-new"})),
        show(client.call(200, {}, config)),
        show(client.call(352, {"group": name})),
        show(client.call(200, {}, SubscriptionGroupConfig(group_name="a b")))[:2],
        show(client.call(352, {"group": "a b"}))[:2],
        show(client.call(353, {"group": name, "topic": "t", "readable": False}))[:1],
        show(client.call(207, {"groupName": name, "cleanOffset": True})),
        show(client.call(207, {"groupName": name, "cleanOffset": True})),
        show(client.call(343, {"group": name}))[:1],
        show(client.call(345, {"group": name, "topic": "t"})),
    ]


def progress(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    fill(client, name, 3)
    client.pulled(0, name, consumerGroup=name, sysFlag=5, commitOffset=2)
    tables = (
        show(client.call(202, {"topic": name})),
        show(client.call(208, {"consumerGroup": name})),
        show(client.call(208, {"consumerGroup": f"{name}-x"})),
    )
    return [
        tuple(re.sub(r'"\w+Tps":[\d.]+', "TPS", str(item)) for item in table) for table in tables
    ]


def queries(connect: Connect, name: str) -> list[Shown]:
    client = connect()
    for index in range(5):
        keys: dict[str, str | None] = {"KEYS": f"k{index} all", "UNIQ_KEY": f"{name}U{index}"}
        client.send(name, b"%d" % index, properties=keys)
    visible(client, name, 5)
    ask: dict[str, object] = {
        "topic": name, "maxNum": 32, "beginTimestamp": 0, "endTimestamp": 2**62,
    }  # fmt: skip
    deadline = time.monotonic() + VISIBLE_SECONDS
    while client.call(12, {**ask, "key": "k4"}).code != 0 and time.monotonic() < deadline:
        time.sleep(0.1)  # Java's index is later than its queues
    found = [client.call(12, {**ask, "key": key}) for key in ("all", "k2", f"{name}U3")]
    newest = client.call(12, {**ask, "key": "all", "maxNum": 2})
    missing = client.call(12, {**ask, "key": "none"})
    physical = messages(found[1])[0].commit_log_offset
    return [
        *((item.code, [message.body for message in messages(item)]) for item in (*found, newest)),
        show(missing),
        pulled(client.call(33, {"offset": physical}))[:2],
        show(client.call(33, {"offset": physical + 1}))[:1],
    ]


def checks(connect: Connect, name: str) -> list[Shown]:
    client = connect()

    def check(kind: str, text: str) -> int:
        data = subscription_data(name, text, expression_type=kind, version=1)
        body = CheckClientRequestBody(client_id="c", group=name, subscription_data=data)
        return client.call(46, {}, body).code

    texts = (
        "a > 2",
        "a in ('3')",
        "a != 2",
        "a between 4 and 2",
        "not a > 2",
        "a > '2'",
        "a = NULL",
    )
    return [
        (check("TAG", "a"), *(check("SQL92", text) for text in texts), check("XPATH", "a")),
        show(client.call(9999)),
        show(client.call(105, {"topic": name})),
        show(client.call(1007)),
        show(client.call(26))[:1],
        show(client.call(307, {"consumerGroup": name, "clientId": "c"})),
    ]


def figures(connect: Connect, name: str) -> list[Shown]:
    body = decode_body(KVTable, connect().call(28).body or b"")
    assert body is not None
    table = body.table or {}
    own = {
        name for name in table if name.startswith(("scheduleMessageOffset_", "commitLogDiskRatio_"))
    }
    return [(name,) for name in sorted({*table} - own - {"getTransferedTps"})]  # of 4.9.4


DIALOGUES = (
    *(sends, batches, pulls, filtered, held, offsets, resets, heartbeats, locks),
    *(topics, groups, progress, queries, checks, figures),
)


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue.__name__)
def test_answers_are_those_of_java(
    dialogue: Callable[[Connect, str], list[Shown]], java_cluster: JavaCluster, ours: DevCluster
) -> None:
    name = f"{dialogue.__name__}-{time.time_ns() % 10**9}"
    results: list[list[Shown]] = []
    for address in (java_cluster.master.address, ours.master.address):
        with ExitStack() as stack:
            results.append(
                dialogue(lambda: stack.enter_context(WireClient(address)), name)  # noqa: B023 - called at once
            )

    java, dev = results
    differences = {
        index: {"java": expected, "ours": answered}
        for index, (expected, answered) in enumerate(zip_longest(java, dev))
        if expected != answered
    }
    assert not differences, pprint.pformat(differences, width=150)
