"""Units of queues that real brokers wrote."""

from rocketwire.store import consume_queue as cq


def test_bytes_of_a_cut_unit_are_ignored() -> None:
    unit = cq.QueueUnit(100, 200, -3)

    assert list(cq.decode_units(cq.encode_unit(unit) + b"1234567")) == [unit]


def test_unwritten_units_and_pre_blanks_point_to_no_message() -> None:
    pre_blank = cq.QueueUnit(0, cq.PRE_BLANK_SIZE, 0)

    assert cq.QueueUnit(0, 91, 0).points_to_message
    assert not cq.QueueUnit(0, 0, 0).points_to_message
    assert not cq.QueueUnit(-1, 91, 0).points_to_message
    assert pre_blank.is_pre_blank
    assert not pre_blank.points_to_message
    assert cq.QueueUnit(5, cq.PRE_BLANK_SIZE, 0).points_to_message


def test_a_unit_of_a_batch_names_its_offsets() -> None:
    unit = cq.BatchUnit(1000, 300, 7, 1_700_000_000_000, 40, 3, -1, 0)

    data = cq.encode_batch_unit(unit)

    assert len(data) == cq.BATCH_UNIT_SIZE
    assert list(cq.decode_batch_units(data + b"rest")) == [unit]
    assert unit.points_to_message
    assert not unit._replace(message_count=0).points_to_message
    assert not unit._replace(base_offset=-1).points_to_message
    assert not unit._replace(size=0).points_to_message
    assert not unit._replace(physical_offset=-1).points_to_message


def test_a_small_tags_code_is_the_address_of_an_extension() -> None:
    assert cq.extension_offset(-(1 << 63) + 48) == 48
    assert cq.extension_offset(cq.MAX_EXTENSION_ADDRESS) is not None
    assert cq.extension_offset(-2147483648) is None
    assert cq.extension_offset(2314) is None


def test_an_extension_has_a_bit_map() -> None:
    data = bytes.fromhex("0018 0000000000000007 0000018bcfe56800 0004 01020304")

    assert cq.decode_extension(data, 0) == cq.QueueExtension(7, 1_700_000_000_000, b"\1\2\3\4")


def test_no_extension_stands_at_the_end_of_the_data_or_in_damage() -> None:
    data = bytes.fromhex("0018 0000000000000007 0000018bcfe56800 0004 01020304")

    assert cq.decode_extension(data, -1) is None
    assert cq.decode_extension(data, 5) is None
    assert cq.decode_extension(bytes(40), 0) is None
    assert cq.decode_extension(data[:-1], 0) is None
    assert cq.decode_extension(data[:18] + b"\xff\xff" + data[20:], 0) is None


def test_tags_have_javas_hash() -> None:
    assert cq.tags_code("Aa") == cq.tags_code("BB") == 2112
    assert cq.tags_code(None) == cq.tags_code("") == 0
