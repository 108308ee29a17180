"""Options of the data source ``rocketmq-pcap``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rocketwire_tools.spark.option_values import (
    PATHS,
    OptionError,
    read_choice,
    read_path,
    read_paths,
    read_text,
    read_with_paths,
    size,
    switch,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    paths: tuple[str, ...]  # files, folders or patterns
    # bytes of a part of a file, 0 for files in one part; None for parts that keep the driver's
    # processors equally busy
    split_size: int | None = None
    mode: str = "split"  # ``split`` or ``exact``
    shares: int = 0  # parts of a file in exact mode; 0 for as many as in split mode, 8 at most
    body: str = "length"  # ``none``, ``length`` or ``decoded``
    bad_file: str = "fail"  # ``fail`` or ``skip``
    ext_fields: bool = False  # whether there is a column with all extension fields
    look_behind: int = 16 << 20  # bytes before a part that are read, too
    look_ahead: int = 64 << 20  # bytes after a part that are read, too
    chunk_size: int = 16 << 20  # bytes decoded together
    # only rows for which this expression is true, as for ``rocketwire-pcap --filter``
    filter_text: str | None = None
    # secret of the masks of topics, groups, addresses and file names, as for ``rocketwire-pcap
    # --redact``; None for none
    redact: str | None = None
    join: str = "auto"  # which files continue each other, see ``pcap.files.series``


def _secret(option: str, text: str) -> str:
    if not text:
        raise OptionError(f"option {option!r}: an empty secret hides nothing")
    return text


_READERS: Final = {
    "path": (PATHS, read_path),
    "paths": (PATHS, read_paths),
    "splitSize": ("split_size", size),
    "mode": ("mode", read_choice("split", "exact")),
    "shares": ("shares", size),
    "body": ("body", read_choice("none", "length", "decoded")),
    "badFile": ("bad_file", read_choice("fail", "skip")),
    "extFields": ("ext_fields", switch),
    "lookBehind": ("look_behind", size),
    "lookAhead": ("look_ahead", size),
    "chunkSize": ("chunk_size", size),
    "filter": ("filter_text", read_text),
    "redact": ("redact", _secret),
    "join": ("join", read_choice("auto", "all", "none")),
}


def read_options(options: Mapping[str, str]) -> Settings:
    return Settings(**read_with_paths(options, _READERS))
