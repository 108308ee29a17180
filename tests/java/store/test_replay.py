"""Stores of real brokers replayed to real brokers, which are then asked for every message."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio

from rocketwire_tools.store.__main__ import main
from tests.peers.peers import CURRENT, OLD
from tests.support.stores import BrokerStore, Pulled, Queue
from tests.support.stores.answers import read_queue
from tests.support.stores.cluster import StoreCluster
from tests.support.stores.fixtures import unpack

SET_BY_BROKERS = {"CLUSTER", "MSG_REGION", "TRACE_ON", "WAIT"}
"""Properties that a broker sets itself, or drops, by its release."""

HOLD_BACK = {"DELAY", "TRAN_MSG"}
"""Properties for which a broker would hold a message back once more."""


@pytest.fixture
def current(tmp_path: Path) -> Iterator[StoreCluster]:
    with StoreCluster(tmp_path / "target", CURRENT) as target:
        yield target


@pytest.fixture(params=[CURRENT, OLD])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreCluster]:
    with StoreCluster(tmp_path / "target", request.param) as target:
        yield target


def create_topics(cluster: StoreCluster, topics: Mapping[str, int]) -> None:
    async def create() -> None:
        async with cluster.session() as session:
            for topic, queues in topics.items():
                await session.create_topic(topic, queues)

    trio.run(create)


def queues_of(cluster: StoreCluster, topics: Mapping[str, int]) -> dict[tuple[str, int], Queue]:
    async def read() -> list[Queue]:
        async with cluster.session() as session:
            await session.wait_until_dispatched()
            return [
                await read_queue(session, topic, queue)
                for topic, count in topics.items()
                for queue in range(count)
            ]

    return {(queue.topic, queue.queue_id): queue for queue in trio.run(read)}


def topics_of(store: BrokerStore) -> dict[str, int]:
    topics: dict[str, int] = {}
    for queue in store.truth.queues:
        if queue.topic in store.truth.topics:
            topics[queue.topic] = max(topics.get(queue.topic, 0), queue.queue_id + 1)
    return topics


def contents(messages: Sequence[Pulled]) -> list[tuple[Any, ...]]:
    return [
        (
            {
                name: value
                for name, value in message.properties.items()
                if name not in SET_BY_BROKERS | HOLD_BACK
            },
            message.flag,
            message.born_timestamp,
            message.body_digest,
            message.sys_flag & ~0x3C,  # addresses and transactions are the broker's
        )
        for message in messages
    ]


def replay(cluster: StoreCluster, *arguments: object, status: int = 0) -> None:
    command = ["replay", "-n", cluster.name_server.address, *map(str, arguments)]
    assert main(command) == status


def test_consumers_get_every_message_as_it_was_and_in_its_order(
    cluster: StoreCluster, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    source = unpack(CURRENT, "plain", tmp_path / "source")
    topics = topics_of(source)
    create_topics(cluster, topics)

    replay(cluster, "--json", source.root)

    answers = queues_of(cluster, topics)
    assert_same(answers, source)
    report = json.loads(capsysbinary.readouterr().out)
    assert report["sent"] == sum(len(answer.messages) for answer in answers.values())


def assert_same(answers: Mapping[tuple[str, int], Queue], source: BrokerStore) -> None:
    for queue in source.truth.queues:
        answer = answers.get((queue.topic, queue.queue_id))
        if answer is not None:
            assert contents(answer.messages) == contents(queue.messages)


@pytest.mark.full
def test_messages_that_consumers_saw_are_sent_at_once(
    current: StoreCluster, tmp_path: Path
) -> None:
    # Delivered after delays, committed, or in a batch that stayed one; each is sent at once.
    for name in ("features", "timers", "inner"):
        source = unpack(CURRENT, name, tmp_path / name)
        deleted = source.truth.deleted_topics
        topics = {
            topic: queues for topic, queues in topics_of(source).items() if topic not in deleted
        }
        create_topics(current, topics)
        chosen = [argument for topic in topics for argument in ("--topic", topic)]

        replay(current, *chosen, source.root)

        answers = queues_of(current, topics)
        if name != "inner":
            assert_same(answers, source)
            continue
        for (topic, queue_id), answer in answers.items():
            sent = [
                message
                for message in source.truth.sent
                if (message.topic, message.queue_id) == (topic, queue_id)
            ]
            sent.sort(key=lambda message: message.queue_offset)
            assert [
                (
                    message.properties["KEYS"],
                    message.properties["TAGS"],
                    message.flag,
                    message.body_digest,
                )
                for message in answer.messages
            ] == [
                (" ".join(message.keys), message.tags, message.flag, message.body_digest)
                for message in sent
            ]
