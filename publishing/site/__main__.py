"""``python -m publishing.site``: build the documentation site."""

from __future__ import annotations

import argparse
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from publishing.site import sources

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Build the site; every warning is an error."""
    parser = argparse.ArgumentParser(prog="python -m publishing.site", description=main.__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / ".cache" / "site", metavar="DIR")
    parser.add_argument("--jobs", default="2", help="processes (default 2)")
    parser.add_argument("--check", action="store_true", help="look for warnings, write no page")
    options = parser.parse_args()
    work: Path = options.to.with_name(options.to.name + "-sources")
    sources.write(ROOT, work)
    words = [
        "-b",
        "dummy" if options.check else "html",
        "-q",
        "--fail-on-warning",
        "--keep-going",
        "--nitpicky",
    ]
    words += ["-j", options.jobs, "-d", str(options.to.with_name(options.to.name + "-trees"))]
    status = sphinx([*words, str(work), str(options.to)])
    if status == 0 and not options.check:
        print(f"open {options.to}/index.html")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
