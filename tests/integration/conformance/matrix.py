"""Writes the table of ``docs/conformance.md``: the suite against Java's releases and our drivers.

``python -m tests.integration.conformance.matrix`` writes it; ``--html FILE`` makes the page with
all evidence too.
"""

import argparse
from pathlib import Path

from rocketwire_tools.conformance.report import page, report
from tests.integration.conformance.runs import DRIVERS, PROFILES, Played, java_played, ours_played
from tests.peers.cache import ROOT

DOCUMENT = ROOT / "docs" / "conformance.md"
_HEAD = "Made by `python -m tests.integration.conformance.matrix`.\n"


def reports() -> list[report.Report]:
    documents = [
        _report(f"Java {version}", profile.value, java_played(version))
        for version, profile in sorted(PROFILES.items(), reverse=True)
    ]
    return documents + [
        _report(f"rocketwire, {driver}", "java-5.5", ours_played(driver)) for driver in DRIVERS
    ]


def _report(name: str, profile: str, played: Played) -> report.Report:
    return report.Report(name, profile, played.verdicts, played.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--html", type=Path, metavar="FILE")
    options = parser.parse_args()
    documents = [report.as_json(item, strict=True) for item in reports()]
    head, mark, _ = DOCUMENT.read_text("utf-8").partition(_HEAD)
    DOCUMENT.write_text(f"{head}{mark}\n{page.markdown(documents)}", "utf-8")
    if options.html:
        options.html.write_text(page.html(documents), "utf-8")


if __name__ == "__main__":
    main()
