"""What fastjson takes beyond JSON; every text was given to releases 5.5.0 and 5.3.3."""

from __future__ import annotations

import math
import sys
from decimal import Decimal

import pytest

from rocketwire.errors import DecodeError
from rocketwire.wire.json.fastjson import (
    BareKey,
    Dialect,
    JsonValue,
    dumps,
    loads,
    loads_as_written,
)
from rocketwire.wire.json.limits import DEFAULT_LIMITS
from rocketwire.wire.json.writer import Real

BOTH: dict[str, JsonValue] = {
    "{'a':'x\"y'}": {"a": 'x"y'},
    " \n\t\r\f\b{}": {},
    '{"a":1}\0 \0': {"a": 1},
    '{"a":1}\x1a': {"a": 1},
    "/*c*/{}": {},
    "//c\n{}": {},
    "{}/*c*/": {},
    "{}//c": {},
    '{/***/"a":1}': {"a": 1},
    '{/*a*b/*/"a":1}': {"a": 1},
    '{"a":1,}': {"a": 1},
    "[1,]": [1],
    '["a" "b"]': ["a", "b"],
    '"a\tb\nc\0d\x01"': "a\tb\nc\0d\x01",
    r'"\x41\v\0\7\F\'\/"': "A\v\0\7\f'/",
    r'"\ud83d\ude80"': "\U0001f680",
    r'"\ud800"': "\ud800",
    "{1:2,-3:4,+5:6,3.0:7,4L:8,02:9}": {"1": 2, "-3": 4, "5": 6, "3": 7, "4": 8, "2": 9},
    "[1L,2S,3B,+4,007,5.]": [1, 2, 3, 4, 7, 5],
    "[1F,1.5D,1e3,-1.50,1.e3]": [1.0, 1.5, 1000.0, -1.5, 1000.0],
    "Set['a']": ["a"],
    "{null:1,true:2}": {"null": 1, "true": 2},
    "{{'a':1}:2}": {'{"a":1}': 2},
    '{{"a":1,}:2}': {'{"a":1}': 2},
}
"""Texts that both releases read."""

ONLY_FASTJSON2: dict[str, JsonValue] = {
    '{"a":1"b":2}': {"a": 1, "b": 2},
    '{"a":{}"b":2}': {"a": {}, "b": 2},
    r'"\ \#\&\(\)\,\.\@\[\]\_\~"': " #&(),.@[]_~",
    '{"a":.5}': {"a": 0.5},
}

ONLY_FASTJSON1: dict[str, JsonValue] = {
    "\ufeff{}": {},
    "{a:1,$b_2:2}": {"a": 1, "$b_2": 2},
    "{,'a':1,,}": {"a": 1},
    "[,1,,2,,]": [1, 2],
    "{'a':1;'b':2}": {"a": 1, "b": 2},
    "{'a':undefined}": {"a": None},
    "TreeSet[2,1]": [2, 1],
}


@pytest.mark.parametrize(
    "text",
    [
        *('\0{"a":1}', '\0"a":1}', '{\0"a":1}', '{"a"\0:1}', '{"a":\x001}', '{"a":1\0}'),
        *('{"a":1\0"b":2}', '{"a":1,\0"b":2}', "[\x001]", "[1\0]", "\0", '{"a":1}\0x'),
    ],
)
@pytest.mark.parametrize("dialect", [None, *Dialect])
def test_nul_is_no_blank_wherever_one_release_skips_it(text: str, dialect: Dialect | None) -> None:
    with pytest.raises(DecodeError):
        loads(text.encode(), dialect=dialect)


@pytest.mark.parametrize("text", [*BOTH, *ONLY_FASTJSON2, *ONLY_FASTJSON1])
def test_what_either_release_reads_is_read(text: str) -> None:
    expected = {**BOTH, **ONLY_FASTJSON2, **ONLY_FASTJSON1}[text]
    assert expected == loads(text.encode())


@pytest.mark.parametrize("text", [*BOTH, *ONLY_FASTJSON2])
def test_what_5_5_0_reads_is_read_in_its_dialect(text: str) -> None:
    expected = {**BOTH, **ONLY_FASTJSON2}[text]
    assert expected == loads(text.encode(), dialect=Dialect.FASTJSON2)


@pytest.mark.parametrize("text", [text for text in ONLY_FASTJSON1 if "Set" not in text])
def test_what_5_5_0_refuses_is_refused_in_its_dialect(text: str) -> None:
    with pytest.raises(DecodeError):
        loads(text.encode(), dialect=Dialect.FASTJSON2)


