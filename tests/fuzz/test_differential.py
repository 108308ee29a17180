"""A small run of every differential; ``python -m tests.fuzz.differential`` runs large ones."""

from collections.abc import Iterator

import pytest

from tests.fuzz.differential import compare
from tests.fuzz.formats import FORMATS
from tests.peers.oracle import Oracle

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
