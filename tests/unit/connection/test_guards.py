"""The time that a connection has, and its part of the memory."""

import math

import pytest

from rocketwire.connection.guards import Activity, Deadlines, Guard, Holdings, exceeds
from rocketwire.serving.events import ConnectionTooSlow
from rocketwire_namesrv.config.config import Config


@pytest.mark.parametrize(("amount", "limit", "above"), [(1, 1, False), (2, 1, True), (2, 0, False)])
def test_zero_is_no_limit(amount: int, limit: int, above: bool) -> None:
    assert exceeds(amount, limit) is above
    assert not exceeds(amount, -1)


def test_the_largest_holders_are_removed_until_the_limit() -> None:
    holdings = Holdings()
    for number, size in ((1, 10), (2, 30), (3, 30), (4, 20)):
        holdings.note(number, size)
    holdings.note(4, 5)

    assert list(holdings.remove_largest(75)) == []
    assert list(holdings.remove_largest(20)) == [(2, 30), (3, 30)]
    assert (holdings.total, len(holdings)) == (15, 2)
    holdings.note(2, 0)
    assert holdings.total == 15


def reason(activity: Activity, seconds: float, deadlines: Deadlines) -> str | None:
    overdue = activity.overdue(activity.since + seconds, deadlines)
    return None if overdue is None else overdue.text


def test_it_is_overdue_when_idle_or_in_a_frame_for_too_long() -> None:
    activity = Activity(1000)
    activity.note_frames(1010, is_complete=False, is_started=True)
    deadlines = Deadlines(idle=120, frame=60)
    assert reason(activity, 69, deadlines) is None
    assert reason(activity, 70, deadlines) == "a frame took longer than 60 s"
    assert reason(activity, 120, deadlines) == "idle for 120 s"


def test_further_bytes_of_a_frame_give_it_no_more_time() -> None:
    activity = Activity(1000)
    for second in range(60):
        activity.note_frames(1000 + second, is_complete=False, is_started=True)
    assert reason(activity, 60, Deadlines(frame=60)) == "a frame took longer than 60 s"


def test_a_complete_frame_begins_the_time_of_the_next_one() -> None:
    activity = Activity(1000)
    activity.note_frames(1000, is_complete=False, is_started=True)
    activity.note_frames(1050, is_complete=True, is_started=True)
    assert reason(activity, 109, Deadlines(idle=120, frame=60)) is None
    assert reason(activity, 110, Deadlines(frame=60)) == "a frame took longer than 60 s"


def test_activity_begins_the_idle_time_anew() -> None:
    activity, deadlines = Activity(1000), Deadlines(idle=120, first_frame=30)
    activity.is_active = True
    assert reason(activity, 100, deadlines) is None
    assert reason(activity, 219, deadlines) is None
    assert reason(activity, 220, deadlines) == "idle for 120 s"


def test_it_is_overdue_when_its_answers_are_not_taken() -> None:
    activity = Activity(1000)
    activity.heard += 10
    activity.sending = True

    assert reason(activity, 40, Deadlines(send=30)) == "responses were not read for 30 s"
    assert reason(activity, 39, Deadlines(send=30)) is None
    assert reason(activity, 40, Deadlines()) is None
    activity.sending = False
    assert reason(activity, 40, Deadlines(send=30)) is None


def test_it_is_overdue_when_it_does_not_begin() -> None:
    activity = Activity(1000)
    assert reason(activity, 10, Deadlines(first_frame=10)) == "without a frame for 10 s"
    assert reason(activity, 9, Deadlines(first_frame=10)) is None
    activity.heard += 1
    assert reason(activity, 10, Deadlines(first_frame=10)) is None


def test_an_end_that_is_overdue_names_the_setting_and_the_client() -> None:
    overdue = Activity(1000).overdue(1120, Deadlines(idle=120))
    assert overdue is not None
    assert overdue.guard is Guard.IDLE_TIME
    event = ConnectionTooSlow.of(overdue, "client:1")
    assert event.text == "connection of client:1 closed: idle for 120 s"


def test_deadlines_come_from_the_settings() -> None:
    assert Deadlines.of(Config()) == Deadlines(120, 60, 60, math.inf)
    config = Config(
        server_channel_max_idle_time_seconds=0,
        frame_deadline_seconds=0,
        send_deadline_seconds=-1,
        first_frame_deadline_seconds=5,
    )
    assert Deadlines.of(config) == Deadlines(first_frame=5)
