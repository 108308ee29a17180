"""Server configuration as text: the bodies of codes 25, 26, 318 and 319.

Servers write ``key=value`` lines without escapes, but read requests as Java properties.

Java: ``MixAll.properties2String``, ``MixAll.string2Properties``.
"""

from __future__ import annotations

from collections.abc import Mapping

from rocketwire.errors import LocalProtocolError


def read_config(body: bytes) -> dict[str, str]:
    """Values of a server's response by key; a line without ``=`` continues the last value."""
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
    """The request body that sets these values.

    Raises:
        LocalProtocolError: no values, a key that is not a single ASCII word, or a value with a
            line break.
    """
    if not values:
        raise LocalProtocolError("no configuration values to set")
    return "".join(f"{_key(key)}={_escape_value(value)}\n" for key, value in values.items())


def _key(key: str) -> str:
    if not key or not key.isascii() or any(character in key for character in "=:#!\\ \t\f\r\n"):
        raise LocalProtocolError(f"invalid configuration key: {key[:80]!r}")
    return key


def _escape_value(value: str) -> str:
    if "\n" in value or "\r" in value:
        raise LocalProtocolError("a configuration value must not contain a line break")
    text = value.replace("\\", "\\\\")
    if text[:1] in (" ", "\t", "\f"):
        text = "\\" + text
    units = (
        character
        if character.isascii()
        else "".join(f"\\u{unit:04x}" for unit in _utf16_units(character))
        for character in text
    )
    return "".join(units)


def _utf16_units(character: str) -> tuple[int, ...]:
    data = character.encode("utf-16-be", "surrogatepass")
    return tuple(int.from_bytes(data[start : start + 2], "big") for start in range(0, len(data), 2))
