"""Records of a RocksDB: bytes of real brokers, and bytes that no broker writes."""

import pytest

from rocketwire.store.rocksdb import records as rocksdb_records
from rocketwire.store.rocksdb.records import RocksUnit

# read from stores of 5.5.0
QUEUE_KEY = bytes.fromhex("00000005 01 62696c6c73 01 00000001 01 0000000000000007")
UNIT = bytes.fromhex("000000000000cadd 0000012c 00000000002a0fcb 000001a20dd3c780")
V2_OFFSET = b"\x01\x00\x01\x02\x00\x08auditors\x01\x00\x05bills\x01\x00\x00\x00\x01"
INDEX_KEY = bytes.fromhex("000001a20e491400") + b"@bills@K@a key@7F00@" + bytes(6) + b"\xcf\x2e"


def test_the_key_of_a_unit_names_topic_queue_and_offset() -> None:
    assert rocksdb_records.decode_queue_key(QUEUE_KEY) == ("bills", 1, 7)
    assert rocksdb_records.queue_key("bills", 1, 7) == QUEUE_KEY


def test_keys_of_a_queue_stand_together_and_before_the_next_queue() -> None:
    end = rocksdb_records.key_after_queue("bills", 1)

    assert QUEUE_KEY < rocksdb_records.queue_key("bills", 1, (1 << 63) - 1) < end
    assert end < rocksdb_records.queue_key("bills", 2, 0)


@pytest.mark.parametrize(
    "key",
    [
        b"",
        QUEUE_KEY[:-1],
        QUEUE_KEY + b"\x00",
        b"\x7f\xff\xff\xff" + QUEUE_KEY[4:],
        b"\xff\xff\xff\xff" + QUEUE_KEY[4:],
        QUEUE_KEY[:4] + b"\x02" + QUEUE_KEY[5:],
        QUEUE_KEY.replace(b"bills\x01", b"bills\x02"),
        b"lastOffsetPy and more",
    ],
)
def test_other_keys_are_none_of_a_unit(key: bytes) -> None:
    assert rocksdb_records.decode_queue_key(key) is None


def test_the_value_of_a_unit_has_the_store_timestamp_too() -> None:
    unit = RocksUnit(0xCADD, 300, 0x2A0FCB, 0x1A20DD3C780)

    assert rocksdb_records.decode_rocks_unit(UNIT) == unit
    assert rocksdb_records.decode_rocks_unit(UNIT[:-1]) is None


def test_tables_are_json_without_absent_values() -> None:
    items = [
        (b"bills@auditors", b'{"offsetTable":{0:1,"1":4}}'),
        (b"broken", b"{"),
        (b"other", b'{"offsetTable":[]}'),
    ]

    assert list(rocksdb_records.decode_tables(items)) == ["bills@auditors", "other"]
    assert rocksdb_records.decode_offsets(items) == {"bills@auditors": {"0": 1, "1": 4}}


def test_the_second_form_of_the_configuration_has_all_tables_in_one_family() -> None:
    items = [
        (b"\x01\x00\x01\x01data_version", bytes(24)),
        (V2_OFFSET, bytes(7) + b"\x04"),
        (V2_OFFSET.replace(b"\x01\x00\x01", b"\x01\x00\x02", 1), bytes(7) + b"\x09"),
        (b"\x01\x00\x03\x02\x00\x05bills", b'\x01{"perm":6}'),
        (b"\x01\x00\x04\x02\x00\x08auditors", b"\x01{}"),
    ]

    assert rocksdb_records.decode_v2(items) == {
        "topics.json": {"topicConfigTable": {"bills": {"perm": 6}}},
        "subscriptionGroup.json": {"subscriptionGroupTable": {"auditors": {}}},
        "consumerOffset.json": {
            "offsetTable": {"bills@auditors": {"1": 4}},
            "pullOffsetTable": {"bills@auditors": {"1": 9}},
        },
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"\x01\x00", b""),
        (b"\x02\x00\x01\x02", b""),
        (V2_OFFSET, b"short"),
        (V2_OFFSET[:-2], bytes(8)),
        (b"\x01\x00\x01\x02\x7f\xff", bytes(8)),
        (b"\x01\x00\x01\x02\xff\xff", bytes(8)),
        (b"\x01\x00\x03\x02\x00\x05bills", b"\x02protobuf"),
        (b"\x01\x00\x03\x02\x00\x05bills", b"\x01not json"),
        (b"\x01\x00\x09\x02\x00\x05bills", b"\x01{}"),
    ],
)
def test_a_record_of_the_second_form_that_is_broken_is_left_out(key: bytes, value: bytes) -> None:
    tables = rocksdb_records.decode_v2([(key, value)])

    assert not any(table for content in tables.values() for table in content.values())


def test_pops_have_the_time_at_which_the_message_comes_back() -> None:
    time = bytes.fromhex("000001a20dd9b0ec")
    items = [
        (time + b"poppers@tasks@", b'{"groupId":"poppers","offset":6}'),
        (time[:4], b"{}"),
        (time + b"broken", b"{"),
    ]

    assert list(rocksdb_records.decode_pops(items)) == [
        (0x1A20DD9B0EC, {"groupId": "poppers", "offset": 6})
    ]


def test_entries_of_the_index_begin_with_the_hour_and_end_with_the_offset() -> None:
    by_key, by_unique_key = rocksdb_records.index_prefixes("bills", "a key")
    hour = rocksdb_records.index_hour(INDEX_KEY)

    assert hour == 0x1A20E491400
    assert hour % 3_600_000 == 0
    assert INDEX_KEY.startswith(rocksdb_records.index_start(hour, by_key))
    assert by_unique_key == b"@bills@U@a key@"
    assert rocksdb_records.index_offset(INDEX_KEY) == 0xCF2E
    assert rocksdb_records.next_hour(hour) == hour + 3_600_000
