"""Fast paths have the same results as the plain code."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from rocketwire_tools.store.engine import checksums, fast_paths, rows, walk
from rocketwire_tools.store.engine.queue_files import QueueFiles
from tests.peers.peers import CURRENT, OLD
from tests.support.file_programs import call_store, run_store
from tests.support.stores.fixtures import unpack
from tests.support.stores.hostile import Original

DAMAGES = 3
"""Random damages of each store."""


@pytest.mark.parametrize(("release", "kind"), [(CURRENT, "plain"), (OLD, "features")])
def test_check_reports_the_same_with_and_without_fast_paths(
    release: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Original(unpack(release, kind, tmp_path).root)
    chance, used = Random(f"{release} {kind}"), set[str]()

    def spy(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def note_call(*arguments: Any, **named: Any) -> Any:
            used.add(name)
            return function(*arguments, **named)

        monkeypatch.setattr(owner, name, note_call)

    for module, name, value in (
        (walk, "_FEWEST", 1),  # or a small store has nothing for the fast paths
        (walk, "_SAMPLE", 1 << 10),
        (checksums, "_FEWEST_COPIED", 1),
    ):
        monkeypatch.setattr(module, name, value)
    all_of_them = {"_walk_stretches", "_crcs_of_copies", "NamedValues", "read_into"}
    owners: tuple[Any, ...] = (walk, checksums, rows, QueueFiles)
    for owner in owners:
        for name in all_of_them.intersection(dir(owner)):
            spy(owner, name)

    for number in range(DAMAGES + 1):
        damage = original.damage(chance) if number else None
        reports: list[Any] = []
        for switch in ("", "off"):
            used.clear()
            monkeypatch.setenv(fast_paths.SWITCH, switch)
            reports.append(call_store("check", "--json", "--why", original.root))
            if damage is None:
                assert used == (set() if switch else all_of_them)
        assert reports[0] == reports[1], damage
        if damage is not None:
            original.restore(damage[1])


def test_switch_is_on_or_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fast_paths.SWITCH, "no")

    error = run_store("check", unpack(CURRENT, "plain", tmp_path).root, status=2).err

    assert error == "rocketwire-store: ROCKETWIRE_FASTPATH must be on or off, not 'no'\n"
