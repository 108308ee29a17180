"""Topics and queues of the target."""

import pytest

from rocketwire.errors import IllegalNameError
from rocketwire.messages.message_queue import MessageQueue
from rocketwire_tools.store.replaying.sending import TopicMap, choose_queue


def queues(**brokers: int) -> list[MessageQueue]:
    return [
        MessageQueue(topic="orders", broker_name=name, queue_id=number)
        for name, count in brokers.items()
        for number in range(count)
    ]


def test_queue_keeps_its_id_where_the_target_has_it() -> None:
    chosen = [choose_queue(queues(a=4), number) for number in range(4)]

    assert [queue.queue_id for queue in chosen] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("brokers", "first_id", "names"),
    [
        ({"a": 4, "b": 4}, 0, ["a0", "b1", "a2", "b3"]),
        ({"a": 2, "b": 1}, 2, ["b0", "a0", "a1", "b0"]),
    ],
    ids=["the same id", "an id that no broker has"],
)
def test_brokers_take_turns_by_id(brokers: dict[str, int], first_id: int, names: list[str]) -> None:
    chosen = [choose_queue(queues(**brokers), first_id + number) for number in range(4)]
    assert [f"{queue.broker_name}{queue.queue_id}" for queue in chosen] == names


def test_topic_may_get_another_name() -> None:
    topics = TopicMap(["orders=orders-2", "bills"])

    assert topics.topics == {"orders", "bills"}
    assert [topics.target(name) for name in ("orders", "bills", "x")] == ["orders-2", "bills", "x"]


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (["orders=a", "orders=b"], "topic orders has two new names: a and b"),
        (["SCHEDULE_TOPIC_XXXX"], "give its messages another topic: --topic SCHEDULE_TOPIC_XXXX"),
        (["orders=RMQ_SYS_TRANS_HALF_TOPIC"], "RMQ_SYS_TRANS_HALF_TOPIC is a topic that brokers"),
    ],
)
def test_contradicting_or_reserved_names_are_refused(texts: list[str], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        TopicMap(texts)


@pytest.mark.parametrize("text", ["orders=", "orders=a b", "=b=c"])
def test_new_name_must_be_that_of_a_topic(text: str) -> None:
    with pytest.raises(IllegalNameError):
        TopicMap([text])
