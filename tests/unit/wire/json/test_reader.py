"""Texts beyond JSON that fastjson reads; releases 5.5.0 and 5.3.3 read every text."""

import math
import sys
from decimal import Decimal

import pytest

from rocketwire.errors import DecodeError
from rocketwire.wire.json.fastjson import BareKey, JsonValue, dumps, loads, loads_as_written
from rocketwire.wire.json.limits import DEFAULT_LIMITS
from rocketwire.wire.json.writer import Real

ADDITIONS: dict[str, JsonValue] = {
    "{1:2,-3:4,0:5}": {"1": 2, "-3": 4, "0": 5},
    "{null:1}": {"null": 1},
    '{{"a":1}:2}': {'{"a":1}': 2},
    '{{"a":[1]} : 2}': {'{"a":[1]}': 2},
    "[1L,2S,3B]": [1, 2, 3],
    "[1F,1.5D,1e3,-1.50]": [1.0, 1.5, 1000.0, -1.5],
    r'"\ud83d\ude80"': "\U0001f680",
    r'"\ud800"': "\ud800",
    r'"\"\\\/\b\f\n\r\t\u00e9"': '"\\/\b\f\n\r\té',
    " \n\t\r{} \n": {},
    "{'a':'x\"y',\"b\":\"it's\"}": {"a": 'x"y', "b": "it's"},
    r"""['\'','\"',"\'\""]""": ["'", '"', "'\""],
    '{"a":1,}': {"a": 1},
    "[1, ]": [1],
}
"""Texts beyond the strict decoder."""

LENIENCIES = [
    *("/*c*/{}", "//c\n{}", "{}/*c*/", "{}//c", '{/***/"a":1}'),
    *("{a:1}", "{$b_2:2}", "{true:2}", "{1.5:2}", "{+5:6}", "{4L:8}", "{-:1}"),
    *(
        *('{"a":1,,}', '{,"a":1}', "{,}", "[,]", '{"a":1,,"b":2}', "[1,,]", "[,1]", "[1,,2]"),
        '{"a":1;"b":2}',
    ),
    *('["a" "b"]', '{"a":1"b":2}', '{"a":{}"b":2}', "[1 2]"),
    *('{"a":undefined}', 'Set["a"]', "TreeSet[2,1]", "new Date(1)", "[x'4142']"),
    *("+4", "007", "5.", ".5", "-.5", "1.e3", "0x10", "1,000", "--1", "- 1", "1e", "1e+"),
    *('"a\tb"', '"a\nb"', '"a\0b"', '"\x1f"'),
    *(
        *(r'"\x41"', r'"\v"', r'"\0"', r'"\7"', r'"\F"', "'a\"", "\"a'", "'a\n'", r'"\ "', r'"\#"'),
        r'"\u00zz"',
    ),
    *("\ufeff{}", '{"a":1}\0', '\0{"a":1}', '{"a":1}\x1a', '\f{"a":1}', '{"a"\b:1}'),
    *('{\0"a":1}', '{"a"\0:1}', '{"a":\x001}', "[\x001]", "[1\0]", "\0", '{"a":1}\0x'),
]
"""Texts that Java reads and no release of RocketMQ writes."""


@pytest.mark.parametrize("text", ADDITIONS)
def test_additions_of_fastjson_are_read(text: str) -> None:
    assert ADDITIONS[text] == loads(text.encode())


@pytest.mark.parametrize("text", LENIENCIES)
def test_leniencies_that_no_release_writes_are_rejected(text: str) -> None:
    with pytest.raises(DecodeError):
        loads(text.encode())
    with pytest.raises(DecodeError):
        loads_as_written(text.encode(), limits=DEFAULT_LIMITS)


def test_numbers_that_are_none() -> None:
    value = loads(b"[NaN,Infinity,-Infinity,1e400]")
    assert isinstance(value, list)
    assert math.isnan(float(str(value[0])))
    assert [math.inf, -math.inf, math.inf] == value[1:]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        *((b"", 0), (b" ", 1), (b"{", 1), (b"[1", 2), (b"}", 0), (b"{}x", 2), (b"{},", 2)),
        *((b'{"a"}', 4), (b'{"a"=1}', 4), (b"{a b:1}", 1), (b"{:1}", 1), (b"{[1]:2}", 1)),
        *((b'{"a":}', 5), (b'{"a":tru}', 5), (b'{"a":-}', 5), (b'{"a":0x10}', 6)),
        *((b'{"a":new Date(1)}', 5), (b"[x'4142']", 1), (b'["abc', 1), (b'["abc\\', 1)),
        *((b'["\\q"]', 1), (b'["\\u00zz"]', 1), (b'["\\x4"]', 1), ('["é",}'.encode(), 6)),
        *((b"/x/{}", 0), (b"{}/*", 2), (b'["\xff"]', 2), (b'["\xed\xa0\x80"]', 2)),
        *((b"{{{1:2}:3}:4}", 2), (b'{{"a":{{"b":[1]}:2}}:3}', 7)),
    ],
)
def test_invalid_texts_are_refused_with_their_place(text: bytes, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        loads(text)
    assert offset == caught.value.offset
    assert text[offset : offset + 16] == caught.value.excerpt[: len(text) - offset]


def test_keys_that_need_no_quotes_in_java_are_marked() -> None:
    value = loads(b'{{"a":1,"b":null}:2,null:3,"c":4,5:6}')
    assert isinstance(value, dict)
    assert [isinstance(key, BareKey) for key in value] == [True, True, False, False]
    assert dumps(value) == b'{{"a":1}:2,null:3,"c":4,"5":6}'


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        *(("1.10", "1.10"), ("-1.50", "-1.50"), ("0.50", "0.50"), ("-0.0", "0.0")),
        *(("0.00000001", "1E-8"), ("123456789.123456789123456789", "123456789.123456789123456789")),
        *(("1e3", "1000.0"), ("1F", "1.0"), ("1.5D", "1.5"), ("1.0L", "1.0"), ("0.1e-7", "1.0E-8")),
        *(("1.50e0", "1.50"), ("15e-00", "15"), ("1.50e1", "15.0"), ("4.9e-324", "4.9E-324")),
        ("1E400", "Infinity"),
    ],
)
def test_numbers_keep_the_text_that_java_gives_them(literal: str, text: str) -> None:
    value = loads_as_written(literal.encode(), limits=DEFAULT_LIMITS)
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
    value = loads_as_written(text, limits=DEFAULT_LIMITS)
    assert dumps(value) == b'{"a":{"b":1.10,"c":[1000.0]}}'


@pytest.mark.parametrize(("sign", "queue"), [("", sys.float_info.max), ("-", -sys.float_info.max)])
@pytest.mark.parametrize("exact", [False, True])
def test_a_huge_number_in_a_key_is_the_largest_double(sign: str, queue: float, exact: bool) -> None:
    value = loads(b'{{"queueId":%b3E400,"of":[1.5]}:1}' % sign.encode(), exact=exact)
    assert isinstance(value, dict)
    key = loads(next(iter(value)).encode())
    assert key == {"queueId": queue, "of": [1.5]}


def test_an_object_as_key_may_follow_another_one_but_not_stand_in_it() -> None:
    value = loads(b'{{"a":[1]}:1,{"a":[2]}:{{"b":[3]}:4}}')
    assert value == {'{"a":[1]}': 1, '{"a":[2]}': {'{"b":[3]}': 4}}
    with pytest.raises(DecodeError, match="inside an object as key"):
        loads(b'{{{"a":[1]}:1}:1}')
