"""Selection of cases by prefix of the address and by tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.model.case import Case


def under(case_id: str, prefix: str) -> bool:
    """Whether ``prefix`` contains an address: ``ns/103`` contains ``ns/103/4``, not ``ns/1030``."""
    return case_id == prefix or case_id.startswith(prefix.rstrip("/") + "/")


def select(
    cases: Sequence[Case],
    prefixes: Sequence[str] = (),
    tags: Sequence[str] = (),
    without: Sequence[str] = (),
) -> list[Case]:
    """Cases with any of the prefixes, any of the tags, and none of the tags ``without``.

    Without prefixes or without tags, all cases match.
    """
    return [
        case
        for case in cases
        if (not prefixes or any(under(case.id, prefix) for prefix in prefixes))
        and (not tags or case.all_tags.intersection(tags))
        and not case.all_tags.intersection(without)
    ]
