"""The two ways of reading a registration say the same, or refuse the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError
from rocketwire_namesrv.registrations import (
    MANY_BYTES,
    RegisteredTopics,
    read_registered_topics,
)
from tests.namesrv.talk import registration_body, topic, version

PADDING = b" " * MANY_BYTES


def read(body: bytes) -> RegisteredTopics | str:
    try:
        return read_registered_topics(body, compressed=False, version=513, wall_ms=5)
    except DecodeError:
        return "refused"


def same_both_ways(body: bytes) -> RegisteredTopics | str:
    """Blanks behind the body change its length, and nothing it says."""
    plain, light = read(body), read(body + PADDING)
    if isinstance(plain, RegisteredTopics) and isinstance(light, RegisteredTopics):
        assert list(plain.topics) == list(light.topics)
        assert list(plain.keys) == list(light.keys)
        assert plain.data_version == light.data_version
        assert plain.mappings == light.mappings
        assert plain.filter_servers == light.filter_servers
        assert all(type(number) is int for _, settings in light.topics for number in settings)
    else:
        assert plain == light
    return light


def test_an_ordinary_registration_is_read_the_same_both_ways() -> None:
    mappings = {"TA": {"bname": "b1", "currIdMap": {"0": 0}, "epoch": 1, "totalQueues": 1}}
    body = registration_body(("TA", "TB"), filter_servers=["f:1"], mappings=mappings)
    result = same_both_ways(body)

    assert isinstance(result, RegisteredTopics)
    assert [name for name, _ in result.topics] == ["TA", "TB"]
    assert list(result.topics[0][1]) == [8, 8, 6, 0]


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b"xx",
        b"{}",
        b'{"topicConfigSerializeWrapper":null}',
        b'{"topicConfigSerializeWrapper":[]}',
        b'{"topicConfigSerializeWrapper":{}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":null}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":[]}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":null}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":5}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":{}}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":{"topicName":""}}}}',
        b'{"topicConfigSerializeWrapper":{"dataVersion":5,"topicConfigTable":{}}}',
        b'{"filterServerList":[null],"topicConfigSerializeWrapper":{"topicConfigTable":{}}}',
    ],
)
def test_what_is_odd_is_odd_both_ways(body: bytes) -> None:
    same_both_ways(body)


def test_references_are_followed_both_ways() -> None:
    table = {"TA": topic("TA"), "TB": {**topic("TB"), "attributes": {"$ref": "$..TA"}}}
    result = same_both_ways(registration_body(table))

    assert isinstance(result, RegisteredTopics)
    assert [name for name, _ in result.topics] == ["TA", "TB"]


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([8, 8.0, True, False, 0, 1, -1, "8", "x", "", None, 8.5, 1 << 31, [], {}]),
    st.sampled_from(["SINGLE_TAG", "MULTI_TAG", "OTHER_TAG"]),
    st.sampled_from([{"a": "b"}, {"a": 1}, {"a": None}, {"a": {"b": [1]}}]),
)
MEMBERS = st.sampled_from(sorted(topic("T")))


@given(st.lists(st.dictionaries(MEMBERS, VALUES, max_size=3), min_size=1, max_size=4))
def test_any_topic_is_read_the_same_both_ways(changes: list[dict[str, Any]]) -> None:
    table = {f"T{index}": {**topic(f"T{index}"), **each} for index, each in enumerate(changes)}

    same_both_ways(registration_body(table))


@given(st.lists(MEMBERS, max_size=8, unique=True))
def test_any_member_may_be_missing(missing: list[str]) -> None:
    odd = {key: value for key, value in topic("TB").items() if key not in missing}

    same_both_ways(registration_body({"TA": topic("TA"), "TB": odd}))


def test_before_version_37_there_is_one_way_only() -> None:
    body = json.dumps({"dataVersion": version(9), "topicConfigTable": {"T": topic("T")}}).encode()
    result = read_registered_topics(body + PADDING, compressed=False, version=36, wall_ms=5)

    assert [name for name, _ in result.topics] == ["T"]
    assert result.filter_servers is None
