"""``python -m publishing.pages``: run what the pages of the documentation show."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from publishing.pages import namespace
from publishing.pages.readers import PAGES, ROOT, read_all

# Environment variable of the process in the namespace.
INSIDE = "ROCKETWIRE_PAGES_ALONE"


def main() -> int:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m publishing.pages", description=main.__doc__)
    parser.add_argument("page", nargs="*", type=Path, help="default: all")
    parser.add_argument("--short", action="store_true", help="without blocks that take long")
    options = parser.parse_args()
    if INSIDE in os.environ:
        pages = [page.resolve() for page in options.page] or list(PAGES)
        return 1 if read_all(pages, long=not options.short) else 0
    if missing := namespace.missing():
        parser.error(missing)
    command = namespace.isolate([sys.executable, "-m", "publishing.pages", *sys.argv[1:]])
    environment = {**os.environ, INSIDE: "1"}
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
