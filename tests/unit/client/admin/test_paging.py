"""Reading everything in pages, also of a broker that changes meanwhile."""

from __future__ import annotations

from rocketwire.client.admin.paging import Page, all_pages
from rocketwire.messages.topic_config import DataVersion


def version(counter: int) -> DataVersion:
    return DataVersion(counter=counter, timestamp=1)


def pages_of(names: str, size: int, counter: int = 0) -> dict[int, Page[str]]:
    return {
        start: Page(dict.fromkeys(names[start : start + size], "x"), len(names), version(counter))
        for start in range(0, len(names), size)
    }


async def test_pages_are_asked_for_until_all_are_there() -> None:
    pages = pages_of("abcde", 2)
    asked: list[tuple[int, bool]] = []

    async def ask(start: int, told: str) -> Page[str]:
        asked.append((start, "counter" in told))
        return pages[start]

    found = await all_pages(ask)

    assert "".join(found.entries) == "abcde"
    assert asked == [(0, False), (2, True), (4, True)]


async def test_a_broker_that_gives_all_at_once_is_asked_once() -> None:
    async def ask(start: int, told: str) -> Page[str]:
        assert (start, told) == (0, "")
        return Page({"a": "x"}, None, None)

    assert (await all_pages(ask)).entries == {"a": "x"}


async def test_a_change_begins_it_anew() -> None:
    answers = [
        pages_of("abc", 2)[0],
        pages_of("bcd", 2, counter=1)[0],
        pages_of("bcd", 2, counter=1)[0],
        pages_of("bcd", 2, counter=1)[2],
    ]
    starts: list[int] = []

    async def ask(start: int, told: str) -> Page[str]:
        starts.append(start)
        return answers[len(starts) - 1]

    found = await all_pages(ask)

    assert "".join(found.entries) == "bcd"
    assert starts == [0, 2, 0, 2]


async def test_a_broker_that_changes_all_the_time_is_not_read_for_ever() -> None:
    calls = 0

    async def ask(start: int, told: str) -> Page[str]:
        nonlocal calls
        calls += 1
        return Page({f"n{start}": "x"}, 3, version(calls))

    found = await all_pages(ask)

    assert len(found.entries) == 3
    assert calls < 40


async def test_fewer_than_it_says_ends_it() -> None:
    async def ask(start: int, told: str) -> Page[str]:
        return Page({} if start else {"a": "x"}, 3, version(0))

    assert (await all_pages(ask)).entries == {"a": "x"}
