"""The command run inside the test: lines in, objects out."""

import io
import json
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from rocketwire_tools.codec.__main__ import main


class Run(NamedTuple):
    status: int
    lines: list[Any]
    complaint: str


def run(*arguments: str, stdin: Iterable[str | dict[str, Any]] | bytes = ()) -> Run:
    if not isinstance(stdin, bytes):
        texts = (line if isinstance(line, str) else json.dumps(line) for line in stdin)
        stdin = "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogatepass")
    out, err = io.BytesIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        stdout = io.TextIOWrapper(out)
        patch.setattr(sys, "stdout", stdout)
        patch.setattr(sys, "stderr", err)
        status = main(arguments)
        stdout.flush()
    return Run(status, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue())


def only(*arguments: str, line: str | dict[str, Any]) -> Any:
    result = run(*arguments, stdin=[line])
    assert (0, 1) == (result.status, len(result.lines)), result
    return result.lines[0]


def refused(*arguments: str, line: str | dict[str, Any]) -> Any:
    result = run(*arguments, stdin=[line])
    assert (1, 1) == (result.status, len(result.lines)), result
    assert ["error", "message", "offset"] == list(result.lines[0])
    return result.lines[0]
