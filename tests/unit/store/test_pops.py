"""Records of the revive log: bodies that real brokers wrote, and bodies of no broker."""

import pytest

from rocketwire.store.pops import Acks, CheckPoint, Pop, decode_acks, decode_check_point
from tests.support.values import require

POP = Pop("tasks", "poppers", 0, 1795529406790, 0)
# read from a store of 5.5.0
CHECK_POINT = (
    b'{"bm":0,"bn":"broker-a","c":"poppers","d":[0,1,2,3],"it":290000,"n":4,"pt":1795529406790,'
    b'"q":0,"reviveTime":1795529696790,"ro":0,"so":0,"sp":false,"t":"tasks"}'
)
ACK = b'{"ao":1,"bn":"broker-a","c":"poppers","pt":1795529406790,"q":0,"so":0,"t":"tasks"}'
ACKS = (
    b'{"ao":-1,"aol":[2,3],"bn":"broker-a","c":"poppers","pt":1795529406790,"q":0,"so":0,'
    b'"t":"tasks"}'
)


def test_a_check_point_names_the_messages_of_a_pop() -> None:
    assert decode_check_point(CHECK_POINT) == CheckPoint(POP, 290_000, [0, 1, 2, 3])


def test_offsets_without_steps_follow_each_other() -> None:
    body = CHECK_POINT.replace(b'"d":[0,1,2,3],', b"").replace(b'"so":0', b'"so":7')

    assert decode_check_point(body) == CheckPoint(
        POP._replace(start_offset=7), 290_000, [7, 8, 9, 10]
    )


def test_messages_that_were_acknowledged_in_memory_are_left_out() -> None:
    body = CHECK_POINT.replace(b'"bm":0', b'"bm":5')

    assert decode_check_point(body) == CheckPoint(POP, 290_000, [1, 3])


def test_acknowledgements_name_one_message_or_several() -> None:
    assert decode_acks(ACK) == Acks(POP, [1])
    assert decode_acks(ACKS) == Acks(POP, [2, 3])


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"t":1,"c":"g"}', b'{"t":"t","c":[]}'])
def test_other_bodies_are_no_records(body: bytes) -> None:
    assert decode_check_point(body) is None
    assert decode_acks(body) is None


def test_numbers_that_are_none_count_as_zero_and_steps_are_bounded() -> None:
    body = b'{"t":"t","c":"g","n":1000000000,"bm":"x","q":99999999999999999999,"d":"x"}'
    record = require(decode_check_point(body))

    assert record.pop == Pop("t", "g", 0, 0, 0)
    assert len(record.offsets) == 10_000


def test_offsets_that_no_long_of_java_has_are_left_out() -> None:
    maximum = (1 << 63) - 1
    point = decode_check_point(b'{"t":"T","c":"G","so":%d,"d":[0,1]}' % maximum)
    acks = decode_acks(b'{"t":"T","c":"G","aol":[7,%d]}' % (maximum + 1))

    assert require(point).offsets == [maximum]
    assert require(acks).offsets == [7]
