"""Settled loans: when trio is woken for them, and when they wait for its next messages."""

from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest

from rocketwire.client.consumer.push.lending import LentConsumption, LentMessages, Settled
from rocketwire.errors import ChannelClosedError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.process_queue import ProcessQueue
from rocketwire.portal.loans import DELAY, MAX_UNPOSTED, Loan, Loans

QUEUE = MessageQueue(topic="t", broker_name="a", queue_id=0)


class Portal:
    """Counts the wakes of trio, which is busy until ``run``."""

    def __init__(self) -> None:
        self.posted: list[Callable[[], object]] = []
        self.error: BaseException | None = None

    def post(self, item: Callable[[], object]) -> None:
        if self.error is not None:
            raise self.error
        self.posted.append(item)

    def run(self) -> None:
        """Call the posted functions."""
        posted, self.posted = self.posted, []
        for item in posted:
            item()


class Consumption(LentConsumption):
    """Records settled parts, and functions for a later settlement."""

    def __init__(self) -> None:
        self.settled: list[LentMessages] = []
        self.later: list[Callable[[], Settled]] = []
        self.given_up: list[LentMessages] = []

    def settle_parts(self, settled: Iterable[tuple[LentMessages, Any]]) -> None:
        self.settled += [part for part, _ in settled]

    def settle_later(self, seconds: float, take: Callable[[], Settled]) -> None:
        assert seconds == DELAY
        self.later.append(take)

    def abandon(self, part: LentMessages) -> None:
        self.given_up.append(part)

    def wait(self) -> None:
        """Let the delay pass."""
        for take in self.later:
            self.settle_parts(take())
        self.later.clear()


class Consumer:
    """An open consumer."""

    def __init__(self) -> None:
        self.consumption = Consumption()


@pytest.fixture
def portal() -> Portal:
    return Portal()


@pytest.fixture
def consumption() -> Consumption:
    return Consumption()


@pytest.fixture
def loans(portal: Portal, consumption: Consumption) -> Loans:
    consumer = Consumer()
    consumer.consumption = consumption
    loans = Loans(lambda _: None, handles=False)
    loans.attach(portal.post, cast("Any", consumer))
    return loans


def new_loan(*, is_awaited: bool = False) -> Loan:
    messages: Any = [0]
    part = LentMessages(QUEUE, messages, messages, ProcessQueue(now=0.0), 0.0)
    part.is_awaited = is_awaited
    return Loan(QUEUE, messages, part=part)


def parts(settled: Iterable[tuple[LentMessages, Any]]) -> list[LentMessages | None]:
    return [part for part, _ in settled]


def test_settled_loans_wait_for_the_next_messages(portal: Portal, loans: Loans) -> None:
    settled = [new_loan() for _ in range(MAX_UNPOSTED - 1)]
    for loan in settled:
        loans.settle(loan, soon=True)
    assert parts(loans.take_settled()) == [loan.part for loan in settled]
    assert loans.take_settled() == ()


def test_without_other_messages_trio_knows_of_them_after_a_delay(
    portal: Portal, consumption: Consumption, loans: Loans
) -> None:
    settled = [new_loan() for _ in range(3)]
    for loan in settled:
        loans.settle(loan, soon=True)
    assert len(portal.posted) == 1
    portal.run()
    assert consumption.settled == []
    consumption.wait()

    assert consumption.settled == [loan.part for loan in settled]


def test_loans_that_are_settled_after_the_delay_get_one_of_their_own(
    portal: Portal, consumption: Consumption, loans: Loans
) -> None:
    loans.settle(new_loan(), soon=True)
    portal.run()
    loans.take_settled()  # with messages that have just come
    loans.settle(new_loan(), soon=True)
    assert portal.posted == []
    consumption.wait()
    loans.settle(new_loan(), soon=True)
    portal.run()
    consumption.wait()

    assert len(consumption.settled) == 2


def test_many_loans_wake_trio(portal: Portal, consumption: Consumption, loans: Loans) -> None:
    for _ in range(MAX_UNPOSTED):
        loans.settle(new_loan(), soon=True)
    portal.run()
    assert len(consumption.settled) == MAX_UNPOSTED


@pytest.mark.parametrize(("is_awaited", "can_wait"), [(True, True), (False, False)])
def test_trio_is_woken_if_nothing_else_wakes_it(
    portal: Portal, consumption: Consumption, loans: Loans, is_awaited: bool, can_wait: bool
) -> None:
    loans.settle(new_loan(is_awaited=is_awaited), soon=can_wait)
    portal.run()
    assert len(consumption.settled) == 1


def test_an_interrupted_loan_is_settled(
    portal: Portal, consumption: Consumption, loans: Loans
) -> None:
    portal.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        loans.settle(new_loan(), soon=True)
    portal.error = None
    loans.settle(new_loan(), soon=True)
    portal.run()
    consumption.wait()

    assert len(consumption.settled) == 2


@pytest.mark.parametrize("can_wait", [True, False])
def test_loans_of_a_closed_client_are_dropped(portal: Portal, loans: Loans, can_wait: bool) -> None:
    portal.error = ChannelClosedError("closed")
    loans.settle(new_loan(), soon=can_wait)
    assert portal.posted == []


@pytest.mark.parametrize("can_wait", [True, False])
def test_loans_settled_while_the_consumer_opens_reach_it(portal: Portal, can_wait: bool) -> None:
    loans, consumer = Loans(lambda _: None, handles=False), Consumer()
    loans.settle(new_loan(), soon=can_wait)
    loans.attach(portal.post, cast("Any", consumer))
    loans.settle(new_loan(), soon=True)
    portal.run()
    consumer.consumption.wait()

    assert len(consumer.consumption.settled) == 2


@pytest.mark.parametrize("can_wait", [True, False])
def test_an_orderly_consumer_has_no_parts_to_settle(portal: Portal, can_wait: bool) -> None:
    loans, consumer = Loans(lambda _: None, handles=False), Consumer()
    consumer.consumption = cast("Any", object())
    loans.attach(portal.post, cast("Any", consumer))
    loans.settle(new_loan(), soon=can_wait)
    portal.run()
    assert len(loans.take_settled()) == 1


def test_a_loan_is_given_up(portal: Portal, consumption: Consumption, loans: Loans) -> None:
    loan, orderly = new_loan(), Loan(QUEUE, [])
    loans.abandon(loan)
    loans.abandon(orderly)
    portal.run()
    assert consumption.given_up == [loan.part]
