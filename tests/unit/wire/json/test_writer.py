"""Bytes that Java wrote, written again; all expected texts were produced by the released jars."""

import math
from enum import IntEnum, StrEnum
from types import MappingProxyType

import pytest

from rocketwire.errors import EncodeError
from rocketwire.wire.json.enum_names import constant_finder
from rocketwire.wire.json.fastjson import BareKey, Dialect, dumps

ALL_KINDS = '\x7f\x85/\u2028é\x0b\x01"\\\b\t\n\f\r\U0001f680\ud800'


@pytest.mark.parametrize(
    ("dialect", "standard", "expected"),
    [
        (
            Dialect.FASTJSON2,
            False,
            '"\x7f\x85/\u2028é\\u000b\\u0001\\"\\\\\\b\\t\\n\\f\\r\U0001f680?"',
        ),
        (
            Dialect.FASTJSON2,
            True,
            '"\x7f\x85/\u2028é\\u000b\\u0001\\"\\\\\\b\\t\\n\\f\\r\U0001f680?"',
        ),
        (
            Dialect.FASTJSON1,
            False,
            '"\\u007F\\u0085/\\u2028é\\u000B\\u0001\\"\\\\\\b\\t\\n\\f\\r\U0001f680?"',
        ),
        (
            Dialect.FASTJSON1,
            True,
            '"\\u007F\\u0085\\/\\u2028\\u00E9\\u000B\\u0001\\"\\\\\\b\\t\\n\\f\\r\\uD83D\\uDE80\\uD800"',
        ),
    ],
)
def test_escapes_are_those_of_the_release(dialect: Dialect, standard: bool, expected: str) -> None:
    assert expected.encode() == dumps(ALL_KINDS, dialect=dialect, standard=standard)
    listed = dumps([{ALL_KINDS: ALL_KINDS}], dialect=dialect, standard=standard)
    assert b"[{%b:%b}]" % (expected.encode(), expected.encode()) == listed


def test_two_halves_of_a_pair_become_one_character() -> None:
    for dialect in Dialect:
        assert '["\U0001f680"]'.encode() == dumps(["\ud83d\ude80"], dialect=dialect)


@pytest.mark.parametrize(
    ("value", "expected"),
    [*((0.0, "0.0"), (-0.0, "-0.0"), (1e7, "1.0E7"), (1e-5, "1.0E-5"), (1e21, "1.0E21"))],
)
def test_doubles_are_written_as_java_prints_them(value: float, expected: str) -> None:
    assert expected.encode() == dumps(value)


def test_doubles_without_a_number_are_null_in_json() -> None:
    assert dumps({"a": math.nan, "b": [math.inf, -math.inf]}) == b'{"a":null,"b":[null,null]}'


def test_members_that_are_none_are_left_out_but_not_elements() -> None:
    assert dumps({"a": None, "b": [None], "c": {"d": None}}) == b'{"b":[null],"c":{}}'


def test_keys_without_quotes() -> None:
    queue = MappingProxyType({"brokerName": "b", "queueId": 0})

    class Key(dict[str, object]):
        def __hash__(self) -> int:  # type: ignore[override]  # it raises
            return 1

    key = Key(queue)
    assert dumps({0: "x", -1: "y", None: "z"}) == b'{0:"x",-1:"y",null:"z"}'
    assert dumps({key: 7}) == b'{{"brokerName":"b","queueId":0}:7}'
    assert dumps({BareKey('{"a":1}'): 7}) == b'{{"a":1}:7}'
    assert dumps({BareKey('{"a":1}'): 2, 0: 1}, standard=True) == b'{"0":1,"{\\"a\\":1}":2}'


def test_standard_text_has_sorted_and_quoted_keys() -> None:
    value = {10: 1, 9: 2, -1: 3}
    assert dumps(value, standard=True) == b'{"-1":3,"9":2,"10":1}'
    assert dumps(value) == b"{10:1,9:2,-1:3}"
    texts = {"\uff5e": 1, "\U0001f680": 2, "b": 3, None: 4}
    assert '{"b":3,"null":4,"\U0001f680":2,"\uff5e":1}'.encode() == dumps(texts, standard=True)


