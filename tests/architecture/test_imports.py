"""No cycle of imports between modules, whatever kind of import is counted."""

from __future__ import annotations

import pytest

from tests.support.import_graph import Time, cycles, module_cycles

pytestmark = pytest.mark.slow  # the first test reads every module


@pytest.mark.parametrize("latest", Time, ids=lambda time: time.name.lower())
def test_no_modules_import_each_other(latest: Time) -> None:
    assert module_cycles(latest) == []


def test_a_cycle_is_found_however_it_is_entered() -> None:
    graph = {"entry": ["a"], "a": ["b", "leaf"], "b": ["c"], "c": ["a"], "d": ["d2"], "d2": ["d"]}

    assert sorted(cycles(graph)) == [["a", "b", "c"], ["d", "d2"]]
