"""Operators' calls to a broker of 5.5.0 with its store in RocksDB, compared with mqadmin: their effect, not only their response."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from rocketwire.client import Message, open_client, open_producer
from rocketwire.client.admin import Admin
from rocketwire.codes import RequestCode
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pop import PopMessageRequestHeader
from tests.java.admin.commands import QUEUE_ENDS, Mqadmin, Ours, columns, rows
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, eventually, numbered, send, unique
from tests.peers.peers import JavaBroker
from tests.peers.processes import wait_until

pytestmark = pytest.mark.full


NAME = "broker-r"
ROCKSDB = {
    "storeType": "defaultRocksDB",
    "timerRocksDBEnable": "true",
    "popConsumerKVServiceInit": "true",
    "popConsumerKVServiceEnable": "true",
    "enableLmq": "true",
    "enableMultiDispatch": "true",
}
REVIVE_TOPIC = "rmq_sys_REVIVE_LOG_DefaultCluster"


@pytest.fixture(scope="module")
def broker(java_cluster: JavaCluster) -> JavaBroker:
    return java_cluster.broker(NAME, options=ROCKSDB)


def config_files(broker: JavaBroker) -> Path:
    return broker.folder / "store" / "config"


def test_configuration_in_rocksdb_is_exported_as_by_mqadmin(
    broker: JavaBroker, ours: Ours, mqadmin: Mqadmin
) -> None:
    topic = ours.create_topic(unique("json"), 3, broker=broker.address)
    group = ours.create_group("-r 5", broker.address)
    names = ("topics.json", "subscriptionGroup.json")

    def read_document(name: str) -> dict[str, Any]:
        path = config_files(broker) / name
        wait_until(path.exists, f"{name} is written")
        document: dict[str, Any] = json.loads(path.read_text())
        path.unlink()
        return document

    for name in names:  # of an attempt that failed half-way
        (config_files(broker) / name).unlink(missing_ok=True)
    line = f"rocksDBConfigToJson -b {broker.address} -t topics;subscriptionGroups"
    by_us, by_mqadmin = [
        [read_document(name) for name in names] for run in (ours, mqadmin) if run(line) is not None
    ]

    assert by_us == by_mqadmin
    assert by_us[0]["topicConfigTable"][topic]["readQueueNums"] == 3
    assert by_us[1]["subscriptionGroupTable"][group]["retryMaxTimes"] == 5
    assert not (config_files(broker) / "consumerOffset.json").exists()


async def test_timed_messages_go_to_the_engine_and_come_from_it(
    admin: Admin, broker: JavaBroker, ours: Ours, mqadmin: Mqadmin
) -> None:
    def switch_engine(run: Callable[[str], object], engine: str) -> tuple[str, ...]:
        run(f"switchTimerEngine -b {broker.address} -e {engine}")
        config = {row["key"]: row["value"] for row in ours(f"getBrokerConfig -b {broker.address}")}
        return config["timerStopEnqueue"], config["timerRocksDBStopScan"]

    def switch_engines() -> list[tuple[str, ...]]:
        runs = ((mqadmin, "R"), (mqadmin, "F"), (ours, "R"))
        return [switch_engine(run, engine) for run, engine in runs]

    rocksdb, files, ours_rocksdb = await trio.to_thread.run_sync(switch_engines)
    assert ours_rocksdb == rocksdb != files

    topic = await create_topic(
        admin.client, unique("timed"), queues=1, broker=NAME, address=broker.address
    )
    async with open_producer(admin.client, unique("p"), patient_producer()) as producer:
        await producer.send(Message(topic, b"later", delay_seconds=2))
    queue = MessageQueue(topic=topic, broker_name=NAME, queue_id=0)

    async def is_delivered() -> bool:
        message = await admin.messages.at(queue, 0)
        return message is not None and message.body == b"later"

    await eventually(is_delivered)
    assert await trio.to_thread.run_sync(switch_engine, ours, "F") == files


async def test_pops_of_the_pop_store_are_written_back_as_messages(
    admin: Admin, broker: JavaBroker, ours: Ours, mqadmin: Mqadmin
) -> None:
    in_thread = trio.to_thread.run_sync
    topic = await create_topic(
        admin.client, unique("popped"), queues=1, broker=NAME, address=broker.address
    )
    await send(admin.client, topic, numbered(2), queue_id=0, broker=NAME)

    async def pop(group: str, seconds: int) -> None:
        header = PopMessageRequestHeader(
            consumer_group=group, topic=topic, queue_id=-1, max_msg_nums=1, invisible_time=seconds * 1000,
            poll_time=0, born_time=time.time_ns() // 1_000_000, init_mode=0, exp_type="TAG", exp="*",
        )  # fmt: skip
        await admin.client.brokers.call(
            broker.address, RequestCode.POP_MESSAGE, header, within=PATIENCE
        )

    async def is_exported(run: Callable[[str], object], group: str, seconds: int) -> bool:
        # Whether it was in time: the broker gives back a message that is visible again by itself, and exports it no more.
        await in_thread(ours, f"updateSubGroup -b {broker.address} -g {group}")
        start = trio.current_time()
        await pop(group, seconds)
        line = f"exportPopRecord -b {broker.address}"
        await in_thread(run, f"{line} -d true")
        await in_thread(run, line)
        return trio.current_time() - start < seconds

    async def read_records(group: str) -> list[bytes]:
        table = (await admin.topics.stats_of(broker.address, REVIVE_TOPIC)).offset_table or {}
        messages = [
            await admin.messages.at(queue, offset)
            for queue, offsets in table.items()
            for offset in range(offsets.min_offset, offsets.max_offset)
        ]
        bodies = [message.body or b"" for message in messages if message]
        return [body for body in bodies if f'"c":"{group}"'.encode() in body]

    runs: tuple[Callable[[str], object], ...] = (ours, mqadmin)
    for run in runs:
        for seconds in (4, 20, 60):  # more than 4 on a machine that takes longer to export
            group = unique("g")
            if await is_exported(run, group, seconds):
                break

        async def is_there(name: str = group) -> bool:  # a second before it is visible again
            return len(await read_records(name)) == 1

        await eventually(is_there)


class Lite(NamedTuple):
    topic: str
    group: str
    queue_count: int


async def test_offsets_and_lags_of_lite_topics_are_shown_as_by_mqadmin(
    java_cluster: JavaCluster, broker: JavaBroker, ours: Ours, mqadmin: Mqadmin
) -> None:
    def create_topics() -> Lite:
        topic = ours.create_topic(unique("lite"), 1, "-a +message.type=LITE", broker.address)
        group = ours.create_group(f"--attributes +lite.bind.topic={topic}", broker.address)
        (info,) = ours(f"getBrokerLiteInfo -b {broker.address}")
        return Lite(topic, group, int(info["currentLmqNum"]))

    lite = await trio.to_thread.run_sync(create_topics)
    name = f"%LMQ%${lite.topic}$room-1"
    queue = MessageQueue(topic=name, broker_name=NAME, queue_id=0)
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        await client.refresh_route(lite.topic)
        for room, number in (("room-1", 3), ("room-2", 1)):
            properties = {const.LITE_TOPIC: room}
            await send(client, lite.topic, numbered(number), queue_id=0, broker=NAME, **properties)
        await client.brokers.update_consumer_offset(broker.address, lite.group, queue, 1)

    await trio.to_thread.run_sync(check_lite_topic, ours, mqadmin, lite, broker.address)
    await trio.to_thread.run_sync(check_queue_of_parent, ours, mqadmin, lite, name)


def check_lite_topic(ours: Ours, mqadmin: Mqadmin, lite: Lite, address: str) -> None:
    line = f"getLiteTopicInfo -p {lite.topic} -l room-1"
    wait_until(lambda: ours(line)[0]["maxOffset"] == 3, "three messages are shown")
    (printed,) = rows(mqadmin(line), begin=NAME)
    assert columns(ours(line), "minOffset maxOffset") == [printed[1:3]] == [["0", "3"]]
    line = f"getParentTopicInfo -p {lite.topic}"
    (printed,) = rows(mqadmin(line), begin=NAME)
    assert columns(ours(line), "liteTopicCount lmqNum") == [printed[2:4]]
    assert printed[2:4] == ["2", str(lite.queue_count + 2)]

    line = f"getLiteGroupInfo -p {lite.topic} -g {lite.group}"
    info, printed_lags = ours(line), mqadmin(line)
    assert info["totalLagCount"] == 2
    assert "Total Lag Count: 2" in printed_lags
    assert columns(info["lagCountTopK"], "liteTopic lagCount") == [["room-1", "2"]]
    assert rows(printed_lags, begin="1 ")[0][:3] == ["1", "room-1", "2"]
    info = ours(f"{line} -l room-1")
    (printed,) = rows(mqadmin(f"{line} -l room-1"), begin=NAME)
    assert columns([info["offsets"][NAME]], "brokerOffset consumerOffset") == [printed[1:3]]
    assert (printed[1:4], info["totalLagCount"]) == (["3", "1", "2"], 2)
    line = f"getBrokerLiteInfo -b {address}"
    (printed,) = rows(mqadmin(line), begin=address)
    assert columns(ours(line), "storeType currentLmqNum") == [[printed[1], printed[3]]]


def check_queue_of_parent(ours: Ours, mqadmin: Mqadmin, lite: Lite, name: str) -> None:
    # Name servers know no route of the queue itself: ``-c`` names the cluster to count in.
    line = f"topicStatus -t {name} -c {lite.topic}"
    (printed,) = rows(mqadmin(line), begin=NAME)
    assert columns(ours(line), QUEUE_ENDS) == [printed[:4]] == [[NAME, "0", "0", "3"]]
    line = f"consumerProgress -g {lite.group} -t {name} -c {lite.topic}"
    progress = ours(line)
    (printed,) = rows(mqadmin(line), begin=name)
    assert columns(progress, "brokerOffset consumerOffset") == [printed[3:5]]
    messages = ours(f"printMsg -t {name} -l {lite.topic}")
    assert [row["body"] for row in messages] == ["0", "1", "2"]
    line = f"queryMsgByOffset -t {name} -b {NAME} -i 0 -o 2 -r {lite.topic}"
    offset_id = ours(line)["offsetMsgId"]
    wait_until(lambda: offset_id in mqadmin(line), line)  # a busy broker has no answer in time
    assert len(ours(f"queryMsgByKey -t {name} -c {lite.topic} -k 2")) == 1

    line = f"resetOffsetByTime -g {lite.group} -t {name} -c {lite.topic} -s 0"
    place = {"brokerName": NAME, "queueId": 0}
    offset = progress[0]["consumerOffset"]
    assert ours(line) == [place | {"before": offset, "offset": 0, "resetTo": 0}]
    assert rows(mqadmin(line), begin=NAME) == [[NAME, "0", "0"]]
    line = f"skipAccumulatedMessage -g {lite.group} -t {name} -c {lite.topic}"
    assert ours(line) == [place | {"before": 0, "offset": 3, "resetTo": None}]
    assert ours.expect_error(f"topicStatus -t {name}") is None
