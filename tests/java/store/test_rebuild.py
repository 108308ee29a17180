"""Real brokers are started on rebuilt stores, and answer as the brokers that wrote the sources."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rocketwire_tools.store.__main__ import main
from tests.peers.peers import CURRENT, OLD
from tests.support.stores import BrokerStore, Queue, copy_store
from tests.support.stores.answers import Answers
from tests.support.stores.damage import flip, log_files
from tests.support.stores.damage import places as places_of
from tests.support.stores.fixtures import unpack
from tests.support.stores.recording import ask_restarted

FILE_SIZE = 256 * 1024
SIZES = (
    *("--log-file-size", str(FILE_SIZE), "--queue-file-size", "400"),
    *("--index-slots", "100", "--index-entries", "400"),
)


@pytest.fixture(params=[CURRENT, OLD])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> BrokerStore:
    return unpack(request.param, "plain", tmp_path / "source")


def answers_of(source: BrokerStore, out: Path, folder: Path, *, lost: set[int]) -> Answers:
    # Responses of a broker of the release with the store ``out``; ``lost`` are physical offsets.
    sent = [
        message for message in source.truth.sent if int(message.offset_msg_id[-16:], 16) not in lost
    ]
    return ask_restarted(
        folder,
        source.truth.release,
        out,
        sent,
        source.truth.topics,
        options={
            name: value for name, value in source.truth.settings.items() if name != "brokerName"
        },
    )


def assert_alike(answers: Sequence[Queue], truth: Sequence[Queue], release: str) -> None:
    """The queues are the same; offsets of times only need to be right for 4.9.4.

    It chooses a file by its time, and the files of a live broker have times before their last message.
    """
    if release == OLD:
        assert list(inexact_times(answers)) == []
        answers, truth = (
            [replace(queue, by_time=()) for queue in queues] for queues in (answers, truth)
        )
    assert list(answers) == list(truth)


def inexact_times(queues: Sequence[Queue]) -> Iterator[str]:
    # Times for which the broker answered an offset whose message is not the nearest one.
    for queue in queues:
        times = {message.queue_offset: message.store_timestamp for message in queue.messages}
        for time, offset in queue.by_time:
            nearest = min(abs(value - time) for value in times.values())
            if abs(times[offset] - time) > nearest:
                yield f"{queue.topic}/{queue.queue_id}: {offset} for {time}"


def test_a_broker_serves_a_store_rebuilt_without_queues_and_index(
    source: BrokerStore, tmp_path: Path
) -> None:
    truth = source.truth
    shutil.rmtree(source.root / "consumequeue")
    shutil.rmtree(source.root / "index")
    (source.root / "checkpoint").unlink()

    assert main(["rebuild", str(tmp_path / "out"), str(source.root), *SIZES]) == 0
    answers = answers_of(source, tmp_path / "out", tmp_path / "java", lost=set())

    assert_alike(answers.queues, truth.queues, truth.release)
    assert answers.lookups == truth.lookups
    assert answers.by_id == truth.by_id
    assert answers.consumer_offsets == truth.consumer_offsets
    assert answers.delay_offsets == truth.delay_offsets


def hole(root: Path) -> None:
    with sorted((root / "commitlog").iterdir())[1].open("r+b") as file:
        file.seek(100_000)
        file.write(bytes(8192))


def missing_file(root: Path) -> None:
    sorted((root / "commitlog").iterdir())[2].unlink()


def strange_heads(root: Path) -> None:
    # A bit of a topic and one of a queue offset are others, which no checksum covers.
    messages = places_of(log_files(root)[0])
    topic, offset = messages[10], messages[30]
    flip(topic.file, topic.body + topic.body_size + 1, 0x20)
    flip(offset.file, offset.position + 27, 0x40)


@pytest.mark.full
@pytest.mark.parametrize("damage", [hole, missing_file, strange_heads])
def test_a_broker_serves_all_messages_outside_of_damage(
    damage: Callable[[Path], None], source: BrokerStore, tmp_path: Path
) -> None:
    truth = source.truth
    damaged = copy_store(source.root, tmp_path / "damaged")
    damage(damaged)
    intact, files = (
        {path.name: path.read_bytes() for path in (root / "commitlog").iterdir()}
        for root in (source.root, damaged)
    )
    lost = {
        message.physical_offset
        for message in truth.pulled
        if part(intact, message.physical_offset, message.size)
        != part(files, message.physical_offset, message.size)
    }
    assert lost
    still_served = lost if damage is strange_heads else set[int]()

    assert main(["rebuild", str(tmp_path / "out"), str(damaged)]) == 1
    answers = answers_of(source, tmp_path / "out", tmp_path / "java", lost=lost)

    saved = {
        (queue.topic, queue.queue_id, message.queue_offset): message
        for queue in truth.queues
        for message in queue.messages
        if message.physical_offset not in lost
    }
    served = {
        (queue.topic, queue.queue_id, message.queue_offset): message
        for queue in answers.queues
        for message in queue.messages
        if message.physical_offset not in still_served
    }
    assert served == saved
    assert {id_: data for id_, data in answers.by_id.items() if data} == {
        id_: data for id_, data in truth.by_id.items() if int(id_[-16:], 16) not in lost
    }
    keys = {
        (lookup.topic, lookup.key, lookup.index): lookup.physical_offsets
        for lookup in truth.lookups
    }
    for lookup in answers.lookups:
        offsets = keys[lookup.topic, lookup.key, lookup.index]
        answered = tuple(place for place in lookup.physical_offsets if place not in still_served)
        assert answered == tuple(place for place in offsets if place not in lost)


def part(files: dict[str, bytes], offset: int, size: int) -> bytes:
    data = files.get(f"{offset - offset % FILE_SIZE:020d}", b"")
    return data[offset % FILE_SIZE :][:size]
