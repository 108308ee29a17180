"""The explained differences are those of the support table, and each belongs to a format."""

import re
from pathlib import Path

from tests.fuzz.explained import EXPLANATIONS
from tests.fuzz.formats import FORMATS

SUPPORT = Path(__file__).parents[2] / "docs" / "differences.md"
SECTION = "### Differences that the differential knows\n"


def test_support_page_has_each_explanation() -> None:
    section = SUPPORT.read_text("utf-8").partition(SECTION)[2].partition("\n## ")[0]
    listed = re.findall(r"^- \*\*(.+?)\*\*: ", section, re.MULTILINE)

    assert sorted(listed) == sorted(explanation.name for explanation in EXPLANATIONS)
    assert all(explanation.formats <= FORMATS.keys() for explanation in EXPLANATIONS)
