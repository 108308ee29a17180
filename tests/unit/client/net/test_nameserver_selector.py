"""``NameServerSelector``: sticky, going round, the failed ones last."""

from __future__ import annotations

from rocketwire.client.net.nameserver_selector import NameServerSelector, attempt_timeout


def test_servers_are_tried_from_the_given_one_until_one_responds() -> None:
    choice = NameServerSelector(["a", "b", "c"], start=4)

    assert choice.peek_order() == ("b", "c", "a")
    assert choice.next_order() == ("b", "c", "a")
    assert choice.next_order() == ("c", "a", "b")


def test_who_answered_is_asked_first_until_it_fails_and_then_last() -> None:
    choice = NameServerSelector(["a", "b", "c"])
    choice.mark_responded("b")

    assert choice.next_order() == ("b", "c", "a")
    assert choice.next_order() == ("b", "c", "a")
    choice.mark_failed("b")
    assert choice.current is None
    assert choice.failed == {"b"}
    assert choice.next_order()[-1] == "b"
    choice.mark_reachable("b")
    assert choice.failed == frozenset()


def test_a_new_list_keeps_the_chosen_one_and_says_who_is_gone() -> None:
    choice = NameServerSelector(["a", "b"])
    choice.mark_responded("b")
    choice.mark_failed("a")

    assert choice.replace([]) == ()
    assert choice.replace(["b", "a"]) == ()
    assert choice.addresses == ("a", "b")
    assert choice.replace(["b", "c", "c"]) == ("a",)
    assert choice.addresses == ("b", "c")
    assert choice.current == "b"
    assert choice.failed == frozenset()
    assert choice.replace(["c"]) == ("b",)
    assert choice.current is None


def test_strangers_change_nothing() -> None:
    choice = NameServerSelector(["a"])
    choice.mark_failed("x")
    choice.mark_responded("x")

    assert choice.current is None
    assert choice.failed == frozenset()
    assert NameServerSelector().next_order() == ()


def test_the_last_server_may_take_all_the_time_that_is_left() -> None:
    assert attempt_timeout(3.0, 3) == 1.5
    assert attempt_timeout(1.5, 2) == 0.75
    assert attempt_timeout(0.75, 1) == 0.75
