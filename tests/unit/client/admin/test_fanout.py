"""Calls of several brokers, one of which is silent; reading in pages; requests for messages."""

from typing import Any

import pytest
import trio

from rocketwire.client.admin import Admin, leaving_out
from rocketwire.client.admin.auth import Users
from rocketwire.client.admin.fanout import Page, all_pages, call_each, leave_out, read_from_each
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ConnectFailedError, RequestTimeoutError
from rocketwire.messages.auth import UserInfo
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.messages.topic_config import DataVersion
from rocketwire.testing import reply
from tests.support.fakes.consumer_fakes import BROKER, pull_response, world

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


def version(counter: int) -> DataVersion:
    return DataVersion(counter=counter, timestamp=1)


def pages_of(names: str, size: int, counter: int = 0) -> dict[int, Page[str]]:
    return {
        start: Page(dict.fromkeys(names[start : start + size], "x"), len(names), version(counter))
        for start in range(0, len(names), size)
    }


async def test_pages_are_fetched_until_all_entries_are_present() -> None:
    pages = pages_of("abcde", 2)
    requests: list[tuple[int, bool]] = []

    async def fetch_page(start: int, version_text: str) -> Page[str]:
        requests.append((start, "counter" in version_text))
        return pages[start]

    page = await all_pages(fetch_page)

    assert "".join(page.entries) == "abcde"
    assert requests == [(0, False), (2, True), (4, True)]


async def test_a_single_page_needs_one_request() -> None:
    async def fetch_page(start: int, version_text: str) -> Page[str]:
        assert (start, version_text) == (0, "")
        return Page({"a": "x"}, None, None)

    assert (await all_pages(fetch_page)).entries == {"a": "x"}


async def test_a_changed_version_restarts_the_paging() -> None:
    answers = [
        pages_of("abc", 2)[0],
        pages_of("bcd", 2, counter=1)[0],
        pages_of("bcd", 2, counter=1)[0],
        pages_of("bcd", 2, counter=1)[2],
    ]
    starts: list[int] = []

    async def fetch_page(start: int, version_text: str) -> Page[str]:
        starts.append(start)
        return answers[len(starts) - 1]

    page = await all_pages(fetch_page)

    assert "".join(page.entries) == "bcd"
    assert starts == [0, 2, 0, 2]


async def test_paging_ends_although_the_version_always_changes() -> None:
    calls = 0

    async def fetch_page(start: int, version_text: str) -> Page[str]:
        nonlocal calls
        calls += 1
        return Page({f"n{start}": "x"}, 3, version(calls))

    page = await all_pages(fetch_page)

    assert len(page.entries) == 3
    assert calls < 40


async def test_an_empty_page_ends_the_paging() -> None:
    async def fetch_page(start: int, version_text: str) -> Page[str]:
        return Page({} if start else {"a": "x"}, 3, version(0))

    assert (await all_pages(fetch_page)).entries == {"a": "x"}


async def test_a_message_is_found_by_id_and_pulled_without_a_byte_limit() -> None:
    queue = MessageQueue(topic="orders", broker_name="b", queue_id=0)
    async with world() as (network, client):
        broker = network.peer(BROKER)
        broker.on(Code.QUERY_MESSAGE, reply(code=ResponseCode.QUERY_NOT_FOUND))
        broker.on(Code.PULL_MESSAGE, pull_response())
        messages = Admin(client).messages
        assert await messages.by_unique_key("orders", "ID") == ()
        assert await messages.at(queue, 0) is None

    fields = {request.code: request.ext_fields or {} for request in broker.requests}
    assert fields[Code.QUERY_MESSAGE]["indexType"] == "U"
    assert fields[Code.PULL_MESSAGE]["maxMsgBytes"] == "2147483647"
