"""The parts of a collection: the broker itself, topics, consumer groups and members."""

import time
from functools import partial

import pytest

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelBrokenError, LimitExceededError, RocketWireError
from rocketwire.messages.callbacks import ConsumerRunningInfo, ConsumeStatus
from rocketwire.versions import MQVersion
from rocketwire_tools.exporter.parts import (
    GroupMembers,
    add_counts,
    byte_count,
    collect_clients,
    collect_groups,
    collect_producers,
    collect_runtime,
    collect_topics,
    minute,
    runtime_values,
)
from tests.support.fakes.exported_cluster import (
    ADDRESS,
    PLACE,
    ExportedCluster,
    connected,
    progress,
    refusal,
    span,
    stats,
    topic_stats,
)

VALUES = {
    "bootTimestamp": "1700000000000",
    "brokerVersion": "477",
    "brokerVersionDesc": "V5_3_3",
    "remainHowManyDataToFlush": "12 B",
    "commitLogDirCapacity": "Total : 1.5 GiB, Free : 2.0 MiB.",
    "putMessageDistributeTime": "[<=0ms]:7 [0~10ms]:1 [10s~]:2 [odd]:3 ",
    "putTps": "1.5 2.5 3.5",
    "getTransferedTps": "4.0",
    "putLatency99": "odd",
    "putLatency999": "NaN",
}


def test_values_are_the_first_word_of_the_text() -> None:
    values = dict(runtime_values(VALUES))

    assert values == {
        "rocketmq_brokeruntime_boot_timestamp": 1_700_000_000_000,
        "rocketmq_brokeruntime_remain_howmanydata_toflush": 12,
        "rocketmq_brokeruntime_put_tps10": 1.5,
        "rocketmq_brokeruntime_put_tps60": 2.5,
        "rocketmq_brokeruntime_put_tps600": 3.5,
        "rocketmq_brokeruntime_gettransfered_tps10": 4,
        "rocketmq_brokeruntime_pmdt_0ms": 7,
        "rocketmq_brokeruntime_pmdt_0to10ms": 1,
        "rocketmq_brokeruntime_pmdt_10stomore": 2,
        "rocketmq_brokeruntime_commitlogdir_capacity_total": 1.5 * 2**30,
        "rocketmq_brokeruntime_commitlogdir_capacity_free": 2 * 2**20,
    }


@pytest.mark.parametrize(
    ("number", "unit", "size"),
    [
        ("1", "B", 1),
        ("1.5", "KiB", 1536),
        ("2", "TB", 2e12),
        ("1", "XiB", None),
        ("1.2.3", "GiB", None),
    ],
)
def test_sizes_have_units_of_1024_or_1000(number: str, unit: str, size: float | None) -> None:
    assert byte_count(number, unit) == size


async def test_a_master_has_rates_and_a_version() -> None:
    figures = {("BROKER_PUT_NUMS", "c"): stats(7.5)}
    scrape = ExportedCluster(runtime=VALUES, figures=figures).scrape()

    await collect_runtime(scrape)

    labels = ("c", ADDRESS, "a")
    values = scrape.samples.values
    assert values["rocketmq_broker_tps"] == {labels: 7.5}
    assert values["rocketmq_broker_qps"] == {labels: 0}
    assert values["rocketmq_exporter_broker_info"] == {(*labels, "V5_3_3"): 1}
    assert scrape.version == 477


async def test_a_slave_is_not_asked_for_rates() -> None:
    scrape = ExportedCluster(runtime={}).scrape(PLACE._replace(broker_id=1, is_primary=False))

    await collect_runtime(scrape)

    assert scrape.samples.values["rocketmq_broker_tps"] == {}
    assert (scrape.requests, scrape.version) == (1, 0)


async def test_producers_are_counted_by_group() -> None:
    scrape = ExportedCluster(producers={"g": (1, 2)}).scrape()

    await collect_producers(scrape)

    assert scrape.samples.values["rocketmq_producer_count"] == {("c", "a", "g"): 2}


