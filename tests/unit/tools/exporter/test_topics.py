"""Topics: offsets, dead letters and rates, with as few requests as possible."""

import time

from rocketwire.versions import MQVersion
from rocketwire_tools.exporter.parts import collect_topics
from tests.support.fakes.exported_cluster import ExportedCluster, stats, topic_stats


async def test_offsets_are_summed_up_by_kind_of_topic() -> None:
    topics = {
        "t": topic_stats((0, 3), (1, 4)),
        "%RETRY%g": topic_stats((0, 5)),
        "%DLQ%g": topic_stats((2, 6)),
        "%LMQ%x": None,
        "deleted": None,
    }
    scrape = ExportedCluster(topics=topics).scrape()

    await scrape.run("topics", collect_topics)

    values = scrape.samples.values
    assert values["rocketmq_producer_offset"] == {("c", "a", "t"): 7}
    assert values["rocketmq_topic_retry_offset"] == {("c", "a", "%RETRY%g"): 5}
    assert values["rocketmq_topic_dlq_offset"] == {("c", "a", "g"): 6}
    assert values["rocketmq_group_dlqdiff"] == {("c", "g", "%DLQ%g"): 4}
    assert not scrape.incomplete


async def test_an_old_broker_is_asked_for_rates_of_topics_with_new_messages_only() -> None:
    now = int(time.time() * 1000)
    cluster = ExportedCluster(
        topics={"new": topic_stats((0, 1), newest=now), "old": topic_stats((0, 1), newest=1)},
        figures={("TOPIC_PUT_NUMS", "new"): stats(2), ("TOPIC_PUT_SIZE", "new"): stats(200)},
    )
    scrape = cluster.scrape()

    await collect_topics(scrape)

    values = scrape.samples.values
    assert values["rocketmq_producer_tps"] == {("c", "a", "new"): 2, ("c", "a", "old"): 0}
    assert values["rocketmq_producer_message_size"] == {
        ("c", "a", "new"): 200,
        ("c", "a", "old"): 0,
    }
    assert scrape.requests == 1 + 2 + 2


async def test_a_new_broker_returns_the_rate_with_the_offsets() -> None:
    cluster = ExportedCluster(
        topics={"t": topic_stats((0, 1), rate=2.5), "idle": topic_stats((0, 1))},
        figures={("TOPIC_PUT_SIZE", "t"): stats(200)},
    )
    scrape = cluster.scrape()
    scrape.version = MQVersion.V5_3_3

    await collect_topics(scrape)

    values = scrape.samples.values
    assert values["rocketmq_producer_tps"] == {("c", "a", "t"): 2.5, ("c", "a", "idle"): 0}
    assert values["rocketmq_producer_message_size"][("c", "a", "t")] == 200
    assert scrape.requests == 1 + 2 + 1
