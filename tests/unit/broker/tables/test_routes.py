"""Queues of topics at other brokers."""

from rocketwire.messages.message_queue import MessageQueue
from rocketwire_broker.tables.routes import FRESH_MS, Routes

QUEUE = MessageQueue(topic="orders", broker_name="broker-b", queue_id=0)


def test_without_a_name_server_there_is_nothing_to_ask_for() -> None:
    routes = Routes()

    assert routes.is_fresh("orders", 5)
    assert routes.queues("orders") == ()


def test_answer_goes_to_all_requests_and_is_kept() -> None:
    routes = Routes()
    calls: list[int] = []
    times: list[int] = []
    routes.on_asked = lambda: calls.append(1)

    assert not routes.is_fresh("orders", 10_000)
    routes.ask("orders", times.append)
    routes.ask("orders", times.append)
    assert routes.pending() == ["orders"]
    routes.put("orders", [QUEUE], 10_000)

    assert calls == [1, 1]
    assert times == [10_000, 10_000]
    assert routes.pending() == []
    assert routes.queues("orders") == [QUEUE]
    assert routes.is_fresh("orders", 10_000 + FRESH_MS - 1)
    assert not routes.is_fresh("orders", 10_000 + FRESH_MS)


def test_the_last_queues_stay_if_no_name_server_answers() -> None:
    routes = Routes()
    routes.put("orders", [QUEUE], 10_000)

    routes.put("orders", None, 20_000)
    assert routes.queues("orders") == [QUEUE]

    routes.delete_topic("orders")
    assert routes.queues("orders") == ()
