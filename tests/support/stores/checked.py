"""What ``rocketwire-store check`` finds in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.verbs.check import StoreCheck

if TYPE_CHECKING:
    from pathlib import Path


def checked(root: Path) -> StoreCheck:
    """A check that has run."""
    check = StoreCheck(OpenedStore([root]))
    check.run()
    return check


def damage_of(check: StoreCheck) -> dict[str, int]:
    """Kinds of damage, and what each counts."""
    return _counts(check, is_damage=True)


def notes_of(check: StoreCheck) -> dict[str, int]:
    """Kinds of what is no damage, and what each counts."""
    return _counts(check, is_damage=False)


def _counts(check: StoreCheck, *, is_damage: bool) -> dict[str, int]:
    return {
        str(kind): counts[1]
        for (kind, damages), counts in check.findings.counts.items()
        if damages is is_damage
    }
