"""The table of all handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rocketwire_broker.handlers import (
    locks,
    members,
    offsets,
    pulls,
    queries,
    recalls,
    replies,
    retries,
    sends,
    transactions,
)
from rocketwire_broker.handlers.admin import groups, progress, relays, runtime, topics

if TYPE_CHECKING:
    from rocketwire_broker.handlers.fields import Handler

_SUBJECTS: Final = (
    *(sends, pulls, offsets, members, locks, queries),
    *(retries, recalls, transactions, replies),
    *(topics, groups, progress, runtime, relays),
)

HANDLERS: Final[Mapping[int, Handler]] = {
    code: handler for subject in _SUBJECTS for code, handler in subject.HANDLERS.items()
}
"""Handler of each request code."""
