"""Bodies of both sides as trees that can be compared: members without null, map keys as text."""

import base64
import json
from typing import Any, cast

from rocketwire.messages import to_json
from rocketwire.wire.json.fastjson import BareKey, loads
from tests.fuzz.trials import Unordered, items_of

Tree = Any


def _key(value: Tree) -> str:
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True, default=repr)
    return "null" if value is None else str(value)


def of_java(value: Tree) -> Tree:
    if isinstance(value, list):
        return [of_java(item) for item in items_of(value)]
    if not isinstance(value, dict):
        return value
    shown = cast("dict[str, Tree]", value)
    if "@map" in shown:
        pairs = [(_key(of_java(key)), of_java(item)) for key, item in shown["@map"]]
        return {key: item for key, item in pairs if item is not None}
    if "@set" in shown:
        return Unordered(of_java(shown["@set"]))
    if "@bits" in shown:
        number = sum(1 << bit for bit in shown["@bits"])
        return base64.b64encode(number.to_bytes((number.bit_length() + 7) // 8, "little")).decode()
    if "@double" in shown:
        return float(shown["@double"])
    if "@bytes" in shown:
        return [byte - 256 if byte > 127 else byte for byte in bytes.fromhex(shown["@bytes"])]
    members = {name: of_java(item) for name, item in shown.items()}
    return {name: item for name, item in members.items() if item is not None and not _thrown(item)}


def _thrown(value: Tree) -> bool:
    return isinstance(value, str) and value.startswith("@throws ")


def of_ours(body: object) -> Tree:
    return None if body is None else _plain(to_json(body))


def _plain(value: Tree) -> Tree:
    if isinstance(value, list):
        return [_plain(item) for item in items_of(value)]
    if not isinstance(value, dict):
        return value
    members: dict[Tree, Tree] = {**value}  # keys of all types
    return {_plain_key(key): _plain(item) for key, item in members.items() if item is not None}


def _plain_key(key: Tree) -> str:
    if isinstance(key, BareKey):
        return _key(_plain(loads(key.encode("utf-8", "surrogatepass"))))
    return _key(_plain(key))
