"""Numbers that JSON has otherwise than the member's type; measured on fastjson2 2.0.59 (5.5.0).

Origin: the oracle's ``body_decode`` on AckMsg, BrokerStatsItem, BatchAckMsg, PopCheckPoint,
SubscriptionData, SyncStateSet and CustomizedRetryPolicy, one member at a time.
"""

import math
from typing import Any

import pytest

from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body
from rocketwire.messages.brokers import BrokerStatsItem
from rocketwire.messages.controller import SyncStateSet
from rocketwire.messages.groups import CustomizedRetryPolicy
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.messages.pop import AckMsg, BatchAckMsg, PopCheckPoint
from rocketwire.messages.route import BrokerData
from tests.unit.messages.codec.single_member_bodies import REFUSED, list_cases, read

MANY = "1" + "0" * 41


@pytest.mark.parametrize(
    ("text", "as_int", "as_long"),
    [
        *(("5F", 5, 5), ("-5D", -5, -5), ("9007199254740993F", REFUSED, 9007199254740993)),
        ("-9007199254740993D", REFUSED, -9007199254740993),
        *(("2147483647F", 2147483647, 2147483647), ("2147483648F", REFUSED, 2147483648)),
        *(("-2147483649F", -2147483648, -2147483649), ("-2147483649D", REFUSED, -2147483649)),
        *(("9223372036854775808D", REFUSED, 2**63 - 1), ("16777217.5F", 16777218, 16777218)),
        *(("16777217.5D", 16777217, 16777217), ("3e9D", REFUSED, 3_000_000_000)),
        *(("1e39F", REFUSED, 2**63 - 1), ("5L", 5, 5), (f"{MANY}", REFUSED, REFUSED)),
        *((f"{MANY}.0", REFUSED, REFUSED), (f"{MANY}.5", REFUSED, REFUSED)),
        *(("0." + "0" * 40 + "1", 0, 0), ("1." + "0" * 40, 1, 1), ("[1.5]", 1, 1)),
        *(("[-1.5]", -1, -1), ("[5F]", 5, 5), ("[1.5F]", 1, 1)),
        *(("[9007199254740993D]", 2**31 - 1, 2**31 - 1), ("[1e20]", 2**31 - 1, 2**31 - 1)),
        *(("[2147483648.5]", -(2**31), -(2**31)), ("[18446744073709551617]", 1, 1)),
        *(("[NaN]", 0, 0), ('["-5"]', -5, -5), ('["1.5"]', REFUSED, REFUSED)),
        *(('["3000000000"]', REFUSED, REFUSED), ('[""]', REFUSED, REFUSED)),
        *(('["null"]', REFUSED, REFUSED), ("[true]", REFUSED, REFUSED), ("{}", 0, REFUSED)),
        *(('{"val":5}', 5, 5), ('{"val":1.5}', 1, 1)),
        *(('{"val":3000000000}', -1294967296, -1294967296), ('{"val":"5"}', 0, REFUSED)),
        ('{"val":true}', 0, REFUSED),
    ],
)
def test_integers_are_read_from_other_values(text: str, as_int: object, as_long: object) -> None:
    assert read(AckMsg, "queue_id", text) == as_int
    assert read(AckMsg, "ack_offset", text) == as_long


@pytest.mark.parametrize("length", [20, 100, 5000])
def test_more_digits_than_python_converts_are_refused_like_fewer(length: int) -> None:
    text = f'"{"9" * length}"'
    assert read(AckMsg, "queue_id", text) is REFUSED
    assert read(AckMsg, "ack_offset", text) is REFUSED
    with pytest.raises(DecodeError):
        decode_body(BrokerData, f'{{"brokerAddrs":{{{text}:"a:1"}}}}'.encode())


