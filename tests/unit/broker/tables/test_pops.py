"""Hidden messages, and the last pop in order of a queue."""

from rocketwire_broker.tables.pops import HiddenMessage, Origin, PopOrders, Pops

HIDDEN = HiddenMessage("group", "topic", 0, 7, 1_000)
ORIGIN = Origin(5, 1, 9_000)


def test_each_pop_of_a_message_ends_once() -> None:
    pops = Pops[str]()
    pops.hide(HIDDEN, "first", ORIGIN)
    pops.hide(HIDDEN._replace(pop_time=2_000), "second", ORIGIN)

    assert [pops.take(HIDDEN), pops.take(HIDDEN)] == ["first", None]
    assert len(pops) == 1


def test_discarded_messages_give_back_their_timers() -> None:
    pops = Pops[str]()
    pops.hide(HIDDEN, "first", ORIGIN)
    pops.hide(HIDDEN._replace(topic="other"), "second", ORIGIN)

    assert list(pops.discard(lambda hidden: hidden.topic == "other")) == ["second"]
    assert len(pops) == 1


def test_only_a_message_that_was_logged_ends_in_the_log() -> None:
    pops = Pops[str](is_logged=True)
    messages = (HIDDEN, HIDDEN._replace(queue_offset=8))
    for message in messages:
        pops.hide(message, "timer", ORIGIN)

    pops.note_logged([HIDDEN])
    for message in messages:
        pops.take(message)

    assert (pops.unlogged, pops.ended) == ({}, {HIDDEN: ORIGIN})


QUEUE = ("group", "topic", 0)


def test_an_acknowledgement_without_a_pop_moves_past_it() -> None:
    assert PopOrders().acknowledge(QUEUE, 4, 1) == 5


def test_counts_grow_with_each_redelivery_and_stay_within_an_attempt() -> None:
    orders = PopOrders()
    assert orders.record_pop(QUEUE, [0, 1], 1, 1, "a") == {}
    assert orders.record_pop(QUEUE, [0, 1], 2, 1, "b") == {0: 1, 1: 1}
    assert orders.record_pop(QUEUE, [0, 1], 3, 1, "b") == {0: 1, 1: 1}
    assert orders.record_pop(QUEUE, [1, 2], 4, 1, "c") == {1: 2}


def test_deleted_groups_and_topics_and_reset_queues_are_forgotten() -> None:
    orders = PopOrders()
    for queue in (("a", "t", 0), ("b", "t", 0), ("c", "u", 0)):
        orders.record_pop(queue, [0], 1, 1, None)

    orders.discard(group="a")
    orders.discard(topic="u")
    assert len(orders) == 1
    orders.forget(("b", "t", 0))
    assert len(orders) == 0


def test_a_suspension_hides_all_messages_and_does_not_count_the_delivery() -> None:
    orders = PopOrders()
    queue = ("g", "%LMQ%$rooms$a", 0)
    orders.record_pop(queue, [0, 1], 0, 10, None)
    orders.record_pop(queue, [0, 1], 20, 10, None)
    orders.change_time(queue, 0, 20, 99)

    orders.suspend(queue, 19, 500)
    orders.suspend(("g", "other", 0), 20, 500)
    assert not orders.is_blocked(queue, None, 99)
    orders.suspend(queue, 20, 50)

    assert orders.is_blocked(queue, None, 49)
    assert not orders.is_blocked(queue, None, 50)
    assert orders.record_pop(queue, [0, 1], 60, 10, None) == {0: 1, 1: 1}
    assert (orders.count("%LMQ%$"), orders.count("x")) == (1, 0)
