"""Samples: values by labels, and their limit."""

from collections.abc import Callable

import pytest

from rocketwire_tools.exporter.families import Samples

DIFF = "rocketmq_group_diff"


@pytest.mark.parametrize(("change", "total"), [(Samples.add, 5), (Samples.set, 3)])
def test_a_value_is_added_or_set(
    change: Callable[[Samples, str, tuple[str, ...], float], None], total: float
) -> None:
    samples = Samples()
    change(samples, DIFF, ("c", "g", "t"), 2)
    change(samples, DIFF, ("c", "g", "t"), 3)

    assert samples.values[DIFF] == {("c", "g", "t"): total}
    assert len(samples) == 1


def test_series_of_the_cluster_above_the_limit_are_dropped_and_counted() -> None:
    samples = Samples(1)
    samples.set(DIFF, ("c", "g", "t"), 1)
    samples.set(DIFF, ("c", "g", "u"), 1)
    samples.add(DIFF, ("c", "g", "v"), 1)
    samples.add(DIFF, ("c", "g", "t"), 1)
    samples.set("rocketmq_exporter_up", (), 1)

    assert samples.values[DIFF] == {("c", "g", "t"): 2}
    assert samples.dropped == 2
    assert samples.values["rocketmq_exporter_up"] == {(): 1}
