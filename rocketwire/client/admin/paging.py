"""Everything of a broker that comes in pages: its topics (code 21) and its groups (code 201).

Rules of this file: a broker that changes while it is read is read again from its first page, and
after ``MAX_RESTARTS`` of that what was read last is given.  Brokers before 5.3.2 give all at once
and say no total.

Java: ``MQClientAPIImpl.getAllTopicConfig``, ``getAllSubscriptionGroup``, whose loops can miss the
last entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from rocketwire.messages import encode_body

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from rocketwire.messages.topic_config import DataVersion

PAGE_SIZE: Final = 2000
"""Entries of one page (Java: ``ClientConfig.maxPageSizeInGetMetadata``).

A broker may give fewer.
"""

MAX_RESTARTS: Final = 10
"""A broker that changes all the time is not read for ever."""

Entry = TypeVar("Entry")


class Page(NamedTuple, Generic[Entry]):
    """One page.

    Attributes:
        entries: by name.
        total: how many there are in all; None from brokers that give all at once.
        version: of the configuration the page is from.
    """

    entries: Mapping[str, Entry]
    total: int | None
    version: DataVersion | None


async def all_pages(ask: Callable[[int, str], Awaitable[Page[Entry]]]) -> Page[Entry]:
    """All pages as one.

    Args:
        ask: gives the page that begins at a number, of the version whose JSON is given; both come
            from the pages before.
    """
    page: Page[Entry] = await ask(0, "")
    entries, version, restarts = dict(page.entries), page.version, 0
    while page.total is not None and len(entries) < page.total:
        page = await ask(len(entries), encode_body(version).decode() if version else "")
        if page.version != version and restarts < MAX_RESTARTS:
            restarts += 1
            entries, version = {}, page.version
            page = Page({}, page.total, version)
        elif not page.entries:
            break  # fewer than it says; asking again would not help
        entries.update(page.entries)
    return Page(entries, page.total, version)
