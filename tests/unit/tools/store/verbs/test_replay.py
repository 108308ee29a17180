"""The command ``replay``: packed stores of real brokers, a cluster in memory."""

from __future__ import annotations

import json
import os
import shutil
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.codes import ResponseCode
from rocketwire.testing import reply
from rocketwire_tools.store.verbs import replay
from tests.peers.peers import CURRENT
from tests.support.fakes.storing_cluster import NS, StoringCluster, connect
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from rocketwire.client import ClientInstance
    from rocketwire.wire.command import RemotingCommand
    from tests.support.stores import BrokerStore


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, copy: BrokerStore) -> StoringCluster:
    """A cluster with the topics of the store ``copy``, and ``spare``; the command connects to it."""
    queues = {queue.topic: 4 for queue in copy.truth.queues}
    cluster = StoringCluster(**queues, spare=4)

    @asynccontextmanager
    async def open_client(config: object) -> AsyncGenerator[ClientInstance]:
        async with connect(cluster) as instance:
            yield instance

    monkeypatch.setattr(replay, "open_client", open_client)
    return cluster


def count_expected(store: BrokerStore) -> int:
    return sum(pulled.topic in store.truth.topics for pulled in store.truth.pulled)


def test_a_report_counts_what_was_sent_and_what_was_sent_before(
    cluster: StoringCluster, copy: BrokerStore, tmp_path: Path, run: Callable[..., Any]
) -> None:
    options = ("-n", NS, "--journal", tmp_path / "journal", copy.root)

    first = json.loads(run("replay", "--json", *options).out)
    second = run("replay", *options).out.decode()
    planned = run("replay", "--dry-run", *options).out.decode()

    assert first["sent"] == len(cluster.sends) == count_expected(copy)
    assert (first["error"], first["found"], first["done_before"]) == (None, 0, 0)
    assert second == f"0 messages sent; {first['sent']} were sent before\n"
    assert planned.splitlines()[-1] == (
        f"0 messages would be sent; {count_expected(copy)} were sent before"
    )


def test_filters_and_new_names_choose_what_is_sent_where(
    cluster: StoringCluster, copy: BrokerStore, run: Callable[..., Any]
) -> None:
    tagged = [
        pulled
        for pulled in copy.truth.pulled
        if pulled.topic == "orders" and pulled.properties.get("TAGS")
    ]
    tag = tagged[0].properties["TAGS"]
    chosen = [pulled for pulled in tagged if pulled.properties["TAGS"] == tag]

    run("replay", "-n", NS, "--topic", "orders=spare", "--tag", tag, copy.root)

    assert {place for place, queue in cluster.queues.items() if queue} == {
        ("spare", pulled.queue_id) for pulled in chosen
    }
    assert len(cluster.sends) == len(chosen)


def test_a_dry_run_shows_where_messages_would_go_and_sends_nothing(
    cluster: StoringCluster, copy: BrokerStore, tmp_path: Path, run: Callable[..., Any]
) -> None:
    journal = tmp_path / "journal"
    del cluster.topics["orders"]

    output = run("replay", "-n", NS, "--dry-run", "--journal", journal, copy.root, status=1)
    lines = run("replay", "-n", NS, "--dry-run", "--json", "--topic", "orders=spare", copy.root).out

    assert "rocketwire-store: the target has no topic orders" in output.err.decode()
    assert f"{count_expected(copy)} messages would be sent" in output.out.decode()
    rows = [json.loads(line) for line in lines.splitlines()]
    assert [row["to"] for row in rows] == [f"spare:{row['queue']} at a" for row in rows]
    assert cluster.sends == []
    assert not journal.exists()


def test_broken_bodies_and_damaged_parts_are_left_out_and_the_status_is_1(
    cluster: StoringCluster, copy: BrokerStore, run: Callable[..., Any]
) -> None:
    damage.flip_body(copy.root)
    damage.zero_page(copy.root)

    report = json.loads(run("replay", "-n", NS, "--json", copy.root, status=1).out)

    assert report["broken_messages"] == 1
    assert report["damaged_regions"] == 1
    assert 0 < report["sent"] < count_expected(copy) - 1


