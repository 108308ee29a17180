"""What goes to several brokers, of whom one does not answer."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from rocketwire.client.admin import leaving_out
from rocketwire.client.admin.auth import Users
from rocketwire.client.admin.fanout import call_each, leave_out, read_from_each
from rocketwire.errors import BrokerError, ConnectFailedError, RequestTimeoutError
from rocketwire.messages.auth import UserInfo

SILENT = RequestTimeoutError("b:1", 28, 5.0)
REFUSED = BrokerError(1, "no", 28, "c:1")


class Asked:
    """Answers with the place, but for those that fail; notes who was asked."""

    def __init__(self, **failing: Exception) -> None:
        self.failing = failing
        self.places: list[str] = []

    async def __call__(self, place: str) -> str:
        self.places.append(place)
        await trio.lowlevel.checkpoint()
        if place in self.failing:
            raise self.failing[place]
        return place.upper()


@pytest.mark.parametrize("reads", [False, True])
async def test_everybody_is_asked_and_the_first_error_raised(*, reads: bool) -> None:
    asked = Asked(b=SILENT, c=REFUSED)
    with pytest.raises(RequestTimeoutError):
        await (read_from_each if reads else call_each)("abcd", asked)

    assert sorted(asked.places) == ["a", "b", "c", "d"]


async def test_a_call_refuses_a_name_that_its_target_does_not_have() -> None:
    users: Any = Users.__new__(Users)
    with pytest.raises(TypeError, match=r"^Users\.create\(\) .* 'brokr'; did you mean broker\?$"):
        await users.create(UserInfo(), brokr="b:1")


async def test_a_silent_broker_is_skipped_by_all_later_calls_if_wanted() -> None:
    asked = Asked(b=SILENT)
    with leaving_out() as left_out:
        assert await read_from_each("abc", asked) == {"a": "A", "c": "C"}
        assert await read_from_each("ab", asked) == {"a": "A"}

    assert left_out == {"b": SILENT}
    assert asked.places.count("b") == 1
    with pytest.raises(RequestTimeoutError):
        await read_from_each("ab", asked)


async def test_of_several_calls_at_once_the_first_that_has_no_answer_tells_of_it() -> None:
    begun, noted = trio.Event(), trio.Event()

    async def late(place: str) -> str:
        if place == "b":
            begun.set()
            await noted.wait()
            raise RequestTimeoutError("b:1", 203, 5.0)
        return place

    with leaving_out() as left_out:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_from_each, "ab", late)
            await begun.wait()
            await read_from_each("ab", Asked(b=SILENT))
            noted.set()

    assert left_out == {"b": SILENT}


async def test_who_refuses_is_not_left_out_and_who_is_alone_is_neither() -> None:
    with leaving_out():
        with pytest.raises(BrokerError):
            await read_from_each("abc", Asked(b=SILENT, c=REFUSED))
        with pytest.raises(RequestTimeoutError):
            await read_from_each("b", Asked())
        assert await read_from_each("", Asked()) == {}


async def test_changes_leave_nobody_out() -> None:
    with leaving_out() as left_out, pytest.raises(RequestTimeoutError):
        await call_each("ab", Asked(b=SILENT))

    assert not left_out


def test_who_asks_one_after_the_other_may_leave_somebody_out_too() -> None:
    error = ConnectFailedError("b:1: refused")
    with pytest.raises(ConnectFailedError):
        leave_out("b", error)
    with leaving_out() as left_out:
        assert leave_out("b", error) is error

        assert leave_out("a group at b", error) is error

    assert left_out == {"b": error}
