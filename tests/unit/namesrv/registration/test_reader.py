"""Both ways of reading a registration have the same result or error."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError
from rocketwire.messages.registration import (
    DataVersion,
    RegisterBrokerBody,
    TopicConfig,
    TopicConfigAndMappingSerializeWrapper,
    encode_register_broker_body,
)
from rocketwire.wire.json.fastjson import DEFAULT_LIMITS
from rocketwire_namesrv.registration import json_reader, reader
from rocketwire_namesrv.registration.parsed import BodyRecord, RegisteredTopics
from rocketwire_namesrv.registration.reader import MANY_BYTES, read_registered_topics
from rocketwire_namesrv.routes.steps import run_steps
from tests.support.fakes.sansio_server import registration_body, topic, version
from tests.support.values import require

PADDING = b" " * MANY_BYTES


def read_topics(
    body: bytes, *, version: int = 513, previous: BodyRecord | None = None, wall_ms: int = 5
) -> RegisteredTopics:
    steps = read_registered_topics(
        body, compressed=False, version=version, wall_ms=wall_ms, previous=previous
    )
    return run_steps(steps)


def read_or_refuse(body: bytes) -> RegisteredTopics | None:
    try:
        return read_topics(body)
    except DecodeError:
        return None


def assert_alike(first: RegisteredTopics | None, second: RegisteredTopics | None) -> None:
    """Both are refused or have the same content; their records of the body may differ."""
    if first is None or second is None:
        assert first is second
        return
    assert list(first.topics) == list(second.topics)
    assert set(first.keys) == set(second.keys)
    assert (first.count, first.data_version) == (second.count, second.data_version)
    assert (first.mappings, first.filter_servers) == (second.mappings, second.filter_servers)


def read_both_ways(body: bytes) -> RegisteredTopics | None:
    typed, light = read_or_refuse(body), read_or_refuse(body + PADDING)
    assert_alike(typed, light)
    if light is not None:
        assert all(type(number) is int for _, settings in light.topics for number in settings)
    return light


def test_an_ordinary_registration_is_read_the_same_both_ways() -> None:
    mappings = {"TA": {"bname": "b1", "currIdMap": {"0": 0}, "epoch": 1, "totalQueues": 1}}
    body = registration_body(("TA", "TB"), filter_servers=["f:1"], mappings=mappings)
    result = require(read_both_ways(body))

    assert [(name, *settings) for name, settings in result.topics] == [
        ("TA", 8, 8, 6, 0),
        ("TB", 8, 8, 6, 0),
    ]


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
        b'{"topicConfigSerializeWrapper":{"dataVersion":{},"topicConfigTable":{ }}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":null}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":5}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":{}}}}',
        b'{"topicConfigSerializeWrapper":{"topicConfigTable":{"T":{"topicName":""}}}}',
        b'{"topicConfigSerializeWrapper":{"dataVersion":5,"topicConfigTable":{}}}',
        b'{"filterServerList":[null],"topicConfigSerializeWrapper":{"topicConfigTable":{}}}',
    ],
)
def test_unusual_bodies_are_read_the_same_both_ways(body: bytes) -> None:
    read_both_ways(body)


def test_references_are_followed_both_ways() -> None:
    table = {"TA": topic("TA"), "TB": {**topic("TB"), "attributes": {"$ref": "$..TA"}}}
    result = require(read_both_ways(registration_body(table)))

    assert [name for name, _ in result.topics] == ["TA", "TB"]


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([8, 8.0, True, False, 0, 1, -1, "8", "x", "", None, 8.5, 1 << 31, [], {}]),
    st.sampled_from(["SINGLE_TAG", "MULTI_TAG", "OTHER_TAG"]),
    st.sampled_from([{"a": "b"}, {"a": 1}, {"a": None}, {"a": {"b": [1]}}]),
)
MEMBERS = st.sampled_from(sorted(topic("T")))


@given(st.lists(st.dictionaries(MEMBERS, VALUES, max_size=3), min_size=1, max_size=4))
def test_any_topic_is_read_the_same_both_ways(changes: list[dict[str, Any]]) -> None:
    table = {f"T{index}": {**topic(f"T{index}"), **change} for index, change in enumerate(changes)}

    read_both_ways(registration_body(table))


@given(st.lists(MEMBERS, max_size=8, unique=True))
def test_any_member_may_be_missing(missing: list[str]) -> None:
    members = {key: value for key, value in topic("TB").items() if key not in missing}

    read_both_ways(registration_body({"TA": topic("TA"), "TB": members}))


def test_before_version_37_there_is_one_way_only() -> None:
    body = json.dumps({"dataVersion": version(9), "topicConfigTable": {"T": topic("T")}}).encode()
    result = read_topics(body + PADDING, version=36)

    assert [name for name, _ in result.topics] == ["T"]
    assert result.filter_servers is None


def body_of(
    topics: dict[str, int], *, counter: int = 1, mappings: dict[str, Any] | None = None
) -> bytes:
    """A body as Java writes it: members in alphabetical order, no blanks."""
    table = {name: topic(name, queues=queues) for name, queues in topics.items()}
    return json.dumps(
        {
            "filterServerList": ["f:1"],
            "topicConfigSerializeWrapper": {
                "dataVersion": version(counter),
                "mappingDataVersion": version(0),
                "topicConfigTable": table,
                "topicQueueMappingDetailMap": {},
                "topicQueueMappingInfoMap": mappings or {},
            },
        },
        separators=(",", ":"),
    ).encode()


def names(count: int) -> dict[str, int]:
    return {f"Topic-{number:05}": 8 for number in range(count)}


MANY = names(600)


def count_queues(result: RegisteredTopics) -> dict[str, int]:
    return {name: settings.read_queue_nums for name, settings in result.topics}


def pack(topics: dict[str, int], *, counter: int = 1, timestamp: int | None = 7) -> bytes:
    configs = {
        name: TopicConfig(topic_name=name, read_queue_nums=queues, write_queue_nums=queues)
        for name, queues in topics.items()
    }
    wrapper = TopicConfigAndMappingSerializeWrapper(
        data_version=DataVersion(counter=counter, timestamp=timestamp), topic_config_table=configs
    )
    body = RegisterBrokerBody(topic_config_serialize_wrapper=wrapper)
    return encode_register_broker_body(body, compressed=True)


def test_another_version_of_the_same_topics_is_another_body() -> None:
    first = read_topics(body_of(MANY))
    second = read_topics(body_of(MANY, counter=2), previous=first.record)

    assert not second.unchanged
    assert count_queues(second) == MANY
    assert second.data_version.counter == 2


BODY = body_of(MANY)
TABLE_ENDS = BODY.index(b"}}", 300) + 1


@pytest.mark.parametrize(
    "body",
    [
        BODY[:TABLE_ENDS] + b"," + BODY[TABLE_ENDS:],
        BODY[:TABLE_ENDS] + b", " + BODY[TABLE_ENDS:],
        BODY[:-1],
        BODY[:TABLE_ENDS],
        BODY.replace(b'"perm":6', b'"perm":', 1),
        BODY.replace(b'"perm":6', b'"perm":7000000000', 1),
        BODY.replace(b'"perm":6', b'"perm":8.5', 1),
        BODY.replace(b'"perm":6', b'"perm":[]', 1),
        BODY.replace(b'"perm":6', b'"perm":"6"', 1),
        BODY.replace(b'"attributes":{}', b'"attributes":{"$ref":"$"}', 1),
        BODY.replace(b'"attributes":{}', b'"attributes":{"a":"\\n"}', 1),
        BODY.replace(b'"attributes":{}', b'"attributes":{"a":{"b":{}}}', 1),
        BODY.replace(b'"topicConfigTable":', b'"topicConfigTable":{},"topicConfigTable":'),
        BODY.replace(b'"filterServerList"', b'"topicConfigTable"'),
        BODY.replace(b'"mappingDataVersion"', b'"\\u0061"'),
        BODY.replace(b'"topicConfigSerializeWrapper"', b'"x"'),
        BODY.replace(b'"Topic-00001"', b'"Topic-00000"'),
        BODY.replace(b'"Topic-00001"', b'"Topic-\xff0001"'),
        BODY.replace(b'"topicName"', b'"nameOfTopic"'),
        BODY.replace(b'"Topic-00500":', b'"Topic-00000":'),
        body_of({}) + PADDING,
    ],
)
def test_unusual_body_is_read_as_a_whole(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    light = read_or_refuse(body)
    monkeypatch.setattr(json_reader, "_TABLE_OPENS", b"nowhere")

    assert_alike(read_or_refuse(body), light)


def test_the_limits_of_json_are_those_of_the_whole_body(monkeypatch: pytest.MonkeyPatch) -> None:
    count = BODY.count(b",") + BODY.count(b"{") + BODY.count(b"[") + 1
    limits = DEFAULT_LIMITS
    for changed, in_chunks in (
        (replace(limits, max_count=count), True),
        (replace(limits, max_count=count - 1), False),
        (replace(limits, max_size=len(BODY)), True),
        (replace(limits, max_size=len(BODY) - 1), False),
    ):
        monkeypatch.setattr(json_reader, "DEFAULT_LIMITS", changed)
        assert (read_topics(BODY).record is not None) == in_chunks


TEXTS = st.text(max_size=6) | st.sampled_from(
    ["", "\n", "a\nb", "\0", "\0\0\0", "\0\0\0\1", "x" * 300, "\u00e9", "\ud800", "-", "\x0a\0\0\0"]
)
TABLES = st.dictionaries(TEXTS.map(lambda name: name.replace(" ", "")), st.integers(1, 3))


@given(TABLES, st.booleans(), st.integers(1, 400))
def test_any_names_in_chunks(topics: dict[str, int], escaped: bool, size: int) -> None:
    text = json.dumps(json.loads(body_of(topics)), separators=(",", ":"), ensure_ascii=escaped)
    body = text.encode("utf-8", "replace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_BYTES", 1 << 20)
        typed = read_topics(body)
        patch.setattr(reader, "MANY_BYTES", 1)
        patch.setattr(json_reader, "CHUNK_BYTES", size)
        light = read_topics(body)

    assert_alike(light, typed)


@pytest.mark.parametrize("members", [{"attributes": {"x": "T"}}, {"unknown": "T"}])
def test_a_name_that_occurs_elsewhere_is_not_taken_for_the_name(members: dict[str, Any]) -> None:
    document = json.loads(body_of({"T": 8}))
    table = document["topicConfigSerializeWrapper"]["topicConfigTable"]
    table["T"] |= {**members, "topicName": "U"}
    result = require(read_both_ways(json.dumps(document, separators=(",", ":")).encode()))

    assert (list(result.keys), [name for name, _ in result.topics]) == (["T"], ["U"])