def test_standard_text_quotes_numbers_beyond_doubles() -> None:
    value = {"a": 2**53 - 1, "b": 2**53, "c": -(2**53), "d": [2**53 + 1], 2**53: True}
    expected = (
        b'{"9007199254740992":true,"a":9007199254740991,"b":"9007199254740992",'
        b'"c":"-9007199254740992","d":["9007199254740993"]}'
    )
    assert expected == dumps(value, standard=True)


def test_standard_route_data_of_5_5_0() -> None:
    expected = (
        b'{"brokerDatas":[],"filterServerTable":{},"queueDatas":[],"topicQueueMappingByBroker":'
        b'{"b":{"currIdMap":{},"dirty":false,"epoch":"9007199254740993","scope":"__global__",'
        b'"totalQueues":-1}}}'
    )
    mapping: dict[str, object] = {
        "currIdMap": {},
        "dirty": False,
        "epoch": 9007199254740993,
        "scope": "__global__",
    }
    value: dict[str, object] = {
        "brokerDatas": [],
        "filterServerTable": {},
        "queueDatas": [],
        "topicQueueMappingByBroker": {"b": {**mapping, "totalQueues": -1}},
    }
    assert expected == dumps(value, standard=True)


def test_flat_pieces_are_the_same_as_written_one_by_one() -> None:
    class Number(IntEnum):
        ONE = 1

    class Word(StrEnum):
        A = "a"

    value: list[object] = [{"a": 1, "b": True, "c": "x"}, (1, "x", False), []]
    expected = b'[{"a":1,"b":true,"c":"x"},[1,"x",false],[]]'
    assert expected == dumps(value) == dumps(value, dialect=Dialect.FASTJSON1)
    assert (
        dumps({"a": Number.ONE, "b": Word.A, "c": True, "d": False, "e": None})
        == b'{"a":1,"b":"a","c":true,"d":false}'
    )
    assert dumps([2**65]) == b"[36893488147419103232]"


@pytest.mark.parametrize("value", [b"x", {1.5: 1}, {("a",): 1}, object(), {1, 2}])
def test_values_without_a_form_are_refused(value: object) -> None:
    with pytest.raises(EncodeError):
        dumps(value)


def test_an_object_key_is_escaped_as_the_dialect_escapes_text() -> None:
    key = BareKey('{"a":"\\u001f\\n\\\\u001f\x7f\u2028"}')
    assert dumps({key: 1}) == b'{{"a":"\\u001f\\n\\\\u001f\x7f\xe2\x80\xa8"}:1}'
    assert (
        dumps({key: 1}, dialect=Dialect.FASTJSON1)
        == b'{{"a":"\\u001F\\n\\\\u001f\\u007F\\u2028"}:1}'
    )


NAMES = ("SINGLE_TAG", "MULTI_TAG")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("MULTI_TAG", 1), ("multi_tag", 1), ("MultiTag", 1), ("m_u_l_t_i_t_a_g", 1)],
        *[("MULTI_ TAG", 1), ("MULTI-_TAG", 1), ("-MULTI TAG", 1), (" MULTI_TAG", 1)],
        *[("MULTI__TAG", None), ("MULTI  TAG", None), ("--MULTI_TAG", None), ("MULTI_TAG_", None)],
        *[("MULTI_TAG ", None), ("MULTI_TAG-", None), ("MULTI.TAG", None), ("MULTI\tTAG", None)],
        *[("MULT\u0131_TAG", None), ("MULTI\xa0TAG", None), ("", None), ("null", None)],
        *[("0", 0), ("1", 1), ("01", 1), ("+1", 1), ("-0", 0), ("0000000001", 1)],
        *[("2", None), ("-1", None), (" 1", None), ("1 ", None), ("1.0", None), ("1e0", None)],
        ("1" * 5000, None),
    ],
)
def test_a_constant_is_found_by_name_or_ordinal_as_in_java(text: str, expected: int | None) -> None:
    assert constant_finder(NAMES)(text) == expected
