"""Samples: values by labels, and their limit."""

from __future__ import annotations

from rocketwire_tools.exporter.samples import Samples

DIFF = "rocketmq_group_diff"


def test_values_of_the_same_labels_are_added() -> None:
    samples = Samples()
    samples.add(DIFF, ("c", "g", "t"), 2)
    samples.add(DIFF, ("c", "g", "t"), 3)

    assert samples.values[DIFF] == {("c", "g", "t"): 5}
    assert len(samples) == 1


def test_a_value_can_be_set_again() -> None:
    samples = Samples()
    samples.set(DIFF, ("c", "g", "t"), 2)
    samples.set(DIFF, ("c", "g", "t"), 3)

    assert samples.values[DIFF] == {("c", "g", "t"): 3}


def test_series_above_the_limit_are_dropped_and_counted_but_not_those_of_the_exporter() -> None:
    samples = Samples(1)
    samples.set(DIFF, ("c", "g", "t"), 1)
    samples.set(DIFF, ("c", "g", "u"), 1)
    samples.add(DIFF, ("c", "g", "v"), 1)
    samples.add(DIFF, ("c", "g", "t"), 1)
    samples.set("rocketmq_exporter_up", (), 1)

    assert samples.values[DIFF] == {("c", "g", "t"): 2}
    assert samples.dropped == 2
    assert samples.values["rocketmq_exporter_up"] == {(): 1}
