"""Which broker has a lite topic."""

from __future__ import annotations

from rocketwire_broker.handlers.lite.sharding import consistent_hash


def test_buckets_are_those_of_guava() -> None:
    # com.google.common.hash.Hashing.consistentHash(long, int), asked in a JVM
    numbers = (0, 1, 97, -1, 2_147_483_647, -2_147_483_648)

    assert [consistent_hash(number, 16) for number in numbers] == [0, 6, 0, 10, 9, 2]
    assert [consistent_hash(number, 5) for number in numbers] == [0, 0, 0, 2, 0, 2]
    assert [consistent_hash(number, 1) for number in numbers] == [0] * 6
