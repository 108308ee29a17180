"""Options of the data source ``rocketmq-store``; those that choose messages are the command's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.spark.option_values import (
    PATHS,
    OptionError,
    read_choice,
    read_path,
    read_paths,
    read_text,
    read_time,
    read_with_paths,
    size,
    switch,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Range = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    paths: tuple[str, ...]  # stores, folders of stores, files of commit logs, or patterns
    mode: str = "permissive"  # ``permissive``, ``dropmalformed`` or ``failfast``
    # bytes of a part; None for parts that keep the driver's processors equally busy
    split_size: int | None = None
    topics: tuple[str, ...] = ()  # names of topics; none for all
    system: bool = False  # whether topics of brokers count without ``topics``
    queue_id: int | None = None  # of the topic
    offsets: Range = (None, None)  # first and last queue offset
    physical: Range = (None, None)  # first and last offset in the commit log
    begin: int | None = None  # first store timestamp, milliseconds since 1970
    end: int | None = None  # last store timestamp
    tags: tuple[str, ...] = ()  # one of these; none for all
    key: str | None = None  # one of the keys
    message_id: str | None = None  # unique key, or offset message id
    sql: str | None = None  # an SQL92 expression that properties pass
    ghosts: bool = False  # whether old bytes after the end of the log count
    folded: bool = False  # whether an inner batch stays one row


def _names(_: str, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _part_size(option: str, text: str) -> int:
    value = size(option, text)
    if not value:
        raise OptionError(f"option {option!r}: a part has at least one byte")
    return value


def _command_reader(name: str) -> Callable[[str, str], Any]:
    """The function that reads an argument of the command; it is imported when it is needed."""

    def read(option: str, text: str) -> Any:
        import argparse

        from rocketwire_tools.store import cli

        try:
            return getattr(cli, name)(text)
        except argparse.ArgumentTypeError as error:
            raise OptionError(f"option {option!r}: {error}") from None

    return read


def _expression(option: str, text: str) -> str:
    from rocketwire.sql92 import compile_expression

    try:
        compile_expression(text)
    except ValueError as error:
        raise OptionError(f"option {option!r}: {error}") from None
    return text


_READERS: Final = {
    "path": (PATHS, read_path),
    "paths": (PATHS, read_paths),
    "mode": ("mode", read_choice("permissive", "dropmalformed", "failfast")),
    "splitSize": ("split_size", _part_size),
    "topic": ("topics", _names),
    "system": ("system", switch),
    "queue": ("queue_id", _command_reader("natural")),
    "offsets": ("offsets", _command_reader("offset_range")),
    "physical": ("physical", _command_reader("offset_range")),
    "begin": ("begin", read_time),
    "end": ("end", read_time),
    "tag": ("tags", _names),
    "key": ("key", read_text),
    "id": ("message_id", read_text),
    "sql": ("sql", _expression),
    "ghosts": ("ghosts", switch),
    "folded": ("folded", switch),
}


def read_options(options: Mapping[str, str]) -> Settings:
    return Settings(**read_with_paths(options, _READERS))
