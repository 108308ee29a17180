"""The families of metrics: names, texts, values by labels, and the limit of series."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rocketwire_tools.exporter.exposition import AGE, COLLECTIONS
from rocketwire_tools.exporter.families import FAMILIES, Samples

GUIDE = Path(__file__).parents[4] / "docs" / "guide" / "exporter.md"


def test_every_family_has_a_valid_name_and_a_sentence() -> None:
    for name, family in FAMILIES.items():
        assert re.fullmatch("rocketmq_[a-z0-9_]+", name)
        assert family.text.endswith("."), name


def test_the_guide_has_every_family() -> None:
    listed = set(re.findall("`(rocketmq_[a-z0-9_]+)`", GUIDE.read_text("utf-8")))

    assert set(FAMILIES) - listed == set()


def test_the_guide_has_the_families_and_their_labels() -> None:
    text = GUIDE.read_text("utf-8").partition("\n## Names and values\n")[2]
    rows = re.findall(r"^\| `(rocketmq_\w+)` \| ((?:`\w+`(?:, )?)*) \| .+ \|$", text, re.MULTILINE)
    labels = {name: set(re.findall(r"`(\w+)`", cell)) for name, cell in rows}
    values = set(re.findall(r"^\| `(rocketmq_brokeruntime_\w+)`", text, re.MULTILINE))

    for name in (AGE, f"{COLLECTIONS}_total"):
        del labels[name]
    assert values <= set(FAMILIES)
    assert labels == {
        name: set(family.labels)
        for name, family in FAMILIES.items()
        if "_brokeruntime_" not in name
    }


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
