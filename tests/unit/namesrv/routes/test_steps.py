"""Long work in steps."""

from __future__ import annotations

from collections.abc import Generator

from rocketwire_namesrv.routes.steps import drained


def test_all_steps_are_run_and_the_result_comes_out() -> None:
    done: list[int] = []

    def steps() -> Generator[None, None, str]:
        for number in range(3):
            done.append(number)
            yield
        return "end"

    assert drained(steps()) == "end"
    assert done == [0, 1, 2]
