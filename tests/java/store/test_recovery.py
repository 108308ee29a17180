"""What Java does at its start on a damaged store is what was predicted: Java is started on a copy and asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.codes import ResponseCode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.store.java_records import Release
from rocketwire.store.recovery import predict
from rocketwire_tools.store.checks.images import image_of
from rocketwire_tools.store.opened import OpenedStore
from tests.support.java.peers import CURRENT, OLD, RELEASES, JavaNameServer
from tests.support.processes import PeerFailedError
from tests.support.stores import copy_store
from tests.support.stores.answers import pull
from tests.support.stores.cluster import BROKER_NAME, StoreCluster
from tests.support.stores.damage import DAMAGE
from tests.support.stores.fixtures import PACKED, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping
    from pathlib import Path

    from rocketwire.store.built_queues import Topic
    from rocketwire.store.recovery import Recovery
    from tests.support.stores import BrokerStore
    from tests.support.stores.cluster import Session

REFUSES_5 = frozenset({"add_strange_file", "shorten_last_file", "shorten_queue_file"})
"""Damage with which 5.x does not start; the prediction has to say so too."""

REFUSES: dict[str, frozenset[str]] = {
    OLD: frozenset(
        {
            "add_empty_last_file",
            "add_folder",
            "add_strange_file",
            "shorten_last_file",
            "shorten_queue_file",
        }
    ),
}
"""The same for releases that differ from 5.x."""

HANGS: dict[str, frozenset[str]] = {
    OLD: frozenset({"remove_middle_file_and_queues"}),
}
"""Damage with which the start of a release never ends."""

REFUSAL_SECONDS = 45.0


@pytest.fixture(scope="module")
def name_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaNameServer]:
    with JavaNameServer(tmp_path_factory.mktemp("namesrv")) as server:
        yield server


def prediction_of(root: Path, release: str) -> tuple[Recovery, Mapping[Topic, bytes]]:
    """The prediction, and the bytes that pulls of each queue shall return."""
    recovery = predict(image_of(OpenedStore([root])), Release(release))
    files = {int(file.name): file for file in (root / "commitlog").glob("[0-9]" * 20)}
    size = max((file.stat().st_size for file in files.values()), default=1)
    served: dict[Topic, bytes] = {}
    for queue in recovery.queues:
        parts: list[bytes] = []
        for unit in recovery.served(queue):
            file = files[unit.file]
            position = unit.physical_offset % size
            parts.append(file.read_bytes()[position : position + unit.size])
        served[queue] = b"".join(parts)
    return recovery, served


async def pull_bytes(
    session: Session, place: MessageQueue, first: int, end: int, silent: Container[int]
) -> bytes:
    """All bytes that pulls of a queue return, from its first offset on.

    Args:
        session: at the broker.
        place: the queue.
        first: its minimum offset.
        end: its maximum offset.
        silent: offsets at which a broker does not answer; the queue is read up to there.
    """
    parts: list[bytes] = []
    offset = first
    while offset < end and offset not in silent:
        answer = await pull(session, place, offset)
        if answer.command.code == ResponseCode.SUCCESS:
            parts.append(answer.command.body or b"")
        if answer.header.next_begin_offset <= offset:
            break
        offset = answer.header.next_begin_offset
    return b"".join(parts)


async def served_by(session: Session, recovery: Recovery) -> dict[Topic, tuple[int, int, bytes]]:
    """Minimum and maximum offset of each queue, and the bytes that pulls of it return."""
    results: dict[Topic, tuple[int, int, bytes]] = {}
    brokers = session.client.brokers
    for topic, queue_id in recovery.queues:
        place = MessageQueue(topic=topic, broker_name=BROKER_NAME, queue_id=queue_id)
        first = await brokers.min_offset(session.address, place)
        end = await brokers.max_offset(session.address, place)
        silent = recovery.unanswered((topic, queue_id))
        pulled = await pull_bytes(session, place, first, end, silent)
        results[topic, queue_id] = (first, end, pulled)
    return results


def check_start(root: Path, release: str, folder: Path, name_server: JavaNameServer) -> Recovery:
    """Start Java on the store; returns the prediction, which Java has confirmed."""
    recovery, served = prediction_of(root, release)
    cluster = StoreCluster(folder, release, name_server=name_server)
    copy_store(root, cluster.store)
    if not recovery.starts:
        with pytest.raises(PeerFailedError), cluster.broker:
            cluster.broker.wait_registered(name_server.port, REFUSAL_SECONDS)
        return recovery

    async def ask() -> dict[Topic, tuple[int, int, bytes]]:
        async with cluster.session() as session:
            return await served_by(session, recovery)

    with cluster:
        answers = trio.run(ask)
    wanted = {
        name: (queue.min_offset, queue.max_offset, served[name])
        for name, queue in recovery.queues.items()
    }
    ends = {name: answer[:2] for name, answer in answers.items()}
    assert ends == {name: queue[:2] for name, queue in wanted.items()}
    assert answers == wanted
    log = {file.name for file in (cluster.store / "commitlog").iterdir() if file.is_file()}
    assert log.isdisjoint(recovery.deleted_files)
    return recovery


def cases() -> list[tuple[str, str]]:
    """Release and damage: each damage once, because each starts a broker; all if asked for."""
    if os.environ.get("ROCKETWIRE_STORES") == "all":
        return [(release, damage) for damage in DAMAGE for release in RELEASES]
    return [((CURRENT, OLD)[number % 2], damage) for number, damage in enumerate(DAMAGE)]


@pytest.mark.parametrize(("release", "damage"), cases())
def test_java_serves_of_a_damaged_store_what_was_predicted(
    release: str,
    damage: str,
    tmp_path: Path,
    name_server: JavaNameServer,
    store_of: Callable[[str, str], BrokerStore],
) -> None:
    root = tmp_path / "store"
    if (release, "plain") in PACKED:
        root = unpack(release, "plain", root).root
    else:
        root = copy_store(store_of(release, "plain").root, root)
    DAMAGE[damage](root)

    recovery = check_start(root, release, tmp_path / "broker", name_server)

    assert bool(recovery.refusal) is (damage in REFUSES.get(release, REFUSES_5))
    assert bool(recovery.hang) is (damage in HANGS.get(release, ()))


@pytest.mark.parametrize("release", list(Release))
def test_the_restart_of_a_killed_broker_is_predicted(
    release: Release, store_of: Callable[[str, str], BrokerStore]
) -> None:
    store = store_of(release, "killed")
    recovery, _ = prediction_of(store.root, release)

    for queue in store.truth.queues:
        name = (queue.topic, queue.queue_id)
        if queue.max_offset:
            predicted = recovery.queues[name]
            assert (predicted.min_offset, predicted.max_offset) == (
                queue.min_offset,
                queue.max_offset,
            )
        places = [(one.queue_offset, one.physical_offset) for one in queue.messages]
        assert [unit[:2] for unit in recovery.served(name)] == places
