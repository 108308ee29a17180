"""What fast paths give is what the plain code gives."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.checks import index_check
from rocketwire_tools.store.checks.queue_files import QueueFiles
from rocketwire_tools.store.engine import checksums, fast_paths, rows, walk
from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.hostile import run
from tests.support.stores.mutations import Original, mutate

if TYPE_CHECKING:
    from pathlib import Path

DAMAGES = 2
"""Of each store."""


@pytest.mark.slow
@pytest.mark.parametrize(("release", "kind"), PACKED)
def test_a_check_says_the_same_with_and_without_fast_paths(
    release: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = unpack(release, kind, tmp_path).root
    original = Original(root)
    chance = Random(f"{release} {kind}")

    for number in range(DAMAGES + 1):
        damage = mutate(original, chance) if number else None
        reports: list[Any] = []
        for switch in ("on", "off"):
            monkeypatch.setenv(fast_paths.SWITCH, switch)
            reports.append(run("check", "--json", "--why", root))
        if damage is not None:
            original.restore(damage.files)

        assert reports[0] == reports[1], damage


def test_no_fast_path_is_used_if_the_switch_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = unpack("5.5.0", "plain", tmp_path).root
    used: set[str] = set()

    def spy(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def noted(*arguments: Any, **named: Any) -> Any:
            used.add(name)
            return original(*arguments, **named)

        monkeypatch.setattr(owner, name, noted)

    monkeypatch.setattr(walk, "_FEWEST", 1)
    monkeypatch.setattr(walk, "_SAMPLE", 1 << 10)
    monkeypatch.setattr(checksums, "_FEWEST_COPIED", 1)
    spy(walk, "_walk_stretches")
    spy(checksums, "_crcs_of_copies")
    spy(rows, "NamedValues")
    spy(QueueFiles, "read_into")
    spy(index_check, "_are_chains")
    all_of_them = {"_walk_stretches", "_crcs_of_copies", "NamedValues", "read_into", "_are_chains"}

    for switch, expected in (("on", all_of_them), ("off", set[str]()), ("", all_of_them)):
        used.clear()
        monkeypatch.setenv(fast_paths.SWITCH, switch)
        assert run("check", root)[0] == 0
        assert used == expected


def test_the_switch_is_on_or_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = unpack("5.5.0", "plain", tmp_path).root
    monkeypatch.setenv(fast_paths.SWITCH, "no")

    status, _, errors = run("check", root)

    assert status == 2
    assert errors == "rocketwire-store: ROCKETWIRE_FASTPATH must be on or off, not 'no'\n"
