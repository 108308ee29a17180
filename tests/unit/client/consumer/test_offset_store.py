"""Offsets that brokers keep: when a consumer waits for their answer."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from rocketwire.client.consumer.offset_store import LocalFileOffsetStore, RemoteBrokerOffsetStore
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import LocalProtocolError
from rocketwire.messages import decode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.offsets import (
    ConsumerOffsetSerializeWrapper,
    QueryConsumerOffsetResponseHeader,
    UpdateConsumerOffsetRequestHeader,
)
from rocketwire.testing import ScriptedPeer, reply
from rocketwire.versions import MQVersion
from rocketwire.wire.command import RemotingCommand
from tests.support.fakes.producer_fakes import open_broker_and_client
from tests.support.virtual_disk import run_until_crashes

ZERO, ONE, TWO = (MessageQueue(topic="T", broker_name="a", queue_id=number) for number in range(3))
ALL = (ZERO, ONE, TWO)

Commits = list[tuple[int | None, int | None, bool]]
"""Queue and offset of each request in order, and whether it was one-way."""


@asynccontextmanager
async def open_store() -> AsyncGenerator[tuple[RemoteBrokerOffsetStore, ScriptedPeer]]:
    """A store with offsets 5, 6 and 7, and a broker that takes a second for each response."""

    async def slowly(_: RemotingCommand) -> RemotingCommand:
        await trio.sleep(1)
        return reply()

    async with open_broker_and_client() as (broker, client):
        broker.on(Code.UPDATE_CONSUMER_OFFSET, slowly)
        store = RemoteBrokerOffsetStore(client, "g")
        for offset, queue in enumerate(ALL, 5):
            store.update(queue, offset, increase_only=True)
        yield store, broker


def read_commits(broker: ScriptedPeer) -> Commits:
    """The offsets that the broker got since the last call."""
    commits: Commits = []
    for request in broker.requests:
        header = decode_header(UpdateConsumerOffsetRequestHeader, request.ext_fields)
        commits.append((header.queue_id, header.commit_offset, request.is_oneway))
    broker.requests.clear()
    return commits


async def test_offsets_after_the_first_are_stored_one_way(autojump_clock: object) -> None:
    async with open_store() as (store, broker):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.persist, ALL)
            await trio.sleep(0.5)
            assert read_commits(broker) == [(0, 5, False)]
        assert sorted(read_commits(broker)) == [(1, 6, True), (2, 7, True)]
        assert trio.current_time() < 2

        store.update(TWO, 9, increase_only=True)
        await store.persist(ALL)
        assert read_commits(broker) == [(2, 9, False)]


async def test_offsets_of_released_queues_are_stored_reliably(autojump_clock: object) -> None:
    async with open_store() as (store, broker):
        await store.persist(ALL)
        read_commits(broker)
        store.update(ZERO, 8, increase_only=True)
        start = trio.current_time()
        await store.persist(ALL, leaving=(TWO,))
        assert trio.current_time() - start == 1
        assert read_commits(broker) == [(2, 7, False), (0, 8, True)]

        await store.persist([ZERO, ONE], leaving=(ZERO, ONE))
        assert trio.current_time() - start == 3
        assert read_commits(broker) == [(0, 8, False), (1, 6, False)]


async def test_a_rejected_offset_does_not_delay_others_and_is_sent_again() -> None:
    def refuses_one(request: RemotingCommand) -> RemotingCommand:
        header = decode_header(UpdateConsumerOffsetRequestHeader, request.ext_fields)
        return reply(code=1 if header.queue_id == 0 else 0)

    async with open_store() as (store, broker):
        broker.on(Code.UPDATE_CONSUMER_OFFSET, refuses_one)
        await store.persist(ALL)
        assert read_commits(broker) == [(0, 5, False), (1, 6, False), (2, 7, True)]
        await store.persist(ALL)

        assert read_commits(broker) == [(0, 5, False)]


async def test_a_silent_broker_delays_the_storing_of_offsets_once(autojump_clock: object) -> None:
    async with open_store() as (store, broker):
        broker.on(Code.UPDATE_CONSUMER_OFFSET, None)
        start = trio.current_time()
        await store.persist(ALL, leaving=ALL)
        assert trio.current_time() - start == 3
        assert sorted(read_commits(broker)) == [(0, 5, False), (1, 6, True), (2, 7, True)]


@pytest.mark.parametrize(("never_zero", "sent"), [(False, None), (True, "false")])
async def test_set_zero_if_not_found_is_configurable(never_zero: bool, sent: str | None) -> None:
    async with open_broker_and_client() as (broker, client):
        broker.on(Code.QUERY_CONSUMER_OFFSET, reply(code=ResponseCode.QUERY_NOT_FOUND))
        store = RemoteBrokerOffsetStore(client, "g", never_zero=never_zero)
        assert await store.fetch(ONE) is None
        assert (broker.requests[-1].ext_fields or {}).get("setZeroIfNotFound") == sent


OLD = MQVersion.V4_9_4
TABLE = reply(
    body=ConsumerOffsetSerializeWrapper(offset_table={"T@g": {0: 0, 2: 5}, "T@other": {1: 0}})
)


@pytest.mark.parametrize(
    ("queue", "version", "never_zero", "answer", "offset"),
    [
        (ONE, OLD, True, TABLE, None),
        (ZERO, OLD, True, TABLE, 0),
        (ONE, OLD, False, TABLE, 0),
        (ONE, MQVersion.V5_0_0, True, TABLE, 0),
        (ONE, OLD, True, reply(code=ResponseCode.NO_PERMISSION), 0),
    ],
)
async def test_a_zero_of_an_old_broker_is_verified_in_its_whole_table(
    queue: MessageQueue,
    version: MQVersion,
    never_zero: bool,
    answer: RemotingCommand,
    offset: int | None,
) -> None:
    async with open_broker_and_client() as (broker, client):
        broker.on(Code.HEART_BEAT, replace(reply(), version=version))
        broker.on(Code.QUERY_CONSUMER_OFFSET, reply(QueryConsumerOffsetResponseHeader(offset=0)))
        broker.on(Code.GET_ALL_CONSUMER_OFFSET, answer)
        store = RemoteBrokerOffsetStore(client, "g", never_zero=never_zero)
        assert offset == await store.fetch(queue)


def test_offsets_in_files_need_a_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(
        "pwd.getpwuid", dict[int, object]().__getitem__
    )  # a user that the machine does not know

    with pytest.raises(LocalProtocolError, match="home"):
        LocalFileOffsetStore("client", "group", None)
    assert LocalFileOffsetStore("client", "group", tmp_path).path.is_relative_to(tmp_path)


async def test_a_file_that_cannot_be_written_is_a_warning_at_growing_intervals(
    autojump_clock: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "rocketwire.client")
    (tmp_path / "client").touch()  # where a folder belongs
    store = LocalFileOffsetStore("client", "g", tmp_path)
    for number in range(24):
        store.update(ZERO, number, increase_only=True)
        await store.persist([ZERO])
        await trio.sleep(5)
    assert len(caplog.messages) == 4
    assert caplog.messages[0].startswith("group g: storing of offsets: [Errno 17]")
    assert "set local_offset_store_dir" in caplog.messages[0]

    (tmp_path / "client").unlink()
    await store.persist([ZERO])
    assert caplog.messages[4:] == ["group g: storing of offsets: works again, after 120 s"]


async def test_a_file_of_offsets_survives_a_crash_at_each_call(tmp_path: Path) -> None:
    def persist_all(root: Path, written: list[int]) -> None:
        store = LocalFileOffsetStore("client", "g", root)
        for offset in range(3):
            store.write({ZERO: offset})
            written.append(offset)

    for root, written in run_until_crashes(tmp_path, persist_all):
        store = LocalFileOffsetStore("client", "g", root)
        store.path.with_name("offsets.json.bak").unlink(missing_ok=True)
        assert await store.fetch(ZERO) in [None, 0, 1, 2][len(written) : len(written) + 2]
