"""The explained differences are those of the support table, and each belongs to formats that are compared."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fuzz.explained import EXPLANATIONS
from tests.fuzz.formats import FORMATS

SUPPORT = Path(__file__).parents[2] / "docs" / "support.md"
SECTION = "### Differences that the differential knows\n"


def test_every_explanation_has_a_name_of_its_own_and_a_sentence() -> None:
    names = [one.name for one in EXPLANATIONS]

    assert len(set(names)) == len(names)
    assert all(one.reason.endswith(".") and one.formats <= FORMATS.keys() for one in EXPLANATIONS)


def test_the_support_table_holds_every_sentence_and_no_other() -> None:
    section = SUPPORT.read_text("utf-8").partition(SECTION)[2].partition("\n## ")[0]
    listed = re.findall(r"^- (.+)$", section, re.MULTILINE)

    assert sorted(listed) == sorted(one.reason for one in EXPLANATIONS)
