"""What happens later."""

from __future__ import annotations

import pytest

from rocketwire_broker.state.schedule import MAX_ACTIONS, Schedule


def test_actions_run_when_they_are_due_in_the_order_of_their_times() -> None:
    schedule, done = Schedule(), list[tuple[str, int]]()
    for due, name in ((20, "later"), (10, "first"), (10, "second"), (30, "not yet")):
        schedule.at(due, lambda now, name=name: done.append((name, now)))  # type: ignore[misc]  # a default as argument

    assert schedule.next_due == 10
    schedule.run(25)

    assert done == [("first", 25), ("second", 25), ("later", 25)]
    assert (schedule.next_due, len(schedule)) == (30, 1)


def test_an_action_may_add_another_that_is_due_at_once() -> None:
    schedule, done = Schedule(), list[int]()

    def again(now: int) -> None:
        done.append(now)
        if len(done) < 3:
            schedule.at(now, again)

    schedule.at(1, again)
    schedule.run(5)

    assert done == [5, 5, 5]


def test_a_cancelled_action_does_not_run() -> None:
    schedule, done = Schedule(), list[int]()
    entry = schedule.at(1, done.append)
    schedule.cancel(entry)
    schedule.cancel(entry)
    schedule.run(5)

    assert (done, schedule.next_due, len(schedule)) == ([], None, 0)


def test_an_action_that_has_run_cannot_be_cancelled() -> None:
    schedule, done = Schedule(), list[int]()
    entry = schedule.at(1, done.append)
    schedule.run(1)
    schedule.cancel(entry)

    assert len(schedule) == 0


def test_many_cancelled_actions_take_no_room() -> None:
    schedule, done = Schedule(), list[int]()
    entries = [schedule.at(1000 + index, done.append) for index in range(5000)]
    for entry in entries[1:]:
        schedule.cancel(entry)

    assert len(schedule) == 1
    assert schedule.size < 1500
    schedule.run(10_000)
    assert done == [10_000]


def test_a_run_leaves_the_rest_of_many_actions_to_the_next_run() -> None:
    schedule, done = Schedule(), list[int]()
    for _ in range(MAX_ACTIONS + 1):
        schedule.at(5, done.append)

    schedule.run(5)
    assert (len(done), schedule.next_due) == (MAX_ACTIONS, 5)
    schedule.run(5)
    assert len(done) == MAX_ACTIONS + 1


def test_a_repeated_action_runs_after_each_period() -> None:
    schedule, done = Schedule(), list[int]()
    schedule.every(10, done.append, now=0)
    for now in (5, 10, 19, 20):
        schedule.run(now)

    assert done == [10, 20]


def test_an_action_with_a_name_runs_once_at_the_earliest_of_its_times() -> None:
    schedule, done = Schedule(), list[int]()
    for due in (20, 10, 30):
        schedule.no_later("check", due, done.append)
    schedule.no_later("another", 20, done.append)

    schedule.run(10)
    assert (done, len(schedule)) == ([10], 1)
    schedule.run(40)
    assert done == [10, 40]
    schedule.no_later("check", 50, done.append)
    schedule.run(50)
    assert done == [10, 40, 50]


def test_what_is_done_again_and_again_goes_on_after_a_fault() -> None:
    schedule, done = Schedule(), list[int]()

    def fail_first(now: int) -> None:
        done.append(now)
        if now == 10:
            raise ValueError(now)

    schedule.every(10, fail_first, 0)
    with pytest.raises(ValueError, match="10"):
        schedule.run(10)
    schedule.run(20)

    assert done == [10, 20]


def test_what_happens_every_few_seconds_is_not_what_happens_once() -> None:
    schedule = Schedule()
    schedule.every(10, lambda _: None, 0)

    assert (schedule.next_due, schedule.next_due_for_once()) == (10, None)
    schedule.run(10)
    cancelled = schedule.at(15, lambda _: None)
    schedule.at(35, lambda _: None)
    schedule.cancel(cancelled)

    assert (schedule.next_due, schedule.next_due_for_once()) == (20, 35)


def test_nothing_is_searched_among_many_entries() -> None:
    schedule = Schedule()
    schedule.every(10, lambda _: None, 0)
    for due in range(1_000):
        schedule.at(100 + due, lambda _: None)

    assert schedule.next_due_for_once() == 10
