"""All messages of a broker in a log, and which files are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.errors import EncodeError
from rocketwire.wire.message.host import Host
from rocketwire_broker.storage import log_store
from rocketwire_broker.storage.log_store import EXPIRY_MS, LogStore
from rocketwire_broker.storage.message import Message, read_stored
from rocketwire_broker.storage.store import UnwritableError

if TYPE_CHECKING:
    from collections.abc import Sequence

HOST = Host(b"\x7f\0\0\x01", 10911)


class LogAtHand:
    """A log in memory."""

    def __init__(self, file_size: int = 1_000) -> None:
        self.first = self.end = 0
        self.file_size = file_size
        self.files: dict[int, bytearray] = {}
        self.is_full = False

    def append(self, physical: int, data: bytes) -> None:
        if self.is_full:
            raise UnwritableError("full")
        start = physical - physical % self.file_size
        file = self.files.setdefault(start, bytearray(self.file_size))
        assert physical == self.end or physical == start
        file[physical - start : physical - start + len(data)] = data
        assert len(file) == self.file_size
        self.end = physical + len(data)

    def read(self, physical: int, size: int) -> bytes:
        start = physical - physical % self.file_size
        return bytes(self.files.get(start, b"")[physical - start :][:size])

    def remove_first(self) -> None:
        del self.files[self.first]
        self.first = min(self.files)

    def starts(self) -> Sequence[int]:
        return sorted(self.files)


def make(topic: str = "orders", queue_id: int = 0, body: bytes = b"x") -> Message:
    return Message(topic=topic, queue_id=queue_id, body=body, properties={}, born_host=HOST)


@pytest.fixture
def log() -> LogAtHand:
    return LogAtHand()


def store_of(log: LogAtHand, retain_bytes: int = 0, retain_ms: float = 1_000) -> LogStore:
    return LogStore(log, retain_bytes=retain_bytes, retain_ms=retain_ms, store_host=HOST)


def test_messages_have_offsets_in_their_queues_and_places_in_the_log(log: LogAtHand) -> None:
    store = store_of(log)

    first, second, other = (store.put(make(queue_id=queue), 5) for queue in (0, 0, 1))

    assert (first.queue_offset, second.queue_offset, other.queue_offset) == (0, 1, 0)
    assert (second.physical_offset, store.next_physical) == (first.size, 3 * first.size)
    assert (store.size, store.put_count, store.last_stored) == (3 * first.size, 3, 5)
    assert store.changed == store.arrivals == {("orders", 0), ("orders", 1)}


def of_lite_topic(lite_topic: str = "a", body: bytes = b"x") -> Message:
    message = make("rooms", body=body)
    name = f"%LMQ%$rooms${lite_topic}"
    message.properties |= {"__LITE_TOPIC": lite_topic, "INNER_MULTI_DISPATCH": name}
    return message


def test_messages_of_lite_topics_are_in_their_light_queues_too(log: LogAtHand) -> None:
    store = store_of(log)
    places = [store.put(of_lite_topic(name), 5) for name in "aba"]
    store.has_light_queues = False
    store.put(of_lite_topic("c"), 5)

    queue = store.unit_queue("%LMQ%$rooms$a", 0)
    assert queue is not None
    expected = [store.record_at(places[index].physical_offset) for index in (0, 2)]
    assert queue.records(0, 9) == expected
    assert list(store.light_queues) == ["%LMQ%$rooms$a", "%LMQ%$rooms$b"]
    assert ("%LMQ%$rooms$a", 0) in store.changed & store.arrivals
    size = store.size
    store.delete_topic("%LMQ%$rooms$a")
    assert (list(store.light_queues), store.size) == (["%LMQ%$rooms$b"], size)


def test_a_dropped_file_takes_the_messages_of_light_queues_along(log: LogAtHand) -> None:
    store = store_of(log, retain_bytes=1_000)
    for _ in range(5):
        store.put(of_lite_topic(body=b"x" * 500), 0)
    store.expire(0)

    assert store.min_offset("%LMQ%$rooms$a", 0) == store.min_offset("rooms", 0) > 0
    assert store.size == sum(queue.size for queue in store.queues("rooms"))


def test_a_message_that_does_not_fit_begins_the_next_file(log: LogAtHand) -> None:
    store = store_of(log)
    places = [store.put(make(body=b"x" * 300), 0) for _ in range(3)]

    assert [place.physical_offset for place in places] == [0, places[0].size, 1_000]
    record = store.record_at(1_000)
    assert record is not None
    assert read_stored(record).commit_log_offset == 1_000


def test_eight_bytes_are_left_in_each_file(log: LogAtHand) -> None:
    size = store_of(LogAtHand()).put(make(body=b""), 0).size
    store = store_of(log)

    store.put(make(body=b"x" * (1_000 - 8 - size)), 0)

    assert store.next_physical == 1_000 - 8
    assert store.put(make(), 0).physical_offset == 1_000


def test_a_batch_is_in_one_file(log: LogAtHand) -> None:
    store = store_of(log)
    store.put(make(body=b"x" * 500), 0)

    places = store.put_all([make(body=b"x" * 100) for _ in range(3)], 0)

    assert [place.physical_offset // 1_000 for place in places] == [1, 1, 1]
    assert [place.queue_offset for place in places] == [1, 2, 3]
    assert store.put_all([], 0) == []


def test_a_message_larger_than_a_file_is_refused(log: LogAtHand) -> None:
    with pytest.raises(EncodeError, match="fit into no file"):
        store_of(log).put(make(body=b"x" * 1_000), 0)


def test_nothing_changes_if_the_log_is_full(log: LogAtHand) -> None:
    store = store_of(log)
    store.put(make(), 0)
    log.is_full = True

    for message in (make(), make(queue_id=1)):
        with pytest.raises(UnwritableError):
            store.put(message, 0)

    assert (store.max_offset("orders", 0), store.queue("orders", 1)) == (1, None)
    assert store.put_count == 1


def test_a_message_is_found_by_its_position_alone(
    log: LogAtHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_store, "RECENT_BYTES", 0)
    store = store_of(log)
    store.put(make(body=b"one"), 5)
    place = store.put(make(queue_id=7, body=b"two"), 5)

    record = store.record_at(place.physical_offset)

    assert record is not None
    assert read_stored(record).body == b"two"
    for physical in (place.physical_offset + 1, place.physical_offset + 91, -1, 5_000):
        assert store.record_at(physical) is None


def test_a_place_inside_a_body_is_no_message(log: LogAtHand) -> None:
    store = store_of(log)
    inner = make().encode(0, 0, HOST, 0)

    store.put(make(body=inner), 0)

    assert store.record_at(88) is None


def test_old_files_are_dropped_every_hour_but_never_the_last(log: LogAtHand) -> None:
    store = store_of(log)
    for time in (0, 0, 10, 10, 20, 20, EXPIRY_MS):
        store.put(make(body=b"x" * 300), time)
    store.expire(0)
    store.expire(EXPIRY_MS - 1)
    assert len(log.files) == 4

    store.expire(EXPIRY_MS)
    assert (log.starts(), store.first_physical) == ([2_000, 3_000], 2_000)
    assert (store.min_offset("orders", 0), store.max_offset("orders", 0)) == (4, 7)
    assert (store.evicted_count, store.earliest_store_time) == (4, 20)

    store.expire(9 * EXPIRY_MS)
    assert log.starts() == [3_000]


def test_the_first_files_are_dropped_while_the_others_hold_enough(log: LogAtHand) -> None:
    store = store_of(log, retain_bytes=1_000)
    for _ in range(7):
        store.put(make(body=b"x" * 300), 0)

    store.expire(0)

    assert log.starts() == [2_000, 3_000]
    assert store.size == sum(queue.size for queue in store.all_queues())


def test_a_deleted_topic_begins_anew(log: LogAtHand) -> None:
    store = store_of(log)
    store.put(make(), 0)

    store.delete_topic("orders")

    assert (store.deleted, store.changed, store.size) == ({"orders"}, set(), 0)
    assert store.put(make(), 0).queue_offset == 0


def test_an_empty_store_has_no_earliest_time(log: LogAtHand) -> None:
    assert store_of(log).earliest_store_time == -1


def test_messages_of_the_log_are_put_into_their_queues(log: LogAtHand) -> None:
    store = store_of(log)

    store.place("orders", 1, 4, 0, 91, 7)
    assert store.finish_placing() == 0

    assert (store.min_offset("orders", 1), store.max_offset("orders", 1)) == (4, 5)
    assert (store.topics, store.size) == (["orders"], 91)
