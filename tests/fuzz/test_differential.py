"""A small run of every differential, whose explained differences are those of the support table.

``python -m tests.fuzz.differential`` runs large ones.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.differential import FORMATS, compare
from tests.fuzz.explained import EXPLANATIONS
from tests.peers.oracle import Oracle

SUPPORT = Path(__file__).parents[2] / "docs" / "differences.md"
SECTION = "### Differences that the differential knows\n"
CASES = 2000
SEED = 20
SMALL = {"json-header", "stored-message"}
"""The comparisons of ``make test``."""


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle("5.5.0") as running:
        yield running


@pytest.fixture(scope="module")
def older() -> Iterator[Oracle]:
    with Oracle("5.3.3") as running:
        yield running


@pytest.mark.java
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in SMALL else pytest.mark.full)
        for name in sorted(FORMATS)
    ],
)
def test_java_and_rocketwire_agree_or_the_difference_is_explained(
    name: str, oracle: Oracle, older: Oracle
) -> None:
    totals = compare(name, CASES, SEED, oracle, older)

    assert list(totals.example_lines()) == []
    assert totals.agreed.total() > CASES / 20


def test_support_page_has_each_explanation() -> None:
    section = SUPPORT.read_text("utf-8").partition(SECTION)[2].partition("\n## ")[0]
    listed = re.findall(r"^- \*\*(.+?)\*\*: ", section, re.MULTILINE)

    assert sorted(listed) == sorted(explanation.name for explanation in EXPLANATIONS)
    assert all(explanation.formats <= FORMATS.keys() for explanation in EXPLANATIONS)
