"""Answers of ``--why``: the file, the byte and the rule behind a number that a verb shows."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rocketwire.store.folder import file_at
from rocketwire_tools.store.output import json_line, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocketwire.store.folder import StoreFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a number is what it is.

    Attributes:
        why: name of the number, as the verb shows it.
        value: the number.
        file: below the root of the store; None for a number of several files or of none.
        byte: of the file, from which the number is read; None for a number of the whole file.
        rule: how the number comes about, in plain words.
    """

    why: str
    value: Any = None
    file: str | None = None
    byte: int | None = None
    rule: str


def place_of(files: Sequence[StoreFile], offset: int | None) -> dict[str, Any]:
    """``file`` and ``byte`` of an offset of a stream; both None if no file has it."""
    file = None if offset is None else file_at(files, offset)
    if file is None or offset is None:
        return {"file": None, "byte": None}
    return {"file": file.name, "byte": offset - file.offset}


def write_reasons(reasons: Iterable[Reason], *, is_json: bool) -> None:
    """Write reasons behind the output of a verb: lines of JSON with ``why``, or a table."""
    if is_json:
        for reason in reasons:
            sys.stdout.buffer.write(json_line(asdict(reason)))
        return
    sys.stdout.write("\n")
    rows = [(each.why, each.value, each.file, each.byte, each.rule) for each in reasons]
    write_table(("why", "value", "file", "byte", "rule"), rows)
