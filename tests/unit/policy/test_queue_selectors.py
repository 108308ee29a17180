"""Queues by key and by chance, as Java's selectors choose them."""

import struct

import pytest

from rocketwire.policy import queue_selectors
from rocketwire.policy.queue_selectors import Key
from tests.support.policy_vectors import decisions, queues, unlike
from tests.support.vectors import JavaVector


def key(vector: JavaVector) -> Key:
    key_type, text = vector["type"], vector["text"]
    if key_type in ("int", "long"):
        return int(text)
    if key_type == "double":
        return float(text)
    return text == "true" if key_type == "boolean" else str(text)


@pytest.mark.parametrize("vector", decisions("selectors", "hash_code"), ids=str)
def test_keys_have_the_hash_codes_that_they_have_in_java(vector: JavaVector) -> None:
    assert queue_selectors.hash_code(key(vector)) == vector["value"]


def choose(vector: JavaVector) -> int:
    every = queues(vector["queues"])
    return every.index(queue_selectors.queue_by_hash(every, key(vector)))


def test_a_key_goes_to_the_queue_that_java_sends_it_to() -> None:
    assert unlike(choose, decisions("selectors", "by_hash")) == []


@pytest.mark.parametrize("vector", decisions("selectors", "random"), ids=str)
def test_one_seed_gives_the_numbers_that_it_gives_in_java(vector: JavaVector) -> None:
    chance = queue_selectors.RandomSelector(vector["seed"])
    if "refused" in vector.line:
        with pytest.raises(ValueError, match="must be positive"):
            chance.next_int(0)
    else:
        assert [chance.next_int(bound) for bound in vector["bounds"]] == vector["value"]


def test_a_random_queue_is_one_of_them() -> None:
    every = queues([["T", "a", 0], ["T", "a", 1]])
    numbers, chance = queue_selectors.RandomSelector(5), queue_selectors.RandomSelector(5)
    assert [chance.select(every) for _ in range(20)] == [
        every[numbers.next_int(2)] for _ in range(20)
    ]


def test_a_number_beyond_64_bits_is_no_key() -> None:
    with pytest.raises(struct.error):
        queue_selectors.hash_code(1 << 63)
