"""Members of groups: their number, and their own reports."""

from rocketwire.codes import ResponseCode
from rocketwire.messages.callbacks import ConsumerRunningInfo, ConsumeStatus
from rocketwire_tools.exporter.parts import GroupMembers, add_counts, collect_clients
from tests.support.fakes.exported_cluster import ExportedCluster, refusal


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
