"""Which cases: by prefix of the address, by tag, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.model.case import Case


def under(case_id: str, prefix: str) -> bool:
    """Whether an address is this one or lies under it: ``ns/103`` has ``ns/103/4`` and not ``ns/1030``."""
    return case_id == prefix or case_id.startswith(prefix.rstrip("/") + "/")


def select(
    cases: Sequence[Case],
    prefixes: Sequence[str] = (),
    tags: Sequence[str] = (),
    without: Sequence[str] = (),
) -> list[Case]:
    """Cases under any of the prefixes, with any of the tags, and with none of the tags ``without``.

    No prefix means all, and no tag means any.
    """
    return [
        case
        for case in cases
        if (not prefixes or any(under(case.id, prefix) for prefix in prefixes))
        and (not tags or case.all_tags.intersection(tags))
        and not case.all_tags.intersection(without)
    ]