@pytest.mark.parametrize(
    ("text", "as_int", "as_long", "as_byte"),
    [
        ('"1,234"', 1234, 1234, -46),
        ('"-9,999,999,999"', -1410065407, -9999999999, 1),
        ('"99,999,999,999,999,999,999"', 2**31 - 1, 2**63 - 1, -1),
        ('"-∞1"', -(2**31), -(2**63), 0),
        ('"12E-1,123"', 1, 1, 1),
        ('"12x"', 12, 12, 12),
        ('"E12"', 0, 0, 0),
        ('"x,123"', REFUSED, REFUSED, REFUSED),
        ('"1,23"', REFUSED, REFUSED, REFUSED),
        ('"123"', 123, 123, 123),
    ],
)
def test_a_text_with_separators_is_read_as_javas_number_format_does(
    text: str, as_int: object, as_long: object, as_byte: object
) -> None:
    assert read(AckMsg, "queue_id", text) == as_int
    assert read(AckMsg, "ack_offset", text) == as_long
    assert read(PopCheckPoint, "num", text) == as_byte


def test_an_integer_alone_in_an_array_is_itself_and_not_its_last_bits() -> None:
    assert read(AckMsg, "ack_offset", "[9007199254740993]") == 9007199254740993


VALUES: dict[tuple[type[Any], str], list[tuple[Any, ...]]] = {
    (BrokerStatsItem, "tps"): [
        (2.0**63, "9223372036854775808"),
        (REFUSED, "18446744073709551617", '"18446744073709551617"', '["5L"]', '["1e"]', '[""]'),
        (REFUSED, '["null"]', '["true"]', "[true]", '"F"'),
        (1e41, MANY),
        (-math.inf, f"-{'9' * 400}"),
        (5.0, "5F", '"5B"', '["5F"]', '"5L"'),
        (0.0, '"E12"'),
        (1.0, '"1e"'),
        (2.0**64, "[18446744073709551617]"),
        (1.5, "[1.5]", '"1.5F"'),
    ],
    (AckMsg, "broker_name"): [
        ("1", "1e0"),
        ("1000.0", "1e3"),
        ("5.0", "5F"),
        ("1.1", "1.1F"),
        ("1.6777217E7", "16777217D"),
        ("Infinity", "1e39F", "1e400"),
        (REFUSED, "NaN"),
        ("[null,2]", "[NaN,2]"),
        *(
            (text, text)
            for text in ("1.10", "3000000000.0", "9007199254740993.0", '{"a":1.10}', "[1,1.10]")
        ),
    ],
}


@pytest.mark.parametrize(("cls", "member", "text", "expected"), list_cases(VALUES))
def test_other_values_than_doubles_and_texts_are_read_as_by_java(
    cls: type[Any], member: str, text: str, expected: object
) -> None:
    assert read(cls, member, text) == expected


@pytest.mark.parametrize(
    ("text", "longs", "integers", "set_of_longs", "set_of_integers", "array"),
    [
        ("5", (5,), (5,), REFUSED, (5,), REFUSED),
        ("1.5", (1,), (1,), REFUSED, (1,), REFUSED),
        ('"5"', (5,), (5,), (5,), (5,), REFUSED),
        ('"1,23"', (1, 23), (1, 23), (1, 23), REFUSED, REFUSED),
        ('"1,"', (1,), (1,), (1,), REFUSED, REFUSED),
        ('",1"', REFUSED, REFUSED, REFUSED, REFUSED, REFUSED),
        ('"x"', REFUSED, REFUSED, REFUSED, REFUSED, REFUSED),
        ('{"val":5}', (5,), (5,), REFUSED, (5,), REFUSED),
        ("[1.5]", (1,), (1,), (1,), (1,), (1,)),
        ("null", None, None, None, None, None),
    ],
)
def test_other_values_than_arrays_of_numbers_are_read_as_by_java(
    text: str,
    longs: object,
    integers: object,
    set_of_longs: object,
    set_of_integers: object,
    array: object,
) -> None:
    assert read(BatchAckMsg, "ack_offset_list", text) == longs
    assert read(PopCheckPoint, "queue_offset_diff", text) == integers
    assert read(SyncStateSet, "sync_state_set", text) == set_of_longs
    assert read(SubscriptionData, "code_set", text) == set_of_integers
    assert read(CustomizedRetryPolicy, "next", text) == array
