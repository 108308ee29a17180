"""``rocketwire-exporter`` at real brokers of 5.5.0 and 4.9.4, compared with mqadmin."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import Message, open_client, open_producer
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import dlq_topic, retry_topic
from tests.java.admin.commands import CLUSTER, Ours, rows
from tests.peers.client_settings import patient
from tests.peers.messages import unique
from tests.peers.peers import CURRENT, OLD, JavaBroker
from tests.peers.processes import wait_until
from tests.support.exporter_in_process import Scrape
from tests.support.exporter_in_process import scrape as scrape_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.peers.cluster import JavaCluster
    from tests.peers.peers import JavaPeer

PATIENT = ("--request-timeout", "120", "--deadline", "300")
BROKERS = {CURRENT: "broker-a", OLD: "old"}


@pytest.fixture
def scrape(java_cluster: JavaCluster) -> Callable[[], Scrape]:
    """One collection of the cluster."""
    return partial(scrape_address, java_cluster.address, *PATIENT)


async def fill(
    server: str,
    address: str,
    broker_name: str,
    group: str,
    read: tuple[str, ...],
    unread: tuple[str, ...],
) -> None:
    """Send three messages to the first queue and one to the second; the group has read one of each."""
    async with (
        open_client(patient(namesrv_addr=server)) as client,
        open_producer(client, unique("filler")) as producer,
    ):
        for topic in (*read, *unread):
            for queue_id, count in enumerate((3, 1)):
                queue = MessageQueue(topic=topic, broker_name=broker_name, queue_id=queue_id)
                for _ in range(count):
                    await producer.send_to(Message(topic=topic, body=b"x"), queue)
                if topic in read:
                    await client.brokers.update_consumer_offset(address, group, queue, 1)


def broker_of(cluster: JavaCluster, version: str, scrape: Callable[[], Scrape]) -> JavaBroker:
    broker = cluster.master if version == CURRENT else cluster.broker("old", version=OLD)
    # in its first second a broker answers SYSTEM_ERROR if it is asked for its runtime values
    wait_until(lambda: scrape().status == 0, "every broker answers", 300)
    return broker


@pytest.mark.parametrize("version", BROKERS)
def test_the_progress_of_a_group_is_that_of_mqadmin(
    java_cluster: JavaCluster,
    ours: Ours,
    mqadmin: Callable[[str], str],
    scrape: Callable[[], Scrape],
    version: str,
) -> None:
    broker, name = broker_of(java_cluster, version, scrape), BROKERS[version]
    topic, group = unique("progress"), unique("reader")
    for kind in (topic, retry_topic(group), dlq_topic(group)):
        ours(f"updateTopic -b {broker.address} -t {kind} -r 2 -w 2")
        ours.wait_for(kind)
    ours(f"updateSubGroup -b {broker.address} -g {group}")
    read, unread = (topic, retry_topic(group)), (dlq_topic(group),)
    trio.run(fill, java_cluster.address, broker.address, name, group, read, unread)

    values = scrape()

    assert values.status == 0, values.failures()
    place = {"cluster": CLUSTER, "broker": name}
    of_topic = {**place, "topic": topic}
    assert values.value("rocketmq_producer_offset", **of_topic) == 4
    assert values.value("rocketmq_topic_retry_offset", **place, topic=retry_topic(group)) == 4
    assert values.value("rocketmq_topic_dlq_offset", **place, group=group) == 4
    consumed = {**of_topic, "group": group}
    lags = {"0": 2, "1": 0}
    if version == CURRENT:
        printed = rows(mqadmin(f"consumerProgress -g {group} -t {topic}"), of=topic)
        assert {words[2]: int(words[5]) for words in printed} == lags
    for number, lag in lags.items():
        queue = {**consumed, "queueid": number}
        assert values.value("rocketmq_group_queue_lag_messages", **queue) == lag
        seconds = values.value("rocketmq_group_queue_lag_seconds", **queue)
        assert seconds is not None
        assert (seconds > 0) == (lag > 0)
    assert values.value("rocketmq_consumer_offset", **consumed) == 2
    assert values.value("rocketmq_message_accumulation", **consumed) == 2
    assert values.value("rocketmq_group_get_latency_by_storetime", **consumed) != 0
    assert values.value("rocketmq_group_diff", cluster=CLUSTER, group=group, topic=topic) == 2
    assert values.value("rocketmq_group_retrydiff", cluster=CLUSTER, group=group) == 2
    assert values.value("rocketmq_group_dlqdiff", cluster=CLUSTER, group=group) == 4
    assert values.value("rocketmq_group_count", cluster=CLUSTER, group=group) == 0

    def is_gone() -> bool:
        """Delete again: a broker that registers meanwhile announces what was deleted."""
        for kind in (topic, retry_topic(group), dlq_topic(group)):
            ours(f"deleteTopic -c {CLUSTER} -t {kind}")
        ours(f"deleteSubGroup -b {broker.address} -g {group}")
        after = scrape()
        assert after.status == 0, after.failures()
        return not after.mentions(topic) | after.mentions(group)

    wait_until(is_gone, "the exporter does not show what was deleted")


@pytest.mark.parametrize("version", BROKERS)
def test_a_group_that_is_deleted_with_its_offsets_is_gone_although_its_topic_stays(
    java_cluster: JavaCluster, ours: Ours, scrape: Callable[[], Scrape], version: str
) -> None:
    broker, name = broker_of(java_cluster, version, scrape), BROKERS[version]
    topic, group = unique("stays"), unique("goes")
    ours(f"updateTopic -b {broker.address} -t {topic} -r 2 -w 2")
    ours.wait_for(topic)
    ours(f"updateSubGroup -b {broker.address} -g {group}")
    trio.run(fill, java_cluster.address, broker.address, name, group, (topic,), ())
    assert scrape().mentions(group)

    # Java 5.5.0 creates it again if its offsets stay: LiteMetadataUtil.isLiteGroupType looks for it
    ours(f"deleteSubGroup -b {broker.address} -g {group} -r true")

    after = scrape()
    assert not after.mentions(group)
    assert after.value("rocketmq_producer_offset", topic=topic, broker=name) == 4


@pytest.mark.parametrize("version", BROKERS)
def test_a_broker_has_its_runtime_values(
    java_cluster: JavaCluster,
    mqadmin: Callable[[str], str],
    scrape: Callable[[], Scrape],
    version: str,
) -> None:
    broker = broker_of(java_cluster, version, scrape)
    printed: dict[str, str] = {}

    def is_printed() -> bool:  # a broker of which mqadmin does not know is printed as nothing
        lines = mqadmin(f"brokerStatus -b {broker.address}").splitlines()
        words = (line.partition(":") for line in lines)
        printed.update({name.strip(): value.strip() for name, _, value in words})
        return "bootTimestamp" in printed

    wait_until(is_printed, "mqadmin prints the status of the broker")

    values = scrape()

    place = {"cluster": CLUSTER, "brokerIP": broker.address, "broker": BROKERS[version]}
    boot = values.value("rocketmq_brokeruntime_boot_timestamp", **place)
    assert boot == int(printed["bootTimestamp"])
    for family in (
        "commitlogdir_capacity_total",
        "putmessage_times_total",
        "dispatch_behind_bytes",
    ):
        assert values.value(f"rocketmq_brokeruntime_{family}", **place) is not None, family
    # A broker that has just started has no rates yet.
    wait_until(
        lambda: scrape().value("rocketmq_brokeruntime_gettransfered_tps10", **place) is not None,
        "the broker has rates",
        120,
    )
    if type(broker) is JavaBroker:  # others have the version of 5.5.0
        name = f"V{version}".replace(".", "_")
        assert values.value("rocketmq_exporter_broker_info", **place, version=name) == 1
    for part in ("runtime", "producers", "topics", "groups", "clients"):
        assert values.value("rocketmq_exporter_part_complete", **place, part=part) == 1, part


@pytest.mark.full
@pytest.mark.parametrize("version", BROKERS)
def test_members_and_producers_of_java_are_counted(
    java_cluster: JavaCluster,
    java_peer: JavaPeer,
    ours: Ours,
    scrape: Callable[[], Scrape],
    version: str,
) -> None:
    broker = broker_of(java_cluster, version, scrape)
    topic, group, producer = unique("joined"), unique("member"), unique("sender")
    ours(f"updateTopic -b {broker.address} -t {topic} -r 2 -w 2")
    ours.wait_for(topic)
    java_peer.consume(java_cluster.address, topic, group)
    java_peer.send(java_cluster.address, topic, producer, range(5))
    java_peer.received(group, 5)

    def is_complete() -> bool:
        values = scrape()
        return (
            values.value("rocketmq_group_count", group=group) == 1
            and values.value("rocketmq_consumer_offset", topic=topic, group=group) == 5
            and values.value("rocketmq_client_consume_ok_msg_tps", topic=topic, group=group)
            is not None
            and values.sum("rocketmq_producer_count", group=producer) >= 1
        )

    wait_until(is_complete, "the member has committed its offsets", 300)
    java_peer.close(group)


@pytest.mark.full
def test_a_broker_that_does_not_answer_is_down_and_the_other_one_has_its_values(
    java_cluster: JavaCluster, scrape: Callable[[], Scrape]
) -> None:
    old = broker_of(java_cluster, OLD, scrape)
    old.freeze()
    try:
        values = scrape_address(
            java_cluster.address, "--request-timeout", "15", "--deadline", "120"
        )
    finally:
        old.thaw()

    assert values.status == 3
    assert values.value("rocketmq_exporter_up") == 1
    assert values.value("rocketmq_exporter_broker_up", broker="old") == 0
    assert values.sum("rocketmq_exporter_failures", broker="old", error="timeout") > 0
    assert values.sum("rocketmq_producer_offset", broker="old") == 0
    assert values.value("rocketmq_exporter_broker_info", broker="broker-a") == 1
    assert values.value("rocketmq_exporter_part_complete", broker="broker-a", part="runtime") == 1
    wait_until(lambda: scrape().status == 0, "both answer again", 300)
