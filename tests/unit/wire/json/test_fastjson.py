"""Bodies as Java writes them are read, on the fast way and on the tolerant one alike."""

import json
import math
import tracemalloc
from collections.abc import Callable
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError, EncodeError, LimitExceededError
from rocketwire.wire.json import fastjson
from rocketwire.wire.json.fastjson import (
    BareKey,
    JsonLimits,
    JsonValue,
    dumps,
    loads,
    loads_as_written,
)
from rocketwire.wire.json.limits import ANSWER_LIMITS, DEFAULT_LIMITS

# Written by RemotingSerializable.encode of release 5.5.0 (the same by 5.3.3).
CLUSTER_INFO = (
    b'{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},'
    b'"brokerName":"broker-a","cluster":"c","enableActingMaster":false}},'
    b'"clusterAddrTable":{"c":["broker-a"]}}'
)
TOPIC_STATS = (
    b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:'
    b'{"lastUpdateTimestamp":5,"maxOffset":9,"minOffset":1}},"topicPutTps":0.0}'
)
MESSAGE_QUEUE = '{"brokerName":"broker-a","queueId":0,"topic":"T"}'


def test_strict_json_is_read() -> None:
    expected: JsonValue = {"a": [1, -2.5, True, None, "é"], "b": {}}
    assert expected == loads('{"a":[1,-2.5,true,null,"é"],"b":{}}'.encode())


def test_integer_keys_without_quotes_become_text() -> None:
    addresses = {"0": "10.0.0.1:10911", "1": "10.0.0.2:10911"}
    value = loads(CLUSTER_INFO)
    assert isinstance(value, dict)
    table = value["brokerAddrTable"]
    assert isinstance(table, dict)
    broker = table["broker-a"]
    assert isinstance(broker, dict)
    assert addresses == broker["brokerAddrs"]


@pytest.mark.parametrize(
    "text",
    [
        r'{"a\"{1:":{1:2 , -5 : "{3:\\"},"x":[{0:1}]}',
        '{"a{1:":{1:2 , -5 : "{3:"},"x":[{0:1}]}',
        '{"é":{ 12345678901234567890123456789012345678901234567890 :"ü"}}',
    ],
)
def test_only_integers_in_key_position_are_quoted(text: str) -> None:
    tolerant = loads_as_written(text.encode(), limits=DEFAULT_LIMITS)
    assert tolerant == loads(text.encode())
    assert "{1:" not in str(dumps(tolerant)).replace('{1:"', "").replace("{1:\\", "")


def test_objects_in_key_position_become_their_text() -> None:
    value = loads(TOPIC_STATS)
    assert isinstance(value, dict)
    offsets = value["offsetTable"]
    assert isinstance(offsets, dict)
    assert list(offsets) == [MESSAGE_QUEUE]
    assert isinstance(next(iter(offsets)), BareKey)
    assert dumps(value) == TOPIC_STATS


def test_the_last_of_equal_keys_counts_on_both_ways() -> None:
    assert {"a": 2} == loads(b'{"a":1,"a":2}') == loads(b'{"a":1,"a":2L}')


def test_integers_stay_exact_beyond_64_bits() -> None:
    text = (
        b"[18446744073709551616,-9223372036854775809,9223372036854775807,1e20,12345678901234567.0]"
    )
    expected = [2**64, -(2**63) - 1, 2**63 - 1, 1e20, 12345678901234567.0]
    value = loads(text)
    assert isinstance(value, list)
    assert expected == value
    assert [int, int, int, float, float] == [type(item) for item in value]


def test_long_digits_inside_a_text_do_not_disturb() -> None:
    text = b'{"a":{"id":"1234567890123456789012345"},"b":[1.5]}'
    assert loads(text) == {"a": {"id": "1234567890123456789012345"}, "b": [1.5]}


def test_a_number_of_5000_digits_is_refused() -> None:
    for text in (b"[%b]" % (b"1" * 5000), b'{"a":1.%b}' % (b"1" * 5000 + b"e999")):
        with pytest.raises(LimitExceededError) as caught:
            loads_as_written(text, limits=DEFAULT_LIMITS)
        assert caught.value.limit == 512


