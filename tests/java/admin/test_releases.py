"""``produce``, ``consume`` and what operators look at, with brokers of 5.3.3 and 4.9.4."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from rocketwire.policy.resource_names import retry_topic
from tests.java.admin.commands import CLUSTER, without_disk
from tests.peers import cache as java_cache
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import MIDDLE, OLD
from tests.peers.processes import wait_until
from tests.peers.shared_peers import have_here
from tests.support.admin_in_process import Run
from tests.support.admin_in_process import run as run_here
from tests.support.admin_process import Done, begin, end, run
from tests.support.exporter_in_process import scrape

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.full


KINDS = ("", "--orderly", "--pull", "--broadcast")
"""Kinds of consumers that every release has."""


class Place(NamedTuple):
    """A cluster of one release, and the program that operates it."""

    version: str
    cluster: JavaCluster
    home: Path

    @property
    def servers(self) -> tuple[str, ...]:
        return ("-n", self.cluster.address, "--request-timeout", "120")

    def topic(self, word: str) -> str:
        name = unique(word)
        address = self.cluster.master.address
        made = self.asked("updateTopic", "-b", address, "-t", name, "-r", "4", "-w", "4")
        assert made.status == 0, made
        wait_until(lambda: self.asked("topicRoute", "-t", name).status == 0, "a route")
        return name

    def producing(self, topic: str, *options: str) -> subprocess.Popen[bytes]:
        return begin("produce", *self.servers, "-t", topic, *options)

    def consuming(self, topic: str, group: str, *options: str) -> subprocess.Popen[bytes]:
        words = ("-t", topic, "-g", group, *filter(None, options))
        return begin("consume", *self.servers, *words, home=self.home)

    def asked(self, *words: str) -> Run:
        """An operator's command, in this process."""
        return run_here(*words, *self.servers, "--output", "json")

    def rows(self, *words: str) -> Any:
        return json.loads(self.asked(*words).out)


@pytest.fixture(scope="module", params=[MIDDLE, OLD])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    version: str = request.param
    have_here(partial(java_cache.jars, version))
    folder = tmp_path_factory.mktemp("release")
    with JavaCluster(folder, version=version) as cluster:
        yield Place(version, cluster, folder / "home")


oldest = pytest.mark.parametrize("place", [OLD], indirect=True)
"""Long tests that other files run with 5.5.0: here with the release that differs most."""


def bodies(done: Done) -> list[str]:
    return sorted(line["body"] for line in done.lines)


def test_what_is_sent_in_every_way_comes_to_every_kind_of_consumer(place: Place) -> None:
    topic, group = place.topic("every"), unique("g")
    ways = {
        "plain": ["--tls", "--insecure"],
        "batch": ["--batch", "2", "--tag", "B"],
        "oneway": ["--oneway"],
        "ordered": ["--order-key", "k", "-p", "a=2"],
        "delayed": ["--delay-level", "1"],
        "committed": ["--transaction", "commit"],
        "rolled-back": ["--transaction", "rollback"],
    }
    sending = {way: place.producing(topic, *options) for way, options in ways.items()}
    sent = {way: end(one, f"{way} 1\n{way} 2\n".encode()) for way, one in sending.items()}
    assert dict.fromkeys(ways, (0, 2, "")) == {
        way: (one.status, len(one.lines), one.complaint) for way, one in sent.items()
    }
    everything = sorted(f"{way} {at}" for way in ways if way != "rolled-back" for at in (1, 2))
    all_of_it = ("--from", "first", "--count", "12", "--timeout", "300")
    wanted: dict[str, tuple[tuple[str, ...], list[str]]] = {
        **{kind: ((kind, *all_of_it), everything) for kind in KINDS},
        "tls": (("--insecure", *all_of_it), everything),
        "time": (("--from", "1000", *all_of_it[2:]), everything),
        "last": (("--from", "last", "--timeout", "5"), []),
        "pull-last": (("--pull", "--from", "last", "--timeout", "5"), []),
        "tag": (("--filter", "B", "--count", "2", *all_of_it[:2]), ["batch 1", "batch 2"]),
        "sql": (("--filter", "sql: a = 2", "--count", "2", *all_of_it[:2]), ["ordered 1", "ordered 2"]),
    }  # fmt: skip
    if place.version != OLD:
        wanted["--pop"] = (("--pop", *all_of_it), everything)

    found: dict[str, Done] = {}
    names = iter(wanted)
    while some := list(islice(names, 6)):
        running = {
            name: place.consuming(topic, f"{group}{name}", *wanted[name][0]) for name in some
        }
        found |= {name: end(process) for name, process in running.items()}

    assert {name: (0, "", texts) for name, (_, texts) in wanted.items()} == {
        name: (one.status, one.complaint, bodies(one)) for name, one in found.items()
    }
    told = {line["msgId"] for way in ways for line in sent[way].lines}
    told -= {line["msgId"] for line in sent["rolled-back"].lines}
    if place.version == MIDDLE:  # gives each message of a batch the key of the batch
        told -= {line["msgId"] for line in sent["batch"].lines}
    assert told <= {line["msgId"] for line in found[""].lines}
    _look(place, topic, group)