def test_a_journal_belongs_to_one_choice_of_messages(
    cluster: StoringCluster,
    copy: BrokerStore,
    tmp_path: Path,
    run: Callable[..., Any],
) -> None:
    options = ("-n", NS, "--journal", tmp_path / "journal")
    run("replay", *options, "--topic", "orders", copy.root)
    cluster.sends.clear()
    before = (tmp_path / "journal").read_bytes()

    choice = run("replay", *options, "--topic", "bills", copy.root, status=2).err.decode()

    assert "journal of another replay, with the options" in choice
    assert (tmp_path / "journal").read_bytes() == before
    assert cluster.sends == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_replay_which_can_be_continued(
    cluster: StoringCluster,
    copy: BrokerStore,
    tmp_path: Path,
    run: Callable[..., Any],
    number: signal.Signals,
) -> None:
    def interrupt(_: str) -> RemotingCommand | None:
        if len(cluster.sends) == 20:
            os.kill(os.getpid(), number)
        return None

    cluster.after_store = interrupt
    options = ("-n", NS, "--journal", tmp_path / "journal", copy.root)

    output = run("replay", "--in-flight", "1", *options, status=128 + number).out.decode()
    rest = json.loads(run("replay", "--json", *options).out)

    assert output.endswith("; interrupted\n")
    assert rest["done_before"] >= 20
    assert (rest["found"], len(cluster.sends)) == (0, count_expected(copy))


def test_a_batch_that_cannot_be_read_is_counted_and_left_out(
    cluster: StoringCluster,
    packed_store: Callable[[str, str], BrokerStore],
    tmp_path: Path,
    run: Callable[..., Any],
) -> None:
    root = tmp_path / "inner"
    shutil.copytree(packed_store(CURRENT, "inner").root, root)
    first = damage.places(damage.log_files(root)[0])[0]
    damage.put(first.file, first.body, bytes(4))
    cluster.topics["batches"] = 2
    cluster.queues |= {("batches", queue): [] for queue in range(2)}

    output = run("replay", "-n", NS, "--topic", "batches", root, status=1).out.decode()

    assert output.endswith(" messages sent; 1 batches cannot be read\n")


def test_refused_messages_are_named_and_the_status_is_1(
    cluster: StoringCluster, copy: BrokerStore, run: Callable[..., Any]
) -> None:
    illegal = reply(code=ResponseCode.MESSAGE_ILLEGAL, remark="too large")
    cluster.before_store = lambda _: illegal if len(cluster.sends) == 3 else None

    output = run("replay", "-n", NS, "--skip-refused", copy.root, status=1)

    (line,) = output.err.decode().splitlines()
    assert line.startswith("rocketwire-store: message ")
    assert "was refused: " in line
    assert output.out.decode() == f"{count_expected(copy) - 1} messages sent; brokers refused 1\n"


def test_errors_are_one_line(
    cluster: StoringCluster, copy: BrokerStore, run: Callable[..., Any]
) -> None:
    cluster.before_store = lambda _: reply(code=ResponseCode.NO_PERMISSION, remark="not\nyou")
    output = run("replay", "-n", NS, copy.root, status=1)
    assert len(output.err.decode().splitlines()) == 1
    assert output.out.startswith(b"0 messages sent")

    without = run("replay", copy.root, status=2).err.decode()
    assert without == ("rocketwire-store: no name server: give -n host:port, or set NAMESRV_ADDR\n")
    half = run("replay", "-n", NS, "--access-key", "a", copy.root, status=2).err.decode()
    assert half.startswith("rocketwire-store: the secret-key is missing")


def test_progress_is_shown_on_a_terminal(
    cluster: StoringCluster,
    copy: BrokerStore,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., Any],
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(replay, "_INTERVAL", 0.0)

    error = run("replay", "-n", NS, copy.root).err.decode()

    assert " sent  " in error
    assert error.endswith("\r\x1b[K")


@pytest.mark.parametrize("rate", ["0", "-1", "x", "inf", "nan"])
def test_a_rate_is_a_number_above_0(
    rate: str, copy: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    from rocketwire_tools.store.__main__ import main

    assert main(["replay", "-n", NS, "--rate", rate, str(copy.root)]) == 2
    assert "must be a number above 0" in capsys.readouterr().err
