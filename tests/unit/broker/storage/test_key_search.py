"""A search for a key: complete up to a number of messages and bytes, newest first beyond it."""

import pytest

from rocketwire_broker.storage.key_search import MAX_BYTES, MAX_QUEUES, MAX_SEARCHED, KeySearch
from rocketwire_broker.storage.queue import Queue
from tests.unit.broker.storage.stores import HOST, make_message


def record(body: bytes = b"body", key: str = "k") -> bytes:
    return make_message(body=body, KEYS=key).encode(0, 0, HOST, 0)


HIT, MISS = record(), record(key="x")


def fill_queue(count: int, oldest: bytes, newer: bytes) -> Queue:
    queue = Queue("orders", 0)
    for number in range(count):
        queue.append(newer if number else oldest, 0, number, 100 * number)
    return queue


def test_all_messages_are_searched_up_to_the_limit() -> None:
    counts = (MAX_SEARCHED - 30, 10, 10, 10)
    search = KeySearch([fill_queue(count, HIT, MISS) for count in counts], "k")

    assert (search.is_complete, len(search.hits)) == (True, 4)


def test_of_more_messages_the_oldest_are_not_searched() -> None:
    queue = fill_queue(MAX_SEARCHED + 1, HIT, MISS)
    search = KeySearch([queue], "k")

    assert (search.is_complete, search.hits) == (False, [])
    assert [hit.store_time for hit in KeySearch([queue], "k", 0, 9).hits] == [0]


@pytest.mark.parametrize("count", [1, 5])
def test_bytes_are_bounded(count: int) -> None:
    data = record(bytes(MAX_BYTES // 16))
    queues = [fill_queue(20, data, data) for _ in range(count)]
    search = KeySearch(queues, "k")

    assert not search.is_complete
    assert len(search.hits) == 16


def test_queues_are_bounded() -> None:
    queues = [fill_queue(1, HIT, MISS) for _ in range(MAX_QUEUES + 1)]

    assert KeySearch(queues[1:], "k").is_complete
    assert not KeySearch(queues, "k").is_complete


def test_bodies_that_have_the_key_are_bounded_too() -> None:
    trap = record(b"k" * 100, key="x")

    assert not KeySearch([fill_queue(MAX_SEARCHED, trap, trap)], "k").is_complete
