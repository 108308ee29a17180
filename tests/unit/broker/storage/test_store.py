"""All messages of a broker, and the end of its oldest ones."""

import pytest

from rocketwire_broker.storage.message import read_stored
from rocketwire_broker.storage.store import Store
from tests.support.values import require
from tests.unit.broker.storage.stores import (
    HOST,
    CountingLog,
    make_lite_message,
    make_message,
    open_store,
)


def make_store(retain_bytes: int = 1 << 20, retain_ms: int = 1000) -> Store:
    return Store(retain_bytes=retain_bytes, retain_ms=retain_ms, store_host=HOST)


@pytest.fixture(params=["memory", "log"])
def any_store(request: pytest.FixtureRequest, log: CountingLog) -> Store:
    return make_store() if request.param == "memory" else open_store(log)


def test_offsets_count_per_queue_and_positions_by_size(any_store: Store) -> None:
    store = any_store

    places = [store.put(make_message(queue_id=queue), 5) for queue in (0, 0, 1)]

    size = places[0].size
    assert [place.queue_offset for place in places] == [0, 1, 0]
    assert [place.physical_offset for place in places] == [0, size, 2 * size]
    assert store.next_physical == store.size == 3 * size
    assert (store.put_count, store.last_stored) == (3, 5)
    assert store.arrivals == {("orders", 0), ("orders", 1)}


def test_a_message_is_found_by_its_position_alone(any_store: Store) -> None:
    any_store.put(make_message(body=b"one"), 5)
    place = any_store.put(make_message(queue_id=7, body=b"two"), 5)

    assert read_stored(require(any_store.record_at(place.physical_offset))).body == b"two"
    assert any_store.record_at(place.physical_offset + 1) is None


def test_messages_of_lite_topics_are_in_light_queues_too(any_store: Store) -> None:
    store = any_store
    places = [store.put(make_lite_message(name), 5) for name in "aba"]
    store.has_lmqs = False
    places.append(store.put(make_lite_message("c"), 5))

    records = require(store.queue("%LMQ%$rooms$a", 0)).records(0, 9)
    assert records == [store.record_at(places[index].physical_offset) for index in (0, 2)]
    offsets = [(read_stored(r).properties or {})["INNER_MULTI_QUEUE_OFFSET"] for r in records]
    assert offsets == ["0", "1"]
    assert list(store.lmqs) == ["%LMQ%$rooms$a", "%LMQ%$rooms$b"]
    size = sum(place.size for place in places)
    assert store.size == size
    assert store.arrivals == {("rooms", 0), ("%LMQ%$rooms$a", 0), ("%LMQ%$rooms$b", 0)}
    store.delete_topic("%LMQ%$rooms$a")
    assert (list(store.lmqs), store.size) == (["%LMQ%$rooms$b"], size)


def test_oldest_messages_of_all_queues_are_evicted_beyond_the_bytes() -> None:
    size = make_store().put(make_message(), 0).size
    store = make_store(retain_bytes=3 * size)
    places = [store.put(make_message(queue_id=index % 2), index) for index in range(5)]

    assert store.size == 3 * size
    assert (store.min_offset("orders", 0), store.min_offset("orders", 1)) == (1, 1)
    assert store.record_at(places[1].physical_offset) is None
    assert store.first_physical == places[2].physical_offset
    assert store.earliest_store_time == 2
    assert store.evicted_count == 2


def test_a_message_that_waits_or_comes_again_is_in_no_light_queue() -> None:
    store = make_store()
    for topic in ("SCHEDULE_TOPIC_XXXX", "%RETRY%g", "%DLQ%g", "rmq_sys_wheel_timer"):
        message = make_lite_message()
        message.topic = topic
        store.put(message, 5)
        store.put(make_lite_message(topic=topic), 5) if topic[0] in "%r" else None
    store.has_lmqs = False
    store.put(make_lite_message(), 5)

    assert store.lmqs == {}


def test_the_oldest_messages_of_light_queues_go_with_those_of_their_topic() -> None:
    size = make_store().put(make_lite_message(), 0).size
    store = make_store(retain_bytes=3 * size)
    for index in range(5):
        store.put(make_lite_message("ab"[index % 2]), index)

    assert store.size == 3 * size
    assert (store.min_offset("%LMQ%$rooms$a", 0), store.max_offset("%LMQ%$rooms$a", 0)) == (1, 3)
    assert store.min_offset("%LMQ%$rooms$b", 0) == 1


def test_deleted_light_queue_begins_anew_and_its_topic_keeps_messages() -> None:
    size = make_store().put(make_lite_message(), 0).size
    store = make_store(retain_bytes=3 * size)
    store.put(make_lite_message(), 0)
    store.delete_topic("%LMQ%$rooms$a")

    assert (store.lmqs, store.size, store.max_offset("rooms", 0)) == ({}, size, 1)
    for index in range(4):
        store.put(make_lite_message(), index)
    assert (store.min_offset("%LMQ%$rooms$a", 0), store.max_offset("%LMQ%$rooms$a", 0)) == (1, 4)


def test_a_message_that_is_larger_than_the_bound_is_kept_alone() -> None:
    store = make_store(retain_bytes=10)
    store.put(make_message(), 0)
    place = store.put(make_message(body=b"large" * 100), 0)

    assert store.size == place.size
    assert store.record_at(place.physical_offset) is not None


def test_messages_go_when_they_are_too_old() -> None:
    store = make_store(retain_ms=1000)
    for time in (0, 500, 1500):
        store.put(make_message(), time)

    store.expire(1501)

    assert (store.min_offset("orders", 0), store.max_offset("orders", 0)) == (2, 3)


def test_a_deleted_topic_begins_anew(any_store: Store) -> None:
    store = any_store
    store.put(make_message(), 0)
    place = store.put(make_message("others"), 0)
    store.delete_topic("orders")

    assert store.size == place.size
    assert store.queue("orders", 0) is None
    assert store.put(make_message(), 0).queue_offset == 0


def test_messages_of_a_deleted_topic_are_passed_over_when_old_ones_go() -> None:
    store = make_store(retain_ms=1000)
    store.put(make_message("gone"), 0)
    store.put(make_message(), 100)
    store.delete_topic("gone")
    assert store.record_at(0) is None

    store.expire(1050)

    assert store.max_offset("orders", 0) - store.min_offset("orders", 0) == 1
    assert store.earliest_store_time == 100


def test_positions_are_found_after_many_messages_have_gone() -> None:
    size = make_store().put(make_message(), 0).size
    store = make_store(retain_bytes=10 * size)
    places = [store.put(make_message(queue_id=index % 3), index) for index in range(20_000)]

    assert store.record_at(places[-1].physical_offset) is not None
    assert store.record_at(places[-11].physical_offset) is None
    assert store.evicted_count == 20_000 - 10


def test_an_empty_store_has_no_first_message(any_store: Store) -> None:
    store = any_store

    assert (store.first_physical, store.earliest_store_time) == (0, -1)
    assert list(store.queues("orders")) == []
