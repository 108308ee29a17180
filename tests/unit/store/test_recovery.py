"""The next start of a broker, predicted on small stores; ``tests/java/store/test_recovery.py`` asks Java itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from rocketwire.store.checkpoint import Checkpoint, encode_checkpoint
from rocketwire.store.commit_log import BLANK_MAGIC
from rocketwire.store.consume_queue import (
    BatchUnit,
    QueueUnit,
    encode_batch_unit,
    encode_unit,
)
from rocketwire.store.java_records import Release
from rocketwire.store.recovery import FolderEntry, StoreImage, predict
from rocketwire.store.rocksdb.records import QueueBound
from rocketwire.wire.checksum import crc32
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire.store.built_queues import Topic
    from rocketwire.store.recovery import Recovery

LOG_FILE: Final = 400
"""Bytes of a file: three messages and a blank."""

QUEUE_FILE: Final = 60
"""Bytes of a file: three units."""

BATCH_QUEUE_FILE: Final = 92

T: Final = ("t", 0)
OLD, MIDDLE, CURRENT = Release.V4_9_4, Release.V5_3_3, Release.V5_5_0
FIVES: Final = (MIDDLE, CURRENT)
START: Final = 1_700_000_000_000


def message_bytes(offset: int, queue: Topic, queue_offset: int, **changes: Any) -> bytes:
    message = StoredMessage(
        topic=queue[0],
        body=b"body",
        properties={"K": "v"},
        queue_id=queue[1],
        queue_offset=queue_offset,
        commit_log_offset=offset,
        store_size=0,
        body_crc=crc32(b"body"),
        born_timestamp=START,
        born_host=Host.parse("10.0.0.2:50000"),
        store_timestamp=START + offset,
        store_host=Host.parse("10.0.0.1:10911"),
    )
    return encode_stored_message(replace(message, **changes))


@dataclass
class Store:
    """A store in memory; ``send`` is what a broker does."""

    log: dict[int, bytearray] = field(default_factory=dict[int, bytearray])
    queues: dict[Topic, dict[int, bytearray]] = field(
        default_factory=dict["Topic", dict[int, bytearray]]
    )
    batches: dict[Topic, dict[int, bytearray]] = field(
        default_factory=dict["Topic", dict[int, bytearray]]
    )
    end: int = 0
    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    changes: dict[str, Any] = field(default_factory=dict[str, Any])
    next_offsets: dict[Topic, int] = field(default_factory=dict["Topic", int])

    def send(self, queue: Topic = T, *, is_queued: bool = True, **changes: Any) -> int:
        """Append a message; returns its offset."""
        queue_offset = changes.pop("queue_offset", self.next_offsets.get(queue, 0))
        size = len(message_bytes(0, queue, queue_offset, **changes))
        file = self.end - self.end % LOG_FILE
        if self.end + size + 8 > file + LOG_FILE:
            blank = (file + LOG_FILE - self.end).to_bytes(4, "big") + BLANK_MAGIC.to_bytes(4, "big")
            self.write(self.end, blank)
            self.end = file + LOG_FILE
        offset = self.end
        self.write(offset, message_bytes(offset, queue, queue_offset, **changes))
        self.end += size
        self.places.append((offset, size))
        self.next_offsets[queue] = queue_offset + 1
        if is_queued:
            self.put(queue, queue_offset, offset, size)
        return offset

    def write(self, offset: int, data: bytes) -> None:
        file = offset - offset % LOG_FILE
        content = self.log.setdefault(file, bytearray(LOG_FILE))
        content[offset - file : offset - file + len(data)] = data

    def put(self, queue: Topic, number: int, offset: int, size: int) -> None:
        position = number * 20
        file = position - position % QUEUE_FILE
        content = self.queues.setdefault(queue, {}).setdefault(file, bytearray(QUEUE_FILE))
        content[position - file : position - file + 20] = encode_unit(QueueUnit(offset, size, 0))

    def predict(self, release: Release, **changes: Any) -> Recovery:
        def read_log(file: int, position: int, size: int) -> bytes:
            return bytes(self.log[file][position : position + size])

        def read_queue(queue: Topic, file: int, position: int, size: int) -> bytes:
            return bytes(self.queues[queue][file][position : position + size])

        def read_batch_queue(queue: Topic, file: int, position: int, size: int) -> bytes:
            return bytes(self.batches[queue][file][position : position + size])

        limit = changes.pop("max_units", 1000)
        values: dict[str, Any] = {
            "log": entries(self.log),
            "log_file_size": LOG_FILE,
            "read_log": read_log,
            "queues": {queue: entries(files) for queue, files in self.queues.items()},
            "queue_file_size": QUEUE_FILE,
            "read_queue": read_queue,
            "batch_queues": {queue: entries(files) for queue, files in self.batches.items()},
            "batch_queue_file_size": BATCH_QUEUE_FILE,
            "read_batch_queue": read_batch_queue,
            **self.changes,
            **changes,
        }
        return predict(StoreImage(**values), release, max_units=limit)


class Rocks:
    """A RocksDB with one queue, of which it has offsets and sizes of the messages."""

    def __init__(self, messages: list[tuple[int, int]]) -> None:
        self.messages = messages
        self.end = sum(messages[-1])
        self.newest: dict[Topic, QueueBound] = {T: QueueBound(messages[-1][0], len(messages) - 1)}
        self.oldest: dict[Topic, QueueBound] = {}

    def place(self, queue: Topic, number: int) -> tuple[int, int] | None:
        exists = queue == T and 0 <= number < len(self.messages)
        return self.messages[number] if exists else None

    def places(self, queue: Topic, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        for number, place in enumerate(self.messages):
            if queue == T and first <= number < end:
                yield (number, *place)


def entries(files: dict[int, bytearray]) -> list[FolderEntry]:
    return [FolderEntry(f"{file:020}", len(data)) for file, data in files.items()]


def served(recovery: Recovery, queue: Topic = T) -> list[tuple[int, int]]:
    return [unit[:2] for unit in recovery.served(queue)]


def ends(recovery: Recovery, queue: Topic = T) -> tuple[int, int]:
    result = recovery.queues[queue]
    return result.min_offset, result.max_offset


def checkpoint(**words: int) -> bytes:
    return encode_checkpoint(replace_words(**words))


def replace_words(**words: int) -> Checkpoint:
    return Checkpoint(0, 0, 0, 0, 0, 0)._replace(**words)


@pytest.fixture
def store() -> Store:
    """Ten messages of one queue in four files."""
    store = Store()
    for _ in range(10):
        store.send()
    return store


# ---------------------------------------------------------------- whole stores


@pytest.mark.parametrize("release", list(Release))
def test_a_whole_store_is_served_whole(release: Release, store: Store) -> None:
    recovery = store.predict(release)

    assert recovery.starts
    assert recovery.cut == store.end
    assert recovery.deleted_files == []
    assert ends(recovery) == (0, 10)
    assert served(recovery) == [(number, place[0]) for number, place in enumerate(store.places)]
    assert list(recovery.served(("other", 0))) == []
    assert recovery.unanswered(T) == recovery.unanswered(("other", 0)) == set()


def test_each_release_starts_to_read_at_another_file(store: Store) -> None:
    starts = {release: store.predict(release).starts_from for release in Release}

    assert starts == {OLD: 400, MIDDLE: 1200, CURRENT: 1200}


@pytest.mark.parametrize("release", list(Release))
def test_without_a_log_all_queues_are_deleted(release: Release, store: Store) -> None:
    recovery = store.predict(release, log=[])

    assert recovery.deletes_queues
    assert recovery.starts_from is None
    assert ends(recovery) == (0, 0)
    assert recovery.queues[T].cut_units == 10
    assert len(recovery.queues) == 1


@pytest.mark.parametrize("release", list(Release))
def test_an_empty_store_starts(release: Release) -> None:
    recovery = Store().predict(release)

    assert recovery.starts
    assert recovery.queues == {}
    assert not recovery.deletes_queues


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize("release", list(Release))
@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (FolderEntry("00000000000000001600", 399), "has 399 bytes instead of 400"),
        (FolderEntry(".DS_Store", 9), "has 9 bytes"),
        (FolderEntry("notes", LOG_FILE), "is no number"),
        (FolderEntry("00000000000000000001", 0), "has 0 bytes"),
    ],
)
def test_a_strange_file_keeps_a_broker_from_starting(
    entry: FolderEntry, reason: str, release: Release, store: Store
) -> None:
    recovery = store.predict(release, log=[*entries(store.log), entry])

    assert not recovery.starts
    assert reason in recovery.refusal


@pytest.mark.parametrize(
    "entry", [FolderEntry("00000000000000001600", 0), FolderEntry("backup", 4096, is_folder=True)]
)
def test_only_4_9_4_is_kept_by_an_empty_last_file_or_a_folder(
    entry: FolderEntry, store: Store
) -> None:
    log = [*entries(store.log), entry]

    assert store.predict(OLD, log=log).refusal
    for release in FIVES:
        recovery = store.predict(release, log=log)
        assert recovery.starts
        assert recovery.deleted_files == ([entry.name] if not entry.is_folder else [])


@pytest.mark.parametrize("release", list(Release))
def test_a_short_file_of_a_queue_keeps_a_broker_from_starting(
    release: Release, store: Store
) -> None:
    store.queues[T][180] = bytearray(40)

    assert "consumequeue/t/0/00000000000000000180" in store.predict(release).refusal


def test_a_queue_of_another_type_than_its_topic_keeps_5_from_starting(store: Store) -> None:
    assert store.predict(OLD, batch_topics=frozenset({"t"})).starts
    for release in FIVES:
        assert "BatchCQ" in store.predict(release, batch_topics=frozenset({"t"})).refusal
        batches = {("b", 0): [FolderEntry("0" * 20, BATCH_QUEUE_FILE)]}
        assert "topics.json" in store.predict(release, batch_queues=batches).refusal


# ---------------------------------------------------------------- damage of the log


@pytest.mark.parametrize("release", list(Release))
def test_the_log_is_cut_at_the_first_broken_message_of_the_last_file(
    release: Release, store: Store
) -> None:
    offset, _ = store.places[9]
    store.write(offset + 88, b"x")

    recovery = store.predict(release)

    assert recovery.cut == offset
    assert recovery.cut_reason == "the checksum of the body is wrong"
    assert ends(recovery) == (0, 9)
    assert recovery.queues[T].cut_units == 1


def test_a_broken_message_in_a_file_that_is_not_read_stays(store: Store) -> None:
    store.write(store.places[4][0] + 88, b"x")

    assert ends(store.predict(CURRENT)) == ends(store.predict(MIDDLE)) == (0, 10)
    recovery = store.predict(OLD)
    assert ends(recovery) == (0, 4)
    assert recovery.deleted_files == [f"{file:020}" for file in (800, 1200)]
    assert recovery.queues[T].deleted_files == (120, 180)


@pytest.mark.parametrize("release", list(Release))
def test_a_start_after_a_kill_reads_from_the_file_that_the_checkpoint_names(
    release: Release, store: Store
) -> None:
    late = START + 1200 + 3000
    saved = checkpoint(physical_timestamp=late, queue_timestamp=late, queue_physical_offset=900)

    recovery = store.predict(release, has_abort=True, checkpoint=saved)

    assert recovery.starts_from == (800 if release is CURRENT else 1200)
    assert ends(recovery) == (0, 10)


@pytest.mark.parametrize(
    ("timestamp", "file"), [(START + 800, 800), (START + 799, 400), (START - 1, 0)]
)
def test_5_5_0_reads_times_where_the_checkpoint_has_no_offset(
    timestamp: int, file: int, store: Store
) -> None:
    saved = checkpoint(queue_timestamp=timestamp)

    assert store.predict(CURRENT, has_abort=True, checkpoint=saved).starts_from == file


@pytest.mark.parametrize("release", list(Release))
def test_a_start_after_a_kill_without_checkpoint_reads_everything(
    release: Release, store: Store
) -> None:
    store.send(is_queued=False)

    recovery = store.predict(release, has_abort=True)

    assert recovery.starts_from == 0
    assert ends(recovery) == (0, 11)
    assert recovery.queues[T].added_units == 1


def test_5_5_0_reads_ten_files_at_most() -> None:
    store = Store()
    for _ in range(36):
        store.send()

    assert len(store.log) == 12
    assert store.predict(CURRENT, has_abort=True).starts_from == 800
    assert store.predict(MIDDLE, has_abort=True).starts_from == 0


@pytest.mark.parametrize("release", list(Release))
def test_a_spare_file_is_deleted(release: Release, store: Store) -> None:
    store.log[1600] = bytearray(LOG_FILE)

    assert store.predict(release).deleted_files == ["00000000000000001600"]


@pytest.mark.parametrize("release", list(Release))
def test_a_spare_file_is_deleted_after_a_kill_too(release: Release, store: Store) -> None:
    store.log[1600] = bytearray(LOG_FILE)

    recovery = store.predict(release, has_abort=True)

    assert recovery.starts_from == 0
    assert recovery.deleted_files == ["00000000000000001600"]


def test_names_that_are_no_multiples_of_the_size_are_taken_as_they_are(store: Store) -> None:
    log = [FolderEntry("250", LOG_FILE), FolderEntry("650", LOG_FILE)]
    files = {250: store.log[0], 650: store.log[400]}

    def read(file: int, position: int, size: int) -> bytes:
        return bytes(files[file][position : position + size])

    recovery = store.predict(OLD, log=log, read_log=read)

    assert recovery.starts_from == 250
    # 300 of the last file are messages, and the blank there ends the log
    assert recovery.cut == 950
    assert {unit.file for unit in recovery.served(T)} == {250, 650}


@pytest.mark.parametrize("release", list(Release))
def test_a_log_that_ends_with_a_blank_ends_there(release: Release) -> None:
    store = Store()
    for _ in range(4):
        store.send()
    del store.log[400]
    store.queues[T] = {0: store.queues[T][0]}

    recovery = store.predict(release)

    assert recovery.cut == store.places[2][0] + store.places[2][1]
    assert not recovery.cut_reason
    assert ends(recovery) == (0, 3)


@pytest.mark.parametrize("release", list(Release))
def test_after_a_gap_the_log_goes_on(release: Release, store: Store) -> None:
    del store.log[400]

    recovery = store.predict(release)

    assert ends(recovery) == (0, 10)
    assert [number for number, _ in served(recovery)] == [0, 1, 2, 6, 7, 8, 9]


@pytest.mark.parametrize("release", list(Release))
def test_without_the_first_file_the_queue_begins_later(release: Release, store: Store) -> None:
    del store.log[0]

    recovery = store.predict(release)

    # the first file of the queue has no unit that is left, and Java looks into that file alone
    assert recovery.first_offset == 400
    assert ends(recovery) == (0, 10)
    assert served(recovery) == [(0, 0), *enumerate_from(3, store)]
    assert next(recovery.served(T)).file == 400


def enumerate_from(first: int, store: Store) -> list[tuple[int, int]]:
    return [(number, store.places[number][0]) for number in range(first, len(store.places))]


@pytest.mark.parametrize("release", list(Release))
@pytest.mark.parametrize("first", [1, 2])
def test_the_first_unit_that_points_into_the_log_is_the_minimum(
    first: int, release: Release
) -> None:
    store = Store()
    for number in range(4):
        store.send(("u", 0) if number < 3 - (3 - first) else T)
    for _ in range(4):
        store.send()
    for _ in range(3):
        store.send(("u", 0))
    del store.log[0]

    recovery = store.predict(release)

    offsets = [unit[1] for unit in recovery.served(T)]
    assert [offset for offset in offsets if offset] == [
        offset
        for number, (offset, _) in enumerate(store.places)
        if offset >= 400 and first <= number < 8
    ]
    assert ends(recovery)[0] == 3 - first


@pytest.mark.parametrize("release", list(Release))
def test_a_queue_whose_messages_have_all_expired_begins_at_its_end(release: Release) -> None:
    store = Store()
    store.send(("old", 0))
    for _ in range(6):
        store.send()
    del store.log[0]

    assert ends(store.predict(release), ("old", 0)) == ((0, 1) if release is OLD else (1, 1))


@pytest.mark.parametrize("release", list(Release))
def test_a_minimum_in_the_middle_of_a_file_is_kept(release: Release) -> None:
    store = Store()
    for _ in range(9):
        store.send()
    del store.log[0]
    # units that point exactly to the log's start, before it, and behind it
    start = 400
    for number, offset in enumerate((0, start, start + 1)):
        store.put(T, number, offset, 100)

    assert ends(store.predict(release))[0] == 1


# ---------------------------------------------------------------- damage of queues


@pytest.mark.parametrize("release", list(Release))
def test_a_zeroed_unit_cuts_the_queue_and_nothing_is_added(release: Release, store: Store) -> None:
    store.send(("other", 0))
    store.queues[T][120][20:40] = bytes(20)

    recovery = store.predict(release)

    assert ends(recovery) == (0, 7)
    assert recovery.queues[T].cut_units == 2
    assert recovery.queues[T].deleted_files == (180,)
    assert recovery.queues[T].added_units == 0


@pytest.mark.parametrize("release", list(Release))
def test_a_lost_queue_is_not_built_anew_if_others_are_there(release: Release, store: Store) -> None:
    store.send(("other", 0))
    del store.queues[T]

    recovery = store.predict(release)

    assert T not in recovery.queues


@pytest.mark.parametrize("release", list(Release))
def test_lost_queues_are_built_anew_from_where_the_release_reads(
    release: Release, store: Store
) -> None:
    store.queues.clear()

    recovery = store.predict(release)

    assert ends(recovery) == (0, 10)
    assert recovery.queues[T].added_units == 10


def test_a_queue_that_begins_late_gets_units_for_what_it_never_had() -> None:
    store = Store()
    store.send(queue_offset=4, is_queued=False)

    for release in Release:
        recovery = store.predict(release)
        assert recovery.queues[T].pre_blank_units == 1
        # 4.9.4 takes the blank unit, which points to 0, for the first one
        assert ends(recovery) == ((3, 5) if release is OLD else (4, 5))
        assert served(recovery) == [(4, 0)]


@pytest.mark.parametrize("release", list(Release))
def test_a_message_whose_number_the_queue_has_passed_is_not_put_again(release: Release) -> None:
    store = Store()
    store.send()
    store.send()
    store.send(queue_offset=1, is_queued=False)

    recovery = store.predict(release)

    assert ends(recovery) == (0, 2)
    assert served(recovery) == enumerate_from(0, store)[:2]


@pytest.mark.parametrize("release", list(Release))
def test_a_message_of_a_later_number_is_put_at_the_wrong_one(release: Release) -> None:
    store = Store()
    store.send()
    store.send(queue_offset=7, is_queued=False)

    recovery = store.predict(release, has_abort=True)

    assert served(recovery) == [(0, 0), (1, store.places[1][0])]


def test_after_an_orderly_stop_5_x_forgets_the_last_message_if_only_that_is_in_no_queue() -> None:
    """``tests/java/store/test_recovery.py`` has this as ``lose_last_unit``."""
    store = Store()
    store.send()
    store.send(is_queued=False)

    for release in FIVES:
        assert served(store.predict(release)) == [(0, 0)]
    assert served(store.predict(OLD)) == enumerate_from(0, store)


@pytest.mark.parametrize("release", list(Release))
def test_a_message_with_a_negative_number_is_put_into_no_queue(release: Release) -> None:
    store = Store()
    store.send(queue_offset=-1, is_queued=False)

    assert ends(store.predict(release)) == (0, 0)


@pytest.mark.parametrize("release", FIVES)
def test_the_first_message_behind_the_queues_is_forgotten_if_more_follow(release: Release) -> None:
    """5.x compares with ``>`` and goes on behind the last unit of any queue."""
    store = Store()
    store.send()
    store.send(("a", 0), is_queued=False)
    store.send(("b", 0), is_queued=False)

    recovery = store.predict(release)

    assert ("a", 0) not in recovery.queues
    assert served(recovery, ("b", 0)) == [(0, store.places[2][0])]
    old = store.predict(OLD)
    assert served(old, ("a", 0)) == [(0, store.places[1][0])]


@pytest.mark.parametrize("release", list(Release))
def test_prepared_messages_are_in_no_queue(release: Release) -> None:
    store = Store()
    store.send(sys_flag=4, is_queued=False)
    store.send(("committed", 0), sys_flag=8, is_queued=False)

    assert list(store.predict(release).queues) == [("committed", 0)]


@pytest.mark.parametrize("release", list(Release))
def test_a_cut_of_a_queue_with_an_empty_last_file_leaves_a_unit_without_message(
    release: Release,
) -> None:
    store = Store()
    for _ in range(3):
        store.send()
    store.send(("other", 0))
    store.queues[T][60] = bytearray(QUEUE_FILE)

    recovery = store.predict(release)

    assert ends(recovery) == (0, 4)
    assert recovery.unanswered(T) == {3}
    assert len(served(recovery)) == 3


def test_5_3_3_does_not_start_with_an_empty_last_file_that_it_does_not_cut() -> None:
    store = Store()
    for _ in range(3):
        store.send()
    store.send(("other", 0), is_queued=False)
    store.queues[T][60] = bytearray(QUEUE_FILE)

    assert "empty" in store.predict(MIDDLE).refusal
    # 5.5.0 compares the ends after it has put the last message into its queue, and cuts
    assert ends(store.predict(CURRENT)) == (0, 4)
    assert ends(store.predict(OLD)) == (0, 3)


@pytest.mark.parametrize("release", list(Release))
def test_a_queue_that_was_cut_grows_again(release: Release, store: Store) -> None:
    """After a kill messages from the checkpoint on are put again."""
    store.queues[T][180][:] = bytes(60)
    saved = checkpoint(physical_timestamp=START + 9000, queue_timestamp=START + 9000)

    recovery = store.predict(release, has_abort=True, checkpoint=saved)

    assert served(recovery) == enumerate_from(0, store)


@pytest.mark.parametrize("release", list(Release))
def test_units_that_were_added_and_then_cut_are_gone(release: Release, store: Store) -> None:
    """A unit of another queue points behind the log, so that all queues are cut to it."""
    store.queues[T][180][:] = bytes(60)
    store.put(("other", 0), 0, 5000, 100)

    recovery = store.predict(release, has_abort=True)

    assert ends(recovery, ("other", 0)) == (0, 0)
    assert served(recovery) == enumerate_from(0, store)


@pytest.mark.parametrize("release", list(Release))
def test_a_queue_with_an_empty_folder_has_no_message(release: Release, store: Store) -> None:
    store.queues["empty", 0] = {}

    assert ends(store.predict(release), ("empty", 0)) == (0, 0)


def test_an_empty_last_file_of_a_queue_that_is_not_cut_stays_empty() -> None:
    store = Store()
    for _ in range(3):
        store.send()
    store.send(sys_flag=4, is_queued=False)
    store.queues[T][60] = bytearray(QUEUE_FILE)

    assert ends(store.predict(CURRENT)) == ends(store.predict(OLD)) == (0, 3)
    assert store.predict(MIDDLE).refusal


def test_a_unit_that_points_behind_the_log_takes_with_it_what_was_added_after_it() -> None:
    store = Store()
    for number in range(3):
        store.send(queue_offset=number, is_queued=False)
    store.send(queue_offset=3, is_queued=False)
    units = [
        QueueUnit(*store.places[0], 0),
        QueueUnit(5000, 100, 0),
        QueueUnit(*store.places[1], 0),
    ]
    data = b"".join(map(encode_unit, units)).ljust(100, b"\0")
    store.queues[T] = {0: bytearray(data)}

    recovery = store.predict(CURRENT, has_abort=True, queue_file_size=100)

    # message 3 was added behind unit 2; the cut moves the end to 1, and nothing follows
    assert served(recovery) == enumerate_from(0, store)[:1]
    assert recovery.queues[T].cut_units == 3
    assert recovery.queues[T].added_units == 1


# ---------------------------------------------------------------- a start that never ends


def test_a_gap_before_messages_without_queue_holds_4_9_4_for_ever(store: Store) -> None:
    store.queues.clear()
    del store.log[400]

    recovery = store.predict(OLD)

    assert not recovery.starts
    assert "from offset 400 on" in recovery.hang


@pytest.mark.parametrize("release", list(Release))
def test_broken_messages_that_recovery_has_not_read_are_passed_over(release: Release) -> None:
    """The thread that builds queues meets them when all queues are lost."""
    store = Store()
    for _ in range(18):
        store.send()
    store.queues.clear()
    store.write(store.places[1][0] + 3, bytes([store.places[1][1] - 1]))
    store.write(store.places[4][0] + 4, b"\0")
    saved = checkpoint(
        physical_timestamp=START + 9000, queue_timestamp=START + 9000, queue_physical_offset=9000
    )

    recovery = store.predict(release, has_abort=True, checkpoint=saved)

    assert recovery.starts_from == 2000


def test_4_9_4_passes_over_broken_messages_before_the_last_three_files() -> None:
    store = Store()
    for _ in range(18):
        store.send()
    store.queues.clear()
    size = store.places[1][1]
    store.write(store.places[1][0], (size - 1).to_bytes(4, "big"))
    store.write(store.places[4][0] + 4, b"\0")

    recovery = store.predict(OLD)

    # the message with a wrong size moves the reader to no message; the file ends there for it
    offsets = [offset for _, offset in served(recovery)]
    assert offsets == [
        offset for number, (offset, _) in enumerate(store.places) if number not in {1, 2, 4, 5}
    ]


# ---------------------------------------------------------------- batches and LMQ


def batch_store() -> Store:
    store = Store()
    first = store.send(("b", 0), is_queued=False, properties={"INNER_NUM": "3", "INNER_BASE": "0"})
    store.next_offsets["b", 0] = 3
    second = store.send(("b", 0), is_queued=False)
    sizes = dict(store.places)
    units = [
        BatchUnit(first, sizes[first], 0, START, 0, 3, -1, 0),
        BatchUnit(second, sizes[second], 0, START, 3, 1, -1, 0),
    ]
    data = bytearray(b"".join(map(encode_batch_unit, units)))
    store.batches["b", 0] = {0: data}
    store.changes["batch_topics"] = frozenset({"b"})
    return store


@pytest.mark.parametrize("release", FIVES)
def test_a_queue_of_batches_counts_the_messages_of_batches(release: Release) -> None:
    store = batch_store()
    recovery = store.predict(release)

    assert ends(recovery, ("b", 0)) == (0, 4)
    assert served(recovery, ("b", 0)) == [(0, store.places[0][0]), (3, store.places[1][0])]
    assert recovery.unanswered(("b", 0)) == set()


@pytest.mark.parametrize("release", FIVES)
def test_a_lost_queue_of_batches_is_built_anew(release: Release) -> None:
    store = batch_store()
    store.batches.clear()

    recovery = store.predict(release)

    assert ends(recovery, ("b", 0)) == (0, 4)
    assert recovery.queues["b", 0].added_units == 2


@pytest.mark.parametrize("release", FIVES)
def test_a_queue_of_batches_is_cut_with_the_log(release: Release) -> None:
    store = batch_store()
    store.write(store.places[1][0] + 88, b"x")

    assert ends(store.predict(release), ("b", 0)) == (0, 3)


@pytest.mark.parametrize("release", FIVES)
def test_a_queue_of_batches_begins_behind_expired_batches(release: Release) -> None:
    store = batch_store()
    for _ in range(3):
        store.send()
    del store.log[0]

    recovery = store.predict(release)

    assert recovery.queues["b", 0].min_offset == 4
    assert served(recovery, ("b", 0)) == []


@pytest.mark.parametrize("release", FIVES)
@pytest.mark.parametrize("name", ["empty", "negative"])
def test_a_queue_of_batches_may_have_no_unit(name: str, release: Release) -> None:
    store = batch_store()
    if name == "empty":
        store.batches["b", 0] = {0: bytearray(BATCH_QUEUE_FILE)}
        store.send()
    else:
        store = Store(changes={"batch_topics": frozenset({"b"})})
        store.send(("b", 0), is_queued=False, properties={"INNER_NUM": "-1", "INNER_BASE": "0"})

    assert ends(store.predict(release), ("b", 0)) == (0, 0)


def test_a_queue_of_batches_that_is_out_of_order_is_in_doubt() -> None:
    """Java searches such a queue by halving, so what a pull returns depends on the rest of it."""
    store = batch_store()
    assert not store.predict(CURRENT).doubt

    store.batches["b", 0][0][28:36] = (5).to_bytes(8, "big")

    assert "out of order" in store.predict(CURRENT).doubt


def test_4_9_4_knows_no_queues_of_batches() -> None:
    assert ends(batch_store().predict(OLD), ("b", 0)) == (0, 2)


@pytest.mark.parametrize("release", list(Release))
def test_a_message_is_put_into_further_queues_too(release: Release) -> None:
    store = Store(changes={"dispatches_lmq": True})
    names = {"INNER_MULTI_DISPATCH": "%LMQ%a,b,c/d", "INNER_MULTI_QUEUE_OFFSET": "0,0,0"}
    store.send(("t", 3), is_queued=False, properties=names)
    store.send(("%RETRY%g", 0), is_queued=False, properties=names)
    short = {**names, "INNER_MULTI_QUEUE_OFFSET": "0"}
    store.send(("u", 0), is_queued=False, properties=short)

    recovery = store.predict(release)

    assert set(recovery.queues) == {
        ("t", 3),
        ("%LMQ%a", 0),
        ("b", 3),
        ("%RETRY%g", 0),
        ("u", 0),
    }


# ---------------------------------------------------------------- bounds and shortcuts


def test_a_prediction_that_needs_too_much_memory_is_not_exact(store: Store) -> None:
    store.queues.clear()

    assert not store.predict(CURRENT, max_units=5).is_exact
    assert not store.predict(CURRENT, queue_file_size=1 << 30).is_exact
    assert store.predict(CURRENT, max_units=10).is_exact


@pytest.mark.parametrize("release", list(Release))
def test_without_queues_only_the_cut_is_predicted(release: Release, store: Store) -> None:
    store.queues.clear()

    recovery = store.predict(release, builds_queues=False)

    assert recovery.cut == store.end
    assert recovery.queues == {}


def test_what_the_caller_has_checked_is_not_read_again(store: Store) -> None:
    offset = store.places[9][0]
    asked: list[tuple[int, int]] = []

    def read(file: int, position: int, size: int) -> bytes:
        asked.append((file, position))
        return bytes(store.log[file][position : position + size])

    end = store.end - 1200

    def checked(_file: int, _release: Release) -> tuple[int, int]:
        return end, offset

    recovery = store.predict(MIDDLE, read_log=read, checked=checked)

    assert recovery.cut == store.end
    assert asked == [(1200, end)]


def test_index_files_behind_the_checkpoint_are_deleted_after_a_kill(store: Store) -> None:
    names = {"20260101000000000": 5, "20260101000000001": 6}
    saved = checkpoint(index_timestamp=5)

    clean = store.predict(CURRENT, index_ends=names, checkpoint=saved)
    killed = store.predict(CURRENT, index_ends=names, checkpoint=saved, has_abort=True)

    assert clean.deleted_index_files == []
    assert killed.deleted_index_files == ["20260101000000001"]


@pytest.mark.parametrize("release", list(Release))
def test_a_file_that_brokers_cannot_open_refuses_the_start(release: Release, store: Store) -> None:
    lock = store.predict(release, unopened={"lock": "is a folder"})
    wheel = store.predict(release, unopened={"timerwheel": "is a folder"})

    assert lock.refusal == "lock is a folder"
    assert wheel.refusal == ("" if release is OLD else "timerwheel is a folder")


@pytest.mark.parametrize("release", list(Release))
@pytest.mark.parametrize(("length", "cut"), [(50, 1200), (100, 1300), (150, 1300)])
def test_a_file_that_becomes_shorter_meanwhile_ends_there(
    length: int, cut: int, release: Release, store: Store
) -> None:
    store.send()

    def read(file: int, position: int, size: int) -> bytes:
        end = length if file == 1200 else LOG_FILE
        return bytes(store.log[file][:end][position : position + size])

    assert store.predict(release, read_log=read).cut == cut


@pytest.mark.parametrize("release", [OLD, MIDDLE])
def test_a_host_of_ipv6_moves_the_time_of_the_first_message(release: Release) -> None:
    store = Store()
    store.send(sys_flag=0x10, born_host=Host.parse("[::1]:1"))
    saved = checkpoint(physical_timestamp=START + 3000, queue_timestamp=START + 3000)

    assert store.predict(release, has_abort=True, checkpoint=saved).starts_from == 0


@pytest.mark.parametrize("offset", ["9" * 5000, "x", ""])
def test_a_further_queue_without_a_number_as_offset_gets_no_unit(offset: str) -> None:
    store = Store(changes={"dispatches_lmq": True})
    names = {"INNER_MULTI_DISPATCH": "%LMQ%a", "INNER_MULTI_QUEUE_OFFSET": offset}
    store.log[0] = bytearray(8000)
    store.write(0, message_bytes(0, T, 0, properties=names))

    recovery = store.predict(CURRENT, log_file_size=8000)

    assert list(recovery.queues) == [T]


@pytest.mark.parametrize("release", list(Release))
def test_predictions_of_one_image_share_what_they_find_in_queues(
    release: Release, store: Store
) -> None:
    cache: dict[object, int] = {}

    first = store.predict(release, cache=cache)
    size = len(cache)
    second = store.predict(release, cache=cache)

    assert size
    assert len(cache) == size
    assert second.queues == first.queues


# ---------------------------------------------------------------- queues in RocksDB


def predict_with_rocks(store: Store, release: Release, **changes: Any) -> Recovery:
    values: dict[str, Any] = {
        "rocks": Rocks(store.places),
        "rocks_folders": ["consumequeue"],
        "queues": {},
        **changes,
    }
    return store.predict(release, **values)


@pytest.mark.parametrize("release", FIVES)
@pytest.mark.parametrize("has_abort", [False, True])
def test_queues_in_rocksdb_are_served_whole(
    release: Release, has_abort: bool, store: Store
) -> None:
    recovery = predict_with_rocks(store, release, has_abort=has_abort)

    assert recovery.cut == store.end
    assert ends(recovery) == (0, 10)
    assert served(recovery) == [(number, place[0]) for number, place in enumerate(store.places)]
    assert not recovery.doubt


def test_4_9_4_reads_no_rocksdb(store: Store) -> None:
    assert predict_with_rocks(store, OLD).queues != {}
    assert T not in predict_with_rocks(store, OLD, log=[]).queues


def test_5_3_3_makes_a_new_rocksdb_where_it_knows_none(store: Store) -> None:
    """Its queues are built from all of the log but the message at its very beginning."""
    recovery = predict_with_rocks(store, MIDDLE, rocks_folders=["consumequeue_rocksdb"])

    assert [offset for _, offset in served(recovery)] == [place[0] for place in store.places[1:]]


@pytest.mark.parametrize("release", FIVES)
def test_without_a_log_a_rocksdb_is_deleted(release: Release, store: Store) -> None:
    recovery = predict_with_rocks(store, release, log=[])

    assert recovery.deletes_queues
    assert served(recovery) == []


@pytest.mark.parametrize("release", FIVES)
def test_queues_in_rocksdb_are_cut_with_the_log(release: Release, store: Store) -> None:
    store.write(store.places[-1][0] + 8, b"\xff")

    recovery = predict_with_rocks(store, release)

    assert recovery.cut == store.places[-1][0]
    assert recovery.queues[T].max_offset < 10
    assert not recovery.doubt


def test_a_race_of_java_makes_the_prediction_doubtful() -> None:
    """The last file has messages of another queue and a broken one: Java's end is the cut."""
    store = Store()
    for queue in [T] * 9 + [("u", 0)] * 2 + [T]:
        store.send(queue)
    messages = store.places[:9] + store.places[11:]
    store.write(messages[-1][0] + 8, b"\xff")

    recovery = predict_with_rocks(store, CURRENT, rocks=Rocks(messages), has_abort=True)

    assert recovery.cut == messages[-1][0]
    assert recovery.doubt == "two threads of Java race for some units of queues"


def test_5_5_0_does_not_start_with_two_rocksdbs(store: Store) -> None:
    folders = ["consumequeue", "consumequeue_rocksdb"]

    recovery = predict_with_rocks(store, CURRENT, rocks_folders=folders)

    assert not recovery.starts


def test_a_prediction_of_too_many_units_in_rocksdb_is_not_exact(store: Store) -> None:
    recovery = predict_with_rocks(store, MIDDLE, rocks_folders=[], max_units=3)

    assert not recovery.is_exact


@pytest.mark.parametrize("release", list(Release))
def test_a_topic_with_a_comma_makes_the_prediction_doubtful(release: Release) -> None:
    store = Store()
    store.send()
    store.send((",", 0), is_queued=False)
    store.queues.clear()

    assert store.predict(release, has_abort=True).doubt == (
        "a topic has a comma, at which Java splits the path of its queue"
    )
