"""``NameServerChoice``: sticky, going round, the failed ones last."""

from __future__ import annotations

from rocketwire.client.net.nameserver_selector import NameServerChoice, share_of


def test_the_round_begins_where_it_is_told_and_moves_on_until_somebody_answers() -> None:
    choice = NameServerChoice(["a", "b", "c"], start=4)

    assert choice.next_order() == ("b", "c", "a")
    assert choice.order() == ("b", "c", "a")
    assert choice.order() == ("c", "a", "b")


def test_who_answered_is_asked_first_until_it_fails_and_then_last() -> None:
    choice = NameServerChoice(["a", "b", "c"])
    choice.answered("b")

    assert choice.order() == ("b", "c", "a")
    assert choice.order() == ("b", "c", "a")
    choice.failed("b")
    assert choice.chosen is None
    assert choice.down == {"b"}
    assert choice.order()[-1] == "b"
    choice.came_back("b")
    assert choice.down == frozenset()


def test_a_new_list_keeps_the_chosen_one_and_says_who_is_gone() -> None:
    choice = NameServerChoice(["a", "b"])
    choice.answered("b")
    choice.failed("a")

    assert choice.replace([]) == ()
    assert choice.replace(["b", "a"]) == ()
    assert choice.addresses == ("a", "b")
    assert choice.replace(["b", "c", "c"]) == ("a",)
    assert choice.addresses == ("b", "c")
    assert choice.chosen == "b"
    assert choice.down == frozenset()
    assert choice.replace(["c"]) == ("b",)
    assert choice.chosen is None


def test_strangers_change_nothing() -> None:
    choice = NameServerChoice(["a"])
    choice.failed("x")
    choice.answered("x")

    assert choice.chosen is None
    assert choice.down == frozenset()
    assert NameServerChoice().order() == ()


def test_the_last_server_may_take_all_the_time_that_is_left() -> None:
    assert share_of(3.0, 3) == 1.5
    assert share_of(1.5, 2) == 0.75
    assert share_of(0.75, 1) == 0.75
