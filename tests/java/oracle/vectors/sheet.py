"""The form of vectors: sheets of JSON lines, each one file of the fixtures."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.peers import manifest
from tests.peers.oracle import Oracle

NEWEST = "5.5.0"
OLDER = "5.3.3"

Line = dict[str, Any]

REFUSED = {
    *("raw-controls", "hexadecimal-escape"),
    *("raw controls", "bare names", "byte order mark", "comments"),
}
"""Odd frames and bodies that Java reads and this library refuses."""


class Javas(NamedTuple):
    newest: Oracle
    older: Oracle


class Sheet(NamedTuple):
    """One file of vectors.

    ``bad/`` holds the files that Java refuses; ``release`` is that of the classes that made and read the lines.
    """

    file: str
    how: str
    lines: Sequence[Line]
    release: str = NEWEST

    @property
    def kind(self) -> str:
        return "refusals" if self.file.startswith("bad/") else "vectors"

    def entry(self) -> manifest.Entry:
        product = f"Apache RocketMQ {self.release}"
        return {
            "file": self.file,
            "sha256": "",
            "origin": {"kind": "java-vector", "product": product, "how": self.how},
            "count": len(self.lines),
        }

    def text(self) -> str:
        ids = [line["id"] for line in self.lines]
        if len(set(ids)) != len(ids):
            raise ValueError(
                f"{self.file}: {sorted(line_id for line_id in ids if ids.count(line_id) > 1)}"
            )
        return "".join(_one_line(line) + "\n" for line in self.lines)


def _one_line(line: Line) -> str:
    # ASCII: a line must not break at the separators that Unicode has besides the line end.
    return json.dumps(line, separators=(",", ":"))


def with_refusal(line: Line) -> Line:
    because = "no JSON, and no release writes it"
    return {**line, "here": "refused", "because": because} if line["id"] in REFUSED else line


def same_or(reason: str, written: str | None, expected: str) -> bool | str:
    # The value of ``reencodes`` in a vector: true, or why writing it again gives other bytes.
    return True if written == expected else reason


def document(data: bytes) -> Line:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"hex": data.hex()}
