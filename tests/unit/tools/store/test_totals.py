"""Groups that lie in a temporary file are those that lie in memory."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store import totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore

NAMES = [
    ("topic", None),
    ("topic", "tag"),
    ("topic", 'a "quoted" tag'),
    ("\u6e2f", "\ud800"),
    ("", 7),
]


def totals_of(pieces: list[dict[Any, list[int]]]) -> totals.Totals:
    total = totals.Totals()
    for piece in pieces:
        total.merge({name: list(counts) for name, counts in piece.items()})
    return total


def random_pieces() -> list[dict[Any, list[int]]]:
    chance = random.Random(7)
    names = [*NAMES, *(("topic", f"tag-{number}") for number in range(20))]
    return [
        {name: [1, chance.randrange(5), *chance.sample(range(99), 2)] for name in names[start:end]}
        for start, end in (sorted(chance.sample(range(len(names)), 2)) for _ in range(50))
    ]


def test_many_groups_are_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = random_pieces()
    few = list(totals_of(pieces).ordered(by_name=False))

    monkeypatch.setattr(totals, "MOST_IN_MEMORY", 3)
    groups = totals_of(pieces).ordered(by_name=False)

    assert list(groups) == few
    assert list(groups) == few  # they can be read again


def test_many_groups_have_the_order_of_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals, "MOST_IN_MEMORY", 1)
    pieces = [{(f"2026-01-0{day}",): [1, day, 0, 0]} for day in (3, 1, 2, 1)]

    groups = totals_of(pieces).ordered(by_name=True)

    assert [(group.name, group.messages) for group in groups] == [
        (("2026-01-01",), 2),
        (("2026-01-02",), 1),
        (("2026-01-03",), 1),
    ]


def test_no_groups_have_a_sum(store: BrokerStore, run: Callable[..., Any]) -> None:
    lines = run("stat", "--by", "queue", "--topic", "no-such-topic", store.root).out.splitlines()

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