@pytest.mark.parametrize(
    ("code", "failures"),
    [
        (ResponseCode.REQUEST_CODE_NOT_SUPPORTED, {}),
        (ResponseCode.NO_PERMISSION, {("producers", "NO_PERMISSION"): 1}),
    ],
)
async def test_refused_producers(code: ResponseCode, failures: dict[tuple[str, str], int]) -> None:
    scrape = ExportedCluster(producers=refusal(code)).scrape()

    await scrape.run("producers", collect_producers)

    assert scrape.failures == failures
    assert bool(scrape.incomplete) == bool(failures)


async def test_a_statistic_may_be_refused() -> None:
    denied = refusal(ResponseCode.SYSTEM_ERROR, "AclException: no")
    scrape = ExportedCluster(figures={("SNDBCK_PUT_NUMS", "t@g"): denied}).scrape()

    with pytest.raises(BrokerError):
        await minute(scrape, "SNDBCK_PUT_NUMS", "t@g")


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


CONSUMED = ("c", "a", "t", "g")


async def test_lag_is_given_by_queue_by_broker_and_by_cluster() -> None:
    cluster = ExportedCluster(
        groups={"g": progress({"t": [(10, 4), (5, 5)], "%RETRY%g": [(3, 1)]})},
        spans={"t": (span(0, 2500), span(1, 0), span(7, 1)), "%RETRY%g": (span(0, -5),)},
    )
    scrape = cluster.scrape()

    await collect_groups(GroupMembers(), scrape)

    values = scrape.samples.values
    messages = values["rocketmq_group_queue_lag_messages"]
    assert (messages[*CONSUMED, "0"], messages[*CONSUMED, "1"]) == (6, 0)
    seconds = values["rocketmq_group_queue_lag_seconds"]
    assert (seconds[*CONSUMED, "0"], seconds[*CONSUMED, "1"]) == (2.5, 0)
    assert values["rocketmq_group_get_latency_by_storetime"][CONSUMED] == 2500
    assert values["rocketmq_group_get_latency_by_storetime"]["c", "a", "%RETRY%g", "g"] == 0
    assert values["rocketmq_consumer_offset"][CONSUMED] == 9
    assert values["rocketmq_message_accumulation"][CONSUMED] == 6
    assert values["rocketmq_group_diff"] == {("c", "g", "t"): 6}
    assert values["rocketmq_group_retrydiff"] == {("c", "g", "%RETRY%g"): 2}


async def test_a_group_without_offsets_costs_no_request() -> None:
    cluster = ExportedCluster(
        groups={"g": progress({}), "idle": progress({})}, offsets={"t@g": {0: 1}}
    )

    await collect_groups(GroupMembers(), cluster.scrape())

    assert [request for request in cluster.asked if "idle" in request] == []


async def test_a_deleted_group_whose_offsets_are_left_is_not_asked() -> None:
    cluster = ExportedCluster(groups={}, offsets={"t@gone": {0: 1}})

    await collect_groups(GroupMembers(), cluster.scrape())

    assert [request[0] for request in cluster.asked] == ["groups", "offsets"]


@pytest.mark.parametrize(
    "error",
    [
        LimitExceededError("too large", declared=2, limit=1),
        ChannelBrokenError("the frame is too large"),
    ],
)
async def test_all_groups_are_asked_without_offsets(error: RocketWireError) -> None:
    cluster = ExportedCluster(groups={"g": progress({}), "h": progress({})}, offsets=error)

    await collect_groups(GroupMembers(), cluster.scrape())

    assert {request[1] for request in cluster.asked if request[0] == "progress"} == {"g", "h"}