def many(count: int) -> bytes:
    return b"{" + b",".join(b'"%d":1' % number for number in range(count)) + b"}"


HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty objects": lambda: b"{}" * (8 << 20),
    "a list of empty objects": lambda: b"[" + b"{}," * (5 << 20) + b"{}]",
    "a million members": lambda: many(1_000_001),
    "open lists": lambda: b"[" * 100_000,
    "open objects": lambda: b'{"a":' * 100_000,
    "balanced lists": lambda: b"[" * 100_000 + b"]" * 100_000,
    "too many bytes": lambda: b" " * (16_777_217),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_expensive_texts_are_refused_early(name: str) -> None:
    data = HOSTILE[name]()
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceededError) as caught:
            loads(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.declared > caught.value.limit
    assert peak < 32 << 20


@pytest.mark.parametrize(
    "piece", [b'"', b"'", b"{1:", b'{1:"', b"/*", b"//", b" ", b"\\", b"[1,'',"]
)
def test_nothing_takes_more_than_linear_time(piece: bytes) -> None:
    def seconds(size: int) -> float:
        data = piece * (size // len(piece))
        start = perf_counter()
        with pytest.raises(DecodeError):
            loads(data)
        return perf_counter() - start

    seconds(1000)
    assert seconds(1_000_000) < 10  # quadratic time would be hours


def test_the_largest_registration_is_within_the_default_limits() -> None:
    topics = 77_000
    values = topics * 10
    assert values < DEFAULT_LIMITS.max_count
    assert topics * 200 < DEFAULT_LIMITS.max_size


@pytest.mark.parametrize("text", ['{"a":0L}' + " " * 4_194_304, '{"a":[%s0L]}' % ("0," * 262_144)])
def test_limits_of_lenient_json_are_lower(text: str) -> None:
    with pytest.raises(LimitExceededError) as caught:
        loads(text.encode())
    assert caught.value.limit in (DEFAULT_LIMITS.max_odd_size, DEFAULT_LIMITS.max_odd_count)
    assert loads(text.encode(), limits=ANSWER_LIMITS)
    strict = text.replace("L", "")
    assert loads(strict.encode()) in ({"a": 0}, {"a": [0] * 262_145})


MARKS = ",{[]}:"
COMMAS = 70_000


def values_in(value: JsonValue) -> int:
    """Values of a document, and one for each container that is empty."""
    if isinstance(value, dict):
        return 1 + (sum(map(values_in, value.values())) or 1)
    if isinstance(value, list):
        return 1 + (sum(map(values_in, value)) or 1)
    return 1


TEXTS = st.text(alphabet=[*MARKS, '"', "\\", "a", "\n", "\u00e9"], max_size=8)
DOCUMENTS = st.recursive(
    TEXTS | st.integers(-9, 9) | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@pytest.mark.parametrize("at_once", [1, 2, 3, 65_536])
@given(document=DOCUMENTS)
def test_texts_within_strings_are_no_values(document: JsonValue, at_once: int) -> None:
    text = json.dumps(document).encode()
    count = values_in(document)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fastjson, "_COUNT_STEP", at_once)
        assert loads(text, limits=JsonLimits(max_count=count)) == document
        if count > 1:
            with pytest.raises(LimitExceededError):
                loads(text, limits=JsonLimits(max_count=count - 1))


@pytest.mark.parametrize("mark", [*MARKS, '\\"', "\\\\", '\\\\\\",'])
@pytest.mark.parametrize("is_strict", [True, False])
def test_a_text_of_marks_is_one_value_to_either_reader(mark: str, is_strict: bool) -> None:
    inner = (mark * COMMAS).encode()
    text = b'{"value":"%b"}' % inner if is_strict else b'{"value":"%b",null:0}' % inner
    read = loads(text, limits=JsonLimits(max_count=10))
    assert isinstance(read, dict)
    assert len(str(read["value"])) == len(json.loads(f'"{mark}"')) * COMMAS


def test_members_of_an_object_read_at_once_count_without_their_texts() -> None:
    text = b'{"a":{"b":",,,,","c":",:,"},{"d":",,"}:{}}'
    assert loads_as_written(text, limits=JsonLimits(max_count=7))
    with pytest.raises(LimitExceededError):
        loads_as_written(text, limits=JsonLimits(max_count=6))


def test_all_queues_that_fit_a_frame_are_read_of_an_answer() -> None:
    row = b'{"brokerName":"broker-%d","queueId":%d,"topic":"a-topic-of-usual-length-%d"}:%d'
    text = b"{%b}" % b",".join(row % (n % 9, n % 16, n // 16, n * 999) for n in range(160_000))
    assert DEFAULT_LIMITS.max_odd_size < len(text) <= ANSWER_LIMITS.max_size

    with pytest.raises(LimitExceededError):
        loads(text)
    read = loads(text, limits=ANSWER_LIMITS)

    assert isinstance(read, dict)
    assert len(read) == 160_000


def test_all_offsets_that_fit_a_frame_are_read_of_an_answer() -> None:
    row = b'"a-topic-%d@a-group-%d":{0:%d,1:%d,2:%d,3:%d}'
    table = b",".join(row % (n, n, n, n * 9, n * 99, n * 999) for n in range(220_000))
    text = b'{"offsetTable":{%b}}' % table
    assert len(text) <= ANSWER_LIMITS.max_size

    with pytest.raises(LimitExceededError):
        loads(text)
    read = loads(text, limits=ANSWER_LIMITS)

    assert isinstance(read, dict)
    assert isinstance(read["offsetTable"], dict)
    assert len(read["offsetTable"]) == 220_000


@pytest.mark.parametrize(
    "text", ["[[[1]]]", "[[[]]]", '{"a":{"b":{"c":1}}}', "[[{0:1}]]", "[[[1L]]]"]
)
def test_depth_is_limited_on_every_way(text: str) -> None:
    loads(text.encode(), limits=JsonLimits(max_depth=3))
    with pytest.raises(LimitExceededError) as caught:
        loads(text.encode(), limits=JsonLimits(max_depth=2))
    assert (caught.value.declared, caught.value.limit) == (3, 2)


@pytest.mark.parametrize("text", ["[1,2,3]", "[1,2,3L]", '{"a":1,"b":2,"c":3}', "{0:1,1:{null:3}}"])
def test_values_are_counted_on_every_way(text: str) -> None:
    loads(text.encode(), limits=JsonLimits(max_count=4))
    with pytest.raises(LimitExceededError) as caught:
        loads(text.encode(), limits=JsonLimits(max_count=3))
    assert caught.value.limit == 3


def test_shallow_text_is_not_measured() -> None:
    assert loads(b"[1]", limits=JsonLimits(max_depth=1)) == [1]
    assert loads(b"[{},{}]", limits=JsonLimits(max_depth=2)) == [{}, {}]


def test_size_is_limited() -> None:
    with pytest.raises(LimitExceededError) as caught:
        loads(b"[1,2]", limits=JsonLimits(max_size=4))
    assert (caught.value.declared, caught.value.limit) == (5, 4)


def test_an_object_in_key_position_that_is_too_deep_is_refused() -> None:
    deep = b"[" * 1000 + b"]" * 1000
    with pytest.raises(DecodeError):
        loads(b'{{"a":%b}:1}' % deep)


def test_too_deep_a_value_cannot_be_written() -> None:
    value: list[object] = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(EncodeError):
        dumps(value)


def test_too_long_an_integer_cannot_be_written() -> None:
    with pytest.raises(EncodeError):
        dumps([10**5000])


json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text().filter(lambda key: "$ref" not in key), inner)
    ),
    max_leaves=20,
)


@given(json_values)
def test_written_values_are_read_back(value: JsonValue) -> None:
    text = dumps(value)
    assert value == loads(text) == loads_as_written(text, limits=DEFAULT_LIMITS)


def test_no_value_of_a_text_is_a_double_without_need() -> None:
    value = loads(b'{"a":1.10,"b":1e3,"c":NaN}')
    assert isinstance(value, dict)
    assert [float, float, float] == [type(item) for item in value.values()]
    assert math.isnan(float(str(value["c"])))
