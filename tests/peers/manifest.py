"""``tests/fixtures/MANIFEST.toml``: what every file of the fixtures is and where it comes from.

``python -m tests.peers.manifest`` brings the checksums up to date after a file was edited by
hand.
"""

import copy
import hashlib
import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast

FIXTURES = Path(__file__).parents[1] / "fixtures"
MANIFEST = FIXTURES / "MANIFEST.toml"

Entry = dict[str, object]
Manifest = dict[str, list[Entry]]

HEAD = """\
# What every file in this folder is.  Written by tests/java/namesrv/record_fixtures.py (captures) and by hand (the rest);
# `python -m tests.peers.manifest` refreshes the checksums.
#
# [[frame]]        one good packet; decodes_to = "FILE#KEY" is what Java's own classes read from it
# [[bad]]          one packet that must be refused; error = class of rocketwire.errors, one-shot; stream = "raises" or "waits"
# [[expectations]] a file that decodes_to points into
# [[capture]]      packets as they went over the wire, written by tests/support/captures/record.py
# [[count]]        the frames of a capture as tshark and the length words show them
# [[reference]]    a table taken from Java
# [[store]]        a broker's store with its truth, packed by `python -m tests.support.stores pack`
# sha256 is that of the file as stored.  reencodes = true, or the reason why encoding gives other bytes.
"""


def load() -> Manifest:
    """Read the manifest: kind of entry -> entries; the caller may change them."""
    return copy.deepcopy(read()) if MANIFEST.exists() else {}


@cache
def read() -> Manifest:
    """The manifest, read once because that takes long; do not change it."""
    return cast("Manifest", tomllib.loads(MANIFEST.read_text("utf-8")))


def _value(value: object) -> str:
    if isinstance(value, dict):
        items = cast("Mapping[str, object]", value).items()
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in items) + " }"
    return json.dumps(value, ensure_ascii=False)  # a TOML basic string escapes like a JSON string


def text(manifest: Manifest) -> str:
    """Return the manifest as it is written: entries by kind and file."""
    pieces = [HEAD]
    for table in sorted(manifest):
        for entry in sorted(manifest[table], key=lambda entry: str(entry["file"])):
            lines = "".join(f"{key} = {_value(item)}\n" for key, item in entry.items())
            pieces.append(f"\n[[{table}]]\n{lines}")
    return "".join(pieces)


def save(manifest: Manifest) -> None:
    for entries in manifest.values():
        for entry in entries:
            entry["sha256"] = sha256(str(entry["file"]))
    MANIFEST.write_text(text(manifest), "utf-8")
    read.cache_clear()


def sha256(file: str) -> str:
    return hashlib.sha256((FIXTURES / file).read_bytes()).hexdigest()


if __name__ == "__main__":
    save(load())
