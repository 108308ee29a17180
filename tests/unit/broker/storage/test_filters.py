"""The messages of a queue that a consumer gets."""

import pytest

from rocketwire.errors import IllegalValueError
from rocketwire.messages.heartbeat import SubscriptionData
from rocketwire.policy.subscription import subscription_data
from rocketwire_broker.storage import filters
from rocketwire_broker.storage.filters import (
    EVERYTHING,
    Condition,
    compile_condition,
    filter_of,
    select,
)
from rocketwire_broker.storage.queue import Queue
from tests.unit.broker.storage.stores import HOST, make_message


def fill_queue(count: int) -> Queue:
    """A queue with the tags T0, T1, T0 and so on; property ``a`` is the offset."""
    queue = Queue("orders", 0)
    for index in range(count):
        message = make_message(body=b"x" * 10, TAGS=f"T{index % 2}", a=str(index))
        queue.append(message.encode(index, 0, HOST, 0), message.tags_code, 0, 0)
    return queue


def test_without_a_filter_messages_follow_each_other() -> None:
    result = select(fill_queue(5), 1, EVERYTHING, count=3, max_bytes=10_000, max_filtered=800)

    assert (result.offsets, result.next_offset) == ([1, 2, 3], 4)


def test_no_more_messages_are_looked_at_than_the_limit() -> None:
    nothing = filter_of(subscription_data("orders", "T9", version=0))

    result = select(fill_queue(100), 0, nothing, count=8, max_bytes=1 << 20, max_filtered=50)

    assert (result.records, result.next_offset) == ([], 50)


def test_an_expensive_expression_looks_at_fewer_messages() -> None:
    expression = " OR ".join(f"a = {number}" for number in range(1000, 6000))
    subscription = SubscriptionData(topic="orders", sub_string=expression, expression_type="SQL92")

    result = select(
        fill_queue(100), 0, filter_of(subscription), count=8, max_bytes=1 << 20, max_filtered=800
    )

    assert (result.records, result.next_offset) == ([], 6)


@pytest.mark.parametrize(
    "subscription",
    [
        SubscriptionData(topic="t", sub_string="*"),
        SubscriptionData(topic="t", sub_string=None),
        SubscriptionData(topic="t", sub_string="a !=", expression_type="SQL92"),
        SubscriptionData(topic="t", sub_string="a", expression_type="XPATH"),
    ],
    ids=["star", "none", "invalid", "unknown"],
)
def test_invalid_subscription_passes_everything(subscription: SubscriptionData) -> None:
    assert filter_of(subscription).is_open


def test_an_expression_of_an_unknown_type_does_not_compile() -> None:
    with pytest.raises(IllegalValueError, match="XPATH"):
        compile_condition("XPATH", "a")


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []

    def compile_expression(text: str) -> Condition:
        texts.append(text)
        return lambda _: True

    monkeypatch.setattr(filters, "compile_expression", compile_expression)
    return texts


def test_the_conditions_of_a_thousand_groups_are_remembered(compilations: list[str]) -> None:
    texts = [f"region = 'r{number}' AND {'a = 1 AND ' * 10}b > 0" for number in range(1_000)]
    for text in texts * 2:
        compile_condition("SQL92", text)

    assert compilations == texts


def test_conditions_are_remembered_up_to_a_number_of_characters(compilations: list[str]) -> None:
    texts = [f"a = {number}{' ' * 60_000}" for number in range(5)]
    for text in (*texts[:4], texts[0], texts[4], texts[0], texts[1]):
        compile_condition("SQL92", text)

    assert compilations == [*texts, texts[1]]
