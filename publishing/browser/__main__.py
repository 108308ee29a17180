"""``python -m publishing.browser``: the site, the status page and reports in a browser."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from publishing.release.trials import Installation

ROOT = Path(__file__).parents[2]
SITE_PAGES = (
    "index.html",
    "tutorials/first-message.html",
    "guide/client.html",
    "guide/pcap.html",
    "design.html",
    "performance.html",
    "protocol/codes.html",
    "reference/commands/index.html",
    "reference/commands/rocketwire-admin.html",
    "reference/commands/rocketwire-admin/produce.html",
    "reference/python/rocketwire.sync/index.html",
    "reference/python/rocketwire.client/Message.html",
    "reference/python/pytest-plugin.html",
    "search.html",
    "zh/quick-start.html",
)
"""Pages of each kind."""


def main() -> int:
    """Visit pages at two widths; fail if one of them has an error or a serious finding of axe."""
    parser = argparse.ArgumentParser(prog="python -m publishing.browser", description=main.__doc__)
    parser.add_argument("--browser", default="/usr/bin/chromium", metavar="FILE")
    parser.add_argument("--modules", type=Path, default=ROOT / ".cache" / "node" / "node_modules")
    parser.add_argument("--site", type=Path, default=ROOT / ".cache" / "site", metavar="DIR")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write the README's pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        it = Installation(Path(sys.prefix), work, ROOT / "tests" / "fixtures")
        with it.cluster("--status-port", "0", log=work / "cluster.log") as address:
            pages = _pages(it, address, options.site, options.pictures)
            problems = _visit(options.browser, options.modules, pages)
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages at two widths, {len(problems)} problems")
    return 1 if problems else 0


def _pages(
    it: Installation, address: str, site: Path, pictures: Path | None
) -> list[dict[str, Any]]:
    """The pages to visit, in a cluster that has topics, groups and messages."""
    at = ("-n", address)
    for topic, count in (("orders", 60), ("payments", 25)):
        lines = "".join(f"{topic} {number}\n" for number in range(count))
        it.run("rocketwire-admin", "produce", *at, "-t", topic, "--tag", "new", stdin=lines)
    words = ("-g", "billing", "--from", "first", "--count", "40", "--timeout", "60")
    it.run("rocketwire-admin", "consume", *at, "-t", "orders", *words)
    it.run("rocketwire-conformance", address, "--only", "ns/105", "--html", "report.html")
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        capture = str(it.fixtures / "captures" / "java-5.5.0.pcap.gz")
        plot = str((pictures / "capture.png").resolve())
        it.run("rocketwire-pcap", "summary", capture, "--plot", plot)
    status = re.search(r"status page: (\S+)", (it.work / "cluster.log").read_text("utf-8"))
    assert status is not None  # noqa: S101 - the first line of rocketwire dev

    def picture(name: str) -> str | None:
        return None if pictures is None else str((pictures / name).resolve())

    return [
        {"url": status[1], "picture": picture("status-page.png"), "height": 640},
        {
            "url": (it.work / "report.html").as_uri(),
            "picture": picture("conformance-report.png"),
            "height": 640,
        },
        *({"url": (site.resolve() / page).as_uri()} for page in SITE_PAGES),
    ]


def _visit(browser: str, modules: Path, pages: list[dict[str, Any]]) -> list[str]:
    task = {"browser": browser, "modules": str(modules.resolve()), "pages": pages}
    run = subprocess.run(
        ["node", str(Path(__file__).with_name("visit.js"))],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        return [f"the browser failed: {run.stderr[-2000:]}"]
    return run.stdout.splitlines()


if __name__ == "__main__":
    raise SystemExit(main())
