"""Options of a data source as texts, and the values that they stand for.

Rules of this file: an unknown option or an invalid value is refused by name before anything is
read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Reader: TypeAlias = Callable[[str, str], Any]

_UNITS: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
PATHS: Final = "paths"  # Field of the paths: the only one that several options fill


class OptionError(ValueError):
    """An option of a data source is invalid."""


def read_values(
    options: Mapping[str, str],
    readers: Mapping[str, tuple[str, Reader]],
    *,
    others: Iterable[str] = (),
    ignored: Iterable[str] = (),
    of: str = "",
) -> dict[str, Any]:
    """Read the options; returns field → value of those that were given.

    Args:
        options: from Spark; case does not matter.
        readers: option → the field that it fills, and the function of option and text that reads
            its value.
        others: options that another reader reads.
        ignored: options that Spark passes on.
        of: whose options these are, for the error.
    """
    by_name = {name.lower(): (name, *entry) for name, entry in readers.items()}
    skipped = {name.lower() for name in (*others, *ignored)}
    values: dict[str, Any] = {}
    for option, text in options.items():
        if option.lower() in by_name:
            name, field, read = by_name[option.lower()]
            value = read(name, text)
            values[field] = values.get(field, ()) + value if field == PATHS else value
        elif option.lower() not in skipped:
            from rocketwire.nearest import did_you_mean

            names = [*readers, *others]
            near = did_you_mean(option, names) or f"; the options are {', '.join(names)}"
            raise OptionError(f"unknown option {option!r}{of}{near}")
    return values


def read_with_paths(
    options: Mapping[str, str], readers: Mapping[str, tuple[str, Reader]]
) -> dict[str, Any]:
    values = read_values(options, readers)
    if not values.get(PATHS):
        raise OptionError("no path: use load(PATH) or option 'path'")
    return values


def read_path(_: str, text: str) -> tuple[str, ...]:
    """The path of ``load("...")``."""
    return (text,)


def read_paths(option: str, text: str) -> tuple[str, ...]:
    """The paths of ``load([...])``, a JSON text."""
    import msgspec

    try:
        return tuple(msgspec.json.decode(text, type=list[str]))
    except msgspec.MsgspecError as error:
        raise OptionError(f"option {option!r}: {text!r} is not a JSON list of texts") from error


def local(path: str) -> str:
    parts = urlsplit(path)
    if parts.scheme == "file":
        return unquote(parts.path)
    if len(parts.scheme) > 1 and "://" in path:
        message = "Python workers see mounted file systems only, not those of Hadoop"
        raise OptionError(f"{path}: {message}")
    return path


def read_text(_: str, text: str) -> str:
    return text


def read_choice(*choices: str) -> Reader:
    """A function that reads one of some words; case does not matter."""

    def read(option: str, text: str) -> str:
        if text.lower() not in choices:
            raise OptionError(f"option {option!r}: {text!r} is not one of {', '.join(choices)}")
        return text.lower()

    return read


def switch(option: str, text: str) -> bool:
    return bool(read_choice("true", "false")(option, text) == "true")


def read_time(option: str, text: str, also: str = "") -> int:
    """Read a time as milliseconds since 1970; see ``times.parse_time``.

    Raises:
        OptionError: it is no time; the error names ``also``, further values of the option.
    """
    from rocketwire_tools.values import parse_time

    try:
        return parse_time(text)
    except ValueError as error:
        raise OptionError(f"option {option!r}: {error}{also and f', or {also}'}") from None


def size(option: str, text: str) -> int:
    """A number of bytes from a text such as ``64m``."""
    digits, unit = _digits_and_unit(text.strip().lower())
    if not digits.isdecimal() or unit not in _UNITS:
        raise OptionError(f"option {option!r}: {text!r} is not a size such as 1048576, 1024k or 1m")
    return int(digits) * _UNITS[unit]


def _digits_and_unit(text: str) -> tuple[str, str]:
    digits = text.rstrip("bkmg")
    unit = text[len(digits) :]
    return digits, unit.removesuffix("b") if len(unit) > 1 else unit
