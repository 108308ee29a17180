"""Options of the data source.

Rules of this file: an unknown option or an invalid value is refused by name before anything is
read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNITS: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_TRUTHS: Final = {"true": True, "false": False}


class OptionError(ValueError):
    """An option of the data source is invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of the options, which docs/guide/spark.md explains.

    Attributes:
        paths: files, folders or patterns.
        split_size: bytes of a part of a file, 0 for files in one part; None for parts that keep the
            driver's processors equally busy.
        mode: ``split`` or ``exact``.
        shares: parts of a file in exact mode; 0 for as many as in split mode, 8 at most.
        body: ``none``, ``length`` or ``decoded``.
        bad_file: ``fail`` or ``skip``.
        ext_fields: whether there is a column with all extension fields.
        push_filters: whether filters are applied before rows go to Spark.
        look_behind: bytes before a part that are read, too.
        look_ahead: bytes after a part that are read, too.
        chunk_size: bytes decoded together.
        filter_text: only rows for which this expression is true, as for ``rocketwire-pcap
            --filter``.
        redact: secret of the masks of topics, groups, addresses and file names, as for
            ``rocketwire-pcap --redact``; None for none.
        files_per_trigger: maximum files of a micro-batch; 0 for no limit.
        last_file: ``wait`` until a file has a successor, or ``read`` it at once.
        join: which files of a batch read continue each other, see ``pcap.files.series``; those of a
            stream always do.
    """

    paths: tuple[str, ...]
    split_size: int | None = None
    mode: str = "split"
    shares: int = 0
    body: str = "length"
    bad_file: str = "fail"
    ext_fields: bool = False
    push_filters: bool = False
    look_behind: int = 16 << 20
    look_ahead: int = 64 << 20
    chunk_size: int = 16 << 20
    filter_text: str | None = None
    redact: str | None = None
    files_per_trigger: int = 0
    last_file: str = "wait"
    join: str = "auto"


_CHOICES: Final = {
    "mode": ("mode", ("split", "exact")),
    "body": ("body", ("none", "length", "decoded")),
    "badfile": ("bad_file", ("fail", "skip")),
    "lastfile": ("last_file", ("wait", "read")),
    "join": ("join", ("auto", "all", "none")),
}
_SIZES: Final = {
    "splitsize": "split_size",
    "lookbehind": "look_behind",
    "lookahead": "look_ahead",
    "chunksize": "chunk_size",
    "shares": "shares",
    "maxfilespertrigger": "files_per_trigger",
}
_SWITCHES: Final = {"extfields": "ext_fields", "pushfilters": "push_filters"}
NAMES: Final = (
    "path",
    "paths",
    "splitSize",
    "mode",
    "shares",
    "body",
    "badFile",
    "extFields",
    "pushFilters",
    "lookBehind",
    "lookAhead",
    "chunkSize",
    "filter",
    "redact",
    "maxFilesPerTrigger",
    "lastFile",
    "join",
)


def read_options(options: Mapping[str, str]) -> Settings:
    """Read the options.

    Args:
        options: from Spark; case does not matter.

    Raises:
        OptionError: an option is invalid.
    """
    values: dict[str, Any] = {"paths": ()}
    for option, value in options.items():
        name = option.lower()
        if name == "path":
            values["paths"] = (*values["paths"], value)
        elif name == "paths":
            values["paths"] = (*values["paths"], *_paths(value))
        elif name == "filter":
            values["filter_text"] = value
        elif name == "redact":
            values["redact"] = _secret(value)
        elif name in _CHOICES:
            field, choices = _CHOICES[name]
            values[field] = _one_of(option, value, choices)
        elif name in _SIZES:
            values[_SIZES[name]] = _size(option, value)
        elif name in _SWITCHES:
            values[_SWITCHES[name]] = _TRUTHS[_one_of(option, value, tuple(_TRUTHS))]
        else:
            raise OptionError(f"unknown option {option!r}; the options are {', '.join(NAMES)}")
    if not values["paths"]:
        raise OptionError("no path: use load(PATH) or option 'path'")
    return Settings(**values)


def _secret(value: str) -> str:
    if not value:
        raise OptionError("option 'redact': an empty secret hides nothing")
    return value


def _paths(value: str) -> tuple[str, ...]:
    """Return the paths of ``load([...])``, a JSON text."""
    import msgspec

    try:
        return tuple(msgspec.json.decode(value, type=list[str]))
    except msgspec.MsgspecError as error:
        raise OptionError(f"option 'paths': {value!r} is not a JSON list of texts") from error


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value.lower() not in choices:
        raise OptionError(f"option {name!r}: {value!r} is not one of {', '.join(choices)}")
    return value.lower()


def _size(name: str, value: str) -> int:
    """Return a number of bytes from a text such as ``64m``."""
    text = value.strip().lower()
    digits = text.rstrip("bkmg")
    unit = (
        text[len(digits) :].removesuffix("b")
        if len(text) - len(digits) > 1
        else text[len(digits) :]
    )
    if not digits.isdecimal() or unit not in _UNITS:
        raise OptionError(f"option {name!r}: {value!r} is not a size such as 1048576, 1024k or 1m")
    return int(digits) * _UNITS[unit]
