"""Operators' calls to a broker of 5.5.0 with its store in RocksDB, compared with mqadmin: their effect, not only their response."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import Message, open_client, open_producer
from rocketwire.client.admin import open_admin
from rocketwire.codes import RequestCode
from rocketwire.messages import message_const as const
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.pop import PopMessageRequestHeader
from tests.java.admin.commands import Ours, rows
from tests.peers.client_settings import PATIENCE, patient, patient_producer
from tests.peers.messages import create_topic, eventually, numbered, send, unique
from tests.peers.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaBroker

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


def test_configuration_in_rocksdb_is_written_into_the_files_that_mqadmin_has_written(
    broker: JavaBroker, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    topic, group = unique("json"), unique("g")
    ours(f"updateTopic -b {broker.address} -t {topic} -r 3 -w 3")
    ours(f"updateSubGroup -b {broker.address} -g {group} -r 5")

    def written(name: str) -> dict[str, Any]:
        path = config_files(broker) / name
        wait_until(path.exists, f"{name} is written")
        found: dict[str, Any] = json.loads(path.read_text())
        path.unlink()
        return found

    for name in ("topics.json", "subscriptionGroup.json"):  # of an attempt that failed half-way
        (config_files(broker) / name).unlink(missing_ok=True)
    line = f"rocksDBConfigToJson -b {broker.address} -t topics;subscriptionGroups"
    by_us, by_mqadmin = [
        [written("topics.json"), written("subscriptionGroup.json")]
        for run in (ours, mqadmin)
        if run(line) is not None
    ]

    assert by_us == by_mqadmin
    assert by_us[0]["topicConfigTable"][topic]["readQueueNums"] == 3
    assert by_us[1]["subscriptionGroupTable"][group]["retryMaxTimes"] == 5
    assert not (config_files(broker) / "consumerOffset.json").exists()


async def test_timed_messages_go_where_the_engine_was_switched_to_and_come_from_there(
    java_cluster: JavaCluster, broker: JavaBroker, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    def engine() -> tuple[str, ...]:
        told = {one["key"]: one["value"] for one in ours(f"getBrokerConfig -b {broker.address}")}
        return told["timerStopEnqueue"], told["timerRocksDBStopScan"]

    def switched(run: Callable[[str], object], to: str) -> tuple[str, ...]:
        run(f"switchTimerEngine -b {broker.address} -e {to}")
        return engine()

    def all_switched() -> list[tuple[str, ...]]:
        return [switched(run, to) for run, to in ((mqadmin, "R"), (mqadmin, "F"), (ours, "R"))]

    rocksdb, files, ours_rocksdb = await trio.to_thread.run_sync(all_switched)
    assert ours_rocksdb == rocksdb != files

    async with open_admin(patient(namesrv_addr=java_cluster.address), within=PATIENCE) as admin:
        topic = await create_topic(
            admin.client, unique("timed"), queues=1, broker=NAME, address=broker.address
        )
        async with open_producer(admin.client, unique("p"), patient_producer()) as producer:
            await producer.send(Message(topic, b"later", delay_seconds=2))
        queue = MessageQueue(topic=topic, broker_name=NAME, queue_id=0)

        async def is_delivered() -> bool:
            found = await admin.messages.at(queue, 0)
            return found is not None and found.body == b"later"

        await eventually(is_delivered)
    assert await trio.to_thread.run_sync(switched, ours, "F") == files


async def test_pops_of_the_pop_store_are_written_back_as_messages(
    java_cluster: JavaCluster, broker: JavaBroker, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    in_thread = trio.to_thread.run_sync
    async with open_admin(patient(namesrv_addr=java_cluster.address), within=PATIENCE) as admin:
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
            """Whether that was done in time: what is visible again the broker gives back by itself, and exports no more."""
            await in_thread(ours, f"updateSubGroup -b {broker.address} -g {group}")
            begun = trio.current_time()
            await pop(group, seconds)
            line = f"exportPopRecord -b {broker.address}"
            await in_thread(run, f"{line} -d true")
            await in_thread(run, line)
            return trio.current_time() - begun < seconds

        async def written(group: str) -> list[bytes]:
            table = (await admin.topics.stats_of(broker.address, REVIVE_TOPIC)).offset_table or {}
            found = [
                await admin.messages.at(queue, offset)
                for queue, one in table.items()
                for offset in range(one.min_offset, one.max_offset)
            ]
            bodies = [one.body or b"" for one in found if one]
            return [body for body in bodies if f'"c":"{group}"'.encode() in body]

        runs: tuple[Callable[[str], object], ...] = (ours, mqadmin)
        for run in runs:
            for seconds in (4, 20, 60):  # the first but on a machine that takes longer to export
                group = unique("g")
                if await is_exported(run, group, seconds):
                    break

            async def is_there(wanted: str = group) -> bool:  # a second before it is visible again
                return len(await written(wanted)) == 1

            await eventually(is_there)


async def test_offsets_and_lags_of_lite_topics_are_told_as_by_mqadmin(
    java_cluster: JavaCluster, broker: JavaBroker, ours: Ours, mqadmin: Callable[[str], str]
) -> None:
    topic, group = unique("lite"), unique("g")
    queue = MessageQueue(topic=f"%LMQ%${topic}$room-1", broker_name=NAME, queue_id=0)

    def queues_held() -> int:  # of all topics: an earlier attempt has left some
        (told,) = ours(f"getBrokerLiteInfo -b {broker.address}")
        return int(told["currentLmqNum"])

    def make() -> None:
        ours(f"updateTopic -b {broker.address} -t {topic} -r 1 -w 1 -a +message.type=LITE")
        ours(f"updateSubGroup -b {broker.address} -g {group} --attributes +lite.bind.topic={topic}")
        ours.wait_for(topic)

    await trio.to_thread.run_sync(make)
    held = await trio.to_thread.run_sync(queues_held)
    async with open_client(patient(namesrv_addr=java_cluster.address)) as client:
        await client.refresh_route(topic)
        for room, number in (("room-1", 3), ("room-2", 1)):
            lite = {const.LITE_TOPIC: room}
            await send(client, topic, numbered(number), queue_id=0, broker=NAME, **lite)
        await client.brokers.update_consumer_offset(broker.address, group, queue, 1)

    def look() -> None:
        wait_until(
            lambda: ours(f"getLiteTopicInfo -p {topic} -l room-1")[0]["maxOffset"] == 3,
            "three messages are shown",
        )
        (told,) = ours(f"getLiteTopicInfo -p {topic} -l room-1")
        (printed,) = rows(mqadmin(f"getLiteTopicInfo -p {topic} -l room-1"), of=NAME)
        assert [str(told["minOffset"]), str(told["maxOffset"])] == printed[1:3] == ["0", "3"]
        (told,) = ours(f"getParentTopicInfo -p {topic}")
        (printed,) = rows(mqadmin(f"getParentTopicInfo -p {topic}"), of=NAME)
        assert [str(told["liteTopicCount"]), str(told["lmqNum"])] == printed[2:4]
        assert printed[2:4] == ["2", str(held + 2)]

        line = f"getLiteGroupInfo -p {topic} -g {group}"
        told, printed_lags = ours(line), mqadmin(line)
        assert told["totalLagCount"] == 2
        assert "Total Lag Count: 2" in printed_lags
        (lag,) = told["lagCountTopK"]
        assert (lag["liteTopic"], lag["lagCount"]) == ("room-1", 2)
        assert rows(printed_lags, of="1 ")[0][:3] == ["1", "room-1", "2"]
        told = ours(f"{line} -l room-1")
        offsets = told["offsets"][NAME]
        (printed,) = rows(mqadmin(f"{line} -l room-1"), of=NAME)
        assert [str(offsets["brokerOffset"]), str(offsets["consumerOffset"])] == printed[1:3]
        assert (printed[1:4], told["totalLagCount"]) == (["3", "1", "2"], 2)
        (told,) = ours(f"getBrokerLiteInfo -b {broker.address}")
        (printed,) = rows(mqadmin(f"getBrokerLiteInfo -b {broker.address}"), of=broker.address)
        assert [told["storeType"], str(told["currentLmqNum"])] == [printed[1], printed[3]]

    await trio.to_thread.run_sync(look)

    def look_by_parent() -> None:
        """Name servers know no route of the queue itself: ``-c`` names the cluster to count in."""
        lmq = queue.topic or ""
        (told,) = ours(f"topicStatus -t {lmq} -c {topic}")
        (printed,) = rows(mqadmin(f"topicStatus -t {lmq} -c {topic}"), of=NAME)
        names = ("brokerName", "queueId", "minOffset", "maxOffset")
        assert [str(told[name]) for name in names] == printed[:4] == [NAME, "0", "0", "3"]
        line = f"consumerProgress -g {group} -t {lmq} -c {topic}"
        (told,) = ours(line)
        (printed,) = rows(mqadmin(line), of=lmq)
        assert [str(told["brokerOffset"]), str(told["consumerOffset"])] == printed[3:5]
        listed = ours(f"printMsg -t {lmq} -l {topic}")
        assert [one["body"] for one in listed] == ["0", "1", "2"]
        line = f"queryMsgByOffset -t {lmq} -b {NAME} -i 0 -o 2 -r {topic}"
        offset_id = ours(line)["offsetMsgId"]
        wait_until(lambda: offset_id in mqadmin(line), line)  # a busy broker has no answer in time
        assert len(ours(f"queryMsgByKey -t {lmq} -c {topic} -k 2")) == 1

        line = f"resetOffsetByTime -g {group} -t {lmq} -c {topic} -s 0"
        place = {"brokerName": NAME, "queueId": 0}
        before = told["consumerOffset"]
        assert ours(line) == [place | {"before": before, "offset": 0, "resetTo": 0}]
        assert rows(mqadmin(line), of=NAME) == [[NAME, "0", "0"]]
        line = f"skipAccumulatedMessage -g {group} -t {lmq} -c {topic}"
        assert ours(line) == [place | {"before": 0, "offset": 3, "resetTo": None}]
        assert ours(f"topicStatus -t {lmq}") is None
        assert ours.status == 1

    await trio.to_thread.run_sync(look_by_parent)
