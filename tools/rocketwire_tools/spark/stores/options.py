"""Options of the data source ``rocketmq-store``; those that choose messages are the command's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rocketwire_tools.spark.option_values import (
    PATHS,
    OptionError,
    one_of,
    one_path,
    plain_text,
    read_values,
    several_paths,
    size,
    switch,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Range = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of the options, which docs/guide/store-spark.md explains.

    Attributes:
        paths: stores, folders of stores, files of commit logs, or patterns.
        mode: ``permissive``, ``dropmalformed`` or ``failfast``.
        split_size: bytes of a part; None for parts that keep the driver's processors equally busy.
        push_filters: whether a query's filters choose what is read.
        is_empty: whether no message can pass.
        topics: names of topics; none for all.
        system: whether topics of brokers count without ``topics``.
        queue_id: of the topic.
        offsets: first and last queue offset.
        physical: first and last offset in the commit log.
        begin: first store timestamp, milliseconds since 1970.
        end: last store timestamp.
        tags: one of these; none for all.
        key: one of the keys.
        message_id: unique key, or offset message id.
        sql: an SQL92 expression that properties pass.
        ghosts: whether old bytes after the end of the log count.
        folded: whether an inner batch stays one row.
    """

    paths: tuple[str, ...]
    mode: str = "permissive"
    split_size: int | None = None
    push_filters: bool = False
    is_empty: bool = False
    topics: tuple[str, ...] = ()
    system: bool = False
    queue_id: int | None = None
    offsets: Range = (None, None)
    physical: Range = (None, None)
    begin: int | None = None
    end: int | None = None
    tags: tuple[str, ...] = ()
    key: str | None = None
    message_id: str | None = None
    sql: str | None = None
    ghosts: bool = False
    folded: bool = False


def _names(_: str, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _part_size(option: str, text: str) -> int:
    value = size(option, text)
    if not value:
        raise OptionError(f"option {option!r}: a part has at least one byte")
    return value


def _of_command(name: str) -> Callable[[str, str], Any]:
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
    "path": (PATHS, one_path),
    "paths": (PATHS, several_paths),
    "mode": ("mode", one_of("permissive", "dropmalformed", "failfast")),
    "splitSize": ("split_size", _part_size),
    "pushFilters": ("push_filters", switch),
    "topic": ("topics", _names),
    "system": ("system", switch),
    "queue": ("queue_id", _of_command("natural")),
    "offsets": ("offsets", _of_command("offset_range")),
    "physical": ("physical", _of_command("offset_range")),
    "begin": ("begin", _of_command("time_ms")),
    "end": ("end", _of_command("time_ms")),
    "tag": ("tags", _names),
    "key": ("key", plain_text),
    "id": ("message_id", plain_text),
    "sql": ("sql", _expression),
    "ghosts": ("ghosts", switch),
    "folded": ("folded", switch),
}


def read_options(options: Mapping[str, str]) -> Settings:
    """Read the options.

    Args:
        options: from Spark; case does not matter.

    Raises:
        OptionError: an option is invalid.
    """
    return Settings(**read_values(options, _READERS))
