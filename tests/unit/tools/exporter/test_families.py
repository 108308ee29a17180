"""The families of metrics: their names and texts."""

import re
from pathlib import Path

from rocketwire_tools.exporter.exposition import AGE, COLLECTIONS
from rocketwire_tools.exporter.families import FAMILIES

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
