"""Changes of a topic's or a group's attributes, as brokers want them: ``+name`` is set, ``-name`` removed.

Java: ``AttributeParser``, ``AttributeUtil``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.errors import LocalProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping


def attribute_changes(attributes: Mapping[str, str] | None) -> dict[str, str]:
    """What brokers are told to change: names without a sign are set, signed ones stay as they are; ``-name`` has no value."""
    changes: dict[str, str] = {}
    for name, value in (attributes or {}).items():
        if name.startswith("-"):
            changes[name] = ""
        else:
            changes[name if name.startswith("+") else f"+{name}"] = value
    return changes


def parse_attribute_changes(text: str) -> dict[str, str]:
    """The changes of a text ``+a=b,+c=d,-e``, as operators write it (Java: ``AttributeParser.parseToMap``).

    Raises:
        LocalProtocolError: a change has no sign, no name, no value where it sets one, or comes twice.
    """
    changes: dict[str, str] = {}
    for part in (text or "").split(","):
        name, equals, value = part.strip().partition("=")
        is_set = name.startswith("+")
        if not part.strip():
            continue
        if len(name) < 2 or not (is_set or name.startswith("-")) or is_set != bool(equals):
            raise LocalProtocolError(f"not +name=value or -name but {part.strip()[:80]!r}")
        if name in changes:
            raise LocalProtocolError(f"{name} comes twice")
        changes[name] = value
    return changes
