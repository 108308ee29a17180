"""The commands ``rocketwire-store`` and ``rocketwire-pcap``, run inside the test."""

import io
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from rocketwire_tools.pcap.__main__ import main as pcap_main
from rocketwire_tools.store.__main__ import main as store_main


class Output(NamedTuple):
    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.out)
        return report


class _Stream(io.TextIOWrapper):
    is_terminal = False

    def isatty(self) -> bool:
        return self.is_terminal


def _call(
    main: Callable[[list[str]], int], words: tuple[object, ...], *, is_terminal: bool
) -> Output:
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, stream in (("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, _Stream(stream, "utf-8", write_through=True))
        patch.setattr(sys.stderr, "is_terminal", is_terminal)
        status = main([str(word) for word in words])
        return Output(status, out.getvalue(), err.getvalue().decode())


def call_store(*words: object, is_terminal: bool = False) -> Output:
    return _call(store_main, words, is_terminal=is_terminal)


def run_store(*words: object, status: int = 0, is_terminal: bool = False) -> Output:
    output = call_store(*words, is_terminal=is_terminal)
    assert output.status == status, output.err
    return output


def run_pcap(*words: object, status: int = 0) -> Output:
    output = _call(pcap_main, words, is_terminal=False)
    assert output.status == status, output.err
    return output
