"""Messages for an application: batches, single deliveries and their settlement."""

from collections.abc import Sequence
from typing import Any

import pytest

from rocketwire.client.consumer.push.lending import LentMessages
from rocketwire.errors import IllegalValueError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.process_queue import ProcessQueue
from rocketwire.portal.loans import LAG, Inbox, Loan, check_limit

QUEUE = MessageQueue(topic="t", broker_name="a", queue_id=0)


class Settled:
    """Records settled loans."""

    def __init__(self) -> None:
        self.loans: list[Loan] = []

    def settle(self, loan: Loan, *, soon: bool) -> None:
        self.loans.append(loan)


def fill_inbox(*sizes: int) -> tuple[Inbox, Settled, list[Loan]]:
    """An inbox with loans of these sizes."""
    inbox, settled = Inbox(lambda: None), Settled()
    inbox.loans = settled  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue] - the test knows its kind
    numbers = iter(range(1000))
    loans = [Loan(QUEUE, _messages([next(numbers) for _ in range(size)])) for size in sizes]
    inbox.put(loans)
    return inbox, settled, loans


def _messages(numbers: Sequence[int]) -> Any:
    return numbers


def test_batches_do_not_cross_loans_and_are_not_longer_than_the_limit() -> None:
    inbox, _, _ = fill_inbox(5, 2)
    batches = [inbox.take(3) for _ in range(4)]
    bodies: list[Any] = [list(batch) if batch else None for batch in batches]
    assert bodies == [[0, 1, 2], [3, 4], [5, 6], None]
    assert [len(batch) for batch in batches if batch] == [3, 2, 2]


def test_a_loan_is_settled_with_its_last_message_in_any_order() -> None:
    inbox, settled, loans = fill_inbox(3)
    first, second, third = (inbox.take_one() for _ in range(3))
    assert first
    assert second
    assert third

    third.ack()
    first.ack()
    first.ack()
    assert settled.loans == []
    second.ack()

    assert settled.loans == loans
    message: Any = first.message
    assert (message, first.message_queue) == (0, QUEUE)


def test_rejected_messages_are_failures_of_the_loan() -> None:
    inbox, settled, (loan,) = fill_inbox(4)
    batch, remaining = inbox.take(2), inbox.take(2)
    assert batch
    assert remaining

    batch.reject(batch.messages[1], 3)
    batch.ack()
    remaining.reconsume_later(-1)
    remaining.reconsume_later(5)

    assert settled.loans == [loan]
    failures: list[Any] = [
        (list(messages), context.delay_level_when_next_consume)
        for messages, context in loan.failures
    ]
    assert failures == [([1], 3), ([2, 3], -1)]


def test_after_a_fork_the_inbox_is_empty() -> None:
    inbox, settled, _ = fill_inbox(4)
    batch = inbox.take(1)
    assert batch

    inbox.clear()
    batch.ack()

    assert inbox.take(1) is None
    assert settled.loans == []


def test_the_end_drops_waiting_messages() -> None:
    inbox, settled, (first, _) = fill_inbox(2, 2)
    taken = [inbox.take(1), inbox.take(1), inbox.take(1)]

    inbox.drop()
    assert inbox.take(1) is None
    for batch in taken:
        assert batch
        batch.ack()

    assert settled.loans == [first]


@pytest.mark.parametrize(
    ("backlog", "is_awaited", "lags"),
    [(LAG + 1, False, True), (LAG, False, False), (LAG + 1, True, False)],
    ids=["more_waits", "little_waits", "nothing_comes_before_it_is_settled"],
)
def test_messages_at_the_broker_are_a_lag(backlog: int, is_awaited: bool, lags: bool) -> None:
    process: ProcessQueue = ProcessQueue(now=0.0)
    process.backlog = backlog
    part = LentMessages(QUEUE, _messages([0, 1]), _messages([0, 1]), process, 0.0)
    part.is_awaited = is_awaited
    inbox = Inbox(lambda: None)
    inbox.put([Loan(QUEUE, part.messages, part=part)])

    inbox.take(1)
    assert not inbox.lags
    inbox.take(1)
    assert inbox.lags == lags
    inbox.clear()
    assert not inbox.lags


@pytest.mark.parametrize("limit", [0, -1, "3", None, 1.5])
def test_a_batch_has_at_least_one_message(limit: Any) -> None:
    with pytest.raises(IllegalValueError):
        check_limit(limit)
    check_limit(1)
