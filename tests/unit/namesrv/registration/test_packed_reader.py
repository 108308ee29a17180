"""A packed body is read the same in pieces, in changes and by the typed classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError
from rocketwire.wire.layouts.functions import RegisterParts, build_register_body
from rocketwire.wire.zlib_stream import deflate, inflate
from rocketwire_namesrv.registration import packed_reader, reader
from rocketwire_namesrv.routes.queue_layouts import QueueSettings
from tests.unit.namesrv.registration.test_reader import (
    BODY,
    MANY,
    TABLES,
    body_of,
    packed,
    read,
    settings,
    understood,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_namesrv.registration.reader import RegisteredTopics


def test_a_packed_body_of_an_old_broker_has_no_mappings() -> None:
    body = deflate(
        build_register_body(RegisterParts(b"{}", [b"T 8 8 6 SINGLE_TAG"] * 300, b"[]", None))
    )
    for length in (1, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader, "MANY_BYTES", length)
            read = understood(body, version=400)
            assert list(read.topics) == [("T", QueueSettings(8, 8, 6, 0))]
            assert not read.mappings


def test_a_packed_body_is_read_the_same_light_and_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {f"{number:05}-{hash(str(number)):x}-\u00e9": 8 for number in range(2000)}
    body = packed(names)
    light = understood(body)
    monkeypatch.setattr(reader, "MANY_BYTES", len(body) + 1)
    typed = understood(body)

    assert light.image is not None
    assert typed.image is None
    assert list(light.topics) == list(typed.topics)
    assert set(dict(light.topics).values()) == {QueueSettings(8, 8, 6, 0)}
    assert set(light.keys) == set(typed.keys)
    assert light.data_version == typed.data_version
    assert light.filter_servers == typed.filter_servers


def test_of_an_unchanged_packed_body_nothing_is_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    body = packed({f"{number:05}-{hash(str(number)):x}": 8 for number in range(20_000)})
    assert len(inflate(body, max_size=1 << 24)) > len(body) > 2 * 131_072
    first = understood(body)
    monkeypatch.delattr(packed_reader, "inflating")
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
        ({"00003": 4}, 565),
        ({"00700": 4}, 565),
        ({"01999": 4}, 305),
        ({"x": 4}, 1),
        ({"00003": 4, "00700": 2}, 1130),
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


@pytest.mark.slow
@given(TABLES, TABLES, st.integers(1, 400))
def test_any_packed_topics_are_read_the_same_in_pieces(
    before: dict[str, int], after: dict[str, int], size: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_BYTES", 1 << 20)
        typed = understood(packed(before | after, counter=2))
        patch.setattr(reader, "MANY_BYTES", 1)
        patch.setattr(packed_reader, "PIECE_BYTES", size)
        first = understood(packed(before))
        whole = understood(packed(before | after, counter=2))
        changes = understood(packed(before | after, counter=2), former=first.image)
        shrunk = understood(packed(before), former=whole.image)

    assert list(whole.topics) == list(typed.topics)
    assert set(whole.keys) == set(typed.keys)
    assert whole.count == typed.count == changes.count
    assert dict(first.topics) | dict(changes.topics) == dict(typed.topics)
    assert dict(whole.topics) | dict(first.topics) == dict(whole.topics) | dict(shrunk.topics)
    assert (changes.data_version, changes.filter_servers) == (
        typed.data_version,
        typed.filter_servers,
    )


@given(TABLES, st.binary(max_size=8), st.integers(0, 400), st.integers(1, 200))
def test_a_damaged_packed_body_is_refused_in_pieces_too(
    topics: dict[str, int], damage: bytes, at: int, size: int
) -> None:
    plain = bytearray(inflate(packed(topics), max_size=1 << 20))
    plain[at : at + len(damage)] = damage
    body = deflate(bytes(plain))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_BYTES", 1 << 20)
        typed = read(body)
        patch.setattr(reader, "MANY_BYTES", 1)
        patch.setattr(packed_reader, "PIECE_BYTES", size)
        first = understood(packed(topics))
        pieces = read(body)
        try:
            building: RegisteredTopics | str = understood(body, former=first.image)
        except DecodeError:
            building = "refused"
    if isinstance(typed, str) or isinstance(pieces, str) or isinstance(building, str):
        assert typed == pieces == building
        return

    assert list(pieces.topics) == list(typed.topics)
    assert pieces.mappings == typed.mappings == building.mappings
    assert pieces.filter_servers == typed.filter_servers == building.filter_servers
    assert set(building.topics) <= set(typed.topics)
    assert (dict(first.topics) | dict(building.topics)).items() >= set(typed.topics)


@pytest.mark.parametrize("make", [body_of, packed])
def test_a_table_in_too_many_pieces_is_cut_anew(
    make: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = dict(MANY)
    monkeypatch.setattr(reader, "MANY_BYTES", 1)
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


def test_topics_that_occur_twice_are_one() -> None:
    names = {f"{number:05}": 8 for number in range(2000)}
    twice = deflate(inflate(packed(names), max_size=1 << 20).replace(b"00001 ", b"00000 "))
    del names["00001"]

    assert settings(understood(twice)) == names
