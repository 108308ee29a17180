"""Changes of a topic's or a group's attributes: ``+name`` sets, ``-name`` removes an attribute.

Java: ``AttributeParser``, ``AttributeUtil``.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.errors import LocalProtocolError


def attribute_changes(attributes: Mapping[str, str] | None) -> dict[str, str]:
    """Add ``+`` to names without a sign, and remove the values of ``-name``."""
    changes: dict[str, str] = {}
    for name, value in (attributes or {}).items():
        if name.startswith("-"):
            changes[name] = ""
        else:
            changes[name if name.startswith("+") else f"+{name}"] = value
    return changes


def apply_attribute_changes(
    attributes: Mapping[str, str] | None, changes: Mapping[str, str] | None
) -> dict[str, str]:
    """Return attributes after changes: ``+name`` or ``name`` sets one, ``-name`` removes one."""
    result = dict(attributes or {})
    for name, value in attribute_changes(changes).items():
        if name.startswith("+"):
            result[name[1:]] = value
        else:
            result.pop(name[1:], None)
    return result


def attribute_differences(
    before: Mapping[str, str] | None, after: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the changes that lead from some attributes to others; see ``attribute_changes``."""
    before, after = before or {}, after or {}
    changes = {f"+{name}": value for name, value in after.items() if before.get(name) != value}
    return changes | {f"-{name}": "" for name in before if name not in after}


def parse_attribute_changes(text: str) -> dict[str, str]:
    """Parse ``+a=b,+c=d,-e``, as operators write it (Java: ``AttributeParser.parseToMap``).

    Raises:
        LocalProtocolError: a change lacks a sign, a name or a value, or is repeated.
    """
    changes: dict[str, str] = {}
    for part in (text or "").split(","):
        name, equals, value = part.strip().partition("=")
        is_set = name.startswith("+")
        if not part.strip():
            continue
        if len(name) < 2 or not (is_set or name.startswith("-")) or is_set != bool(equals):
            raise LocalProtocolError(f"{part.strip()[:80]!r}: must be +name=value or -name")
        if name in changes:
            raise LocalProtocolError(f"{name} is repeated")
        changes[name] = value
    return changes
