"""The whole protocol as one plain value: numbers, headers, bodies, operations.

Everything comes from the library: its enums, the metadata of its fields and its registry.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from enum import EnumType
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
from rocketwire_tools.codec.values.bodies import is_body, to_plain

if TYPE_CHECKING:
    from rocketwire.messages.operations.registry import Body, Operation
    from rocketwire_tools.codec.jsonl import Plain

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
