"""Tables for people, JSON lines for programs, and progress on a terminal."""

from __future__ import annotations

import base64
import json
import operator
import shutil
import sys
import time
from contextlib import contextmanager
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

import msgspec
import numpy as np

from rocketwire.durable_file import rename_new
from rocketwire_tools.terminal import ProgressLine, align, escape_line_breaks, printable, text_width
from rocketwire_tools.values import utc

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from pathlib import Path

    from rocketwire_tools.store.engine.rows import Rows
    from rocketwire_tools.store.engine.scan import Block, LogScan


def json_line(value: object) -> bytes:
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:  # names of files that are no UTF-8
        text = json.dumps(value).encode()
    return escape_line_breaks(text) + b"\n"


@contextmanager
def create_whole(path: Path, *, is_folder: bool = False) -> Generator[Path]:
    """Create ``NAME.partial``, which gets its name when the block ends without an error."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.mkdir(0o700) if is_folder else partial.touch(exist_ok=False)
    except FileExistsError:
        text = f"{partial} is there, from an earlier run that did not end; remove it first"
        raise FileExistsError(text) from None
    try:
        yield partial
        rename_new(partial, path)
    except BaseException:
        if is_folder:
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)
        raise


def write_table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]] | Callable[[], Iterable[Sequence[object]]],
    output: TextIO | None = None,
) -> None:
    stream: TextIO = sys.stdout if output is None else output
    rows = rows if callable(rows) else partial(iter, list(rows))
    widths = list(map(text_width, header))
    are_numbers: list[bool] | None = None
    for row in rows():
        cells = list(map(printable, row))
        widths = list(map(max, widths, map(text_width, cells)))
        are_numbers = list(map(operator.and_, are_numbers or repeat(True), map(_is_number, cells)))
    titles = [header] if any(header) else []
    lines = (list(map(printable, row)) for row in chain(titles, rows()))
    are_numbers = are_numbers or [False] * len(header)
    stream.writelines(f"{line}\n" for line in align(lines, are_numbers, widths))


def _is_number(text: str) -> bool:
    return not text or text.replace(",", "").replace(".", "").replace("-", "").isdecimal()


def time_text(milliseconds: int | None) -> str | None:
    """A time in UTC with milliseconds; None for 0, None, or a time that no calendar has."""
    if not milliseconds:
        return None
    text = utc(milliseconds)
    return None if text == str(milliseconds) else text


def with_progress(scan: LogScan) -> Iterator[Block]:
    total, begin = max(scan.size, 1), time.monotonic()
    first = None
    with ProgressLine("{:3d} %  {:,.0f} MB/s") as line:
        for block in scan:
            first = block.base if first is None else first
            length = block.base - first
            line.show(100 * length // total, length / 1e6 / max(time.monotonic() - begin, 1e-9))
            yield block


def flat(values: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, _words(value)) for name, value in values.items() if value not in (None, [], "")]


def _words(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else value


BODY_FORMS: Final[dict[str, Callable[[bytes], str]]] = {
    "text": lambda body: body.decode("utf-8", "replace"),
    "hex": bytes.hex,
    "base64": lambda body: base64.b64encode(body).decode(),
}
"""Name of a form of bodies → the body in it."""


def body_texts(bodies: Sequence[bytes | None], form: str) -> list[str | None]:
    convert = BODY_FORMS[form]
    return [None if body is None else convert(body) for body in bodies]


class JsonRows:
    def __init__(self, names: Sequence[str], body: str) -> None:
        self._names = tuple(names)
        self._body = body
        fields = [f"c{index}" for index in range(len(names))]
        # objects of a class that msgspec knows are encoded without a dict for each
        self._row: Callable[..., Any] = msgspec.defstruct(
            "Row", fields, rename=dict(zip(fields, self._names, strict=True)), gc=False
        )
        self._encoder = msgspec.json.Encoder()

    def encode(self, rows: Rows) -> bytes:
        columns = [self._values(rows, name) for name in self._names]
        lines = self._encoder.encode_lines(list(map(self._row, *columns)))
        return escape_line_breaks(lines)  # some readers find line ends inside of texts

    def _values(self, rows: Rows, name: str) -> Any:
        values = rows.column(name)
        if name == "body" and self._body != "base64":  # msgspec encodes bytes as base64
            return body_texts(values, self._body)
        return values.tolist() if isinstance(values, np.ndarray) else values