async def test_a_group_that_consumed_everything_is_not_asked_for_ages_or_rates() -> None:
    cluster = ExportedCluster(groups={"g": progress({"t": [(4, 4), (2, 3)]})})
    scrape = cluster.scrape()

    await collect_groups(GroupMembers(), scrape)

    requests = [request[0] for request in cluster.asked]
    assert requests == ["groups", "offsets", "progress", "connection"]
    assert scrape.samples.values["rocketmq_message_accumulation"] == {CONSUMED: 0}
    assert scrape.samples.values["rocketmq_consumer_tps"] == {CONSUMED: 0}


async def test_a_group_that_reads_has_rates() -> None:
    cluster = ExportedCluster(
        groups={"g": progress({"t": [(4, 4)]}, rate=3)},
        figures={
            ("GROUP_GET_NUMS", "t@g"): stats(3),
            ("GROUP_GET_SIZE", "t@g"): stats(300),
            ("SNDBCK_PUT_NUMS", "t@g"): stats(0.1, 6),
        },
    )
    scrape = cluster.scrape()

    await collect_groups(GroupMembers(), scrape)

    values = scrape.samples.values
    assert values["rocketmq_consumer_tps"] == {CONSUMED: 3}
    assert values["rocketmq_consumer_message_size"] == {CONSUMED: 300}
    assert values["rocketmq_send_back_nums"] == {CONSUMED: 6}


async def test_members_are_noted_with_the_first_broker_that_knows_them() -> None:
    groups = {"g": progress({}), "alone": progress({})}
    cluster = ExportedCluster(groups=groups, members={"g": connected("x", "y")})
    first, second = cluster.scrape(), cluster.scrape()
    members = GroupMembers()

    await collect_groups(members, first)
    await collect_groups(members, second)

    assert members.clients == {
        ("c", "g"): {"x": (first, "x:1"), "y": (first, "y:1")},
        ("c", "alone"): {},
    }


async def test_a_refused_list_of_members_is_a_failure() -> None:
    denied = refusal(ResponseCode.NO_PERMISSION)
    cluster = ExportedCluster(groups={"g": progress({})}, members={"g": denied})
    scrape = cluster.scrape()

    await scrape.run("groups", partial(collect_groups, GroupMembers()))

    assert scrape.failures == {("groups", "NO_PERMISSION"): 1}


def test_groups_without_members_have_a_count_of_zero() -> None:
    scrape = ExportedCluster().scrape()
    members = GroupMembers()
    members.clients["c", "alone"] = {}
    members.add(scrape, "g", "x", "x:1")

    add_counts(scrape.samples, members)

    counts = scrape.samples.values["rocketmq_group_count"]
    assert counts == {("c", "alone"): 0, ("c", "g"): 1}


async def test_a_member_is_asked_once_through_one_broker() -> None:
    status = ConsumeStatus(consume_failed_msgs=1, pull_tps=6)
    cluster = ExportedCluster(running={"x": ConsumerRunningInfo(status_table={"t": status})})
    first, second = cluster.scrape(), cluster.scrape()
    members = GroupMembers()
    members.add(first, "g", "x", "x:1")
    members.add(second, "g", "x", "x:2")

    await collect_clients(members, 10)

    values = first.samples.values
    labels = ("c", "x:1", "x", "g", "t")
    assert values["rocketmq_client_consume_fail_msg_count"] == {labels: 1}
    assert values["rocketmq_client_consumer_pull_tps"] == {labels: 6}
    assert (first.requests, second.requests) == (1, 0)


async def test_members_that_have_left_are_skipped_and_the_others_are_bounded() -> None:
    running = {
        "x": refusal(ResponseCode.CONSUMER_NOT_ONLINE),
        "y": refusal(ResponseCode.SYSTEM_ERROR),
    }
    cluster = ExportedCluster(running=running)
    scrape = cluster.scrape()
    members = GroupMembers()
    for client_id in ("x", "y", "z"):
        members.add(scrape, "g", client_id, f"{client_id}:1")

    await collect_clients(members, 2)

    assert scrape.requests == 2
    assert scrape.failures == {("clients", "SYSTEM_ERROR"): 1}
    assert list(scrape.incomplete) == ["clients"]
