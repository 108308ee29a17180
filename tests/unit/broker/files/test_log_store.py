"""All messages of a broker in a log, and the end of its oldest files."""

import pytest

from rocketwire.errors import EncodeError
from rocketwire_broker.files import log_store
from rocketwire_broker.files.log_store import EXPIRY_MS
from rocketwire_broker.storage.message import read_stored
from rocketwire_broker.storage.store import UnwritableError
from tests.unit.broker.storage.stores import (
    HOST,
    CountingLog,
    make_lite_message,
    make_message,
    open_store,
)


def test_a_dropped_file_takes_the_messages_of_light_queues_along(log: CountingLog) -> None:
    store = open_store(log, retain_bytes=1_000)
    for _ in range(5):
        store.put(make_lite_message(body=b"x" * 500), 0)
    store.expire(0)

    assert store.min_offset("%LMQ%$rooms$a", 0) == store.min_offset("rooms", 0) > 0
    assert store.size == sum(queue.size for queue in store.queues("rooms"))


def test_a_message_that_does_not_fit_begins_the_next_file(log: CountingLog) -> None:
    store = open_store(log)
    places = [store.put(make_message(body=b"x" * 300), 0) for _ in range(3)]

    assert [place.physical_offset for place in places] == [0, places[0].size, 1_000]
    record = store.record_at(1_000)
    assert record is not None
    assert read_stored(record).commit_log_offset == 1_000


def test_eight_bytes_are_left_in_each_file(log: CountingLog) -> None:
    size = len(make_message(body=b"").encode(0, 0, HOST, 0))
    store = open_store(log)

    store.put(make_message(body=b"x" * (1_000 - 8 - size)), 0)

    assert store.next_physical == 1_000 - 8
    assert store.put(make_message(), 0).physical_offset == 1_000


def test_a_batch_is_in_one_file(log: CountingLog) -> None:
    store = open_store(log)
    store.put(make_message(body=b"x" * 500), 0)

    places = store.put_all([make_message(body=b"x" * 100) for _ in range(3)], 0)

    assert [place.physical_offset // 1_000 for place in places] == [1, 1, 1]
    assert [place.queue_offset for place in places] == [1, 2, 3]
    assert store.put_all([], 0) == []


def test_a_message_larger_than_a_file_is_refused(log: CountingLog) -> None:
    with pytest.raises(EncodeError, match="fit into no file"):
        open_store(log).put(make_message(body=b"x" * 1_000), 0)


def test_nothing_changes_if_the_log_is_full(log: CountingLog) -> None:
    store = open_store(log)
    store.put(make_message(), 0)
    log.give_up(OSError(28, "full"))

    for message in (make_message(), make_message(queue_id=1)):
        with pytest.raises(UnwritableError):
            store.put(message, 0)

    assert (store.max_offset("orders", 0), store.queue("orders", 1)) == (1, None)
    assert store.put_count == 1


def test_position_of_no_message(log: CountingLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_store, "RECENT_BYTES", 0)
    store = open_store(log)
    store.put(make_message(body=b"one"), 5)
    place = store.put(make_message(queue_id=7, body=b"two"), 5)

    assert store.record_at(place.physical_offset) is not None
    for physical in (place.physical_offset + 1, place.physical_offset + 91, -1, 5_000):
        assert store.record_at(physical) is None


def test_a_place_inside_a_body_is_no_message(log: CountingLog) -> None:
    store = open_store(log)
    inner = make_message().encode(0, 0, HOST, 0)

    store.put(make_message(body=inner), 0)

    assert store.record_at(88) is None


def test_old_files_are_dropped_every_hour_but_never_the_last(log: CountingLog) -> None:
    store = open_store(log)
    for time in (0, 0, 10, 10, 20, 20, EXPIRY_MS):
        store.put(make_message(body=b"x" * 300), time)
    store.expire(0)
    store.expire(EXPIRY_MS - 1)
    assert len(log.starts()) == 4

    store.expire(EXPIRY_MS)
    assert (log.starts(), store.first_physical) == ([2_000, 3_000], 2_000)
    assert (store.min_offset("orders", 0), store.max_offset("orders", 0)) == (4, 7)
    assert (store.evicted_count, store.earliest_store_time) == (4, 20)

    store.expire(9 * EXPIRY_MS)
    assert log.starts() == [3_000]


def test_the_first_files_are_dropped_while_the_others_hold_enough(log: CountingLog) -> None:
    store = open_store(log, retain_bytes=1_000)
    for _ in range(7):
        store.put(make_message(body=b"x" * 300), 0)

    store.expire(0)

    assert log.starts() == [2_000, 3_000]
    assert store.size == sum(queue.size for queue in store.all_queues())


def test_deleted_topic_is_noted(log: CountingLog) -> None:
    store = open_store(log)
    store.put(make_message(), 0)

    store.delete_topic("orders")

    assert (store.deleted, store.changed, store.size) == ({"orders"}, set(), 0)


def test_messages_of_the_log_are_put_into_their_queues(log: CountingLog) -> None:
    store = open_store(log)

    store.add_scanned("orders", 1, 4, 0, 91, 7)
    assert store.finish_scan() == 0

    assert (store.min_offset("orders", 1), store.max_offset("orders", 1)) == (4, 5)
    assert (store.topics, store.size) == (["orders"], 91)
