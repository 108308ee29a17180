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
from rocketwire.wire.layouts import functions as layouts
from rocketwire.wire.layouts.compiler.lower import lower
from rocketwire.wire.layouts.compiler.nodes import (
    Choice,
    Condition,
    Derived,
    End,
    Entries,
    Expression,
    Fixed,
    Record,
    Sized,
    Text,
    Unsigned24,
)
from rocketwire.wire.layouts.compiler.nodes import Raw as RawBytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rocketwire.messages.operations.registry import Body, Operation
    from rocketwire.wire.layouts.compiler.nodes import Node

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
    """The tables of the dissector; ``dissector.lua`` describes their use."""
    prefix = _integer_nodes(lower(layouts.PREFIX))
    binary = _nodes(lower(layouts.BINARY_HEADER))
    stored: Any = lower(layouts.STORED_MESSAGE)
    return {
        "header_types": {int(member): name for name, member in SerializeType.__members__.items()},
        "requests": {int(member): name for name, member in RequestCode.__members__.items()},
        "responses": {int(member): name for name, member in ResponseCode.__members__.items()},
        "languages": {int(member): name for name, member in LanguageCode.__members__.items()},
        "versions": {int(member): name for name, member in MQVersion.__members__.items()},
        "all_flags": sum(CommandFlag),
        "ports": PORTS,
        "largest": MAX_FRAME_LENGTH - layouts.LENGTH_SIZE,
        "prefix": prefix,
        "prefix_size": layouts.PREFIX_SIZE,
        "binary_header": binary,
        "binary_fixed": [node for node in binary if "int" in node],
        "binary_size": sum(node.get("int", 0) for node in binary),
        "stored_size": _integer(stored.length),
        "stored": _nodes(stored.node),
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


def _integer_nodes(record: Node) -> list[dict[str, Any]]:
    nodes = _nodes(record)
    offset = 0
    for node in nodes:
        node["at"] = offset
        offset += node["int"]
    return nodes


def _integer(node: Fixed | Unsigned24) -> dict[str, Any]:
    return {"int": node.size, "signed": node.signed}


def _nodes(record: Node) -> list[dict[str, Any]]:
    if not isinstance(record, Record):
        raise TypeError(f"a layout that begins with {record!r}")
    return [
        {"check": _condition(node.expression)}
        if isinstance(node, Condition)
        else {"name": name, **_node(node)}
        for name, node in record.fields
        if not isinstance(node, End)
    ]


def _node(node: Node) -> dict[str, Any]:
    match node:
        case Derived(node=inner):
            return _integer(inner)
        case Fixed() | Unsigned24():
            return _integer(node)
        case RawBytes(length=int() as length):
            return {"bytes": length}
        case Sized(length=length, node=inner, optional=optional):
            sized: dict[str, Any] = {"counted": length.size}
            sized |= {"text": True} if isinstance(inner, Text) else {}
            return sized | ({"optional": True} if optional else {})
        case Entries(length=length, key=key, value=value):
            return {"counted": length.size, "entries": [key.size, value.size]}
        case Choice(condition=condition, then=then, otherwise=otherwise):
            choice = {"choice": _condition(condition), "yes": _node(then), "no": _node(otherwise)}
            return choice | ({"text": True} if "text" in choice["yes"] else {})
        case _:
            raise TypeError(f"no Lua for {node!r}")


def _condition(expression: Expression) -> LuaCode:
    # A condition over earlier fields as a Lua function, without bit operators, which Lua 5.2 lacks
    source = expression.source
    source = re.sub(r"\(\{(\w+)\} & (\d+)\)", r"(math.floor(v.\1 / \2) % 2 == 1)", source)
    source = re.sub(r"\(\{(\w+)\} == (\d+)\)", r"(v.\1 == \2)", source).replace(" | ", " or ")
    if re.search(r"[{}&|]", source):
        raise TypeError(f"no Lua for {expression.source!r}")
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
