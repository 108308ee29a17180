"""Is the output that a page shows what a command prints?

Words and small numbers have to agree.  Identifiers, times, addresses, widths of columns, and
numbers that differ from run to run do not.  A line ``...`` stands for any lines, and ``...`` within
a line for any text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_VARIABLE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)?"), "TIME"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "ADDRESS"),
    (re.compile(r"\b(?=[0-9A-Fa-f]*\d)[0-9A-Fa-f]{16,}\b"), "ID"),
    (re.compile(r"\b\d{1,3}(?:,\d{3})+\b|\b\d{4,}\b"), "NUMBER"),
    (re.compile(r"\b\d+\.\d+\b"), "NUMBER"),
    (re.compile(r"\b\d+(?= ?(?:ms|s|seconds|KiB|MiB|MB|bytes)\b)"), "NUMBER"),
    (re.compile(r'"queue(?:Id|Offset)":\d+|\b\d+(?= checked\b)'), "NUMBER"),
    (re.compile(r"/\S*/"), "FOLDER/"),
    (re.compile(r"-{2,}|\s+"), " "),
)


def constant(line: str) -> str:
    for pattern, name in _VARIABLE:
        line = pattern.sub(name, line)
    return line.strip()


def agree(shown: Sequence[str], printed: Sequence[str]) -> bool:
    return re.fullmatch(_pattern(shown), _text(printed)) is not None


def contain(printed: Sequence[str], shown: Sequence[str]) -> bool:
    return agree(("...", *shown, "..."), printed)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{constant(line)}\n" for line in lines)


def _pattern(shown: Sequence[str]) -> str:
    parts: list[str] = []
    for line in shown:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            texts = [re.escape(constant(part)) for part in line.split("...")]
            parts.append(r"[^\n]*?".join(texts) + r"\n")
    return "".join(parts)
