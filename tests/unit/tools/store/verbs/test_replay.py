"""The command ``replay``: packed stores of real brokers, a cluster in memory."""

import os
import shutil
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rocketwire.client import ClientInstance
from rocketwire.codes import ResponseCode
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire_tools import terminal
from rocketwire_tools.store.verbs import replay
from tests.peers.peers import CURRENT
from tests.support.fakes.storing_cluster import NS, StoringCluster, connect
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore, damage
from tests.support.stores.fixtures import OpenStore


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, store: BrokerStore) -> StoringCluster:
    """A cluster with the topics of the store, and ``spare``; the command connects to it."""
    queues = {queue.topic: 4 for queue in store.truth.queues}
    cluster = StoringCluster(**queues, spare=4)

    @asynccontextmanager
    async def open_client(config: object) -> AsyncGenerator[ClientInstance]:
        async with connect(cluster) as instance:
            yield instance

    monkeypatch.setattr(replay, "open_client", open_client)
    return cluster


def count_expected(store: BrokerStore) -> int:
    return sum(message.topic in store.truth.topics for message in store.truth.pulled)


def test_report_counts_what_was_sent_and_what_was_sent_before(
    cluster: StoringCluster, store: BrokerStore, tmp_path: Path
) -> None:
    options = ("-n", NS, "--journal", tmp_path / "journal", store.root)

    report = run_store("replay", "--json", *options).report
    second = run_store("replay", *options).text
    planned = run_store("replay", "--dry-run", *options).text

    assert report["sent"] == len(cluster.sends) == count_expected(store)
    assert (report["error"], report["found"], report["done_before"]) == (None, 0, 0)
    assert second == f"0 messages sent; {report['sent']} were sent before\n"
    assert planned.splitlines()[-1] == (
        f"0 messages would be sent; {count_expected(store)} were sent before"
    )


def test_filters_and_new_names_choose_messages(cluster: StoringCluster, store: BrokerStore) -> None:
    tagged = [
        pulled
        for pulled in store.truth.pulled
        if pulled.topic == "orders" and pulled.properties.get("TAGS")
    ]
    tag = tagged[0].properties["TAGS"]
    chosen = [pulled for pulled in tagged if pulled.properties["TAGS"] == tag]

    run_store("replay", "-n", NS, "--topic", "orders=spare", "--tag", tag, store.root)

    assert {place for place, queue in cluster.queues.items() if queue} == {
        ("spare", pulled.queue_id) for pulled in chosen
    }
    assert len(cluster.sends) == len(chosen)


def test_dry_run_shows_where_messages_would_go_and_sends_nothing(
    cluster: StoringCluster, store: BrokerStore, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    del cluster.topics["orders"]

    output = run_store("replay", "-n", NS, "--dry-run", "--journal", journal, store.root, status=1)
    options = ("-n", NS, "--dry-run", "--json", "--topic", "orders=spare")
    rows = run_store("replay", *options, store.root).lines

    assert "rocketwire-store: the target has no topic orders" in output.err
    assert f"{count_expected(store)} messages would be sent" in output.text
    assert [row["to"] for row in rows] == [f"spare:{row['queue']} at a" for row in rows]
    assert cluster.sends == []
    assert not journal.exists()


def test_broken_bodies_and_damaged_parts_are_left_out_and_the_status_is_1(
    cluster: StoringCluster, store: BrokerStore
) -> None:
    damage.flip_body(store.root)
    damage.zero_page(store.root)

    report = run_store("replay", "-n", NS, "--json", store.root, status=1).report

    assert report["broken_messages"] == 1
    assert report["damaged_regions"] == 1
    assert 0 < report["sent"] < count_expected(store) - 1


def test_journal_belongs_to_one_choice_of_messages(
    cluster: StoringCluster, store: BrokerStore, tmp_path: Path
) -> None:
    options = ("-n", NS, "--journal", tmp_path / "journal")
    run_store("replay", *options, "--topic", "orders", store.root)
    cluster.sends.clear()
    journal = (tmp_path / "journal").read_bytes()

    error = run_store("replay", *options, "--topic", "bills", store.root, status=2).err

    assert "journal of another replay, with the options" in error
    assert (tmp_path / "journal").read_bytes() == journal
    assert cluster.sends == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_a_replay_which_can_be_continued(
    cluster: StoringCluster, store: BrokerStore, tmp_path: Path, number: signal.Signals
) -> None:
    def interrupt(_: str) -> RemotingCommand | None:
        if len(cluster.sends) == 20:
            os.kill(os.getpid(), number)
        return None

    cluster.after_store = interrupt
    options = ("-n", NS, "--journal", tmp_path / "journal", store.root)

    output = run_store("replay", "--in-flight", "1", *options, status=128 + number).text
    report = run_store("replay", "--json", *options).report

    assert output.endswith("; interrupted\n")
    assert report["done_before"] >= 20
    assert (report["found"], len(cluster.sends)) == (0, count_expected(store))


def test_batch_that_cannot_be_read_is_counted_and_left_out(
    cluster: StoringCluster, open_store: OpenStore, tmp_path: Path
) -> None:
    root = tmp_path / "inner"
    shutil.copytree(open_store(CURRENT, "inner").root, root)
    batch = damage.places(damage.log_files(root)[0])[0]
    damage.put(batch.file, batch.body, bytes(4))
    cluster.topics["batches"] = 2
    cluster.queues |= {("batches", queue): [] for queue in range(2)}

    output = run_store("replay", "-n", NS, "--topic", "batches", root, status=1).text

    assert output.endswith(" messages sent; 1 batches cannot be read\n")


def test_refused_messages_are_named_with_status_1(
    cluster: StoringCluster, store: BrokerStore
) -> None:
    illegal = reply(code=ResponseCode.MESSAGE_ILLEGAL, remark="too large")
    cluster.before_store = lambda _: illegal if len(cluster.sends) == 3 else None

    output = run_store("replay", "-n", NS, "--skip-refused", store.root, status=1)

    (line,) = output.err.splitlines()
    assert line.startswith("rocketwire-store: message ")
    assert "was refused: " in line
    assert output.text == f"{count_expected(store) - 1} messages sent; brokers refused 1\n"


def test_errors_are_one_line(cluster: StoringCluster, store: BrokerStore) -> None:
    cluster.before_store = lambda _: reply(code=ResponseCode.NO_PERMISSION, remark="not\nyou")
    output = run_store("replay", "-n", NS, store.root, status=1)
    assert len(output.err.splitlines()) == 1
    assert output.text.startswith("0 messages sent")

    without = run_store("replay", store.root, status=2).err
    assert without == ("rocketwire-store: no name server: give -n host:port, or set NAMESRV_ADDR\n")
    half = run_store("replay", "-n", NS, "--access-key", "a", store.root, status=2).err
    assert half.startswith("rocketwire-store: the secret-key is missing")


def test_progress_is_shown_on_a_terminal(
    cluster: StoringCluster, store: BrokerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (replay, terminal):
        monkeypatch.setattr(module, "INTERVAL", 0.0)

    error = run_store("replay", "-n", NS, store.root, is_terminal=True).err

    assert " sent  " in error
    assert error.endswith("\r\x1b[K")


@pytest.mark.parametrize("rate", ["0", "-1", "x", "inf", "nan"])
def test_rate_is_a_number_above_0(rate: str, store: BrokerStore) -> None:
    error = run_store("replay", "-n", NS, "--rate", rate, store.root, status=2).err

    assert "must be a number above 0" in error
