"""The whole protocol as one plain value, and as Markdown pages for the documentation site.

Everything comes from the library: its enums, the metadata of its fields and its registry."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from enum import EnumType
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rocketwire import flags
from rocketwire.codes import (
    SINCE,
    LanguageCode,
    OpenIntEnum,
    RequestCode,
    ResponseCode,
    SerializeType,
)
from rocketwire.messages import enums
from rocketwire.messages._codec.fields import ext_fields_of, fast_codec_of, members_of
from rocketwire.messages.operations.registry import CLASSES, OPERATIONS, ArrayOf, Raw
from rocketwire.versions import CURRENT_VERSION, MQVersion
from rocketwire_tools.codec.bodies import is_body, to_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rocketwire.messages.operations.registry import Body, Operation
    from rocketwire_tools.codec.jsonl import Plain

    Content = Callable[[dict[str, Plain]], Iterator[str]]

RELEASE: Final = "5.5.1"
"""The release of Java's programs with which all of it was tested."""

OLDEST: Final = "5.3.3"
"""Entries without ``since`` exist in this release, too."""

_FLAGS: Final = (
    flags.CommandFlag,
    flags.Perm,
    flags.TopicSysFlag,
    flags.MessageSysFlag,
    flags.PullSysFlag,
)
_ENUM_NAMES: Final = {"OffsetOptionType": "OffsetOption.Type"}
_JAVA: Final = re.compile(r"\s*\bJava:\s``([\w.$]+)``(?:, since (\d+(?:\.\d+)*))?\.")
_INT16: Final = range(-(1 << 15), 1 << 15)


def schema() -> dict[str, Plain]:
    return {
        "release": RELEASE,
        "oldest": OLDEST,
        "current_version": int(CURRENT_VERSION),
        "serialize_types": _numbers(SerializeType),
        "languages": _numbers(LanguageCode),
        "versions": _numbers(MQVersion),
        "flags": {cls.__name__: _numbers(cls) for cls in _FLAGS},
        "request_codes": _codes(RequestCode),
        "response_codes": _codes(ResponseCode),
        "enums": _enums(),
        "operations": [_operation(operation) for operation in OPERATIONS.values()],
        "headers": {name: _header(cls) for name, cls in CLASSES.items() if not is_body(cls)},
        "bodies": {name: _body(cls) for name, cls in CLASSES.items() if is_body(cls)},
        "raw_bodies": {raw.name: raw.value for raw in Raw},
    }


def _numbers(members: Any) -> dict[str, int]:
    return {name: int(member) for name, member in members.__members__.items()}


def _codes(members: type[OpenIntEnum]) -> list[Plain]:
    return [
        {
            "name": member.name,
            "code": int(member),
            "since": SINCE.get(member),
            "binary_header": int(member) in _INT16,
        }
        for member in members
    ]


def _enums() -> dict[str, Plain]:
    by_name = {
        _ENUM_NAMES.get(name, name): list(cls.__members__)
        for name, cls in vars(enums).items()
        if isinstance(cls, EnumType) and cls.__module__ == enums.__name__
    }
    return dict(sorted(by_name.items()))


def _operation(operation: Operation) -> Plain:
    parts = ("request_header", "request_body", "response_header", "response_body")
    names = {part: _name(getattr(operation, part)) for part in parts}
    return {"code": int(operation.code), "name": operation.code.name, **names}


def _name(body: Body) -> str | None:
    match body:
        case None:
            return None
        case ArrayOf(element=cls):
            return f"List<{_JAVA_NAMES[cls]}>"
        case Raw():
            return body.name
        case _:
            return _JAVA_NAMES[body]


_JAVA_NAMES: Final[dict[type[Any], str]] = {cls: name for name, cls in CLASSES.items()}


def _docstring(cls: type[Any]) -> dict[str, Plain]:
    # Meaning, class in Java and first release; see ``rocketwire.messages``.
    doc = inspect.getdoc(cls) or ""
    java = _JAVA.search(doc)
    package = "body" if is_body(cls) else "header"
    name = java[1] if java else f"remoting.protocol.{package}.{cls.__name__}"
    return {
        "java": f"org.apache.rocketmq.{name}",
        "meaning": " ".join(_JAVA.sub("", doc).partition("\n\n")[0].split()),
        "since": java and java[2],
    }


def _header(cls: type[Any]) -> Plain:
    defaults = _defaults(cls)
    fields = [
        {
            "name": field.wire,
            "type": field.form.java,
            "required": field.required,
            "default": defaults[name],
            "clock": field.clock,
            "since": field.since,
        }
        for name, field in ext_fields_of(cls).items()
    ]
    return {**_docstring(cls), "fast_codec": list(fast_codec_of(cls)), "fields": fields}


def _body(cls: type[Any]) -> Plain:
    defaults = _defaults(cls)
    members = [
        {
            "name": field.wire,
            "type": field.form.java,
            "default": defaults[name],
            "also": list(field.also),
            "clock": field.clock,
            "write_only": field.write_only,
            "since": field.since,
        }
        for name, field in members_of(cls).items()
    ]
    return {**_docstring(cls), "members": sorted(members, key=lambda member: str(member["name"]))}


def _defaults(cls: type[Any]) -> dict[str, Plain]:
    # null if the sender has to set a member.
    return {
        field.name: to_plain(field.default_factory())
        if field.default_factory is not dataclasses.MISSING
        else to_plain(None if field.default is dataclasses.MISSING else field.default)
        for field in dataclasses.fields(cls)
    }


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
        "codes.md": _codes_page(schema),
        "operations.md": _operations_page(schema),
        "headers.md": _classes(schema["headers"], "Headers", _header_page),
        "bodies.md": _bodies_page(schema),
    }
    note = NOTE.format(oldest=schema["oldest"])
    return {name: _join_page(blocks, note) for name, blocks in blocks_by_page.items()}


def _join_page(blocks: Iterable[str], note: str) -> str:
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


def _codes_page(schema: dict[str, Plain]) -> Iterator[str]:
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


def _operations_page(schema: dict[str, Plain]) -> Iterator[str]:
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


def _header_page(header: dict[str, Plain]) -> Iterator[str]:
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


def _bodies_page(schema: dict[str, Plain]) -> Iterator[str]:
    yield from _classes(schema["bodies"], "Bodies", _body_page)
    yield "## Enumerations"
    yield _table(
        ("Type", "Constants"),
        ((_code(n), ", ".join(f"`{c}`" for c in all_)) for n, all_ in schema["enums"].items()),
    )
    yield "## Other bodies"
    yield _table(
        ("Name", "What it holds"), ((f"*{n}*", t) for n, t in schema["raw_bodies"].items())
    )


def _body_page(body: dict[str, Plain]) -> Iterator[str]:
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
