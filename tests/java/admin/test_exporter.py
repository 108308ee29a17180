"""``rocketwire-exporter`` at real brokers of 5.5.0 and 4.9.4, compared with mqadmin."""

import pytest
import trio

from rocketwire.client import Message, open_client, open_producer
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.resource_names import dlq_topic, retry_topic
from tests.java.admin.commands import CLUSTER, LONG, Mqadmin, Ours, rows
from tests.peers.client_settings import patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import CURRENT, OLD, JavaBroker, JavaPeer
from tests.peers.processes import wait_until
from tests.support.exporter_in_process import Scrape
from tests.support.exporter_in_process import scrape as scrape_address

BROKERS = {CURRENT: "broker-a", OLD: "old"}


class Site:
    def __init__(self, cluster: JavaCluster, version: str) -> None:
        self._cluster = cluster
        self.version = version
        self.broker = cluster.master if version == CURRENT else cluster.broker("old", version=OLD)
        self.place = {"cluster": CLUSTER, "broker": BROKERS[version]}
        # in its first second a broker answers SYSTEM_ERROR if it is asked for its runtime values
        wait_until(lambda: self.scrape().status == 0, "every broker answers", 300)

    def scrape(self) -> Scrape:
        return scrape_address(self._cluster.address, *LONG, "--deadline", "300")

    def scrape_all(self) -> Scrape:
        values = self.scrape()
        assert values.status == 0, values.failures()
        return values

    def fill(self, group: str, topics: dict[str, bool]) -> None:
        # Send three messages to the first queue of each topic and one to the second; the group has read one of each if that is true.

        async def send_all() -> None:
            async with (
                open_client(patient(namesrv_addr=self._cluster.address)) as client,
                open_producer(client, unique("filler")) as producer,
            ):
                for topic, is_read in topics.items():
                    for queue_id, count in enumerate((3, 1)):
                        queue = MessageQueue(
                            topic=topic, broker_name=self.place["broker"], queue_id=queue_id
                        )
                        for _ in range(count):
                            await producer.send_to(Message(topic=topic, body=b"x"), queue)
                        if is_read:
                            await client.brokers.update_consumer_offset(
                                self.broker.address, group, queue, 1
                            )

        trio.run(send_all)


@pytest.fixture(params=list(BROKERS))
def site(request: pytest.FixtureRequest, java_cluster: JavaCluster) -> Site:
    return Site(java_cluster, request.param)


def test_the_progress_of_a_group_is_that_of_mqadmin(
    site: Site, ours: Ours, mqadmin: Mqadmin
) -> None:
    address, group = site.broker.address, ours.create_group(broker=site.broker.address)
    retries, dead = retry_topic(group), dlq_topic(group)
    topics = {unique("progress"): True, retries: True, dead: False}
    for name in topics:
        ours.create_topic(name, broker=address)
    site.fill(group, topics)

    values = site.scrape_all()

    topic = next(iter(topics))
    of_topic = {**site.place, "topic": topic}
    of_group = {**of_topic, "group": group}
    group_alone = {"cluster": CLUSTER, "group": group}
    lags = {"0": 2, "1": 0}
    if site.version == CURRENT:
        printed = rows(mqadmin(f"consumerProgress -g {group} -t {topic}"), begin=topic)
        assert {words[2]: int(words[5]) for words in printed} == lags
    for number, lag in lags.items():
        queue = {**of_group, "queueid": number}
        assert values.value("rocketmq_group_queue_lag_messages", **queue) == lag
        seconds = values.value("rocketmq_group_queue_lag_seconds", **queue)
        assert seconds is not None
        assert (seconds > 0) == (lag > 0)
    for name, labels, expected in (
        ("producer_offset", of_topic, 4),
        ("topic_retry_offset", {**site.place, "topic": retries}, 4),
        ("topic_dlq_offset", {**site.place, "group": group}, 4),
        ("consumer_offset", of_group, 2),
        ("message_accumulation", of_group, 2),
        ("group_diff", {**group_alone, "topic": topic}, 2),
        ("group_retrydiff", group_alone, 2),
        ("group_dlqdiff", group_alone, 4),
        ("group_count", group_alone, 0),
    ):
        assert values.value(f"rocketmq_{name}", **labels) == expected, name
    assert values.value("rocketmq_group_get_latency_by_storetime", **of_group) != 0

    def is_gone() -> bool:
        # Delete again: a broker that registers meanwhile announces what was deleted.
        for name in topics:
            ours(f"deleteTopic -c {CLUSTER} -t {name}")
        ours(f"deleteSubGroup -b {address} -g {group}")
        remaining = site.scrape_all()
        return not remaining.mentions(topic) | remaining.mentions(group)

    wait_until(is_gone, "the exporter does not show what was deleted")


