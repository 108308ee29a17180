"""Long work in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_namesrv.routes.steps import drained

if TYPE_CHECKING:
    from collections.abc import Generator


def test_all_steps_are_run_and_the_result_comes_out() -> None:
    done: list[int] = []

    def steps() -> Generator[None, None, str]:
        for number in range(3):
            done.append(number)
            yield
        return "end"

    assert drained(steps()) == "end"
    assert done == [0, 1, 2]
