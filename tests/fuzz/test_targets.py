"""Every fuzz target holds its invariant on its seeds and on damaged ones."""

import contextlib
import tracemalloc

import pytest

from rocketwire.errors import DecodeError
from tests.fuzz.chance import Chance
from tests.fuzz.targets import TARGETS, Target

MAX_PEAK_BYTES = 32 << 20


@pytest.mark.parametrize("name", TARGETS)
def test_target_with_damaged_seeds(name: str) -> None:
    target = TARGETS[name]
    seeds = target.seeds()
    chance = Chance(name)

    for seed in (*seeds, b"", b"\xff" * 64):
        with contextlib.suppress(DecodeError):
            target.read(seed)
    _read_damaged(target, chance, target.cases)


@pytest.mark.full
@pytest.mark.parametrize("name", TARGETS)
def test_target_with_many_damaged_seeds(name: str) -> None:
    target = TARGETS[name]

    _read_damaged(target, Chance(f"{name} many"), 20 * target.cases)


def _read_damaged(target: Target, chance: Chance, cases: int) -> None:
    seeds = target.seeds()
    for _ in range(cases):
        data = chance.choice(seeds)[:4096]
        with contextlib.suppress(DecodeError):
            target.read(chance.damage(data) if chance.below(10) else chance.data(200))


@pytest.mark.parametrize("name", TARGETS)
def test_target_memory_is_bounded(name: str) -> None:
    target = TARGETS[name]
    seeds = sorted(target.seeds(), key=len)[:20]
    chance = Chance(f"{name} memory")

    tracemalloc.start()
    for _ in range(target.cases // 10):
        with contextlib.suppress(DecodeError):
            target.read(chance.damage(chance.choice(seeds)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < MAX_PEAK_BYTES
