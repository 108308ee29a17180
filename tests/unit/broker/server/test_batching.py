"""Requests of several connections that come at once are answered together."""

import trio

from rocketwire_broker.server.delivery import ALONE, PAUSE, Batching


async def count_answering(batching: Batching, tasks: int) -> int:
    """Let tasks ask at once; count those that have to answer."""
    answers: list[bool] = []

    async def ask() -> None:
        answers.append(await batching.is_last())

    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(ask)
    return sum(answers)


async def test_one_of_several_answers_for_all() -> None:
    assert await count_answering(Batching(), 5) == 1


async def test_a_connection_alone_answers_for_itself() -> None:
    batching = Batching()

    assert [await batching.is_last() for _ in range(3)] == [True] * 3


async def test_after_a_pause_connections_are_answered_together_again() -> None:
    batching = Batching()
    for _ in range(ALONE):
        await count_answering(batching, 1)

    assert await count_answering(batching, PAUSE) == PAUSE
    assert await count_answering(batching, 4) == 1


async def test_connections_that_come_together_never_pause() -> None:
    batching = Batching()
    for _ in range(PAUSE):
        await count_answering(batching, ALONE - 1)
        assert await count_answering(batching, 3) == 1
