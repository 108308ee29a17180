"""Consumer groups: progress, ages, rates, members; what costs a request and what does not."""

from functools import partial

import pytest

from rocketwire.codes import ResponseCode
from rocketwire.errors import ChannelBrokenError, LimitExceededError, RocketWireError
from rocketwire_tools.exporter.parts import GroupMembers, collect_groups
from tests.support.fakes.exported_cluster import (
    ExportedCluster,
    connected,
    progress,
    refusal,
    span,
    stats,
)

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
