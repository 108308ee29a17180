"""``NameServerSelector``: sticky, going round, the failed ones last."""

from rocketwire.client.net.nameservers import NameServerSelector, attempt_timeout


def test_servers_are_tried_from_the_given_one_until_one_responds() -> None:
    selector = NameServerSelector(["a", "b", "c"], start=4)

    assert selector.peek_order() == ("b", "c", "a")
    assert selector.next_order() == ("b", "c", "a")
    assert selector.next_order() == ("c", "a", "b")


def test_the_last_responding_server_is_first_until_it_fails() -> None:
    selector = NameServerSelector(["a", "b", "c"])
    selector.mark_responded("b")

    assert selector.next_order() == ("b", "c", "a")
    assert selector.next_order() == ("b", "c", "a")
    selector.mark_failed("b")
    assert selector.current is None
    assert selector.failed == {"b"}
    assert selector.next_order()[-1] == "b"
    selector.mark_reachable("b")
    assert selector.failed == frozenset()


def test_a_new_list_keeps_the_chosen_server_and_returns_removed_ones() -> None:
    selector = NameServerSelector(["a", "b"])
    selector.mark_responded("b")
    selector.mark_failed("a")

    assert selector.replace([]) == ()
    assert selector.replace(["b", "a"]) == ()
    assert selector.addresses == ("a", "b")
    assert selector.replace(["b", "c", "c"]) == ("a",)
    assert selector.addresses == ("b", "c")
    assert selector.current == "b"
    assert selector.failed == frozenset()
    assert selector.replace(["c"]) == ("b",)
    assert selector.current is None


def test_unknown_servers_change_nothing() -> None:
    selector = NameServerSelector(["a"])
    selector.mark_failed("x")
    selector.mark_responded("x")

    assert selector.current is None
    assert selector.failed == frozenset()
    assert NameServerSelector().next_order() == ()


def test_the_last_server_gets_all_remaining_time() -> None:
    assert attempt_timeout(3.0, 3) == 1.5
    assert attempt_timeout(1.5, 2) == 0.75
    assert attempt_timeout(0.75, 1) == 0.75