def _look(place: Place, topic: str, group: str) -> None:
    """Output about a topic with twelve messages, and about the cluster."""
    stats = place.rows("topicStatus", "-t", topic)
    assert sum(row["maxOffset"] - row["minOffset"] for row in stats) == 12
    progress = place.rows("consumerProgress", "-g", group)
    assert all(row["inflight"] is None or row["inflight"] >= 0 for row in progress), progress
    (broker,) = place.rows("clusterList")
    version = f"V{place.version.replace('.', '_')}"
    assert (broker["addr"], broker["version"]) == (place.cluster.master.address, version)
    findings = without_disk(place.rows("doctor", "-t", topic))
    assert all(finding["status"] == "ok" for finding in findings), findings
    assert findings[0]["finding"] == f"responds, {version}"
    missing = place.asked("queryCq", "-t", topic, "-q", "99", "-i", "0")
    assert (1, 1) == (missing.status, missing.complaint.count("\n")), missing


def test_the_exporter_shows_the_progress_of_a_group_until_it_is_deleted(place: Place) -> None:
    topic, group = place.topic("shown"), unique("g")
    address, limits = place.cluster.address, ("--request-timeout", "120", "--deadline", "300")
    assert run("produce", *place.servers, "-t", topic, given=b"1\n2\n3\n").status == 0
    consumed = end(
        place.consuming(topic, group, "--from", "first", "--count", "3", "--timeout", "300")
    )
    assert (0, "") == (consumed.status, consumed.complaint)
    assert run("produce", *place.servers, "-t", topic, given=b"4\n5\n").status == 0

    values = scrape(address, *limits)

    assert values.status == 0, values.failures()
    assert values.value("rocketmq_producer_offset", topic=topic) == 5
    assert values.value("rocketmq_consumer_offset", topic=topic, group=group) == 3
    assert values.sum("rocketmq_group_queue_lag_messages", topic=topic, group=group) == 2
    assert values.value("rocketmq_group_diff", topic=topic, group=group) == 2
    assert values.sum("rocketmq_exporter_part_complete") == 5
    version = f"V{place.version.replace('.', '_')}"
    assert values.value("rocketmq_exporter_broker_info", version=version) == 1

    broker, retries = place.cluster.master.address, retry_topic(group)
    after = values

    def is_gone() -> bool:
        """Delete the group again: a pull that a broker still holds creates it when it ends."""
        nonlocal after
        assert place.asked("deleteSubGroup", "-b", broker, "-g", group).status == 0
        assert place.asked("deleteTopic", "-c", CLUSTER, "-t", retries).status == 0
        after = scrape(address, *limits)
        return not after.mentions(group)

    wait_until(is_gone, "the exporter does not show the deleted group")
    assert after.status == 0, after.failures()
    assert after.value("rocketmq_producer_offset", topic=topic) == 5


@oldest
def test_pops_are_refused_by_brokers_that_know_none(place: Place) -> None:
    refused = end(place.consuming("TBW102", unique("g"), "--pop"))

    assert (1, b"", 1) == (refused.status, refused.out, refused.complaint.count("\n"))
    assert "REQUEST_CODE_NOT_SUPPORTED" in refused.complaint


@oldest
def test_what_was_acknowledged_is_there_after_a_broker_was_killed_and_all_else_is_told(
    place: Place,
) -> None:
    """It starts the broker again, for whatever runs next."""
    topic, group = place.topic("killed"), unique("g")
    process = place.producing(topic, "--in-flight", "4")
    assert process.stdin is not None
    assert process.stdout is not None
    lines = [b""]
    for number in range(1, 101):
        process.stdin.write(b"%d\n" % number)
        process.stdin.flush()
        lines.append(process.stdout.readline())
    place.cluster.master.kill()
    process.stdin.write(b"".join(b"%d\n" % number for number in range(101, 301)))
    done = end(process)
    whole = Done(done.status, b"".join(lines) + done.out, done.complaint)
    place.cluster.master.start()
    place.cluster.master.wait_registered(place.cluster.name_server.port)
    acknowledged = {line["msgId"] for line in whole.lines if line["status"] == "SEND_OK"}
    got = end(
        place.consuming(
            topic, group, "--from", "first", "--count", str(len(acknowledged)), "--timeout", "300"
        )
    )

    assert (3, 1) == (whole.status, whole.complaint.count("\n")), whole.complaint
    assert "message 101: " in whole.complaint
    told = re.search(
        r"; also not acknowledged: 102-(\d+); not sent: (\d+) and later", whole.complaint
    )
    assert told, whole.complaint
    assert int(told[1]) + 1 == int(told[2])
    assert len(acknowledged) == 100
    assert acknowledged <= {line["msgId"] for line in got.lines}
