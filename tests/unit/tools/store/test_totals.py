"""Groups that lie in a temporary file are those that lie in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store import totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


def test_no_groups_have_a_sum(store: BrokerStore, run: Callable[..., Any]) -> None:
    lines = run("stat", "--by", "queue", "--end", "2020-01-01", store.root).out.splitlines()

    assert lines[-1].split() == [b"total", b"0", b"0"]


@pytest.mark.parametrize("by", ["tag", "queue", "hour"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_report_of_many_groups_is_that_of_few(
    form: tuple[str, ...],
    by: str,
    plain: BrokerStore,
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = run("stat", "--by", by, "--system", *form, plain.root).out

    monkeypatch.setattr(totals, "MOST_IN_MEMORY", 2)
    monkeypatch.setattr("rocketwire_tools.store.verbs.stat._GROUPS_AT_ONCE", 1)

    assert run("stat", "--by", by, "--system", *form, plain.root).out == few
