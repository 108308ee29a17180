"""When a difference of a header is explained."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from tests.fuzz.predicates.difference import only_java, only_ours, text_of
from tests.fuzz.trials import ABSENT, Difference

if TYPE_CHECKING:
    from tests.fuzz.trials import Trial


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


def null_entry(_: Trial, found: Difference) -> bool:
    if found.path == ("ext",):
        java = cast("dict[str, Any]", found.java)
        return found.ours is None and all(
            key == "@null" or value is None for key, value in java.items()
        )
    if len(found.path) != 2 or found.path[0] != "ext" or found.ours is not ABSENT:
        return False
    return found.path[1] == "@null" or found.java is None


def too_wide(trial: Trial, found: Difference) -> bool:
    return trial.kind == "write" and only_java(found, "does not fit a signed field of 16 bits")


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
