"""Reading everything in pages, also of a broker that changes meanwhile."""

from rocketwire.client.admin.fanout import Page, all_pages
from rocketwire.messages.topic_config import DataVersion


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
