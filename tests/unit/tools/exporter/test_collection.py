"""One collection: its parts, its limits, and its failures."""

import logging
from collections.abc import Mapping

import pytest

from rocketwire.codes import ResponseCode
from rocketwire.errors import ConnectFailedError
from rocketwire.messages.route import BrokerData, ClusterInfo
from rocketwire_tools.exporter.collection import Limits, collect, list_brokers
from tests.support.fakes.exported_cluster import (
    ADDRESS,
    ExportedCluster,
    connected,
    one_broker,
    progress,
    refusal,
    topic_stats,
)

BROKER = ("c", ADDRESS, "a")


def part_values(values: Mapping[tuple[str, ...], float]) -> dict[str, float]:
    return {labels[-1]: value for labels, value in values.items()}


async def test_a_collection_asks_every_part_of_a_broker() -> None:
    cluster = ExportedCluster(
        runtime={"commitLogMaxOffset": "10"},
        topics={"t": topic_stats((0, 3))},
        groups={"g": progress({"t": [(3, 3)]})},
        members={"g": connected("x")},
    )
    samples = await collect(cluster.admin, Limits())

    values = samples.values
    assert values["rocketmq_exporter_up"] == {(): 1}
    assert values["rocketmq_exporter_broker_up"] == {BROKER: 1}
    assert part_values(values["rocketmq_exporter_part_complete"]) == dict.fromkeys(
        ("runtime", "producers", "topics", "groups", "clients"), 1
    )
    assert values["rocketmq_group_count"] == {("c", "g"): 1}
    assert values["rocketmq_exporter_requests"] == {(): len(cluster.asked) - 1}
    assert values["rocketmq_exporter_dropped_series"] == {(): 0}


async def test_without_a_name_server_nothing_is_up(caplog: pytest.LogCaptureFixture) -> None:
    cluster = ExportedCluster(info=ConnectFailedError("127.0.0.1:9876: refused"))
    with caplog.at_level(logging.WARNING, "rocketwire.exporter"):
        samples = await collect(cluster.admin, Limits())

    assert samples.values["rocketmq_exporter_up"] == {(): 0}
    assert "no name server answers: 127.0.0.1:9876: refused" in caplog.text


async def test_a_broker_that_refuses_is_down_and_its_failures_are_counted() -> None:
    denied = refusal(ResponseCode.NO_PERMISSION)
    cluster = ExportedCluster(runtime=denied, producers=denied, topics=denied, groups=denied)
    samples = await collect(cluster.admin, Limits())

    assert samples.values["rocketmq_exporter_broker_up"] == {BROKER: 0}
    assert samples.values["rocketmq_exporter_failures"] == {
        (*BROKER, part, "NO_PERMISSION"): 1 for part in ("runtime", "producers", "topics", "groups")
    }


async def test_the_deadline_leaves_parts_incomplete(autojump_clock: object) -> None:
    cluster = ExportedCluster(topics={"t": topic_stats((0, 3))}, hangs={"groups"})
    samples = await collect(cluster.admin, Limits(deadline=30))

    complete = part_values(samples.values["rocketmq_exporter_part_complete"])
    assert complete == {"runtime": 1, "producers": 1, "topics": 1, "groups": 0, "clients": 0}
    assert samples.values["rocketmq_exporter_broker_up"] == {BROKER: 0}
    assert samples.values["rocketmq_producer_offset"] == {("c", "a", "t"): 3}
    assert samples.values["rocketmq_exporter_collection_seconds"][()] == pytest.approx(30)


async def test_a_slave_is_asked_for_its_runtime_values_only() -> None:
    slave = "10.0.0.2:10911"
    cluster = ExportedCluster(info=one_broker(ADDRESS, slave), runtime={"commitLogMaxOffset": "10"})
    samples = await collect(cluster.admin, Limits())

    assert samples.values["rocketmq_broker_commitlog_diff"] == {("c", slave, "a"): 0}
    parts = samples.values["rocketmq_exporter_part_complete"]
    assert [labels[-1] for labels in parts if labels[1] == slave] == ["runtime"]


async def test_the_distance_of_a_slave_needs_the_values_of_both() -> None:
    cluster = ExportedCluster(info=one_broker(ADDRESS, "10.0.0.2:10911"), runtime={})
    samples = await collect(cluster.admin, Limits())

    assert samples.values["rocketmq_broker_commitlog_diff"] == {}


async def test_clients_need_not_be_asked() -> None:
    cluster = ExportedCluster(groups={"g": progress({})}, members={"g": connected("x")})
    samples = await collect(cluster.admin, Limits(clients=0))

    assert "running_info" not in {request[0] for request in cluster.asked}
    assert samples.values["rocketmq_exporter_broker_up"] == {BROKER: 1}


def test_without_a_master_the_slave_with_the_lowest_id_is_primary() -> None:
    group = BrokerData(broker_name="a", broker_addrs={2: "y:1", 1: "x:1"})
    info = ClusterInfo(broker_addr_table={"a": group}, cluster_addr_table={"c": ("b",)})

    assert {
        (broker.cluster, broker.address, broker.is_primary) for broker in list_brokers(info)
    } == {("", "y:1", False), ("", "x:1", True)}


def test_a_cluster_without_brokers_is_empty() -> None:
    assert list(list_brokers(ClusterInfo())) == []
