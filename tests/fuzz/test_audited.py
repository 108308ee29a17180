"""T-33246: a server that is sent everything touches nothing but its own files; and the hook would see it otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fuzz.audit import DRIVERS, fuzz
from tests.fuzz.audited import Guard

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 60


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("driver", DRIVERS)
def test_T_33246_a_server_that_is_sent_everything_touches_its_own_files_alone(
    tmp_path: Path, driver: str
) -> None:
    assert fuzz(tmp_path, driver, "short run", rounds=ROUNDS) == ROUNDS * 25


CASES: list[tuple[str, tuple[object, ...], bool]] = [
    ("open", ("inside", "wb", 0), True),
    ("open", ("/etc/passwd", "r", 0), False),
    ("open", ("../outside", None, 0), False),
    ("open", (3, "rb", 0), True),
    ("os.rename", ("inside", "../outside", -1, -1), False),
    ("os.rename", ("inside.tmp", "inside", -1, -1), True),
    ("os.remove", (b"/etc/passwd", -1), False),
    ("subprocess.Popen", ("x", [], None, None), False),
    ("os.system", (b"x",), False),
    ("import", ("x", None, None, None, None), False),
    ("socket.connect", (None, ("127.0.0.1", 1)), True),
    ("socket.connect", (None, ("127.0.0.1", 2)), False),
    ("socket.getaddrinfo", ("127.0.0.1", 1, 0, 1, 0), True),
    ("socket.getaddrinfo", ("elsewhere", 1, 0, 1, 0), False),
    ("socket.bind", (None, ("127.0.0.1", 1)), False),
    ("gc.collect", (), True),
]


@pytest.mark.parametrize(("event", "arguments", "allowed"), CASES)
def test_the_hook_tells_what_is_allowed_from_what_is_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    event: str,
    arguments: tuple[object, ...],
    allowed: bool,
) -> None:
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    guard = Guard(str(tmp_path / "data"), ["127.0.0.1:1"])

    assert (guard.forbidden(event, arguments) is None) is allowed
