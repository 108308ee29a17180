"""The schema as Markdown pages, for the documentation site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rocketwire_tools.codec.jsonl import Plain

    Content = Callable[[dict[str, Plain]], Iterator[str]]

NOTE: Final = (
    "Written by `rocketwire-codec schema --markdown`.\n"
    "What is marked *since* is missing from release {oldest}."
)


def write_pages(folder: str, schema: dict[str, Plain]) -> None:
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, text in pages(schema).items():
        (target / name).write_text(text, encoding="utf-8")


def pages(schema: dict[str, Plain]) -> dict[str, str]:
    blocks_by_page = {
        "README.md": _index(schema),
        "codes.md": _codes(schema),
        "operations.md": _operations(schema),
        "headers.md": _classes(schema["headers"], "Headers", _header),
        "bodies.md": _bodies(schema),
    }
    note = NOTE.format(oldest=schema["oldest"])
    return {name: _page(blocks, note) for name, blocks in blocks_by_page.items()}


def _page(blocks: Iterable[str], note: str) -> str:
    title, *content = blocks
    return "\n\n".join((title, note, *content)) + "\n"


def _table(names: Iterable[str], rows: Iterable[Iterable[Plain]]) -> str:
    heads = list(names)
    lines = [heads, ["---"] * len(heads), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Plain) -> str:
    if value is None or value is False:
        return ""
    text = "yes" if value is True else str(value).replace("|", "\\|")
    return text if text.startswith("`") else text.replace("<", "&lt;")


def _code(value: Plain) -> str | None:
    return None if value is None else f"`{value}`"


def _link(name: Plain, page: str, classes: dict[str, Plain]) -> str | None:
    if name is None:
        return None
    inner = name.removeprefix("List<").removesuffix(">")
    anchor = inner.lower().replace(".", "")
    return f"[{name}]({page}#{anchor})" if inner in classes else f"*{name}*"


def _index(schema: dict[str, Plain]) -> Iterator[str]:
    yield f"# The remoting protocol of RocketMQ {schema['release']}"
    yield "\n".join(
        (
            f"- [Codes](codes.md): {len(schema['request_codes'])} request codes, "
            f"{len(schema['response_codes'])} response codes, languages, flags",
            f"- [Operations](operations.md): what each of {len(schema['operations'])} requests and "
            "its answer carry",
            f"- [Headers](headers.md): {len(schema['headers'])} classes of header fields",
            f"- [Bodies](bodies.md): {len(schema['bodies'])} classes of JSON bodies and their"
            f" parts",
        )
    )
    yield "`rocketwire-codec schema` prints all of it, and the versions, as one JSON object."


def _codes(schema: dict[str, Plain]) -> Iterator[str]:
    yield "# Codes"
    for title, key in (("Request codes", "request_codes"), ("Response codes", "response_codes")):
        yield f"## {title}"
        yield _table(
            ("Code", "Name", "Since", "Only in JSON headers"),
            (
                (code["code"], _code(code["name"]), code["since"], not code["binary_header"])
                for code in schema[key]
            ),
        )
    for title, key in (("Languages", "languages"), ("Header types", "serialize_types")):
        yield f"## {title}"
        yield _table(("Number", "Name"), ((n, _code(name)) for name, n in schema[key].items()))
    for name, masks in schema["flags"].items():
        yield f"## {name}"
        yield _table(("Mask", "Name"), ((f"{n:#x}", _code(bit)) for bit, n in masks.items()))


def _operations(schema: dict[str, Plain]) -> Iterator[str]:
    headers, bodies = schema["headers"], schema["bodies"]
    yield "# Operations"
    yield (
        "A body in italics is no JSON of a class; [bodies](bodies.md#other-bodies) says what it is."
    )
    yield _table(
        ("Code", "Request", "Header", "Body", "Header of the answer", "Body of the answer"),
        (
            (
                operation["code"],
                _code(operation["name"]),
                _link(operation["request_header"], "headers.md", headers),
                _link(operation["request_body"], "bodies.md", bodies),
                _link(operation["response_header"], "headers.md", headers),
                _link(operation["response_body"], "bodies.md", bodies),
            )
            for operation in schema["operations"]
        ),
    )


def _default(value: Plain) -> str | None:
    return None if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _header(header: dict[str, Plain]) -> Iterator[str]:
    if header["fast_codec"]:
        keys = " ".join(f"`{key}`" for key in header["fast_codec"])
        yield f"Order in a binary header: {keys}."
    if header["fields"]:
        yield _table(
            ("Field", "Type", "Required", "Default", "Since"),
            (
                (
                    _code(field["name"]),
                    _code(field["type"]),
                    field["required"],
                    "Java's clock" if field["clock"] else _default(field["default"]),
                    field["since"],
                )
                for field in header["fields"]
            ),
        )


def _bodies(schema: dict[str, Plain]) -> Iterator[str]:
    yield from _classes(schema["bodies"], "Bodies", _body)
    yield "## Enumerations"
    yield _table(
        ("Type", "Constants"),
        ((_code(n), ", ".join(f"`{c}`" for c in all_)) for n, all_ in schema["enums"].items()),
    )
    yield "## Other bodies"
    yield _table(
        ("Name", "What it holds"), ((f"*{n}*", t) for n, t in schema["raw_bodies"].items())
    )


def _body(body: dict[str, Plain]) -> Iterator[str]:
    yield _table(
        ("Member", "Type", "Default", "Notes", "Since"),
        (
            (
                _code(member["name"]),
                _code(member["type"]),
                _default(member["default"]),
                _notes(member),
                member["since"],
            )
            for member in body["members"]
        ),
    )


def _notes(member: dict[str, Plain]) -> str:
    notes = [f"also read as `{name}`" for name in member["also"]]
    if member["clock"]:
        notes.append("Java's default is its clock")
    if member["write_only"]:
        notes.append("derived by Java, ignored when reading")
    return ", ".join(notes)


def _classes(classes: dict[str, Plain], title: str, content: Content) -> Iterator[str]:
    yield f"# {title}"
    for name, cls in classes.items():
        yield f"## {name}"
        since = f", since {cls['since']}" if cls["since"] else ""
        yield f"{cls['meaning']}\nJava: `{cls['java']}`{since}."
        yield from content(cls)
