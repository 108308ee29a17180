"""Findings of ``doctor`` and ``diff`` for given answers, without servers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from rocketwire.messages.ha import HAConnectionRuntimeInfo, HARuntimeInfo
from rocketwire.messages.route import BrokerData, QueueData, TopicRouteData
from rocketwire.versions import CURRENT_VERSION
from rocketwire_tools.admin.actions.doctor import (
    ADVICE,
    OK,
    PROBLEM,
    WARNING,
    Identity,
    Probe,
    findings,
)
from rocketwire_tools.admin.actions.snapshot import Snapshot, differences
from tests.peers.cache import ROOT

MASTER, REPLICA = "10.0.0.1:10911", "10.0.0.2:10911"
GOOD = {MASTER: Probe(version="V5_5_0"), REPLICA: Probe(version="V5_5_0")}


def broker(**addresses: str) -> BrokerData:
    by_id = {0: addresses.get("master"), 1: addresses.get("replica")}
    known = {id_: address for id_, address in by_id.items() if address}
    return BrokerData(broker_name="b", cluster="c", broker_addrs=known)


def route(perm: int = 6, queues: int = 4, **addresses: str) -> TopicRouteData:
    data = QueueData(broker_name="b", perm=perm, read_queue_nums=queues, write_queue_nums=queues)
    return TopicRouteData(queue_datas=(data,), broker_datas=(broker(**addresses),))


def snapshot(address: str = "10.0.0.9:9876", **changed: Any) -> Snapshot:
    given: dict[str, Any] = {
        "address": address,
        "version": 513,
        "clusters": {"c": ("b",)},
        "brokers": {"b": broker(master=MASTER)},
        "routes": {"T": route(master=MASTER)},
    }
    return Snapshot(**(given | changed))


def wrong(*snapshots: Snapshot, probes: dict[str, Probe] | None = None) -> list[tuple[str, str]]:
    found = findings(snapshots or [snapshot()], {}, probes or GOOD, {})
    return [(one.status, one.text) for one in found if one.status != OK and one.subject != "topics"]


def test_a_cluster_that_is_well_has_nothing_wrong() -> None:
    assert [] == wrong()
    assert findings([snapshot()], {}, GOOD, {})[-1].text == "1 checked, no findings"


def ids(*snapshots: Snapshot, probes: dict[str, Probe] | None = None) -> list[tuple[str, str, str]]:
    """Status, id and name of the findings; each has advice."""
    rows = findings(snapshots or [snapshot()], {}, probes or GOOD, {})
    assert all(bool(one.advice) == (one.status != OK) for one in rows)
    return [(one.status, one.id or "", one.name) for one in rows if one.status != OK]


def test_every_id_has_its_place_in_the_guide() -> None:
    guide = (ROOT / "docs" / "guide" / "rocketwire-admin.md").read_text()
    text = guide.partition("## Doctor")[2].partition("## Diff")[0]

    assert set(ADVICE) == set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))


def test_a_cluster_without_a_broker_is_a_problem() -> None:
    empty = snapshot(brokers={}, clusters={}, routes={})

    assert [(PROBLEM, "broker-none", "none")] == ids(empty)
    assert [(PROBLEM, "broker-none", "none")] == ids(empty, replace(empty, address="10.0.0.8:9876"))


def test_a_broker_that_some_name_servers_do_not_know_is_a_problem_of_its_own() -> None:
    empty = snapshot("10.0.0.8:9876", brokers={}, clusters={}, routes={})

    for order in ((snapshot(), empty), (empty, snapshot())):
        assert [(PROBLEM, "broker-registered-partly", "b")] == ids(*order)


def test_what_follows_from_a_broker_that_is_missing_is_no_finding_of_its_own() -> None:
    """Its cluster, its topics and its queues of topics that others have too."""
    other = BrokerData(broker_name="x", cluster="c", broker_addrs={0: MASTER})
    queues = QueueData(broker_name="x", perm=6, read_queue_nums=1, write_queue_nums=1)
    of_both = TopicRouteData(
        queue_datas=(*(route().queue_datas or ()), queues),
        broker_datas=(broker(master=MASTER), other),
    )
    of_one = TopicRouteData(queue_datas=(queues,), broker_datas=(other,))
    more = snapshot(
        "10.0.0.8:9876",
        clusters={"c": ("b", "x")},
        brokers={"b": broker(master=MASTER), "x": other},
        routes={"T": of_both, "X": of_one},
    )
    expected = [(PROBLEM, "broker-registered-partly", "x")]

    assert expected == ids(snapshot(), more)
    assert expected == ids(more, snapshot())
    assert expected == ids(more, snapshot(), replace(more, address="10.0.0.7:9876"))
    refused = BrokerData(broker_name="x", cluster="c", broker_addrs={})  # Java keeps the name
    nearly = {"b": broker(master=MASTER), "x": refused}
    assert expected == ids(more, snapshot(clusters={"c": ("b", "x")}, brokers=nearly))


@pytest.mark.parametrize(
    "changed",
    [
        {"routes": {}},
        {"routes": {"T": route(queues=8, master=MASTER)}},
        {"routes": {"T": route(master=MASTER), "N": route(master=MASTER)}},
        {"clusters": {"c": ("b", "y")}},
        {"brokers": {"b": BrokerData(broker_name="b", cluster="d", broker_addrs={0: MASTER})}},
        {"brokers": {"b": broker(master=REPLICA)}},
    ],
    ids=["topic", "queues", "new topic", "cluster", "cluster of a broker", "address"],
)
def test_name_servers_that_differ_for_another_reason_are_found(changed: dict[str, Any]) -> None:
    other = BrokerData(broker_name="x", cluster="c", broker_addrs={0: MASTER})
    brokers = {**changed.get("brokers", {"b": broker(master=MASTER)}), "x": other}
    differing = snapshot("10.0.0.8:9876", **(changed | {"brokers": brokers}))

    found = [id_ for _, id_, _ in ids(snapshot(), differing)]
    assert found.count("name-servers-differ") == 1
    assert found.count("broker-registered-partly") == 1


def test_a_replica_that_some_name_servers_do_not_know_is_named() -> None:
    both = snapshot(brokers={"b": broker(master=MASTER, replica=REPLICA)})
    master_only = snapshot("10.0.0.8:9876")
    expected = "replica 1 is registered with 10.0.0.9:9876 but not with 10.0.0.8:9876"

    for order in ((both, master_only), (master_only, both)):
        assert [(PROBLEM, "broker-registered-partly", "b")] == ids(*order)
        assert [(PROBLEM, expected)] == wrong(*order)
    replica_only = snapshot("10.0.0.8:9876", brokers={"b": broker(replica=REPLICA)})
    texts = [text for _, text in wrong(both, replica_only)]
    assert texts == ["master is registered with 10.0.0.9:9876 but not with 10.0.0.8:9876"]


def test_a_broker_that_is_somebody_else_or_somewhere_else_is_found() -> None:
    def probed(**facts: Any) -> list[tuple[str, str, str]]:
        return ids(probes=GOOD | {MASTER: Probe(version="V5_5_0", **facts)})

    assert [] == probed(identity=Identity("b", 0, MASTER))
    assert [(PROBLEM, "broker-other-identity", "b")] == probed(identity=Identity("x", 0, MASTER))
    assert [(PROBLEM, "broker-other-identity", "b")] == probed(identity=Identity("b", 1, MASTER))
    assert [(WARNING, "broker-other-address", "b")] == probed(identity=Identity("b", 0, REPLICA))
    assert [(PROBLEM, "broker-other-address", "b")] == probed(
        error="late", reachable_at="10.0.0.9:1"
    )
    assert [] == probed(mapped_to="c:1", unmapped=Probe(error="refused"))
    assert [(PROBLEM, "broker-address-map", "b")] == probed(
        error="refused", mapped_to="c:1", unmapped=Probe(version="V5_5_0")
    )


@pytest.mark.parametrize(
    ("disk", "rows"),
    [
        (None, []),
        (0.849, []),
        (0.85, [(WARNING, "broker-disk-filling", "b")]),
        (0.9, [(PROBLEM, "broker-disk-full", "b")]),
    ],
)
def test_full_disk_is_found(disk: float | None, rows: list[tuple[str, str, str]]) -> None:
    assert rows == ids(probes=GOOD | {MASTER: Probe(version="V5_5_0", disk=disk)})


def test_releases_that_do_not_go_together_are_found() -> None:
    def probed(version: str, *servers: Snapshot) -> list[tuple[str, str]]:
        found = ids(*servers, probes=GOOD | {MASTER: Probe(version=version)})
        return [(id_, name) for _, id_, name in found]

    old = snapshot(version=401)
    assert [("versions-name-server", "10.0.0.9:9876")] == probed("V5_5_0", old)
    assert [] == probed("V4_9_4", old)
    assert [] == probed("V4_9_4", snapshot())
    assert [] == probed("a fork")
    assert [("versions-name-server", "10.0.0.9:9876"), ("versions-client", "rocketwire")] == probed(
        str(CURRENT_VERSION + 2)
    )
    assert ("name-server-versions", "nameServers") in probed(
        "V4_9_4", old, snapshot("10.0.0.8:9876")
    )


def test_brokers_of_two_clusters_may_be_of_different_releases() -> None:
    third = "10.0.0.3:10911"
    other = BrokerData(broker_name="o", cluster="d", broker_addrs={0: third})
    one = snapshot(brokers={"b": broker(master=MASTER), "o": other})

    assert [] == ids(one, probes=GOOD | {third: Probe(version="V4_9_4")})


def test_retry_topics_that_cannot_be_used_are_found_and_other_system_topics_are_not() -> None:
    routes = {
        "%RETRY%g": route(perm=4, master=MASTER),
        "%DLQ%g": route(perm=2, master=MASTER),
        "SCHEDULE_TOPIC_XXXX": route(perm=0, master=MASTER),
    }

    assert [(WARNING, "retry-topic-unusable", "%RETRY%g")] == ids(snapshot(routes=routes))


def test_a_broker_that_does_not_answer_at_an_address_is_a_problem() -> None:
    probes = GOOD | {MASTER: Probe(error="nobody listens")}

    assert [(PROBLEM, f"master {MASTER} does not respond: nobody listens")] == wrong(probes=probes)


def test_a_broker_group_without_master_is_a_problem() -> None:
    one = snapshot(brokers={"b": broker(replica=REPLICA)})

    assert [(PROBLEM, f"has no master; replicas: 1: {REPLICA}")] == wrong(one)


def test_a_replica_that_does_not_fetch_or_is_far_behind_is_a_problem() -> None:
    one = snapshot(brokers={"b": broker(master=MASTER, replica=REPLICA)})
    behind = HAConnectionRuntimeInfo(addr="10.0.0.2:5", diff=1 << 30)
    alone = Probe(version="V5_5_0", replication=HARuntimeInfo(master=True))
    slow = Probe(
        version="V5_5_0", replication=HARuntimeInfo(master=True, ha_connection_info=(behind,))
    )

    ((status, text),) = wrong(one, probes=GOOD | {MASTER: alone})
    assert (PROBLEM, "1 replicas are registered but 0 fetch from the master") == (status, text)
    ((status, text),) = wrong(one, probes=GOOD | {MASTER: slow})
    assert PROBLEM == status
    assert "1073741824 bytes behind" in text


def test_brokers_of_several_versions_are_a_warning() -> None:
    one = snapshot(brokers={"b": broker(master=MASTER, replica=REPLICA)})
    probes = GOOD | {REPLICA: Probe(version="V4_9_4")}

    assert [(WARNING, "brokers differ: V4_9_4: b; V5_5_0: b")] == wrong(one, probes=probes)


def test_a_broker_whose_replicas_are_of_one_version_is_named_once() -> None:
    old, third = broker(master="10.0.0.3:10911"), "10.0.0.3:10911"
    one = snapshot(brokers={"b": broker(master=MASTER, replica=REPLICA), "c": old})
    probes = GOOD | {third: Probe(version="V4_9_4")}

    assert [(WARNING, "brokers differ: V4_9_4: c; V5_5_0: b")] == wrong(one, probes=probes)


def test_an_address_that_only_one_machine_can_reach_is_a_warning_for_others() -> None:
    brokers = {"b": broker(master="127.0.0.1:10911")}
    probes = {"127.0.0.1:10911": Probe(version="V5_5_0")}

    ((status, text),) = wrong(snapshot(brokers=brokers), probes=probes)
    assert (WARNING, True) == (status, "other machines cannot reach" in text)
    assert [] == wrong(snapshot("127.0.0.1:9876", brokers=brokers), probes=probes)


def test_topics_that_cannot_be_used_are_told() -> None:
    routes = {
        "gone": None,
        "homeless": route(),
        "read only": route(perm=4, master=MASTER),
        "no queues": route(queues=0, master=MASTER),
        "%DLQ%g": route(perm=2, master=MASTER),
        "rmq_sys_SYNC_BROKER_MEMBER_b": route(perm=0, master=MASTER),
    }

    found = findings([snapshot(routes=routes)], {}, GOOD, {})

    assert [
        (PROBLEM, "gone", "is listed but has no route"),
        (PROBLEM, "homeless", "has queues at b, which has no address"),
        (WARNING, "no queues", "has no writable queue"),
        (WARNING, "no queues", "has no readable queue"),
        (WARNING, "read only", "has no writable queue"),
    ] == [(one.status, one.name, one.text) for one in found if one.subject in ("topic", "topics")]


def test_name_servers_that_fail_or_disagree_are_problems() -> None:
    other = snapshot("10.0.0.8:9876", routes={})

    found = findings([snapshot(), other], {"10.0.0.7:9876": "refused"}, GOOD, {})

    problems = [(one.subject, one.name, one.text) for one in found if one.status == PROBLEM]
    assert [
        ("nameServer", "10.0.0.7:9876", "does not respond: refused"),
        ("topic", "T", 'topic differs: 10.0.0.9:9876 has "known", 10.0.0.8:9876 has nothing'),
    ] == problems


def test_equal_answers_do_not_differ() -> None:
    assert [] == differences(snapshot(), snapshot("10.0.0.8:9876", version=401))


def test_differences_tell_the_least_that_says_it() -> None:
    other = snapshot(
        clusters={"c": ("b", "x")},
        brokers={"b": broker(master=REPLICA)},
        routes={"T": route(queues=8, master=MASTER), "new": route(master=MASTER)},
    )

    found = differences(snapshot(), other)

    assert [
        ("cluster", "c", ["b"], ["b", "x"]),
        (
            "broker",
            "b",
            {"cluster": "c", "addresses": {"0": MASTER}},
            {"cluster": "c", "addresses": {"0": REPLICA}},
        ),
        ("topic", "new", None, "known"),
        (
            "route",
            "T@b",
            {"read": 4, "write": 4, "perm": 6, "sysFlag": 0},
            {"read": 8, "write": 8, "perm": 6, "sysFlag": 0},
        ),
    ] == found
