"""The dissector for Wireshark: tables of the codec as Lua, followed by ``dissector.lua``, which
uses them.

Every number and name comes from the codec. The same codec gives the same text.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import rocketwire
from rocketwire.codes import LanguageCode, RequestCode, ResponseCode, SerializeType
from rocketwire.flags import CommandFlag
from rocketwire.messages._codec.fields import ext_fields_of, java_name
from rocketwire.messages.operations.registry import OPERATIONS, ArrayOf, Raw
from rocketwire.versions import MQVersion
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire.wire.layouts import declarations
from rocketwire.wire.layouts.derive import kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocketwire.messages.operations.registry import Body, Operation

PORTS: Final = "9876,10909,10911"
"""Default ports of a name server and of a broker (Java: ``listenPort - 2`` and ``listenPort``)."""
_ROLES: Final = {
    "topic": "topic",
    "consumer_group": "group",
    "producer_group": "group",
    "group": "group",
    "group_name": "group",
    "queue_id": "queue_id",
}
"""Header fields, by their Python names, that are columns too."""
_STORED: Final = (Raw.STORED_MESSAGE, Raw.STORED_MESSAGES)
_JSON: Final = (Raw.JSON, Raw.JSON_TEXTS)


class LuaCode(str):
    """Text that is already Lua."""

    __slots__ = ()


def dissector() -> str:
    template = (
        resources.files("rocketwire_tools.pcap.dissector")
        .joinpath("dissector.lua")
        .read_text("utf-8")
    )
    head = (
        "-- A dissector of RocketMQ's remoting protocol for Wireshark and tshark, made by"
        f" rocketwire {rocketwire.__version__}:\n"
        "-- rocketwire-pcap dissector > rocketmq.lua\n\n"
    )
    return f"{head}local T = {_lua(tables())}\n\n{template}"


def tables() -> dict[str, Any]:
    prefix = _integer_nodes(declarations.PREFIX)
    binary = _nodes(declarations.BINARY_HEADER)
    stored = declarations.STORED_MESSAGE
    return {
        "header_types": {int(member): name for name, member in SerializeType.__members__.items()},
        "requests": {int(member): name for name, member in RequestCode.__members__.items()},
        "responses": {int(member): name for name, member in ResponseCode.__members__.items()},
        "languages": {int(member): name for name, member in LanguageCode.__members__.items()},
        "versions": {int(member): name for name, member in MQVersion.__members__.items()},
        "all_flags": sum(CommandFlag),
        "ports": PORTS,
        "largest": MAX_FRAME_LENGTH - declarations.LENGTH.sizeof(),
        "prefix": prefix,
        "prefix_size": declarations.PREFIX.sizeof(),
        "binary_header": binary,
        "binary_fixed": [node for node in binary if "int" in node],
        "binary_size": sum(node.get("int", 0) for node in binary),
        "stored_size": _node(stored.lengthfield),
        "stored": _nodes(stored.subcon),
        "fields": _fields(),
        "roles": _roles(),
        "operations": {code: _operation(member) for code, member in sorted(OPERATIONS.items())},
    }


# ---------------------------------------------------------------------------- headers and bodies


def _long_name(name: str) -> str:
    words = name.split("_")
    return words[0] + "".join(word.title() for word in words[1:])


def _headers() -> Iterator[type[Any]]:
    for member in OPERATIONS.values():
        for header in (member.request_header, member.response_header):
            if header is not None:
                yield header


def _display_names(header: type[Any]) -> dict[str, str]:
    # Names of fields to show, by their keys on the wire; one-letter keys are replaced
    return {
        field.wire: _long_name(name) if len(field.wire) == 1 else field.wire
        for name, field in ext_fields_of(header).items()
    }


def _fields() -> dict[str, dict[str, bool]]:
    integers: dict[str, bool] = {}
    for header in _headers():
        shown = _display_names(header)
        for field in ext_fields_of(header).values():
            name = shown[field.wire]
            integers[name] = integers.get(name, True) and _is_integer(field.form)
    return {name: {"integer": integer} for name, integer in sorted(integers.items())}


def _is_integer(form: Any) -> bool:
    return form.java in ("int", "long", "Integer", "Long")


def _roles() -> dict[str, str]:
    return {_long_name(name): role for name, role in _ROLES.items()}


def _operation(member: Operation) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for part, header in (("request", member.request_header), ("response", member.response_header)):
        if header is not None:
            renamed = {key: name for key, name in _display_names(header).items() if key != name}
            names[part] = {"name": java_name(header)} | ({"renamed": renamed} if renamed else {})
    for part, body in (("body", member.request_body), ("answer", member.response_body)):
        if (holds := _holds(body)) is not None:
            names[part] = holds
    return names


def _holds(body: Body) -> str | None:
    if body in _STORED:
        return "stored"
    if isinstance(body, ArrayOf | type) or body in _JSON:
        return "json"
    return None


# ---------------------------------------------------------------------------- layouts


def _integer_nodes(record: Any) -> list[dict[str, Any]]:
    nodes = _nodes(record)
    offset = 0
    for node in nodes:
        node["at"] = offset
        offset += node["int"]
    return nodes


def _nodes(record: Any) -> list[dict[str, Any]]:
    nodes = list[dict[str, Any]]()
    for field in record.subcons:
        if field.name is None:  # the end
            continue
        nodes.append({"name": field.name, **_node(field.subcon)})
        if kind(field.subcon) == "OneOf":
            checks = " or ".join(f"(v.{field.name} == {value})" for value in field.subcon.values)
            nodes.append({"check": LuaCode(f"function(v) return ({checks}) end")})
    return nodes


def _node(con: Any) -> dict[str, Any]:
    match kind(con):
        case "FormatField":
            return {"int": con.sizeof(), "signed": con.fmtstr.islower()}
        case "BytesInteger":
            return {"int": con.sizeof(), "signed": con.signed}
        case "OneOf":
            return _node(con.subcon)
        case "Bytes" if isinstance(con.length, int):
            return {"bytes": con.length}
        case "Prefixed" | "OptionalPrefixed":
            sized: dict[str, Any] = {"counted": con.lengthfield.sizeof()}
            sized |= {"text": True} if kind(con.subcon) == "JavaText" else {}
            return sized | ({"optional": True} if kind(con) == "OptionalPrefixed" else {})
        case "JavaEntries":
            return {
                "counted": con.length.sizeof(),
                "entries": [con.key.sizeof(), con.value.sizeof()],
            }
        case "IfThenElse":
            yes, no = _node(con.thensubcon), _node(con.elsesubcon)
            choice = {"choice": _condition(con.condfunc), "yes": yes, "no": no}
            return choice | ({"text": True} if "text" in yes else {})
        case _:
            raise TypeError(f"no Lua for {con!r}")


def _condition(expression: Any) -> LuaCode:
    # A condition over earlier fields as a Lua function, without bit operators, which Lua 5.2 lacks
    source = repr(expression)
    source = re.sub(r"\(this\['(\w+)'\] & (\d+)\)", r"(math.floor(v.\1 / \2) % 2 == 1)", source)
    source = re.sub(r"\(this\['(\w+)'\] == (\d+)\)", r"(v.\1 == \2)", source)
    if "this" in source:
        raise TypeError(f"no Lua for {expression!r}")
    return LuaCode(f"function(v) return {source} end")


# ---------------------------------------------------------------------------- Lua


def _lua(value: Any, indent: str = "") -> str:
    container: Any = value
    if isinstance(value, LuaCode):
        return value
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return _table(container, indent)
    return str(value)


def _table(value: Mapping[Any, Any] | list[Any], indent: str) -> str:
    deeper = indent + "    "
    if isinstance(value, list):
        items = [_lua(element, deeper) for element in value]
    else:
        items = [f"{_key(key)} = {_lua(element, deeper)}" for key, element in value.items()]
    line = "{ " + ", ".join(items) + " }"
    if len(line) + len(indent) <= 100 and "\n" not in line:
        return line
    return "{\n" + "".join(f"{deeper}{item},\n" for item in items) + indent + "}"


def _key(key: str | int) -> str:
    return f"[{_lua(key)}]"
