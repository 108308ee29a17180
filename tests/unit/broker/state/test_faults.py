"""Faults that a test asks for."""

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire_broker.state.faults import SENDS, Fault, Faults, codes_of
from rocketwire_broker.state.response import Response
from tests.support.broker import BrokerAtHand, Client

BUSY = Response(2, "busy")


@pytest.fixture
def home() -> BrokerAtHand:
    return BrokerAtHand(orders=4)


def count_stored(home: BrokerAtHand) -> int:
    return home.broker.store.max_offset("orders", 0)


def test_faults_happen_in_order_and_so_often_as_asked() -> None:
    faults = Faults()
    first, second = Fault(SENDS, 2), Fault(frozenset({310, 34}), 1)
    for fault in (first, second, Fault(SENDS, 0)):
        faults.add(fault)

    taken = [faults.take(code) for code in (34, 310, 11, 310, 310)]
    assert taken == [second, first, None, first, None]
    assert len(faults) == 0


def test_faults_are_those_of_sends_unless_codes_are_given() -> None:
    assert codes_of(None) == {10, 310, 320}
    assert codes_of([34]) == {34}


def test_a_refused_request_takes_no_effect(home: BrokerAtHand, client: Client) -> None:
    home.broker.faults.add(Fault(SENDS, 1, refusal=BUSY))

    codes = [client.send().code for _ in range(2)]

    assert codes == [2, 0]
    assert count_stored(home) == 1


def test_late_answer_is_that_of_an_effective_request(home: BrokerAtHand, client: Client) -> None:
    home.broker.faults.add(Fault(frozenset({34}), 1, delay_ms=500))

    number = client.ask(Code.HEART_BEAT, {}, b'{"clientID":"c"}')
    home.pass_time(499)
    assert client.answer_to(number) is None
    home.pass_time(1)

    answer = client.take_answer(number)
    assert answer.code == 0


@pytest.mark.parametrize("is_cut", [False, True], ids=["lost", "cut"])
def test_request_without_an_answer(home: BrokerAtHand, client: Client, is_cut: bool) -> None:
    home.broker.faults.add(Fault(SENDS, 1, is_lost=not is_cut, is_cut=is_cut))

    with pytest.raises(AssertionError, match="no answer to 310"):
        client.send()

    assert list(home.broker.closing) == [client.peer.number] * is_cut
    assert count_stored(home) == (0 if is_cut else 1)


def test_faults_that_have_not_happened_can_be_dropped() -> None:
    faults = Faults()
    faults.add(Fault(SENDS, 5))

    faults.clear()

    assert faults.take(310) is None
