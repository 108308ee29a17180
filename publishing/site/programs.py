"""The help text of every program and verb, from the programs themselves."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WIDTH = "100"
"""Columns of a help text."""


class _ParserReached(BaseException):
    """A program has built its parser."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


@dataclass(frozen=True)
class Help:
    """One call of a program.

    Attributes:
        words: name of the program, and its verbs.
        summary: one line.
        text: what ``--help`` prints.
    """

    words: tuple[str, ...]
    summary: str
    text: str

    @property
    def name(self) -> str:
        """The call without options."""
        return " ".join(self.words)


def entry_points(root: Path) -> dict[str, str]:
    """The programs of ``pyproject.toml``, with the function that each of them calls."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return dict(project["scripts"])


def helps(root: Path) -> Iterator[list[Help]]:
    """The help texts of each program: its own first, then those of its verbs."""
    with mock.patch.dict("os.environ", {"COLUMNS": WIDTH, "NO_COLOR": "1"}):
        for name, target in sorted(entry_points(root).items()):
            module, _, function = target.partition(":")
            yield list(_program(name, getattr(importlib.import_module(module), function)))


def _program(name: str, main: Callable[[], Any]) -> Iterator[Help]:
    text, parser = _help(main, [name, "--help"])
    yield Help((name,), _summary(text), text)
    if parser is not None:
        yield from _verbs(parser, (name,))
    for words in _other_commands(name, text):
        verb, _ = _help(main, [name, *words, "--help"])
        yield Help((name, *words), _summary(verb), verb)


def _verbs(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[Help]:
    private = cast("Any", argparse)  # argparse has no public way to the verbs of a parser
    for action in cast("Any", parser)._actions:
        if not isinstance(action, private._SubParsersAction):
            continue
        verbs: dict[str, argparse.ArgumentParser] = action.choices
        for verb, verb_parser in verbs.items():
            text = verb_parser.format_help()
            yield Help((*words, verb), _summary(text), text)
            yield from _verbs(verb_parser, (*words, verb))


def _other_commands(name: str, text: str) -> list[tuple[str, ...]]:
    """Verbs that a program chooses before it parses, which its help text lists by themselves."""
    _, _, listed = text.partition("other commands:\n")
    found = re.findall(rf"^  {name}((?: [a-z]+)+)", listed, re.MULTILINE)
    return [tuple(words.split()) for words in dict.fromkeys(found)]


def _help(
    main: Callable[[], Any], arguments: list[str]
) -> tuple[str, argparse.ArgumentParser | None]:
    """The help text of a program, and its parser unless it has one of its own."""

    def reached(parser: argparse.ArgumentParser, *_: object) -> None:
        raise _ParserReached(parser)

    stdout = io.StringIO()
    with (
        mock.patch("sys.argv", arguments),
        mock.patch.object(argparse.ArgumentParser, "parse_args", reached),
        contextlib.redirect_stdout(stdout),
        contextlib.suppress(SystemExit),
    ):
        try:
            main()
        except _ParserReached as end:
            return end.parser.format_help(), end.parser
    return stdout.getvalue(), None


def _summary(text: str) -> str:
    """The first sentence behind the usage, without its full stop; nothing if options come first."""
    paragraphs = [each for each in text.split("\n\n") if not each.lower().startswith("usage:")]
    first = " ".join(paragraphs[0].split()) if paragraphs else ""
    is_list = " --" in first or first.startswith(("positional arguments:", "options:"))
    return "" if is_list else first.partition(". ")[0].rstrip(".")
