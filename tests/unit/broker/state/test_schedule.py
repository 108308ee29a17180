"""Actions with a time."""

import pytest

from rocketwire_broker.state.schedule import MAX_ACTIONS, Schedule


@pytest.fixture
def schedule() -> Schedule:
    return Schedule()


@pytest.fixture
def times() -> list[int]:
    return []


def test_actions_run_when_they_are_due_in_the_order_of_their_times(schedule: Schedule) -> None:
    runs = list[tuple[str, int]]()
    for due, name in ((20, "later"), (10, "first"), (10, "second"), (30, "not yet")):
        schedule.at(due, lambda now, name=name: runs.append((name, now)))  # type: ignore[misc]  # a default as argument

    assert schedule.next_due == 10
    schedule.run(25)

    assert runs == [("first", 25), ("second", 25), ("later", 25)]
    assert (schedule.next_due, len(schedule)) == (30, 1)


def test_action_may_add_one_that_is_due_at_once(schedule: Schedule, times: list[int]) -> None:
    def repeat(now: int) -> None:
        times.append(now)
        if len(times) < 3:
            schedule.at(now, repeat)

    schedule.at(1, repeat)
    schedule.run(5)

    assert times == [5, 5, 5]


def test_a_cancelled_action_does_not_run(schedule: Schedule, times: list[int]) -> None:
    entry = schedule.at(1, times.append)
    schedule.cancel(entry)
    schedule.cancel(entry)
    schedule.run(5)

    assert (times, schedule.next_due, len(schedule)) == ([], None, 0)


def test_an_action_that_has_run_cannot_be_cancelled(schedule: Schedule, times: list[int]) -> None:
    entry = schedule.at(1, times.append)
    schedule.run(1)
    schedule.cancel(entry)

    assert len(schedule) == 0


def test_many_cancelled_actions_take_no_room(schedule: Schedule, times: list[int]) -> None:
    entries = [schedule.at(1000 + index, times.append) for index in range(5000)]
    for entry in entries[1:]:
        schedule.cancel(entry)

    assert len(schedule) == 1
    assert len(vars(schedule)["_heap"]) < 1500
    schedule.run(10_000)
    assert times == [10_000]


def test_run_leaves_many_actions_to_the_next_one(schedule: Schedule, times: list[int]) -> None:
    for _ in range(MAX_ACTIONS + 1):
        schedule.at(5, times.append)

    schedule.run(5)
    assert (len(times), schedule.next_due) == (MAX_ACTIONS, 5)
    schedule.run(5)
    assert len(times) == MAX_ACTIONS + 1


def test_a_repeated_action_runs_after_each_period(schedule: Schedule, times: list[int]) -> None:
    schedule.repeat_every(10, times.append, now=0)
    for now in (5, 10, 19, 20):
        schedule.run(now)

    assert times == [10, 20]


def test_named_action_runs_at_its_earliest_time(schedule: Schedule, times: list[int]) -> None:
    for due in (20, 10, 30):
        schedule.run_by("check", due, times.append)
    schedule.run_by("another", 20, times.append)

    schedule.run(10)
    assert (times, len(schedule)) == ([10], 1)
    schedule.run(40)
    assert times == [10, 40]
    schedule.run_by("check", 50, times.append)
    schedule.run(50)
    assert times == [10, 40, 50]


def test_repeated_action_continues_after_a_fault(schedule: Schedule, times: list[int]) -> None:
    def fail_first(now: int) -> None:
        times.append(now)
        if now == 10:
            raise ValueError(now)

    schedule.repeat_every(10, fail_first, 0)
    with pytest.raises(ValueError, match="10"):
        schedule.run(10)
    schedule.run(20)

    assert times == [10, 20]


def test_repeated_actions_differ_from_single_ones(schedule: Schedule) -> None:
    schedule.repeat_every(10, lambda _: None, 0)

    assert (schedule.next_due, schedule.next_due_for_once()) == (10, None)
    schedule.run(10)
    cancelled = schedule.at(15, lambda _: None)
    schedule.at(35, lambda _: None)
    schedule.cancel(cancelled)

    assert (schedule.next_due, schedule.next_due_for_once()) == (20, 35)


def test_nothing_is_searched_among_many_entries(schedule: Schedule) -> None:
    schedule.repeat_every(10, lambda _: None, 0)
    for due in range(1_000):
        schedule.at(100 + due, lambda _: None)

    assert schedule.next_due_for_once() == 10
