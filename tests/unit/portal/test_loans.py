"""Settled loans: when trio is woken for them, and when they wait for its next messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from rocketwire.client.consumer.push.lending import LentMessages
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.process_queue import ProcessQueue
from rocketwire.portal import loans as module
from rocketwire.portal.loans import DELAY, MAX_UNPOSTED, Loan, Loans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

QUEUE = MessageQueue(topic="t", broker_name="a", queue_id=0)


class Portal:
    """Counts the wakes of trio, which stays busy."""

    def __init__(self) -> None:
        self.posted: list[Callable[[], object]] = []

    def post(self, item: Callable[[], object]) -> None:
        self.posted.append(item)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def portal() -> Portal:
    return Portal()


@pytest.fixture
def loans(portal: Portal, clock: list[float]) -> Loans:
    loans = Loans(lambda _: None, handles=False)
    loans.attach(cast("Any", portal), cast("Any", None))
    loans.settle(new_loan(), soon=True)  # the first one is not late, but nothing was posted ever
    loans.take_settled()
    portal.posted.clear()
    return loans


def new_loan(*, is_awaited: bool = False) -> Loan:
    messages: Any = [0]
    part = LentMessages(QUEUE, messages, messages, ProcessQueue(now=0.0), 0.0)
    part.is_awaited = is_awaited
    return Loan(QUEUE, messages, part=part)


def parts(settled: Sequence[tuple[LentMessages, Any]]) -> list[LentMessages | None]:
    return [part for part, _ in settled]


def test_settled_loans_wait_for_the_next_messages(portal: Portal, loans: Loans) -> None:
    settled = [new_loan() for _ in range(MAX_UNPOSTED - 1)]
    for loan in settled:
        loans.settle(loan, soon=True)

    assert loans.has_unposted
    assert portal.posted == []
    assert parts(loans.take_settled()) == [loan.part for loan in settled]
    assert not loans.has_unposted
    assert loans.take_settled() == ()


def test_trio_is_woken_for_many_loans(portal: Portal, loans: Loans) -> None:
    for _ in range(MAX_UNPOSTED):
        loans.settle(new_loan(), soon=True)

    assert len(portal.posted) == 1


def test_trio_is_woken_for_loans_that_waited_long(
    portal: Portal, loans: Loans, clock: list[float]
) -> None:
    loans.settle(new_loan(), soon=True)
    clock[0] += 2 * DELAY
    loans.settle(new_loan(), soon=True)

    assert len(portal.posted) == 1


@pytest.mark.parametrize(("is_awaited", "soon"), [(True, True), (False, False)])
def test_trio_is_woken_if_nothing_else_wakes_it(
    portal: Portal, loans: Loans, is_awaited: bool, soon: bool
) -> None:
    loans.settle(new_loan(is_awaited=is_awaited), soon=soon)

    assert len(portal.posted) == 1


def test_without_an_open_consumer_nothing_is_posted() -> None:
    loans = Loans(lambda _: None, handles=False)

    loans.settle(new_loan())

    assert loans.has_unposted
