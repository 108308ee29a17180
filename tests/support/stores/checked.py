"""The findings of ``rocketwire-store check`` about a store."""

from pathlib import Path

from rocketwire_tools.store.checks.view import StoreView
from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.verbs.check import check_store


def checked(*paths: Path) -> StoreView:
    view = StoreView(OpenedStore(paths))
    check_store(view)
    return view


def damage_of(check: StoreView) -> dict[str, int]:
    return _counts(check, is_damage=True)


def notes_of(check: StoreView) -> dict[str, int]:
    return _counts(check, is_damage=False)


def _counts(check: StoreView, *, is_damage: bool) -> dict[str, int]:
    return {
        str(kind): counts[1]
        for (kind, damages), counts in check.findings.counts.items()
        if damages is is_damage
    }
