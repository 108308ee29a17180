"""Extensions, timers and checkpoints of two stores are compared byte by byte, if asked for."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.java.peers import CURRENT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore


def changed(root: Path, folder: Path, pattern: str, position: int) -> Path:
    """A copy of a store, of which one byte is another."""
    copy = shutil.copytree(root, folder / "copy")
    path = min(path for path in copy.glob(pattern) if path.is_file())
    with path.open("r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 1]))
    return copy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "pattern", "position", "name"),
    [
        ("ext", "consumequeue_ext/*/*/*", 9, "extensions of "),
        ("timers", "timerlog/*", 30, "timer log"),
        ("plain", "checkpoint", 15, "checkpoint: queue_timestamp"),
    ],
)
def test_a_changed_byte_is_named_with_its_file(
    kind: str,
    pattern: str,
    position: int,
    name: str,
    packed_store: Callable[[str, str], BrokerStore],
    tmp_path: Path,
    run: Callable[..., Any],
) -> None:
    root = packed_store(CURRENT, kind).root
    copy = changed(root, tmp_path, pattern, position)

    run("diff", root, copy)
    answer = run("diff", "--files", "--why", "--json", root, copy, status=1)

    difference, report = map(json.loads, answer.out.splitlines())
    assert difference["part"] == "file"
    assert difference["name"].startswith(name)
    assert difference["byte_b"] == (8 if kind == "plain" else position)
    assert report["file_differences"] == 1


def test_a_store_equals_itself(plain: BrokerStore, run: Callable[..., Any]) -> None:
    assert run("diff", "--files", plain.root, plain.root).out.startswith(b"equal")


def test_a_missing_checkpoint_is_named(
    plain: BrokerStore, tmp_path: Path, run: Callable[..., Any]
) -> None:
    copy = shutil.copytree(plain.root, tmp_path / "copy")
    (copy / "checkpoint").unlink()

    text = run("diff", "--files", plain.root, copy, status=1).out.decode()

    assert "only A has this file" in text