def test_a_group_is_gone_when_it_is_deleted_with_its_offsets(site: Site, ours: Ours) -> None:
    address = site.broker.address
    topic, group = (
        ours.create_topic(unique("stays"), broker=address),
        ours.create_group("", address),
    )
    site.fill(group, {topic: True})
    assert site.scrape().mentions(group)

    # Java 5.5.0 creates it again if its offsets stay: LiteMetadataUtil.isLiteGroupType looks for it
    ours(f"deleteSubGroup -b {address} -g {group} -r true")

    values = site.scrape()
    assert not values.mentions(group)
    assert values.value("rocketmq_producer_offset", **site.place, topic=topic) == 4


def test_a_broker_has_its_runtime_values(site: Site, mqadmin: Mqadmin) -> None:
    printed: dict[str, str] = {}

    def is_printed() -> bool:  # a broker of which mqadmin does not know is printed as nothing
        lines = mqadmin(f"brokerStatus -b {site.broker.address}").splitlines()
        words = (line.partition(":") for line in lines)
        printed.update({name.strip(): value.strip() for name, _, value in words})
        return "bootTimestamp" in printed

    wait_until(is_printed, "mqadmin prints the status of the broker")

    values = site.scrape()

    place = {**site.place, "brokerIP": site.broker.address}
    runtime = "rocketmq_brokeruntime_"
    assert values.value(f"{runtime}boot_timestamp", **place) == int(printed["bootTimestamp"])
    for family in (
        "commitlogdir_capacity_total",
        "putmessage_times_total",
        "dispatch_behind_bytes",
    ):
        assert values.value(runtime + family, **place) is not None, family
    # A broker that has just started has no rates yet.
    wait_until(
        lambda: site.scrape().value(f"{runtime}gettransfered_tps10", **place) is not None,
        "the broker has rates",
        120,
    )
    if type(site.broker) is JavaBroker:  # others have the version of 5.5.0
        version = f"V{site.version}".replace(".", "_")
        assert values.value("rocketmq_exporter_broker_info", **place, version=version) == 1
    for part in ("runtime", "producers", "topics", "groups", "clients"):
        assert values.value("rocketmq_exporter_part_complete", **place, part=part) == 1, part


@pytest.mark.full
def test_members_and_producers_of_java_are_counted(
    site: Site, java_peer: JavaPeer, ours: Ours
) -> None:
    group, producer = unique("member"), unique("sender")
    topic = ours.create_topic(unique("joined"), broker=site.broker.address)
    address = ours.cluster.address
    java_peer.consume(address, topic, group)
    java_peer.send(address, topic, producer, range(5))
    java_peer.received(group, 5)

    def is_complete() -> bool:
        values, labels = site.scrape(), {"topic": topic, "group": group}
        return (
            values.value("rocketmq_group_count", group=group) == 1
            and values.value("rocketmq_consumer_offset", **labels) == 5
            and values.value("rocketmq_client_consume_ok_msg_tps", **labels) is not None
            and values.sum("rocketmq_producer_count", group=producer) >= 1
        )

    wait_until(is_complete, "the member has committed its offsets", 300)
    java_peer.close(group)
