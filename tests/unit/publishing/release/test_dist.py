"""Two builds are compared before packages are written."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from publishing.release import dist

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("rocketwire-1.tar.gz", "rocketwire-1-py3-none-any.whl")


@pytest.fixture
def epochs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The times that builds get; a build writes its time into each package."""
    seen: list[str] = []

    def build_once(root: Path, folder: Path, epoch: str) -> list[Path]:
        seen.append(epoch)
        folder.mkdir()
        for name in NAMES:
            (folder / name).write_text(epoch)
        return sorted(folder.iterdir())

    monkeypatch.setattr(dist, "_build_once", build_once)

    def git(*_: object) -> str:
        return "1700000000\n"

    monkeypatch.setattr(dist, "_git", git)
    return seen


def test_equal_builds_replace_the_packages_and_have_their_checksums(
    tmp_path: Path, epochs: list[str]
) -> None:
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / "rocketwire-0.tar.gz").write_text("of an earlier version")

    built = dist.build(tmp_path, folder)

    assert epochs == ["1700000000", "1700000000"]
    assert built == {name: folder / name for name in sorted(NAMES)}
    assert {path.name for path in folder.iterdir()} == {*NAMES, "SHA256SUMS"}
    digest = hashlib.sha256(b"1700000000").hexdigest()
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    assert lines == [f"{digest}  {name}" for name in sorted(NAMES)]


def test_different_builds_leave_the_packages_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epochs: list[str]
) -> None:
    def build_once(root: Path, folder: Path, epoch: str) -> list[Path]:
        folder.mkdir()
        (folder / NAMES[0]).write_text(folder.name)
        return list(folder.iterdir())

    monkeypatch.setattr(dist, "_build_once", build_once)
    (tmp_path / "SHA256SUMS").write_text("before")

    with pytest.raises(dist.NotReproducibleError, match="two builds differ"):
        dist.build(tmp_path, tmp_path)

    assert (tmp_path / "SHA256SUMS").read_text() == "before"


@pytest.mark.process
def test_the_time_of_files_is_that_of_the_last_commit() -> None:
    assert dist.commit_seconds(dist.ROOT) > 1_700_000_000
