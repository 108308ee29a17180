"""Every fuzz target holds its invariant on its seeds and on some thousand damaged ones, without any further tool."""

from __future__ import annotations

import contextlib
import tracemalloc

import pytest

from rocketwire.errors import DecodeError
from tests.fuzz.chance import Chance
from tests.fuzz.run import TARGETS, target

CASES = 1500
MOST_BYTES = 32 << 20


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_damaged_seeds_give_values_or_a_decode_error(name: str) -> None:
    module = target(name)
    seeds = module.start()
    chance = Chance(name)

    for seed in (*seeds, b"", b"\xff" * 64):
        with contextlib.suppress(DecodeError):
            module.read(seed)
    for _ in range(getattr(module, "CASES", CASES)):
        data = chance.choice(seeds)[:4096]
        with contextlib.suppress(DecodeError):
            module.read(chance.damage(data) if chance.below(10) else chance.data(200))


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_no_damaged_seed_takes_more_memory_than_the_limit(name: str) -> None:
    module = target(name)
    seeds = sorted(module.start(), key=len)[:20]
    chance = Chance(f"{name} memory")

    tracemalloc.start()
    for _ in range(150):
        with contextlib.suppress(DecodeError):
            module.read(chance.damage(chance.choice(seeds)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < MOST_BYTES
