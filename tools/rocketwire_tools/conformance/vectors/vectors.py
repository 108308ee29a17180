"""Exports the golden vectors for tests of codecs in any language.

They are the fixtures of the project's tests, in a checkout or in the installed package.
``vectors.md``, the README of the export, describes the format.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE: Final = Path(__file__).parent
MANIFEST: Final = "MANIFEST.toml"
README: Final = "README.md"
INDEX: Final = "index.json"
STREAMS: Final = "refuse/streams.jsonl"
"""The file of vectors for streams, which may be incomplete frames."""

_INSTALLED: Final = HERE / "fixtures"
_RENAMED: Final = {"value": "expect", "error": "refuse", "here": "rocketwire"}

Line = dict[str, Any]


class NoVectorsError(Exception):
    """The vectors are neither in a checkout nor in the installed package."""


def fixtures() -> Path:
    """The folder of the fixtures.

    Raises:
        NoVectorsError: it does not exist.
    """
    checkout = [parent / "tests" / "fixtures" for parent in HERE.parents[3:4]]
    for folder in [*checkout, _INSTALLED]:
        if (folder / MANIFEST).is_file():
            return folder
    raise NoVectorsError("this installation does not contain the vectors")


def sheets(folder: Path) -> dict[str, list[Line]]:
    """All vectors in the folder of the fixtures, by output file."""
    manifest = tomllib.loads((folder / MANIFEST).read_text("utf-8"))
    lines_by_file: dict[str, list[Line]] = {}
    for entry in manifest["frame"]:
        release = entry["file"].split("/")[1]
        sheet = lines_by_file.setdefault(f"accept/recorded/{release}.jsonl", [])
        sheet.append(_recorded(folder, entry))
    for section, origin, destination in (
        ("vectors", "vectors", "accept"),
        ("refusals", "bad/java", "refuse"),
    ):
        for entry in filter(_is_of_codecs, manifest[section]):
            file: str = entry["file"]
            lines = (folder / file).read_text("ascii").splitlines()
            lines_by_file[f"{destination}/{file.removeprefix(f'{origin}/')}"] = [
                *map(_from_java, lines)
            ]
    lines_by_file[STREAMS] = [_bad(folder, entry) for entry in manifest["bad"]]
    return dict(sorted(lines_by_file.items()))


def export(destination: Path) -> int:
    """Write all vectors, the index and the README to a folder; returns the number of vectors.

    Raises:
        NoVectorsError: this installation has no vectors.
        OSError: the folder cannot be written.
    """
    source = fixtures()
    lines_by_file = sheets(source)
    for name, lines in lines_by_file.items():
        path = destination / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{_text(line)}\n" for line in lines), "ascii")
    origins = dict(_origins(source))
    index = [
        {"file": name, "count": len(lines), "origin": origins[name]}
        for name, lines in lines_by_file.items()
    ]
    (destination / INDEX).write_text(json.dumps(index, indent=1) + "\n", "ascii")
    (destination / README).write_text((HERE / "vectors.md").read_text("utf-8"), "utf-8")
    return sum(map(len, lines_by_file.values()))


def _text(line: Line) -> str:
    return json.dumps(line, separators=(",", ":"))


def _origins(folder: Path) -> Iterator[tuple[str, str]]:
    """The origin of each file."""
    manifest = tomllib.loads((folder / MANIFEST).read_text("utf-8"))
    for entry in manifest["frame"]:
        release = entry["file"].split("/")[1]
        yield f"accept/recorded/{release}.jsonl", "recorded between peers; read by 5.5.0's classes"
    for entry in filter(_is_of_codecs, manifest["vectors"]):
        yield f"accept/{entry['file'].removeprefix('vectors/')}", _origin(entry)
    for entry in manifest["refusals"]:
        yield f"refuse/{entry['file'].removeprefix('bad/java/')}", _origin(entry)
    yield STREAMS, "by hand"


def _is_of_codecs(entry: Line) -> bool:
    """Whether a file tests a codec and not a decision of a client."""
    return not entry["file"].startswith("vectors/policy/")


def _origin(entry: Line) -> str:
    return f"{entry['origin']['product']}: {entry['origin']['how']}"


def _hex(folder: Path, file: str) -> str:
    """The hex digits of a fixture without comments and spaces."""
    lines = (folder / file).read_text("utf-8").splitlines()
    return bytes.fromhex("".join(line.partition("#")[0] for line in lines)).hex()


def _recorded(folder: Path, entry: Line) -> Line:
    """A recorded frame in the format of the frames that Java's classes made."""
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
    """A line of the files that Java's classes made; text is also given in hex."""
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
