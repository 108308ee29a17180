"""Offsets as JSON: of options, and of checkpoints."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.offsets import (
    Queue,
    QueueRange,
    begins_of,
    flat,
    read_queue_values,
    routing_topic,
    with_begins,
)

A0, A1, B0 = Queue("t", "a", 0), Queue("t", "a", 1), Queue("t", "b", 0)
NAMES = st.text(alphabet="ab%|_-0", min_size=1, max_size=4)
OFFSETS = st.dictionaries(
    st.builds(Queue, NAMES, NAMES, st.integers(0, 1023)), st.integers(0, 2**63 - 1), max_size=8
)


@given(OFFSETS, OFFSETS)
def test_offsets_return_from_a_checkpoint(
    offsets: dict[Queue, int], begins: dict[Queue, int]
) -> None:
    stored = json.loads(json.dumps(with_begins(offsets, begins)))

    assert flat(stored) == offsets
    assert begins_of(stored) == begins


@pytest.mark.parametrize(
    "tree", [{"t": 1}, {"t": {"a": 1}}, {"t": {"a": {"x": 1}}}, {"t": {"a": {"0": "1"}}}]
)
def test_checkpoint_of_another_source_is_refused(tree: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="offsets of another source"):
        flat(tree)


def test_most_exact_place_counts() -> None:
    places = read_queue_values("o", '{"t": {"a": {"0": 23}, "b": -1}, "u": -2}')

    assert places.of(A0) == 23
    assert places.of(A1) is None
    assert places.of(B0) == -1
    assert places.of(Queue("u", "z", 9)) == -2
    assert places.unknown([A0, B0, Queue("u", "z", 9)]) == ""
    assert places.unknown([A1, B0]) == "topic t, broker a, queue 0"
    assert places.unknown([A0]) == "topic t, broker b"
    assert places.unknown([A0, B0]) == "topic u"
    assert places == read_queue_values("o", '{"u": -2, "t": {"b": -1, "a": {"0": 23}}}')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON like"),
        ("[]", "is not JSON like"),
        ("{}", "is not JSON like"),
        ("[" * 5000, "is not JSON like"),
        ('{"t": "23"}', "'23' is not an offset, -1 .latest. or -2 .earliest."),
        ('{"t": true}', "True is not an offset"),
        ('{"t": {"a": -3}}', "-3 is not an offset"),
        ('{"t": {"a": {"0": 9223372036854775808}}}', "9223372036854775808 is not an offset"),
        ('{"t": {"a": {"zero": 1}}}', "'zero' is not a queue id"),
        ('{"t": {"a": {"0": 1.5}}}', "1.5 is not an offset"),
    ],
)
def test_what_is_no_place_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=f"option 'startingOffsets': .*{message}"):
        read_queue_values("startingOffsets", text)


def test_range_names_its_queue() -> None:
    place = QueueRange(topic="t", broker="a", queue_id=0, begin=3, end=7)

    assert len(place) == 4
    assert str(place) == str(A0) == "topic t, broker a, queue 0"


@pytest.mark.parametrize(
    ("topic", "route"),
    [("t", "t"), ("%DLQ%g", "%DLQ%g"), ("%LMQ%$parent$child", "parent"), ("%LMQ%light", "broker")],
)
def test_light_topics_have_routes_of_others(topic: str, route: str) -> None:
    assert routing_topic(topic, "broker") == route