def test_numbers_that_are_none() -> None:
    value = loads(b"[NaN,Infinity,-Infinity,1e400]")
    assert isinstance(value, list)
    assert math.isnan(float(str(value[0])))
    assert [math.inf, -math.inf, math.inf] == value[1:]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b"", 0),
        (b" ", 1),
        (b"{", 1),
        (b"[1", 2),
        (b"}", 0),
        (b"{}x", 2),
        (b"{},", 2),
        (b'{"a"}', 4),
        (b'{"a"=1}', 4),
        (b"{a b:1}", 3),
        (b"{:1}", 1),
        (b"{[1]:2}", 1),
        (b'{"a":}', 5),
        (b'{"a":tru}', 5),
        (b'{"a":-}', 5),
        (b'{"a":0x10}', 9),
        (b'{"a":new Date(1)}', 5),
        (b"[x'4142']", 1),
        (b'["abc', 1),
        (b'["abc\\', 1),
        (b'["\\q"]', 1),
        (b'["\\u00zz"]', 1),
        (b'["\\x4"]', 1),
        ('["é",}'.encode(), 6),
        (b"/x/{}", 0),
        (b"{}/*", 2),
        (b'["\xff"]', 2),
        (b'["\xed\xa0\x80"]', 2),
        (b"{{{1:2}:3}:4}", 2),
        (b"{{'a':{{'b':1}:2}}:3}", 7),
    ],
)
def test_what_neither_reads_is_refused_with_its_place(text: bytes, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        loads(text)
    assert offset == caught.value.offset
    assert text[offset : offset + 16] == caught.value.excerpt[: len(text) - offset]


def test_keys_that_need_no_quotes_in_java_are_marked() -> None:
    value = loads(b"{{'a':1,'b':null}:2,null:3,'c':4,5:6}")
    assert isinstance(value, dict)
    assert [isinstance(key, BareKey) for key in value] == [True, True, False, False]
    assert dumps(value) == b'{{"a":1}:2,null:3,"c":4,"5":6}'


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("1.10", "1.10"),
        ("-1.50", "-1.50"),
        ("00.50", "0.50"),
        ("-0.0", "0.0"),
        ("0.00000001", "1E-8"),
        ("123456789.123456789123456789", "123456789.123456789123456789"),
        ("1e3", "1000.0"),
        ("1F", "1.0"),
        ("1.5D", "1.5"),
        ("1.0L", "1.0"),
        ("0.1e-7", "1.0E-8"),
        ("1.50e0", "1.50"),
        ("15e-00", "15"),
        ("1.50e1", "15.0"),
        ("4.9e-324", "4.9E-324"),
        ("1E400", "Infinity"),
    ],
)
def test_numbers_keep_the_text_that_java_gives_them(literal: str, text: str) -> None:
    value = loads_as_written(literal.encode(), limits=DEFAULT_LIMITS, dialect=Dialect.FASTJSON2)
    assert isinstance(value, Real)
    assert text == value.text


def test_numbers_are_exact_on_request() -> None:
    text = b'{"a":46944046119201890.6,"b":1e3,"c":{"$ref":"$.a"},"d":7}'
    value = loads(text, exact=True)
    assert isinstance(value, dict)
    first, second = value["a"], value["b"]
    assert isinstance(first, Real)
    assert isinstance(second, Real)
    assert (Decimal("46944046119201890.6"), None) == (first.decimal, second.decimal)
    assert (first, 7) == (value["c"], value["d"])


def test_a_real_is_written_as_it_was_read() -> None:
    text = b'{"a":{"b":1.10,"c":[1e3]}}'
    value = loads_as_written(text, limits=DEFAULT_LIMITS, dialect=None)
    assert dumps(value) == b'{"a":{"b":1.10,"c":[1000.0]}}'


def test_a_bare_number_in_the_place_of_a_name_keeps_its_digits() -> None:
    text = b'{506065006485598010.8063:1,12.0:2,7L:3,1e3:4,"x":5,}'
    expected = ["506065006485598010.8063", "12", "7", "1000", "x"]
    value = loads(text)
    assert isinstance(value, dict)
    assert expected == list(value)


@pytest.mark.parametrize(("sign", "queue"), [("", sys.float_info.max), ("-", -sys.float_info.max)])
@pytest.mark.parametrize("exact", [False, True])
def test_a_number_beyond_all_doubles_in_an_object_as_key_is_the_largest_double(
    sign: str, queue: float, exact: bool
) -> None:
    value = loads(b'{{"queueId":%b3E400,"of":[1.5]}:1}' % sign.encode(), exact=exact)
    assert isinstance(value, dict)
    key = loads(next(iter(value)).encode())
    assert key == {"queueId": queue, "of": [1.5]}


def test_an_object_as_key_may_follow_another_one_but_not_stand_in_it() -> None:
    value = loads(b'{{"a":[1]}:1,{"a":[2]}:{{"b":[3]}:4}}')
    assert value == {'{"a":[1]}': 1, '{"a":[2]}': {'{"b":[3]}': 4}}
    with pytest.raises(DecodeError, match="inside an object as key"):
        loads(b'{{{"a":[1]}:1}:1}')
