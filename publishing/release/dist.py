"""``python -m publishing.release.dist``: build sdist and wheel, twice, and compare the bytes."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


class NotReproducibleError(Exception):
    """Two builds of one commit differ."""


def commit_seconds(root: Path) -> int:
    """The time of the last commit in seconds since 1970: the time of every file in a package."""
    return int(_git(root, "log", "-1", "--format=%ct").strip())


def build(root: Path, folder: Path) -> dict[str, Path]:
    """Build the last commit twice, each time in a new folder.

    Args:
        root: a checkout; changes that are not committed are not built.
        folder: replaced; receives the packages, and ``SHA256SUMS``.

    Returns:
        The packages by name.

    Raises:
        NotReproducibleError: the two builds differ.
    """
    epoch = str(commit_seconds(root))
    with tempfile.TemporaryDirectory() as name:
        first, second = (_build_once(root, Path(name) / turn, epoch) for turn in ("1", "2"))
        sums = [{path.name: _sha256(path) for path in built} for built in (first, second)]
        if sums[0] != sums[1]:
            raise NotReproducibleError(f"two builds differ: {sums[0]} {sums[1]}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in first:
            shutil.copy(path, folder)
    listing = "".join(f"{digest}  {file}\n" for file, digest in sorted(sums[0].items()))
    (folder / "SHA256SUMS").write_text(listing, "ascii")
    return {file: folder / file for file in sums[0]}


def _build_once(root: Path, folder: Path, epoch: str) -> list[Path]:
    source, out = folder / "source", folder / "dist"
    source.mkdir(parents=True)
    archive = folder / "source.tar"
    _git(root, "archive", "--format=tar", f"--output={archive}", "HEAD")
    subprocess.run(["tar", "-xf", str(archive), "-C", str(source)], check=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONHASHSEED": folder.name},
    )
    return sorted(out.iterdir())


def _git(root: Path, *words: str) -> str:
    run = subprocess.run(
        ["git", "-C", str(root), *words], check=True, capture_output=True, text=True
    )
    return run.stdout


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Build the packages of the last commit into a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m publishing.release.dist", description=main.__doc__
    )
    parser.add_argument("--to", type=Path, default=ROOT / "dist", metavar="DIR")
    folder: Path = parser.parse_args().to
    if _git(ROOT, "status", "--porcelain", "--untracked-files=no"):
        print("warning: changes that are not committed are not built", file=sys.stderr)
    for file, path in sorted(build(ROOT, folder).items()):
        print(f"{_sha256(path)}  {file}  {path.stat().st_size:,} bytes, two builds are equal")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
