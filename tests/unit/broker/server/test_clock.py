"""The broker's time."""

import pytest
import trio

from rocketwire_broker.server.clock import Clock


async def test_time_passes_with_trios_clock(autojump_clock: trio.testing.MockClock) -> None:
    clock = Clock()
    start = clock.now()
    await trio.sleep(2)

    assert clock.now() - start == 2000


async def test_something_due_is_due_when_trio_wakes(autojump_clock: trio.testing.MockClock) -> None:
    clock = Clock()
    due = clock.now() + 1234
    await trio.sleep_until(clock.trio_time(due))

    assert clock.now() == due


async def test_tests_move_the_time() -> None:
    clock = Clock()
    start = clock.now()
    clock.advance(7_200_000)

    assert 7_200_000 <= clock.now() - start < 7_210_000


class Wall:
    offset = 0.0

    def __call__(self) -> float:
        return self.offset


@pytest.fixture
def wall() -> Wall:
    return Wall()


async def test_clock_follows_a_sleep_of_the_machine(wall: Wall) -> None:
    clock = Clock(wall)
    start = clock.now()
    wall.offset = 3600

    assert clock.follow() == 3_600_000
    assert 3_600_000 <= clock.now() - start < 3_610_000


async def test_clock_continues_after_a_jump_back(wall: Wall, autojump_clock: object) -> None:
    clock = Clock(wall)
    start = clock.now()
    wall.offset = -10

    assert (clock.follow(), clock.ahead) == (-10_000, 10_000)
    await trio.sleep(2)
    assert clock.now() - start == 2000

    wall.offset = 5  # back, and five seconds more
    assert (clock.follow(), clock.ahead) == (15_000, 0)
    assert clock.now() - start == 7000


async def test_clock_leaves_a_small_difference(wall: Wall) -> None:
    clock = Clock(wall)
    wall.offset = 2

    assert clock.follow() == 0
