"""Java, started on a copy of a store, and what was predicted of that start."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest
import trio

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.store.java_records import Release
from rocketwire.store.recovery import predict
from rocketwire.store.rocksdb.built_queues import BuiltRocksQueue, NoRocksQueues
from rocketwire_tools.store.checks.images import image_of
from rocketwire_tools.store.opened import OpenedStore
from tests.support.processes import PeerFailedError
from tests.support.stores.answers import pull
from tests.support.stores.cluster import BROKER_NAME, StoreCluster, copy_store

if TYPE_CHECKING:
    from collections.abc import Container, Mapping
    from pathlib import Path

    from rocketwire.store.built_queues import Topic
    from rocketwire.store.recovery import Recovery
    from tests.support.java.peers import JavaNameServer
    from tests.support.stores.cluster import Session

REFUSAL_SECONDS: Final = 45.0
"""How long a broker is given to show that it does not start."""


def prediction_of(
    root: Path, release: str, options: Mapping[str, object] | None = None
) -> tuple[Recovery, Mapping[Topic, bytes]]:
    """The prediction, and the bytes that pulls of each queue shall return.

    Args:
        root: of the store.
        release: of the broker.
        options: of the broker.  A store without queues does not show where it has them.
    """
    image = image_of(OpenedStore([root]))
    if (options or {}).get("storeType") == "defaultRocksDB" and image.rocks is None:
        image = replace(image, rocks=NoRocksQueues(), rocks_folders=["consumequeue"])
    recovery = predict(image, Release(release))
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


async def pull_one_by_one(session: Session, place: MessageQueue, first: int, end: int) -> bytes:
    """All bytes that pulls of a single message return; a pull that fails returns none."""
    parts: list[bytes] = []
    for offset in range(first, end):
        try:
            answer = await pull(session, place, offset, most=1)
        except BrokerError:
            continue
        if answer.command.code == ResponseCode.SUCCESS:
            parts.append(answer.command.body or b"")
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
        if isinstance(recovery.models[topic, queue_id], BuiltRocksQueue) and silent:
            pulled = await pull_one_by_one(session, place, first, end)
        else:
            pulled = await pull_bytes(session, place, first, end, silent)
        results[topic, queue_id] = (first, end, pulled)
    return results


def check_start(
    root: Path,
    release: str,
    folder: Path,
    name_server: JavaNameServer,
    options: Mapping[str, object] | None = None,
) -> Recovery:
    """Start Java on a copy of a store; returns the prediction, which Java has confirmed.

    Args:
        root: of the store.
        release: of the broker.
        folder: empty, for the broker.
        name_server: that the broker registers at.
        options: of the broker.
    """
    recovery, served = prediction_of(root, release, options)
    cluster = StoreCluster(folder, release, options, name_server=name_server)
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
