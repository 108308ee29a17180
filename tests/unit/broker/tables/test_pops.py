"""Hidden messages and what ends their time."""

from __future__ import annotations

from rocketwire_broker.tables.pops import HiddenMessage, Pops

HIDDEN = HiddenMessage("group", "topic", 0, 7, 1_000)


def test_a_message_is_taken_once() -> None:
    pops = Pops[str]()
    pops.hide(HIDDEN, "timer")

    assert [pops.take(HIDDEN), pops.take(HIDDEN)] == ["timer", None]


def test_two_pops_of_a_message_are_apart() -> None:
    pops = Pops[str]()
    pops.hide(HIDDEN, "first")
    pops.hide(HIDDEN._replace(pop_time=2_000), "second")

    assert pops.take(HIDDEN) == "first"
    assert len(pops) == 1


def test_discarded_messages_give_back_their_timers() -> None:
    pops = Pops[str]()
    pops.hide(HIDDEN, "first")
    pops.hide(HIDDEN._replace(topic="other"), "second")

    assert list(pops.discard(lambda hidden: hidden.topic == "other")) == ["second"]
    assert len(pops) == 1
