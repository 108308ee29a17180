"""Cases in words: steps and outcomes without what goes without saying."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from rocketwire_tools.conformance.outcomes import Mark


def brief(value: object) -> str:
    """Steps, outcomes and patterns as they would be written: members that have their defaults are left out."""
    if isinstance(value, Mark):
        return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        said = [
            brief(getattr(value, field.name))
            if _is_plain(value)
            else f"{field.name}={brief(getattr(value, field.name))}"
            for field in dataclasses.fields(value)
            if not _is_default(field, getattr(value, field.name))
        ]
        return f"{type(value).__name__}({', '.join(said)})"
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return "{" + ", ".join(f"{brief(k)}: {brief(v)}" for k, v in members.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(brief(one) for one in cast("list[object]", value)) + "]"
    return getattr(value, "__name__", None) or repr(value)


def _is_plain(value: Any) -> bool:
    """Whether there is but one member to name."""
    return len(dataclasses.fields(value)) == 1


def _is_default(field: dataclasses.Field[Any], value: object) -> bool:
    return field.default is not dataclasses.MISSING and bool(value == field.default)
