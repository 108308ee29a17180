"""``python -m publishing.browser``: the site, the status page and reports in Chromium."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from publishing.browser.visits import DESK, PHONE, Visit, chromium, opened
from publishing.release.trials import Installation

if TYPE_CHECKING:
    from collections.abc import Iterable

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


class Subject(NamedTuple):
    """A page to visit.

    Attributes:
        address: of the page.
        picture: file that gets a picture of it; none without a name.
        height: of the window, in pixels.
    """

    address: str
    picture: str = ""
    height: int = 800


def main() -> int:
    """Visit pages at two widths; fail if one of them has an error or a serious finding of axe."""
    parser = argparse.ArgumentParser(prog="python -m publishing.browser", description=main.__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / ".cache" / "site", metavar="DIR")
    parser.add_argument("--all", action="store_true", help="visit every page of the site")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write the README's pictures")
    options = parser.parse_args()
    path = chromium()
    if path is None:
        parser.error("no Chromium on the path (apt-get install chromium-headless-shell)")
    site: Path = options.site.resolve()
    files = sorted(site.rglob("*.html")) if options.all else [site / page for page in SITE_PAGES]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        it = Installation(Path(sys.prefix), work, ROOT / "tests" / "fixtures")
        with (
            it.cluster("--status-port", "0", log=work / "cluster.log") as address,
            opened(path) as browser,
        ):
            subjects = _programs(it, address, options.pictures)
            subjects += [Subject(file.as_uri()) for file in files]
            problems = _visit(browser, subjects)
    print(f"{len(subjects)} pages at two widths, {problems} problems")
    return 1 if problems else 0


def _programs(it: Installation, address: str, pictures: Path | None) -> list[Subject]:
    """The pages of programs, in a cluster that has topics, groups and messages."""
    at = ("-n", address)
    for topic, count in (("orders", 60), ("payments", 25)):
        lines = "".join(f"{topic} {number}\n" for number in range(count))
        it.run("rocketwire-admin", "produce", *at, "-t", topic, "--tag", "new", stdin=lines)
    words = ("-g", "billing", "--from", "first", "--count", "40", "--timeout", "60")
    it.run("rocketwire-admin", "consume", *at, "-t", "orders", *words)
    reports = ("--html", "report.html", "--json", "report.json")
    it.run("rocketwire-conformance", address, "--only", "ns/105", *reports)
    it.run("rocketwire-conformance", "matrix", "report.json", "--html", "matrix.html")
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        capture = str(it.fixtures / "captures" / "java-5.5.0.pcap.gz")
        plot = str((pictures / "capture.png").resolve())
        it.run("rocketwire-pcap", "summary", capture, "--plot", plot)
    status = re.search(r"status page: (\S+)", (it.work / "cluster.log").read_text("utf-8"))
    assert status is not None

    def picture(name: str) -> str:
        return "" if pictures is None else str((pictures / name).resolve())

    report = (it.work / "report.html").as_uri()
    return [
        Subject(status[1], picture("status-page.png"), height=640),
        Subject(report, picture("conformance-report.png"), height=640),
        Subject((it.work / "matrix.html").as_uri()),
    ]


def _visit(browser: Any, subjects: Iterable[Subject]) -> int:
    """Visit pages, print what is wrong with them, and return how much that is."""
    count = 0
    for subject in subjects:
        for width in (DESK, PHONE):
            visit = Visit(browser, width=width, height=subject.height)
            findings = visit.findings(subject.address)
            if subject.picture and width == DESK:
                visit.page.screenshot(path=subject.picture)
            visit.close()
            count += len(findings)
            for finding in findings:
                print(finding, flush=True)
    return count


if __name__ == "__main__":
    raise SystemExit(main())
