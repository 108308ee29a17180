"""``produce`` and ``consume`` with a real Java broker, Java's consumer, producer and mqadmin."""

import fcntl
import re
import signal
import struct
import termios
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import pytest

from tests.java.admin.commands import Programs, count_lines, end_all
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique
from tests.peers.peers import JavaPeer
from tests.peers.processes import wait_until
from tests.support.admin_process import SECONDS, Done, end

MODES = ("", "--orderly", "--pull", "--broadcast", "--pop")


class Site(Programs):
    def __init__(self, cluster: JavaCluster, peer: JavaPeer, home: Path) -> None:
        super().__init__(cluster, home)
        self.peer = peer

    def read_lag(self, group: str) -> int:
        output = self.peer.admin(self.cluster.address, f"consumerProgress -g {group}")
        total = re.search(r"Consume Diff Total: (\d+)", output.out)
        assert total, output
        return int(total[1])


@pytest.fixture
def site(java_cluster: JavaCluster, java_peer: JavaPeer, tmp_path: Path) -> Site:
    return Site(java_cluster, java_peer, tmp_path)


def count_unread(pipe: IO[bytes]) -> int:
    (number,) = struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4))
    return int(number)


def bodies(run: Done) -> list[str]:
    return [line["body"] for line in run.lines]


def test_java_reads_what_produce_sends_in_every_way(site: Site) -> None:
    topic, group = site.create_topic("ways"), unique("g")
    site.peer.consume(site.cluster.address, topic, group)
    ways = {
        "plain": [],
        "batch": ["--batch", "2"],
        "oneway": ["--oneway"],
        "ordered": ["--order-key", "k"],
        "committed": ["--transaction", "commit"],
        "rolled-back": ["--transaction", "rollback"],
        "delayed": ["--delay-level", "1"],
    }
    running = {
        way: site.begin_produce(topic, "-g", f"g-{way}", "--key", way, *options)
        for way, options in ways.items()
    }
    runs = {way: end(process, b"one\n\ntwo\nthree") for way, process in running.items()}

    assert count_lines(runs) == dict.fromkeys(ways, (0, 3, ""))
    delivered = set(ways) - {"rolled-back"}
    keys = site.peer.received(group, len(delivered))
    site.peer.close(group)
    assert set(keys) == delivered
    line = runs["plain"].lines[0]
    assert " ".join(line) == "status msgId offsetMsgId brokerName queueId queueOffset"
    assert (line["status"], line["brokerName"]) == ("SEND_OK", "broker-a")
    query = f"queryMsgById -t {topic} -i {line['offsetMsgId']}"
    output = site.peer.admin(site.cluster.address, query)
    assert f"UNIQ_KEY={line['msgId']}" in output.out, output
    assert len({line["queueId"] for line in runs["ordered"].lines}) == 1
    first, second, _ = runs["batch"].lines
    place = (second["queueId"], second["queueOffset"])
    assert (first["queueId"], first["queueOffset"] + 1) == place
    assert len({line["msgId"] for line in runs["batch"].lines}) == 3


def test_a_topic_that_is_not_there_is_refused_in_one_line(site: Site) -> None:
    refused = end(site.begin_consume(unique("none"), "g"))

    assert (refused.status, refused.complaint.count("\n")) == (1, 1)
    assert "no route of topic none" in refused.complaint


def test_consumers_of_each_kind_print_and_commit_messages_of_java(site: Site) -> None:
    topic, group = site.create_topic("kinds"), unique("g")
    site.peer.send(site.cluster.address, topic, group, range(20))
    groups = {mode: group + (mode or "--push") for mode in MODES}

    def consume(modes: Iterable[str], *options: str) -> dict[str, Done]:
        return end_all(
            {mode: site.begin_consume(topic, groups[mode], mode, *options) for mode in modes}
        )

    first = consume(MODES, "--count", "7")
    assert count_lines(first) == dict.fromkeys(MODES, (0, 7, ""))
    committing = ("", "--orderly", "--pull")
    lags = {mode: site.read_lag(groups[mode]) for mode in committing}
    lag = lags[""]
    assert lag >= 13  # Java's producer sends again what a busy broker answers late
    assert lags == dict.fromkeys(committing, lag)

    second = consume(("", "--pop", "--pull"), "--count", str(lag), "--timeout", "120")
    assert count_lines(second) == dict.fromkeys(("", "--pop", "--pull"), (0, lag, ""))
    for mode, run in second.items():
        assert {*bodies(first[mode]), *bodies(run)} == {f"message {n}" for n in range(20)}, mode
    assert [site.read_lag(groups[mode]) for mode in ("", "--pull")] == [0, 0]

    line = first[""].lines[0]
    assert (line["topic"], line["tags"], line["brokerName"]) == (topic, "tag", "broker-a")
    assert line["body"] == f"message {line['keys']}"
    assert line["msgId"] == line["properties"]["UNIQ_KEY"]


@pytest.mark.full
def test_a_consumer_ends_at_a_signal_and_at_a_closed_pipe(site: Site) -> None:
    topic, group = site.create_topic("term"), unique("g")
    sent = site.produce(topic, "--count", "60", "--size", "3000")
    assert (sent.status, len(sent.lines)) == (0, 60)

    process = site.begin_consume(topic, group)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(60)]
    process.send_signal(signal.SIGTERM)

    assert end(process) == (0, b"", "")
    assert all(len(line) > 3000 for line in lines)
    assert site.read_lag(group) == 0

    process = site.begin_consume(topic, unique("g"))
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    _, complaint = process.communicate(timeout=SECONDS)
    assert (process.returncode, complaint) == (0, b"")


@pytest.mark.full
def test_messages_that_stay_in_a_full_pipe_are_not_committed(site: Site) -> None:
    topic, group = site.create_topic("stuck"), unique("g")
    site.produce(topic, "--count", "60", "--size", "3000")

    process = site.begin_consume(topic, group)
    pipe = process.stdout
    assert pipe is not None
    wait_until(lambda: count_unread(pipe) > 45_000, "the pipe is nearly full")
    process.send_signal(signal.SIGTERM)
    process.wait(SECONDS)
    count = pipe.read().count(b"\n")

    assert (process.returncode, count + site.read_lag(group)) == (0, 60)
    assert 0 < count < 60


@pytest.mark.full
def test_first_deliveries_that_fail_come_again(site: Site) -> None:
    topic, group = site.create_topic("again"), unique("g")
    site.produce(topic, text=b"x\ny\n")
    running = {
        mode: site.begin_consume(topic, group + mode, "--fail-first", "--count", "4", mode)
        for mode in ("", "--orderly", "--pop")
    }

    for mode, run in end_all(running).items():
        deliveries = sorted((line["body"], line["reconsumeTimes"]) for line in run.lines)
        assert deliveries == [("x", 0), ("x", 1), ("y", 0), ("y", 1)], mode
        assert {line["topic"] for line in run.lines} == {topic}
    # the client sends its offsets one-way: a busy broker stores them after the client has ended
    wait_until(lambda: site.read_lag(group) == 0, "the broker has the offsets")
