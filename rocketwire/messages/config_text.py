"""The configuration of servers as text: what codes 25, 26, 318 and 319 carry.

Servers write ``key=value`` lines without any escapes, and read what they are sent as Java properties.

Java: ``MixAll.properties2String``, ``MixAll.string2Properties``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.errors import LocalProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_config(body: bytes) -> dict[str, str]:
    """The values in a server's answer, by key, in its order; a line without ``=`` goes on with the value before it."""
    values: dict[str, str] = {}
    key = ""
    for line in body.decode("utf-8", "replace").split("\n"):
        name, equals, value = line.partition("=")
        if equals:
            key = name
            values[key] = value
        elif key and line:
            values[key] += f"\n{line}"
    return values


def config_lines(values: Mapping[str, str]) -> str:
    """The text that has a server set these values.

    Raises:
        LocalProtocolError: there is nothing to set, a key is not one word, or a value has a line break.
    """
    if not values:
        raise LocalProtocolError("no value to set")
    return "".join(f"{_key(key)}={_escaped(value)}\n" for key, value in values.items())


def _key(key: str) -> str:
    if not key or not key.isascii() or any(one in key for one in "=:#!\\ \t\f\r\n"):
        raise LocalProtocolError(f"not a key of a configuration: {key[:80]!r}")
    return key


def _escaped(value: str) -> str:
    """Backslashes, a leading blank and what is not ASCII, as Java properties have them."""
    if "\n" in value or "\r" in value:
        raise LocalProtocolError("a value with a line break")
    text = value.replace("\\", "\\\\")
    if text[:1] in (" ", "\t", "\f"):
        text = "\\" + text
    units = (
        one if one.isascii() else "".join(f"\\u{unit:04x}" for unit in _utf16(one)) for one in text
    )
    return "".join(units)


def _utf16(character: str) -> tuple[int, ...]:
    data = character.encode("utf-16-be", "surrogatepass")
    return tuple(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
