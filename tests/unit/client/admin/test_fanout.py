"""Calls of several brokers, one of which is silent."""

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


class Brokers:
    """Returns the name of a broker, or raises its error; records the calls."""

    def __init__(self, **errors: Exception) -> None:
        self.errors = errors
        self.called: list[str] = []

    async def __call__(self, place: str) -> str:
        self.called.append(place)
        await trio.lowlevel.checkpoint()
        if place in self.errors:
            raise self.errors[place]
        return place.upper()


@pytest.mark.parametrize("reads", [False, True])
async def test_all_brokers_are_called_and_the_first_error_is_raised(reads: bool) -> None:
    brokers = Brokers(b=SILENT, c=REFUSED)
    with pytest.raises(RequestTimeoutError):
        await (read_from_each if reads else call_each)("abcd", brokers)

    assert sorted(brokers.called) == ["a", "b", "c", "d"]


async def test_a_call_refuses_a_name_that_its_target_does_not_have() -> None:
    users: Any = Users.__new__(Users)
    with pytest.raises(TypeError, match=r"^Users\.create\(\) .* 'brokr'; did you mean broker\?$"):
        await users.create(UserInfo(), brokr="b:1")


async def test_a_silent_broker_is_skipped_by_later_calls_of_the_block() -> None:
    brokers = Brokers(b=SILENT)
    with leaving_out() as left_out:
        assert await read_from_each("abc", brokers) == {"a": "A", "c": "C"}
        assert await read_from_each("ab", brokers) == {"a": "A"}

    assert left_out == {"b": SILENT}
    assert brokers.called.count("b") == 1
    with pytest.raises(RequestTimeoutError):
        await read_from_each("ab", brokers)


async def test_of_concurrent_calls_the_first_timeout_is_kept() -> None:
    started, first_failed = trio.Event(), trio.Event()

    async def fail_late(place: str) -> str:
        if place == "b":
            started.set()
            await first_failed.wait()
            raise RequestTimeoutError("b:1", 203, 5.0)
        return place

    with leaving_out() as left_out:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_from_each, "ab", fail_late)
            await started.wait()
            await read_from_each("ab", Brokers(b=SILENT))
            first_failed.set()

    assert left_out == {"b": SILENT}


async def test_refusals_and_a_single_broker_are_not_left_out() -> None:
    with leaving_out():
        with pytest.raises(BrokerError):
            await read_from_each("abc", Brokers(b=SILENT, c=REFUSED))
        with pytest.raises(RequestTimeoutError):
            await read_from_each("b", Brokers())
        assert await read_from_each("", Brokers()) == {}


async def test_changes_leave_no_broker_out() -> None:
    with leaving_out() as left_out, pytest.raises(RequestTimeoutError):
        await call_each("ab", Brokers(b=SILENT))

    assert not left_out


def test_sequential_callers_can_leave_brokers_out() -> None:
    error = ConnectFailedError("b:1: refused")
    with pytest.raises(ConnectFailedError):
        leave_out("b", error)
    with leaving_out() as left_out:
        assert leave_out("b", error) is error

        assert leave_out("a group at b", error) is error

    assert left_out == {"b": error}
