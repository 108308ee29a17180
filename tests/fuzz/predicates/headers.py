"""When a difference of a header is explained."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from tests.fuzz.predicates.difference import only_java, only_ours, text_of

if TYPE_CHECKING:
    from tests.fuzz.trials import Difference, Trial


def unlisted_language(_: Trial, found: Difference) -> bool:
    if found.path == ("language",):
        letters = re.sub(r"[^A-Z_]", "", str(found.ours).upper())
        return found.ours is not None and (
            found.java is None or found.java == letters != found.ours
        )
    if not any(
        only_ours(found, what)
        for what in ("setLanguage", "NumberFormatException", "malformed input")
    ):
        return False
    language = cast("dict[str, Any]", found.ours).get("language")
    return isinstance(language, str) and re.fullmatch("[A-Za-z_]*", language) is None


def invented_opaque(trial: Trial, found: Difference) -> bool:
    invented = (found.path, found.ours) in ((("opaque",), 0), (("ext", "opaque"), "0"))
    return (
        invented
        and int(found.java) > 0
        and re.search(rb'(?<!\\)"opaque"\s*:', text_of(trial)) is None
    )


def clamped(trial: Trial, found: Difference) -> bool:
    if not only_java(found, "integer") or re.search(rb"[0-9][.eE]", text_of(trial)) is None:
        return False
    java = cast("dict[str, Any]", found.java)
    return any(
        java[name] in (0x7FFFFFFF, -0x80000000, 0, -1)
        for name in ("code", "flag", "opaque", "version")
    )


def comma_after(trial: Trial, found: Difference) -> bool:
    return only_java(found, "text after the end") and text_of(trial).rstrip(
        b" \t\r\n\f\b\0"
    ).endswith(b",")


def unread_type(trial: Trial, found: Difference) -> bool:
    if only_ours(found, "erializeType"):
        return True
    if found.path == ("ext", "serializeTypeCurrentRPC"):
        return b'"$ref"' in text_of(trial)
    odd = re.search(
        rb'"serializeTypeCurrentRPC"\s*:\s*(?:"[^"]*"|[0-9]{10,}|[\[{])', text_of(trial)
    )
    refusals = (
        "NumberFormatException",
        "malformed input",
        "illegal number",
        "illegal fieldName input",
    )
    return odd is not None and any(only_ours(found, what) for what in refusals)
