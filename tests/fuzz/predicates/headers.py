"""Explained differences of headers."""

import re
from typing import Any, cast

from tests.fuzz.predicates.difference import only_java, only_ours, text_of
from tests.fuzz.trials import Difference, Trial


def unlisted_language(_: Trial, difference: Difference) -> bool:
    if difference.path == ("language",):
        letters = re.sub(r"[^A-Z_]", "", str(difference.ours).upper())
        return difference.ours is not None and (
            difference.java is None or difference.java == letters != difference.ours
        )
    if not any(
        only_ours(difference, message)
        for message in ("setLanguage", "NumberFormatException", "malformed input")
    ):
        return False
    language = cast("dict[str, Any]", difference.ours).get("language")
    return isinstance(language, str) and re.fullmatch("[A-Za-z_]*", language) is None


def invented_opaque(trial: Trial, difference: Difference) -> bool:
    invented = (difference.path, difference.ours) in ((("opaque",), 0), (("ext", "opaque"), "0"))
    return (
        invented
        and int(difference.java) > 0
        and re.search(rb'(?<!\\)"opaque"\s*:', text_of(trial)) is None
    )


def clamped(trial: Trial, difference: Difference) -> bool:
    if not only_java(difference, "integer") or re.search(rb"[0-9][.eE]", text_of(trial)) is None:
        return False
    java = cast("dict[str, Any]", difference.java)
    return any(
        java[name] in (0x7FFFFFFF, -0x80000000, 0, -1)
        for name in ("code", "flag", "opaque", "version")
    )


def comma_after(trial: Trial, difference: Difference) -> bool:
    return only_java(difference, "text after the end") and text_of(trial).rstrip(
        b" \t\r\n\f\b\0"
    ).endswith(b",")


def unread_type(trial: Trial, difference: Difference) -> bool:
    if only_ours(difference, "erializeType"):
        return True
    if difference.path == ("ext", "serializeTypeCurrentRPC"):
        return b'"$ref"' in text_of(trial)
    value = re.search(
        rb'"serializeTypeCurrentRPC"\s*:\s*(?:"[^"]*"|[0-9]{10,}|[\[{])', text_of(trial)
    )
    refusals = (
        "NumberFormatException",
        "malformed input",
        "illegal number",
        "illegal fieldName input",
    )
    return value is not None and any(only_ours(difference, message) for message in refusals)
