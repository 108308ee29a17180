"""Settings of a client in environment variables (``ClientConfig.from_env``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from rocketwire.errors import IllegalValueError

PREFIX: Final = "ROCKETWIRE_"  # begin of the variables that are not Java's

_ADDRESSES: Final = "NAMESRV_ADDR"
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}

# What a variable has to be, and its reader, by the annotation of the setting
_READERS: Final[Mapping[str, tuple[str, Callable[[str], object]]]] = {
    "str": ("a text", str),
    "str | None": ("a text", str),
    "bool": ("true or false", lambda text: _FLAGS[text.lower()]),
    "int": ("a whole number", int),
    "float": ("a number", float),
    "float | None": ("a number", float),
}


def read_settings(config_class: type[Any], environment: Mapping[str, str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if environment.get(_ADDRESSES):
        settings["namesrv_addr"] = environment[_ADDRESSES]
    for field in fields(config_class):
        variable = PREFIX + field.name.upper()
        text = environment.get(variable)
        reader = _READERS.get(str(field.type))
        if text and reader is not None:
            settings[field.name] = _read(variable, text, *reader)
    return settings


def read_credentials(environment: Mapping[str, str]) -> dict[str, str] | None:
    names = ("access_key", "secret_key", "security_token")
    values = {name: environment.get(PREFIX + name.upper(), "") for name in names}
    if not values["access_key"]:
        return None
    return {name: value for name, value in values.items() if value or name != "security_token"}


def _read(variable: str, text: str, expected: str, read: Callable[[str], object]) -> object:
    try:
        return read(text)
    except (KeyError, ValueError):
        shown = text if len(text) <= 80 else f"{text[:77]}..."
        raise IllegalValueError(f"{variable}: expected {expected}, got {shown!r}") from None
