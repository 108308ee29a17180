"""Java's order: the expected numbers were printed by a JDK 17."""

import pytest

from rocketwire_namesrv.routes.java_hashmap import (
    ORDERED_ENTRIES,
    ConcurrentHashMap,
    HashMap,
    concurrent_order,
    hash_order,
    long_hash,
    set_copy_capacity,
    string_hash,
)


def fingerprint(keys: list[str]) -> int:
    value = string_hash(",".join(keys))
    return value - (1 << 32) if value >> 31 else value


def topics(count: int) -> list[str]:
    return [f"topic-{index * 7}" for index in range(count)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("TopicTest", 2392356417),
        ("é漢", 35673),
        ("😀", 1772899),
        ("broker-a", 372697965),
        ("x" * 300, 2537196032),
    ],
)
def test_the_hash_of_a_string_is_javas(text: str, expected: int) -> None:
    assert expected == string_hash(text)


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (1, 1), (-1, 0), (1 << 40, 256), (-(1 << 63), 1 << 31)]
)
def test_the_hash_of_a_long_is_javas(value: int, expected: int) -> None:
    assert expected == long_hash(value)


def test_broker_ids_come_bucket_by_bucket() -> None:
    ids: HashMap[int, str] = HashMap()
    for number in (0, 16, 33, 1, 100, 5):
        ids[number] = ""

    assert ids.in_java_order() == [0, 16, 33, 1, 100, 5]


@pytest.mark.parametrize(
    ("count", "hash_map", "concurrent", "concurrent_256", "copied_map", "copied_set"),
    [
        (5, 314210055, 314210055, -1458714891, 159324563, 314210055),
        (11, 972986123, 972986123, -2041538735, 972986123, 972986123),
        (12, 1432956961, 1553794715, -647774381, 1553794715, 1553794715),
        (13, 507828853, 507828853, -86257849, 507828853, 507828853),
        (40, 389228688, 389228688, -947696222, 389228688, 389228688),
        (200, 1049495779, -1032724975, -350144783, 1049495779, 1049495779),
        (1000, -375105509, -274545573, -274545573, -375105509, -375105509),
    ],
)
def test_every_kind_of_table_has_its_own_order(
    count: int,
    hash_map: int,
    concurrent: int,
    concurrent_256: int,
    copied_map: int,
    copied_set: int,
) -> None:
    table: HashMap[str, None] = HashMap()
    concurrent_table: ConcurrentHashMap[None] = ConcurrentHashMap()
    table_of_256: ConcurrentHashMap[None] = ConcurrentHashMap(256)
    for name in topics(count):
        table[name] = None
        concurrent_table[name] = None
    table_of_256.insert_all((name, None) for name in topics(count))

    assert hash_map == fingerprint(table.in_java_order())
    assert concurrent == fingerprint(concurrent_table.in_java_order())
    assert concurrent_256 == fingerprint(table_of_256.in_java_order())
    assert copied_map == fingerprint(table.copy_as_java().in_java_order())
    copy = hash_order(table.in_java_order(), set_copy_capacity(count))
    assert copied_set == fingerprint(copy)


def test_a_table_that_shrank_keeps_its_buckets() -> None:
    concurrent: ConcurrentHashMap[None] = ConcurrentHashMap()
    table: HashMap[str, None] = HashMap()
    for name in topics(40):
        concurrent[name] = None
        table[name] = None
    for name in topics(40)[5:]:
        del concurrent[name]
        del table[name]

    assert concurrent.in_java_order() == concurrent_order(topics(5), capacity=64)
    assert concurrent.in_java_order() != concurrent_order(topics(5))
    assert table.in_java_order() == hash_order(topics(5), 64)


def test_an_entry_that_is_replaced_keeps_its_place() -> None:
    table: HashMap[str, int] = HashMap()
    for name in ("b", "a", "b"):
        table[name] = len(table)

    assert table.in_java_order() == ["a", "b"]
    assert table["b"] == 2


def test_a_very_large_table_is_handed_out_as_inserted() -> None:
    table: ConcurrentHashMap[None] = ConcurrentHashMap()
    names = [f"t{index}" for index in range(ORDERED_ENTRIES + 1)]
    table.insert_all((name, None) for name in names)

    assert names == table.in_java_order()
    del table["t0"]
    assert names[1:] != table.in_java_order()
