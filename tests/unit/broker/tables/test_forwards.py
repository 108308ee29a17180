"""Requests to other brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_broker.tables.forwards import Forward, Forwards

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand


def test_requests_wait_for_the_driver_and_have_no_answer_without_one() -> None:
    forwards = Forwards()
    answers: list[tuple[RemotingCommand | None, int]] = []

    def keep(answer: RemotingCommand | None, now: int) -> None:
        answers.append((answer, now))

    forward = Forward("b", 30, {}, keep)
    forwards.ask(forward, 5)
    assert answers == [(None, 5)]

    calls: list[int] = []
    forwards.on_asked = lambda: calls.append(1)
    forwards.ask(forward, 6)

    assert (forwards.take(), forwards.take(), calls) == ([forward], [], [1])
