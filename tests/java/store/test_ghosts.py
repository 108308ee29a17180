"""A broker cuts a log at damage and writes on: the bytes after its last message are ghosts."""

from pathlib import Path

import pytest
import trio

from rocketwire.client import Message
from rocketwire.store.folder import read_folder
from rocketwire_tools.store.engine.scan import LogScan, State
from tests.peers.peers import CURRENT, OLD
from tests.support.stores import copy_store
from tests.support.stores.cluster import StoreCluster
from tests.support.stores.damage import flip, log_files, places, put
from tests.support.stores.fixtures import unpack
from tests.support.stores.sending import Sender, now

STORE_TIME = 56
"""Position of the time in a message that a broker with an IPv4 address stored."""

DAY = 86_400_000
MESSAGES = 12


def set_back_the_clock(root: Path) -> None:
    # The broker that wrote the store had a clock that was a day ahead of this machine's.
    messages = [place for file in log_files(root) for place in places(file)]
    for number, place in enumerate(messages):
        put(place.file, place.position + STORE_TIME, (now() + DAY + number).to_bytes(8, "big"))


def keep_the_clock(_root: Path) -> None:
    """Both brokers had this machine's clock."""


@pytest.mark.full
@pytest.mark.parametrize("release", [CURRENT, OLD])
@pytest.mark.parametrize("clock", [keep_the_clock, set_back_the_clock])
def test_bytes_after_a_cut_of_a_broker_are_ghosts(
    clock: object, release: str, tmp_path: Path
) -> None:
    source = unpack(release, "plain", tmp_path / "source")
    assert callable(clock)
    clock(source.root)
    last = places(log_files(source.root)[-1])
    cut = last[-20]
    flip(cut.file, cut.body + cut.body_size // 2)
    old = {int(place.file.name) + place.position for place in last if place.position > cut.position}
    cluster = StoreCluster(tmp_path / "broker", release)
    copy_store(source.root, cluster.store)
    cut_off = [
        queue
        for queue in source.truth.queues
        for message in queue.messages
        if message.physical_offset in old
    ]

    async def send() -> list[int]:
        async with cluster.session() as session:
            sender = Sender(session)
            for queue in cut_off[:MESSAGES]:
                await session.client.refresh_route(queue.topic)
                message = Message(topic=queue.topic, body=b"new")
                await sender.send_all([message], [queue.queue_id])
            return [int(sent.offset_msg_id[-16:], 16) for sent in sender.sent]

    with cluster:
        new = trio.run(send)
        cluster.stop()
    scan = LogScan(files=read_folder([cluster.store]).commit_log)
    states = {
        block.base + position: block.state
        for block in scan
        for position in block.messages.positions.tolist()
    }

    assert {states[offset] for offset in new} == {State.LIVE}
    ghosts = {offset: state for offset, state in states.items() if offset > new[-1]}
    assert ghosts
    assert ghosts.keys() <= old
    assert set(ghosts.values()) == {State.GHOST}
