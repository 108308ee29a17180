"""Makes the vectors below ``tests/fixtures/vectors`` with Java's own classes: ``python -m tests.java.oracle.make_vectors``.

Run it from the root of the checkout; names of families as arguments make these alone.  Every value is what Java reads from
the bytes, never what this library reads.  The same sources and releases give the same files.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from tests.java.oracle.vectors import (
    bodies,
    frames,
    headers,
    policies,
    refusals,
    registrations,
    stored,
    texts,
)
from tests.java.oracle.vectors.sheet import NEWEST, OLDER, Javas, Sheet
from tests.peers import manifest
from tests.peers.oracle import Oracle

FAMILIES: Mapping[str, Callable[[Javas], Iterator[Sheet]]] = {
    "frames": frames.sheets,
    "headers": headers.sheets,
    "bodies": bodies.sheets,
    "registrations": registrations.sheets,
    "stored": stored.sheets,
    "texts": texts.sheets,
    "refusals": refusals.sheets,
    "policies": policies.sheets,
}


def make(names: Sequence[str] = ()) -> Iterator[Sheet]:
    with Oracle(NEWEST) as newest, Oracle(OLDER) as older:
        java = Javas(newest, older)
        for name in names or FAMILIES:
            yield from FAMILIES[name](java)


def enter(sheets: Sequence[Sheet]) -> None:
    current = manifest.load()
    files = {sheet.file for sheet in sheets}
    for sheet_type in ("vectors", "refusals"):
        kept = [entry for entry in current.get(sheet_type, []) if entry["file"] not in files]
        current[sheet_type] = kept + [sheet.entry() for sheet in sheets if sheet.kind == sheet_type]
    manifest.save(current)


def main(names: Sequence[str]) -> None:
    sheets = list(make(names))
    for sheet in sheets:
        path = manifest.FIXTURES / sheet.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sheet.text(), "ascii")
        sys.stderr.write(f"{sheet.file}: {len(sheet.lines)}\n")
    enter(sheets)


if __name__ == "__main__":
    main(sys.argv[1:])
