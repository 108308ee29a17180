"""Fetches lists in pages: the topics (code 21) and groups (code 201) of a broker.

If the configuration changes meanwhile, all pages are fetched again, at most ``MAX_RESTARTS`` times.
Brokers before 5.3.2 return everything at once, without a total.

Java: ``MQClientAPIImpl.getAllTopicConfig``, ``getAllSubscriptionGroup``, whose loops can miss the
last entry.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from rocketwire.messages import encode_body

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import DataVersion

# Entries of one page (Java: ``ClientConfig.maxPageSizeInGetMetadata``). A broker may return fewer.
PAGE_SIZE: Final = 2000
MAX_RESTARTS: Final = 10  # limit for a broker whose configuration changes all the time

Entry = TypeVar("Entry")


class Page(NamedTuple, Generic[Entry]):
    entries: Mapping[str, Entry]
    total: int | None  # number of all entries; None from brokers that return everything at once
    version: DataVersion | None


async def all_pages(ask: Callable[[int, str], Awaitable[Page[Entry]]]) -> Page[Entry]:
    """Fetch pages from an index, for the version of those before as JSON; return them as one."""
    page: Page[Entry] = await ask(0, "")
    entries, version, restarts = dict(page.entries), page.version, 0
    while page.total is not None and len(entries) < page.total:
        page = await ask(len(entries), encode_body(version).decode() if version else "")
        if page.version != version and restarts < MAX_RESTARTS:
            restarts += 1
            entries, version = {}, page.version
            page = Page({}, page.total, version)
        elif not page.entries:
            break  # fewer than the total; another request would not help
        entries.update(page.entries)
    return Page(entries, page.total, version)
