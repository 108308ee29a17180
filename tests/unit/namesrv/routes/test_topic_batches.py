"""Topics in batches are the same topics as one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketwire_namesrv.routes.queue_layouts import QueueSettings
from rocketwire_namesrv.routes.topic_batches import MAX_JOINED, TopicBatch, TopicBatches, batches_of

FEW, MORE = QueueSettings(4, 4, 6, 0), QueueSettings(8, 8, 6, 0)
NAMES = st.lists(st.text("abcd", max_size=3), min_size=1, max_size=5)
SETTINGS = st.sampled_from([FEW, MORE])


@st.composite
def any_batch(draw: st.DrawFn) -> TopicBatch:
    names = draw(NAMES)
    if draw(st.booleans()):
        return TopicBatch(names, [draw(SETTINGS)])
    return TopicBatch(names, [draw(SETTINGS) for _ in names])


@given(st.lists(any_batch(), max_size=6), st.integers(1, 4))
def test_batches_say_what_a_dict_of_their_topics_says(added: list[TopicBatch], most: int) -> None:
    topics = TopicBatches()
    plain: dict[str, QueueSettings] = {}
    for names, settings, _ in added:
        plain |= zip(names, settings * len(names) if len(settings) == 1 else settings, strict=True)
        topics.add(TopicBatch(names[:], settings))
    applied: list[tuple[str, QueueSettings]] = []
    for batch in batches_of(topics, most):
        applied += zip(batch.names, batch.settings_of_each(), strict=True)

    assert list(topics) == list(plain.items()) == applied
    assert len(topics) == len(plain)
    assert all(topic in topics for topic in plain.items())
    assert ("no such", FEW) not in topics


def test_batches_of_the_same_settings_become_one_until_it_is_long() -> None:
    topics = TopicBatches()
    names = [f"T{number}" for number in range(2 * MAX_JOINED)]
    for name in names:
        topics.add(TopicBatch([name], [FEW]))
    topics.add(TopicBatch(["other"], [MORE]))

    assert [len(batch.names) for batch in topics.batches] == [MAX_JOINED, MAX_JOINED, 1]
    assert [name for name, _ in topics] == [*names, "other"]


def test_what_comes_one_by_one_is_cut_into_batches() -> None:
    batches = list(batches_of([("a", FEW), ("b", MORE), ("c", FEW)], 2))

    assert batches == [TopicBatch(["a", "b"], [FEW, MORE]), TopicBatch(["c"], [FEW])]
    assert list(batches_of([], 2)) == []
