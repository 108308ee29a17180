"""Topics in runs are the same topics as one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rocketwire_namesrv.routes.queue_layouts import QueueSettings
from rocketwire_namesrv.routes.topic_batches import MANY, Run, TopicRuns, runs_of

FEW, MORE = QueueSettings(4, 4, 6, 0), QueueSettings(8, 8, 6, 0)
NAMES = st.lists(st.text("abcd", max_size=3), min_size=1, max_size=5)
SETTINGS = st.sampled_from([FEW, MORE])


@st.composite
def some_run(draw: st.DrawFn) -> Run:
    names = draw(NAMES)
    if draw(st.booleans()):
        return Run(names, [draw(SETTINGS)])
    return Run(names, [draw(SETTINGS) for _ in names])


@given(st.lists(some_run(), max_size=6), st.integers(1, 4))
def test_runs_say_what_a_dict_of_their_topics_says(added: list[Run], most: int) -> None:
    topics = TopicRuns()
    plain: dict[str, QueueSettings] = {}
    for names, settings, _ in added:
        plain |= zip(names, settings * len(names) if len(settings) == 1 else settings, strict=True)
        topics.add(Run(names[:], settings))
    applied: list[tuple[str, QueueSettings]] = []
    for run in runs_of(topics, most):
        applied += zip(run.names, run.each(), strict=True)

    assert list(topics) == list(plain.items()) == applied
    assert len(topics) == len(plain)
    assert all(topic in topics for topic in plain.items())
    assert ("no such", FEW) not in topics


def test_runs_of_the_same_settings_become_one_until_it_is_long() -> None:
    topics = TopicRuns()
    names = [f"T{number}" for number in range(2 * MANY)]
    for name in names:
        topics.add(Run([name], [FEW]))
    topics.add(Run(["other"], [MORE]))

    assert [len(run.names) for run in topics.runs] == [MANY, MANY, 1]
    assert [name for name, _ in topics] == [*names, "other"]


def test_what_comes_one_by_one_is_cut_into_runs() -> None:
    runs = list(runs_of([("a", FEW), ("b", MORE), ("c", FEW)], 2))

    assert runs == [Run(["a", "b"], [FEW, MORE]), Run(["c"], [FEW])]
    assert list(runs_of([], 2)) == []
