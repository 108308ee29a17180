"""Hidden messages and what ends their time."""

from rocketwire_broker.tables.pops import HiddenMessage, Origin, Pops

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
