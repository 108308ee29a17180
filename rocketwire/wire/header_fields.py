"""The fields of both header forms."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from rocketwire.codes import LanguageCode

# A listed or unlisted number, an unlisted name (in JSON only), or None
Language = LanguageCode | str | None


class HeaderFields(NamedTuple):
    """A decoded header of either form."""

    code: int
    language: Language
    version: int
    opaque: int
    flag: int
    remark: str | None
    ext_fields: dict[str, str] | None


HeaderValues: TypeAlias = "tuple[int, Language, int, int, int, str | None, dict[str, str] | None]"
"""The fields in the order of ``HeaderFields``, for code that decodes many headers."""
