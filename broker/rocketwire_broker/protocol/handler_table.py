"""All modules of handlers, and the requests that they declare."""

from __future__ import annotations

from typing import Final

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
from rocketwire_broker.handlers.pops import acknowledgements, notifications, pop
from rocketwire_broker.handlers.registry import REQUESTS

__all__ = ["REQUESTS", "SUBJECTS"]

SUBJECTS: Final = (
    *(sends, pulls, offsets, members, locks, queries),
    *(retries, recalls, transactions, replies),
    *(pop, notifications, acknowledgements, assignments),
    *(lite_subscriptions, lite_pops, figures),
    *(topics, groups, progress, runtime, upkeep, relays),
)
"""The modules of handlers; to import them fills ``REQUESTS``."""
