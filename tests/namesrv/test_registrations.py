"""The two ways of reading a registration say the same, or refuse the same."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
from rocketwire.wire.compression import inflate
from rocketwire.wire.fastjson import DEFAULT_LIMITS
from rocketwire_namesrv import registrations
from rocketwire_namesrv.registrations import (
    MANY_BYTES,
    RegisteredTopics,
    read_registered_topics,
)
from rocketwire_namesrv.shapes import QueueSettings
from rocketwire_namesrv.steps import drained
from tests.namesrv.talk import registration_body, topic, version

if TYPE_CHECKING:
    from collections.abc import Callable

PADDING = b" " * MANY_BYTES


def understood(
    body: bytes, *, version: int = 513, former: object = None, wall_ms: int = 5
) -> RegisteredTopics:
    return drained(
        read_registered_topics(
            body, compressed=False, version=version, wall_ms=wall_ms, former=former
        )
    )


def read(body: bytes) -> RegisteredTopics | str:
    try:
        return understood(body)
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
    result = understood(body + PADDING, version=36)

    assert [name for name, _ in result.topics] == ["T"]
    assert result.filter_servers is None


# ---- in pieces


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


def named(count: int) -> dict[str, int]:
    return {f"Topic-{number:05}": 8 for number in range(count)}


MANY = named(600)


def settings(result: RegisteredTopics) -> dict[str, int]:
    return {name: each.read_queue_nums for name, each in result.topics}


def test_a_large_body_is_read_in_pieces_and_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    light = understood(body_of(MANY))
    monkeypatch.setattr(registrations, "_TABLE_OPENS", b"nowhere")
    whole = understood(body_of(MANY))

    assert light.image is not None
    assert whole.image is None
    assert list(whole.topics) == list(light.topics)
    assert list(whole.keys) == list(light.keys)
    assert (whole.data_version, whole.filter_servers) == (light.data_version, light.filter_servers)
    assert not light.only_changes


def test_of_an_unchanged_body_no_topic_is_read() -> None:
    first = understood(body_of(MANY))
    again = understood(body_of(MANY, counter=2), former=first.image)

    assert again.only_changes
    assert list(again.topics) == []
    assert again.data_version.counter == 2
    assert again.image == first.image


@pytest.mark.parametrize(
    "change",
    [
        {"Topic-00000": 4},
        {"Topic-00300": 4},
        {"Topic-00599": 4},
        {"Topic-00299": 16, "Topic-00301": 16},
        {"Topic-00600": 8},
        {"Aopic": 1},
    ],
)
def test_of_a_changed_body_what_changed_is_read_and_little_else(change: dict[str, int]) -> None:
    first = understood(body_of(MANY))
    second = understood(body_of(MANY | change, counter=2), former=first.image)

    assert second.only_changes
    assert settings(second).items() >= change.items()
    assert len(second.topics) < len(MANY) * 2 // 3
    again = understood(body_of(MANY | change, counter=3), former=second.image)
    assert list(again.topics) == []
    assert settings(understood(body_of(MANY | change))) == MANY | change


def test_topics_may_have_gone_since() -> None:
    fewer = named(300)
    first = understood(body_of(MANY))
    second = understood(body_of(fewer), former=first.image)

    assert settings(second).items() <= fewer.items()
    assert understood(body_of(fewer), former=second.image).topics == []
    assert settings(understood(body_of({"T": 1} | named(120)))) == {"T": 1} | named(120)


def test_what_follows_the_topics_may_change() -> None:
    mappings = {"TA": {"bname": "b1", "currIdMap": {"0": 0}, "epoch": 1, "totalQueues": 1}}
    first = understood(body_of(MANY))
    second = understood(body_of(MANY, mappings=mappings), former=first.image)
    third = understood(body_of(MANY | {"Topic-00300": 4}), former=second.image)

    assert list(second.mappings) == ["TA"]
    assert settings(third)["Topic-00300"] == 4
    assert third.mappings == {}


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
        BODY.replace(b'"Topic-00500":', b'"Topic-00000":'),
        body_of({}) + PADDING,
    ],
)
def test_a_body_that_is_no_ordinary_one_is_read_as_a_whole(
    body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = understood(BODY).image
    light = read(body)
    building: list[RegisteredTopics] = []
    try:
        building = [understood(body, former=former)]
    except DecodeError:
        assert light == "refused"
    monkeypatch.setattr(registrations, "_TABLE_OPENS", b"nowhere")
    whole = read(body)

    assert isinstance(whole, RegisteredTopics) == isinstance(light, RegisteredTopics)
    if isinstance(whole, RegisteredTopics) and isinstance(light, RegisteredTopics):
        assert list(whole.topics) == list(light.topics)
        assert list(whole.keys) == list(light.keys)
        for one in building:
            assert set(one.topics) <= set(whole.topics)


def test_the_limits_of_json_are_those_of_the_whole_body(monkeypatch: pytest.MonkeyPatch) -> None:
    count = BODY.count(b",") + BODY.count(b"{") + BODY.count(b"[") + 1
    limits = DEFAULT_LIMITS
    for changed, in_pieces in (
        (replace(limits, max_count=count), True),
        (replace(limits, max_count=count - 1), False),
        (replace(limits, max_size=len(BODY)), True),
        (replace(limits, max_size=len(BODY) - 1), False),
    ):
        monkeypatch.setattr(registrations, "DEFAULT_LIMITS", changed)
        assert (understood(BODY).image is not None) == in_pieces


@given(
    st.lists(st.integers(0, 599), max_size=4),
    st.lists(st.integers(0, 599), max_size=4),
    st.integers(0, 3),
)
def test_changes_are_all_that_has_to_be_applied(
    changed: list[int], gone: list[int], added: int
) -> None:
    after = {
        name: queues for number, (name, queues) in enumerate(MANY.items()) if number not in gone
    }
    after |= {f"Topic-{number:05}": 4 for number in changed}
    after |= {f"New-{number}": 2 for number in range(added)}
    image = understood(BODY).image
    second = understood(body_of(after), former=image)

    assert (MANY | settings(second)).items() >= after.items()
    assert settings(second).items() <= after.items()


# ---- packed


def packed(topics: dict[str, int], *, counter: int = 1, timestamp: int | None = 7) -> bytes:
    configs = {
        name: TopicConfig(topic_name=name, read_queue_nums=queues, write_queue_nums=queues)
        for name, queues in topics.items()
    }
    wrapper = TopicConfigAndMappingSerializeWrapper(
        data_version=DataVersion(counter=counter, timestamp=timestamp), topic_config_table=configs
    )
    body = RegisterBrokerBody(topic_config_serialize_wrapper=wrapper)
    return encode_register_broker_body(body, compressed=True)


def test_a_packed_body_is_read_the_same_light_and_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {f"{number:05}-{hash(str(number)):x}-\u00e9": 8 for number in range(2000)}
    body = packed(names)
    light = understood(body)
    monkeypatch.setattr(registrations, "MANY_BYTES", len(body) + 1)
    typed = understood(body)

    assert light.image is not None
    assert typed.image is None
    assert list(light.topics) == list(typed.topics)
    assert light.topics[5][1] == QueueSettings(8, 8, 6, 0)
    assert list(light.keys) == list(typed.keys)
    assert light.data_version == typed.data_version
    assert light.filter_servers == typed.filter_servers


def test_of_an_unchanged_packed_body_nothing_is_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    body = packed({f"{number:05}-{hash(str(number)):x}": 8 for number in range(20_000)})
    assert len(inflate(body, max_size=1 << 24)) > len(body) > 2 * 131_072
    first = understood(body)
    monkeypatch.delattr(registrations, "inflating")
    again = understood(body, former=first.image)

    assert (again.only_changes, list(again.topics)) == (True, [])
    assert again.data_version == first.data_version
    assert again.image is first.image


def test_an_image_of_another_kind_or_version_tells_nothing() -> None:
    body = packed({f"{number:05}-{hash(str(number)):x}": 8 for number in range(1000)})
    image = understood(body).image

    assert len(understood(body, version=512, former=image).topics) == 1000
    assert len(understood(BODY, former=image).topics) == 600
    assert len(understood(body, former=understood(BODY).image).topics) == 1000


def test_the_time_of_a_version_without_one_is_always_now() -> None:
    body = packed({f"{n:05}-{hash(str(n)):x}": 8 for n in range(1000)}, timestamp=None)
    first = understood(body, wall_ms=5)
    again = understood(body, wall_ms=6, former=first.image)

    assert (first.data_version.timestamp, again.data_version.timestamp) == (5, 6)


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ({"00003": 4}, 256),
        ({"00700": 4}, 256),
        ({"01999": 4}, 208),
        ({"x": 4}, 1),
        ({"00003": 4, "00700": 2}, 768),
    ],
)
def test_of_a_changed_packed_body_what_changed_is_read_and_little_else(
    change: dict[str, int], read: int
) -> None:
    names = {f"{number:05}": 8 for number in range(2000)}
    first = understood(packed(names))
    second = understood(packed(names | change, counter=2), former=first.image)

    assert second.only_changes
    assert settings(second).items() >= change.items()
    assert len(second.topics) == read
    third = understood(packed(names | change, counter=3), former=second.image)
    assert list(third.topics) == []


@pytest.mark.parametrize("make", [body_of, packed])
def test_a_table_in_too_many_pieces_is_cut_anew(make: Callable[..., bytes]) -> None:
    names = dict(MANY)
    image = understood(make(names)).image
    for number in range(200):
        names[f"new-{number:03}-{'x' * 300}"] = 8
        read = understood(make(names), former=image)
        if not read.only_changes:
            break
        image = read.image
    else:
        pytest.fail("there are ever more pieces")


def test_topics_may_have_gone_from_a_packed_body() -> None:
    names = {f"{number:05}": 8 for number in range(2000)}
    fewer = {f"{number:05}": 8 for number in range(100, 1000)}
    image = understood(packed(names)).image
    second = understood(packed(fewer), former=image)

    assert settings(second).items() <= fewer.items()
    assert settings(understood(packed(names), former=second.image)).items() <= names.items()
