"""How findings are kept and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.store.checks import findings
from tests.support.stores import damage
from tests.support.stores.checked import checked, damage_of

if TYPE_CHECKING:
    import pytest

    from tests.support.stores import BrokerStore


def test_findings_beyond_the_limit_are_counted(
    store: BrokerStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "MAX_FINDINGS", 3)
    for place in damage.places(damage.log_files(store.root)[-1])[:10]:
        damage.flip(place.file, place.position + 11)

    check = checked(store.root)

    assert len(check.findings.kept) == 3
    assert check.log.damaged_messages == damage_of(check)["body crc"] == 10
