"""The table of all handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rocketwire_broker.handlers import locks, members, offsets, pulls, sends

if TYPE_CHECKING:
    from rocketwire_broker.handlers.fields import Handler

HANDLERS: Final[Mapping[int, Handler]] = {
    **sends.HANDLERS,
    **pulls.HANDLERS,
    **offsets.HANDLERS,
    **members.HANDLERS,
    **locks.HANDLERS,
}
"""Handler of each request code."""
