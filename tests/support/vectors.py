"""Vectors that Java's own classes made: loading them, and comparing their values with ours.

A vector is a line of JSON in a file with a manifest entry; a new vector of a known family needs no
new test code.  Every ``value`` is what Java reads from the bytes, in the form in which the oracle
shows it.
"""

import json
from dataclasses import dataclass
from typing import Any, cast

from rocketwire import errors
from rocketwire.errors import CodecError
from tests.fuzz.trees import of_java, of_ours
from tests.fuzz.trials import differences
from tests.peers import manifest

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class JavaVector:
    sheet: str  #: path of its file below ``vectors`` or ``bad``, without the ending
    line: Line  #: its members

    def __str__(self) -> str:
        return f"{self.sheet}#{self.line['id']}".encode("unicode_escape").decode()[:120]

    def __getitem__(self, name: str) -> Any:
        return self.line[name]

    @property
    def data(self) -> bytes:
        if "hex" in self.line:
            return bytes.fromhex(self.line["hex"])
        return cast("str", self.line["text"]).encode()

    @property
    def reencodes(self) -> bool:
        """Whether writing the read value gives the same bytes; else the line has the reason."""
        return self.line["reencodes"] is True

    @property
    def error(self) -> type[CodecError]:
        return cast("type[CodecError]", getattr(errors, self.line["error"]))


def sheets(kind: str = "vectors") -> dict[str, manifest.Entry]:
    entries = manifest.load().get(kind, [])
    return {_name(str(entry["file"])): entry for entry in entries}


def _name(file: str) -> str:
    return file.partition("/")[2].removesuffix(".jsonl")


def _stands_for(name: str, sheet: str) -> bool:
    return sheet.startswith(name) if name.endswith(("/", "-")) else sheet == name


def vectors(*names: str, kind: str = "vectors") -> list[JavaVector]:
    """All vectors of these sheets; a name that ends with a slash or a hyphen stands for those that begin with it."""
    result: list[JavaVector] = []
    for sheet, entry in sheets(kind).items():
        if not any(_stands_for(name, sheet) for name in names):
            continue
        text = (manifest.FIXTURES / str(entry["file"])).read_text("ascii")
        result += [JavaVector(sheet, json.loads(line)) for line in text.splitlines()]
    return result


def unlike(java: Any, body: object) -> list[str]:
    return [
        f"{'.'.join(map(str, difference.path))}: Java {difference.java!r:.300}, ours {difference.ours!r:.300}"
        for difference in differences(of_java(java), of_ours(body))
    ]
