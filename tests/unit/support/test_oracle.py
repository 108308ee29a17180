"""Starting the oracle: a failure leaves nothing behind, and nothing for an unrelated test to trip over."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support.java import oracle
from tests.support.java.cache import JavaUnavailableError
from tests.support.processes import PeerFailedError


def _no_compiler(_version: str) -> NoReturn:
    raise JavaUnavailableError("the oracle does not compile")


def _no_process(*_: object, **_more: object) -> NoReturn:
    raise PeerFailedError("the oracle does not start")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place for temporary folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_an_oracle_that_does_not_compile_leaves_no_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "compiled", _no_compiler)

    with pytest.raises(JavaUnavailableError):
        oracle.Oracle("5.5.0")
    gc.collect()  # a folder that nobody has removed would be reported here

    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_an_oracle_that_does_not_start_leaves_no_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "compiled", str)
    monkeypatch.setattr(oracle, "library", Path)
    monkeypatch.setattr(oracle, "Child", _no_process)

    with pytest.raises(PeerFailedError):
        oracle.Oracle("5.5.0")
    gc.collect()

    assert list(folder.iterdir()) == []
