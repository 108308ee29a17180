"""References come out as the values they name, and never as a value that contains itself."""

import pytest

from rocketwire.errors import DecodeError, LimitExceededError
from rocketwire.wire.json.fastjson import BareKey, JsonLimits, JsonValue, loads

A: dict[str, JsonValue] = {"x": [1, 2]}


@pytest.mark.parametrize(
    "text",
    [
        '{"t":{"a":{"x":[1,2]},"b":{"$ref":"$.t.a"}}}',
        '{"t":{"b":{"$ref":"$.t.a"},"a":{"x":[1,2]}}}',
        '{"t":{"a":{"x":[1,2]},"b":{"$ref":"$[\'t\'].a"}}}',
        '{"t":{"a":{"x":[1,2]},"b":{"$ref":"$[\\"t\\"].a"}}}',
        '{"t":{"a":{"$ref":"$.t.b"},"b":{"x":[1,2]}}}',
    ],
)
def test_a_reference_is_the_value_it_names(text: str) -> None:
    # 5.5.0 and 5.3.3 read ClusterInfo with such references
    assert loads(text.encode()) == {"t": {"a": A, "b": A}}


def test_references_to_elements_and_from_elements() -> None:
    text = b'{"a":[{"x":[1,2]}],"b":[{"$ref":"$.a[0]"},{"$ref":"$.a[0].x"},{"$ref":"$.b[1]"}]}'
    assert loads(text) == {"a": [A], "b": [A, [1, 2], [1, 2]]}


def test_a_point_in_a_name_is_escaped() -> None:
    # fastjson 1 writes $.t.x\.y for the member "x.y"
    text = rb'{"t":{"x.y":{"x":[1,2]}},"b":{"$ref":"$.t.x\\.y"}}'
    assert loads(text) == {"t": {"x.y": A}, "b": A}


def test_an_index_of_a_map_is_an_integer_key() -> None:
    assert loads(b'{"t":{0:{"x":[1,2]}},"b":{"$ref":"$.t[0]"}}') == {"t": {"0": A}, "b": A}


@pytest.mark.parametrize(
    "path", ["$.nope", "$x", "$.a[9]", "$.a.x", "$.c.d", "$.a[0].x.y", "$[[", "@.a[", "$.a.null"]
)
def test_a_path_that_leads_nowhere_gives_none(path: str) -> None:
    text = f'{{"a":[1],"c":5,"b":{{"$ref":"{path}"}}}}'
    assert loads(text.encode()) == {"a": [1], "c": 5, "b": None}


def test_a_map_without_object_keys_has_none_to_name() -> None:
    assert loads(b'{"a":{"x":1},"b":{"$ref":"$.a.null"}}') == {"a": {"x": 1}, "b": None}


@pytest.mark.parametrize("path", ["$", "@", "..", "$.t", "$.t.b", "$.t.c.d"])
def test_a_value_cannot_contain_itself(path: str) -> None:
    # 5.5.0 gives up at 2048 levels, 5.3.3 for the wrong class
    with pytest.raises(DecodeError):
        loads(b'{"t":{"b":{"c":{"$ref":"%b"}},"c":{"d":{"$ref":"$.t"}}}}' % path.encode())


def test_references_that_name_each_other_are_refused() -> None:
    with pytest.raises(LimitExceededError):
        loads(b'{"a":{"$ref":"$.b"},"b":{"$ref":"$.a"}}')


@pytest.mark.parametrize(
    "text",
    [
        *(b'{"$ref":"x"}', b'{"a":{"$ref":""}}', b'{"a":{"$ref":1}}'),
        *(b'{"a":{"b":1,"$ref":"$.a"}}', b'{"a":{"$ref":"$.a","b":1}}', b'{"a":"$ref"}'),
        b'["$ref"]',
    ],
)
def test_other_members_of_that_name_are_ordinary(text: bytes) -> None:
    assert b"$ref" in text
    value = loads(text)
    assert "$ref" in str(value)


def test_a_document_that_is_a_text_has_no_references() -> None:
    assert loads(b'"$ref"') == "$ref"


def test_a_reference_in_key_position_is_the_first_object_key_there() -> None:
    # what 5.3.3 writes for two maps that share a MessageQueue as key, and reads
    text = (
        b'{"mqPopTable":{{"brokerName":"b","queueId":0,"topic":"T"}:{"droped":false},'
        b'{"brokerName":"b","queueId":1,"topic":"T"}:{}},"mqTable":{"k":1,'
        b'{"$ref":"$.mqPopTable.null"}:{"cachedMsgCount":1},{"$ref":"$.nope.null"}:2}}'
    )
    value = loads(text)
    assert isinstance(value, dict)
    table = value["mqTable"]
    assert isinstance(table, dict)
    key = '{"brokerName":"b","queueId":0,"topic":"T"}'
    assert {"k": 1, key: {"cachedMsgCount": 1}, "null": 2} == table
    assert [isinstance(name, BareKey) for name in table] == [False, True, True]


def test_a_value_can_name_an_object_in_key_position() -> None:
    text = b'{"t":{{"$ref":"$.x.null","n":1}:1,{"a":1}:2},"b":{"$ref":"$.t.null"}}'
    value = loads(text)
    assert isinstance(value, dict)
    assert value["b"] == {"a": 1}


def test_a_key_that_only_looks_like_a_reference_stays() -> None:
    text = b'{"t":{{"$ref":"x"}:1},"b":{"$ref":"$.t"}}'
    assert loads(text) == {"t": {'{"$ref":"x"}': 1}, "b": {'{"$ref":"x"}': 1}}


def test_a_small_text_cannot_stand_for_a_large_document() -> None:
    members = [
        b'"a%d":[{"$ref":"$.a%d"},{"$ref":"$.a%d"}]' % (n, n - 1, n - 1) for n in range(1, 60)
    ]
    with pytest.raises(LimitExceededError) as caught:
        loads(b'{"a0":[1,1],%b}' % b",".join(members))
    assert caught.value.declared > caught.value.limit


def test_references_cannot_make_a_document_deeper_than_allowed() -> None:
    text = b'{"a":[[1]],"b":[{"$ref":"$.a"}]}'
    loads(text, limits=JsonLimits(max_depth=4))
    with pytest.raises(LimitExceededError):
        loads(text, limits=JsonLimits(max_depth=3))


def test_a_chain_of_references_is_bounded() -> None:
    members = [b'"a%d":{"$ref":"$.a%d"}' % (n, n + 1) for n in range(1200)]
    with pytest.raises(LimitExceededError):
        loads(b'{%b,"a1200":{"$ref":"$.%b"}}' % (b",".join(members), b"x" * 600))
