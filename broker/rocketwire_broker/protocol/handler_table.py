"""The table of all handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rocketwire_broker.handlers import (
    assignments,
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
from rocketwire_broker.handlers.admin import (
    groups,
    progress,
    relays,
    runtime,
    topics,
    upkeep,
)
from rocketwire_broker.handlers.lite import figures
from rocketwire_broker.handlers.lite import pops as lite_pops
from rocketwire_broker.handlers.lite import subscriptions as lite_subscriptions
from rocketwire_broker.handlers.pops import acknowledgements, notifications, pops

if TYPE_CHECKING:
    from rocketwire_broker.handlers.fields import Handler

SUBJECTS: Final = (
    *(sends, pulls, offsets, members, locks, queries),
    *(retries, recalls, transactions, replies),
    *(pops, notifications, acknowledgements, assignments),
    *(lite_subscriptions, lite_pops, figures),
    *(topics, groups, progress, runtime, upkeep, relays),
)
"""The modules of handlers."""

HANDLERS: Final[Mapping[int, Handler]] = {
    code: handler for subject in SUBJECTS for code, handler in subject.HANDLERS.items()
}
"""Handler of each request code."""
