"""A packed body is read the same in chunks and by the typed classes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire.errors import DecodeError
from rocketwire.wire.layouts.fused import build_register_body
from rocketwire.wire.zlib_stream import deflate, inflate
from rocketwire_namesrv.registration import packed_reader, reader
from rocketwire_namesrv.registration.reader import read_registered_topics
from rocketwire_namesrv.routes.queue_layouts import QueueSettings
from rocketwire_namesrv.routes.steps import run_steps
from tests.support.values import require
from tests.unit.namesrv.registration.test_reader import (
    BODY,
    TABLES,
    assert_alike,
    count_queues,
    pack,
    read_or_refuse,
    read_topics,
)


def test_a_packed_body_of_an_old_broker_has_no_mappings() -> None:
    body = deflate(build_register_body(b"{}", [b"T 8 8 6 SINGLE_TAG"] * 300, b"[]"))
    for length in (1, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reader, "MANY_BYTES", length)
            result = read_topics(body, version=400)
        assert list(result.topics) == [("T", QueueSettings(8, 8, 6, 0))]
        assert not result.mappings


def many_names(count: int, suffix: str = "") -> dict[str, int]:
    return {f"{number:05}-{hash(str(number)):x}{suffix}": 8 for number in range(count)}


def test_a_record_of_another_kind_or_version_is_not_the_same_body() -> None:
    body = pack(many_names(1000))
    record = read_topics(body).record

    assert len(read_topics(body, version=512, previous=record).topics) == 1000
    assert len(read_topics(BODY, previous=record).topics) == 600
    assert len(read_topics(body, previous=read_topics(BODY).record).topics) == 1000


def test_registered_json_is_refused_with_the_label_of_packed() -> None:
    record = require(read_topics(BODY).record)
    steps = read_registered_topics(BODY, compressed=True, version=513, wall_ms=5, previous=record)
    with pytest.raises(DecodeError):
        run_steps(steps)


def test_the_time_of_a_version_without_one_is_always_now() -> None:
    body = pack(many_names(1000), timestamp=None)
    first = read_topics(body, wall_ms=5)
    second = read_topics(body, wall_ms=6, previous=first.record)

    assert (first.data_version.timestamp, second.data_version.timestamp) == (5, 6)


def test_topics_that_occur_twice_are_one() -> None:
    names = {f"{number:05}": 8 for number in range(2000)}
    twice = deflate(inflate(pack(names), max_size=1 << 20).replace(b"00001 ", b"00000 "))
    del names["00001"]

    assert count_queues(read_topics(twice)) == names


@given(TABLES, st.binary(max_size=8), st.integers(0, 400), st.integers(1, 400))
def test_any_body_in_chunks(topics: dict[str, int], damage: bytes, place: int, size: int) -> None:
    content = bytearray(inflate(pack(topics), max_size=1 << 20))
    content[place : place + len(damage)] = damage
    body = deflate(bytes(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "MANY_BYTES", 1 << 20)
        typed = read_or_refuse(body)
        patch.setattr(reader, "MANY_BYTES", 1)
        patch.setattr(packed_reader, "CHUNK_BYTES", size)
        chunks = read_or_refuse(body)

    assert_alike(chunks, typed)
