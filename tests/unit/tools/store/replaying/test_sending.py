"""The messages of a replay, their order, and missing responses."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from rocketwire.codes import ResponseCode
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire_tools.store.replaying.journal import Journal
from rocketwire_tools.store.replaying.outgoing import ReplayMessage
from rocketwire_tools.store.replaying.sending import Replayer, ReplayError, ReplaySettings, TopicMap
from tests.support.fakes.storing_cluster import StoringCluster, connect, make_messages


async def send_replay(
    cluster: StoringCluster,
    messages: Iterable[ReplayMessage],
    journal: Path | None = None,
    *,
    topics: tuple[str, ...] = (),
    stop_after: int | None = None,
    **settings: Any,
) -> Replayer:
    """Send messages; with ``stop_after`` as if the process was killed after that many sends."""
    book = Journal(journal, {})
    messages = list(messages)
    try:
        async with connect(cluster) as instance:
            replayer = Replayer(instance, book, TopicMap(topics), ReplaySettings(**settings))
            await replayer.check_target()
            if stop_after is None:
                await replayer.run(messages)
                return replayer
            async with trio.open_nursery() as nursery:
                nursery.start_soon(replayer.run, messages)
                while replayer.counts.sent + replayer.counts.found < stop_after:
                    await trio.lowlevel.checkpoint()
                nursery.cancel_scope.cancel()
            return replayer
    finally:
        book.close()


def once(key: str, answer: RemotingCommand) -> Callable[[str], RemotingCommand | None]:
    """An answer to the first send of a message."""
    answers = [answer]

    def decide(sent: str) -> RemotingCommand | None:
        return answers.pop() if sent == key and answers else None

    return decide


async def test_each_queue_gets_its_messages_unchanged_and_in_order(
    autojump_clock: object, cluster: StoringCluster
) -> None:
    messages = make_messages(20)

    replayer = await send_replay(cluster, messages)

    assert cluster.keys("orders", 0) == [f"k{number}" for number in range(0, 20, 2)]
    assert cluster.keys("orders", 1) == [f"k{number}" for number in range(1, 20, 2)]
    stored = cluster.queues["orders", 1][3]
    assert (stored.body, stored.flag, stored.born_timestamp) == (b"body 7", 7, 1_700_000_000_007)
    assert stored.properties == {"UNIQ_KEY": "k7", "TAGS": "t"}
    assert replayer.counts.sent == 20
    assert replayer.counts.sent_bytes == sum(len(message.body) for message in messages)


async def test_topic_with_fewer_queues_takes_the_queues_in_turns(
    autojump_clock: object, cluster: StoringCluster
) -> None:
    await send_replay(cluster, make_messages(9, queues=3), topics=("orders=bills",))

    keys = cluster.keys("bills", 0)
    for queue in range(3):
        assert [key for key in keys if int(key[1:]) % 3 == queue] == [
            f"k{number}" for number in range(queue, 9, 3)
        ]


@pytest.mark.parametrize("lost", ["before", "after"])
async def test_message_whose_response_is_lost_is_stored_once(
    autojump_clock: object, cluster: StoringCluster, lost: str
) -> None:
    decide = once("k4", cluster.LOST)
    if lost == "before":
        cluster.before_store = decide
    else:
        cluster.after_store = decide

    replayer = await send_replay(cluster, make_messages(12))

    assert cluster.keys("orders", 0) == ["k0", "k2", "k4", "k6", "k8", "k10"]
    assert replayer.counts.retries == 1
    assert replayer.counts.found == (1 if lost == "after" else 0)
    assert replayer.counts.sent + replayer.counts.found == 12


@pytest.mark.parametrize("code", [ResponseCode.SYSTEM_BUSY, ResponseCode.SERVICE_NOT_AVAILABLE])
async def test_busy_broker_gets_the_message_again_later(
    autojump_clock: object, cluster: StoringCluster, code: ResponseCode
) -> None:
    cluster.before_store = once("k3", reply(code=code, remark="busy"))

    replayer = await send_replay(cluster, make_messages(6))

    assert cluster.keys("orders", 1) == ["k1", "k3", "k5"]
    assert Counter(cluster.sends)["k3"] == 2
    assert replayer.counts.retries == 1


async def test_refused_message_ends_the_replay_after_pending_sends(
    autojump_clock: object, cluster: StoringCluster, tmp_path: Path
) -> None:
    refusal = reply(code=ResponseCode.NO_PERMISSION, remark="no write")
    cluster.before_store = lambda key: refusal if key == "k3" else None
    journal = tmp_path / "journal"

    with pytest.raises(ReplayError, match="message orders:1:1 at 300 was not sent") as error:
        await send_replay(cluster, make_messages(60), journal)
    assert Counter(cluster.sends)["k3"] == 1
    assert len(str(error.value).splitlines()) == 1

    cluster.before_store = lambda _: None
    replayer = await send_replay(cluster, make_messages(60), journal)
    assert cluster.keys("orders", 0) == [f"k{number}" for number in range(0, 60, 2)]
    assert cluster.keys("orders", 1) == [f"k{number}" for number in range(1, 60, 2)]
    assert replayer.counts.done_before + replayer.counts.sent == 60


@pytest.mark.parametrize("skips_refused", [False, True])
async def test_illegal_message_is_skipped_only_on_request(
    autojump_clock: object, cluster: StoringCluster, tmp_path: Path, skips_refused: bool
) -> None:
    refusal = reply(code=ResponseCode.MESSAGE_ILLEGAL, remark="too large")
    cluster.before_store = lambda key: refusal if key in {"k2", "k9"} else None
    journal = tmp_path / "journal"

    if not skips_refused:
        with pytest.raises(ReplayError, match="message orders:0:1 at 200 was not sent"):
            await send_replay(cluster, make_messages(10), journal)
        return

    first = await send_replay(cluster, make_messages(10), journal, skips_refused=True)
    second = await send_replay(cluster, make_messages(12), journal, skips_refused=True)

    assert cluster.keys("orders", 0) == ["k0", "k4", "k6", "k8", "k10"]
    assert cluster.keys("orders", 1) == ["k1", "k3", "k5", "k7", "k11"]
    assert (first.counts.sent, first.counts.refused) == (8, 2)
    assert (second.counts.done_before, second.counts.sent, second.counts.refused) == (10, 2, 0)


@pytest.mark.parametrize("stop_after", [1, 6, 11])
@pytest.mark.parametrize("is_killed", [False, True])
async def test_replay_that_is_continued_sends_nothing_twice(
    autojump_clock: object,
    cluster: StoringCluster,
    tmp_path: Path,
    stop_after: int,
    is_killed: bool,
) -> None:
    journal = tmp_path / "journal"
    messages = make_messages(12)
    await send_replay(cluster, messages, journal, stop_after=stop_after)
    lines = journal.read_bytes().splitlines(keepends=True)
    if is_killed:  # what was sent since each queue got its first line is not in the journal
        first_lines = {line.split(b',"next')[0]: line for line in reversed(lines)}
        lines = list(reversed(first_lines.values()))
    journal.write_bytes(b"".join(lines) + b'{"topic')

    replayer = await send_replay(cluster, messages, journal)

    for queue in range(2):
        assert cluster.keys("orders", queue) == [f"k{number}" for number in range(queue, 12, 2)]
    counts = replayer.counts
    assert counts.done_before + counts.found + counts.sent == 12
    assert (await send_replay(cluster, messages, journal)).counts.done_before == 12


async def test_messages_with_the_same_key_differ_by_their_place(
    autojump_clock: object, cluster: StoringCluster, tmp_path: Path
) -> None:
    """In 5.3.3 the messages of a client batch have the unique key of the batch."""
    journal = tmp_path / "journal"
    messages = [
        replace(message, unique_key="k", properties="UNIQ_KEY\x01k\x02", born=1, flag=0, body=b"b")
        for message in make_messages(6, queues=1)
    ]
    await send_replay(cluster, messages, journal, stop_after=3)

    await send_replay(cluster, messages, journal)

    assert cluster.keys("orders", 0) == ["k"] * 6


async def test_pending_sends_and_their_rate_are_limited(autojump_clock: object) -> None:
    cluster = StoringCluster(orders=8)
    under_way, maximum = 0, 0

    async def slow(request: RemotingCommand) -> RemotingCommand | None:
        nonlocal under_way, maximum
        under_way += 1
        maximum = max(maximum, under_way)
        await trio.sleep(0.01)
        under_way -= 1
        return cluster.send(request)

    begin = trio.current_time()
    async with connect(cluster) as instance:
        cluster.broker.on(310, slow)
        settings = ReplaySettings(in_flight=3, rate=50.0)
        replayer = Replayer(instance, Journal(None, {}), TopicMap(()), settings)
        await replayer.run(make_messages(40, queues=8))
        duration = trio.current_time() - begin
    assert maximum <= 3
    assert replayer.counts.sent == 40
    assert math.isclose(duration, 40 / 50, rel_tol=0.1)


async def test_reading_waits_while_many_bytes_are_not_sent(
    autojump_clock: object, cluster: StoringCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocketwire_tools.store.replaying.sending.MAX_WAITING", 5000)
    read: list[int] = []

    def messages() -> Iterable[ReplayMessage]:
        for number, message in enumerate(make_messages(40)):
            read.append(number)
            assert number - len(cluster.sends) < 8
            yield message

    async with connect(cluster) as instance:
        replayer = Replayer(instance, Journal(None, {}), TopicMap(()), ReplaySettings())
        await replayer.run(messages())
    assert replayer.counts.sent == len(read) == 40


async def test_nothing_is_sent_to_a_missing_or_read_only_topic(
    autojump_clock: object, cluster: StoringCluster
) -> None:
    with pytest.raises(ReplayError, match="the target has no topic ledger: create it"):
        await send_replay(cluster, make_messages(3, "ledger"))
    cluster.perm = 4
    with pytest.raises(ReplayError, match="no broker of topic orders may be written to"):
        await send_replay(cluster, make_messages(3))
    assert cluster.sends == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("other cluster", "cluster c has no queue 0 of topic orders at broker a"),
        ("fewer queues", "cluster c has no queue 1 of topic orders at broker a"),
        ("new topic", "queue 0 of topic orders at broker a ends at offset 0, before 3"),
    ],
)
async def test_nothing_is_sent_if_the_journal_belongs_to_another_target(
    autojump_clock: object, cluster: StoringCluster, tmp_path: Path, change: str, text: str
) -> None:
    journal = tmp_path / "journal"
    await send_replay(cluster, make_messages(6), journal)
    target = StoringCluster(orders=1 if change == "fewer queues" else 2)
    if change == "other cluster":
        target.name = "d"
    if change == "fewer queues":
        target.queues["orders", 0] = cluster.queues["orders", 0]
    target.sends.clear()
    Journal(journal, {}).close()  # leaves one line for each queue
    lines = journal.read_bytes()

    with pytest.raises(ReplayError, match=text):
        await send_replay(target, make_messages(20), journal)

    assert target.sends == []
    assert journal.read_bytes() == lines


async def test_stop_finishes_pending_sends(
    autojump_clock: object, cluster: StoringCluster, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    book = Journal(journal, {})
    async with connect(cluster) as instance:
        replayer = Replayer(instance, book, TopicMap(()), ReplaySettings(rate=10.0))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(replayer.run, make_messages(30))
            await trio.sleep(1.05)
            replayer.stop()
    book.close()
    assert 0 < len(cluster.sends) < 30
    assert replayer.counts.sent == len(cluster.sends)
    assert (await send_replay(cluster, make_messages(30), journal)).counts.found == 0


async def test_journal_that_cannot_be_written_ends_the_replay(
    autojump_clock: object, cluster: StoringCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Journal, "note", fail)
    with pytest.raises(OSError, match="No space left"):
        await send_replay(cluster, make_messages(10))
    assert len(cluster.sends) <= 2
