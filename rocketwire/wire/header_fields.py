"""The fields that both header forms carry, as they come out of a header parser."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from rocketwire.codes import LanguageCode

Language = LanguageCode | str | None
"""A listed or unlisted number, a name outside the list (only JSON can carry one), or nothing at all."""


class HeaderFields(NamedTuple):
    """What a header says, whichever form it was written in."""

    code: int
    language: Language
    version: int
    opaque: int
    flag: int
    remark: str | None
    ext_fields: dict[str, str] | None


HeaderValues: TypeAlias = "tuple[int, Language, int, int, int, str | None, dict[str, str] | None]"
"""The same without the names, for where headers are read by the thousand."""
