"""Messages of topics, as tests compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocketwire.wire.message.stored import StoredMessage


def properties_of(message: StoredMessage) -> dict[str, str]:
    """Return the properties that have a value."""
    return {name: value for name, value in (message.properties or {}).items() if value is not None}
