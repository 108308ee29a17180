"""Exports the golden vectors for tests of codecs in any language.

They are the fixtures of the project's tests, in a checkout or in the installed package.
``vectors.md``, the README of the export, describes the format.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
MANIFEST: Final = "MANIFEST.toml"
README: Final = "README.md"
INDEX: Final = "index.json"
# The file of vectors for streams, which may be incomplete frames.
STREAMS: Final = "refuse/streams.jsonl"

_INSTALLED: Final = HERE / "fixtures"
_RENAMED: Final = {"value": "expect", "error": "refuse", "here": "rocketwire"}

Line = dict[str, Any]


class NoVectorsError(Exception):
    """The vectors are neither in a checkout nor in the installed package."""


def fixtures() -> Path:
    """The folder of the fixtures; raises ``NoVectorsError`` if there is none."""
    checkout = [parent / "tests" / "fixtures" for parent in HERE.parents[3:4]]
    for folder in [*checkout, _INSTALLED]:
        if (folder / MANIFEST).is_file():
            return folder
    raise NoVectorsError("this installation does not contain the vectors")


def sheets(folder: Path) -> dict[str, tuple[str, list[Line]]]:
    manifest = tomllib.loads((folder / MANIFEST).read_text("utf-8"))
    files: dict[str, tuple[str, list[Line]]] = {}
    for entry in manifest["frame"]:
        release = entry["file"].split("/")[1]
        name = f"accept/recorded/{release}.jsonl"
        _, sheet = files.setdefault(name, ("recorded between peers; read by 5.5.0's classes", []))
        sheet.append(_line_of_recording(folder, entry))
    for section, source, destination in (
        ("vectors", "vectors", "accept"),
        ("refusals", "bad/java", "refuse"),
    ):
        for entry in manifest[section]:
            file: str = entry["file"]
            if file.startswith("vectors/policy/"):  # decisions of a client, not of a codec
                continue
            origin = f"{entry['origin']['product']}: {entry['origin']['how']}"
            lines = (folder / file).read_text("ascii").splitlines()
            name = f"{destination}/{file.removeprefix(f'{source}/')}"
            files[name] = origin, [*map(_from_java, lines)]
    files[STREAMS] = "by hand", [_bad(folder, entry) for entry in manifest["bad"]]
    return dict(sorted(files.items()))


def export(destination: Path) -> int:
    """Write all vectors, the index and the README to a folder; returns the number of vectors.

    Raises ``NoVectorsError`` if this installation has none, and ``OSError``.
    """
    files = sheets(fixtures())
    for name, (_, lines) in files.items():
        path = destination / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = (json.dumps(line, separators=(",", ":")) for line in lines)
        path.write_text("".join(f"{text}\n" for text in texts), "ascii")
    index = [
        {"file": name, "count": len(lines), "origin": origin}
        for name, (origin, lines) in files.items()
    ]
    (destination / INDEX).write_text(json.dumps(index, indent=1) + "\n", "ascii")
    (destination / README).write_text((HERE / "vectors.md").read_text("utf-8"), "utf-8")
    return sum(len(lines) for _, lines in files.values())


def _hex(folder: Path, file: str) -> str:
    lines = (folder / file).read_text("utf-8").splitlines()
    return bytes.fromhex("".join(line.partition("#")[0] for line in lines)).hex()


def _line_of_recording(folder: Path, entry: Line) -> Line:
    file, _, key = entry["decodes_to"].partition("#")
    facts: Line = json.loads((folder / file).read_text("utf-8"))[key]
    digits = _hex(folder, entry["file"])
    length = 2 * facts["body_length"]
    names = ("code", "language", "version", "opaque", "flag", "remark")
    expect = {name: facts[name] for name in names} | {
        "serialize": facts["serialize_type"],
        "ext": facts["ext_fields"],
        "body": digits[-length:] if length else None,
    }
    line: Line = {
        "id": entry["id"],
        "direction": entry["direction"],
        "hex": digits,
        "expect": expect,
    }
    if "body_class" in facts:
        line |= {"class": facts["body_class"], "members": facts["body_value"]}
    return line | {"reencodes": entry["reencodes"]}


def _from_java(text: str) -> Line:
    # A line of the files that Java's classes made; text is also given in hex
    line: Line = json.loads(text)
    result = {_RENAMED.get(name, name): value for name, value in line.items()}
    if "hex" not in result and "text" in result:
        result["hex"] = result["text"].encode("utf-8", "surrogatepass").hex()
    return result


def _bad(folder: Path, entry: Line) -> Line:
    return {
        "id": entry["id"],
        "why": entry["origin"].get("how", ""),
        "hex": _hex(folder, entry["file"]),
        "refuse": entry["error"],
        "stream": entry["stream"],
    }
