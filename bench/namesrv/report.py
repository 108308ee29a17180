"""The table: medians, ratios and what was aimed at.  Nothing is asserted here."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.namesrv import machine
from bench.namesrv.candidates import JAVAS, LABELS, OURS
from bench.namesrv.targets import ITSELF, JAVA, SECTIONS, Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.namesrv.scenarios import Metrics


class Key(NamedTuple):
    """The scenario and candidate of a sample."""

    scenario: str
    candidate: str


class Results:
    """All samples of a run.

    Attributes:
        samples: of each scenario and candidate, a sample a round.
        failures: samples that meant nothing, as text.
    """

    def __init__(self) -> None:
        self.samples: dict[Key, list[Metrics]] = defaultdict(list)
        self.failures: list[str] = []

    def values(self, row: Row, candidate: str) -> list[float]:
        """A row's figures of one candidate, by round."""
        samples = self.samples.get(Key(row.scenario, candidate), [])
        return [sample[row.metric] for sample in samples if row.metric in sample]

    def median(self, row: Row, candidate: str) -> float | None:
        """Their median; None where there is none."""
        values = self.values(row, candidate)
        return statistics.median(values) if values else None

    def java(self, row: Row) -> float | None:
        """The figure of Java that counts: pinned like us, or the better one."""
        if row.pinned:
            return self.median(row, "java") or self.median(row, "java-free")
        medians = [value for name in JAVAS if (value := self.median(row, name)) is not None]
        return (max(medians) if row.higher else min(medians)) if medians else None

    def ours(self, row: Row) -> float | None:
        """The figure of the best driver that was measured."""
        medians = (value for name in OURS if (value := self.median(row, name)) is not None)
        return next(medians, None)

    def as_json(self) -> dict[str, dict[str, list[Metrics]]]:
        """All samples, by scenario and candidate."""
        by_scenario: dict[str, dict[str, list[Metrics]]] = defaultdict(dict)
        for key, samples in self.samples.items():
            by_scenario[key.scenario][key.candidate] = samples
        return by_scenario

    def noise(self) -> tuple[int, int]:
        """How many samples are noisy, and how many there are."""
        shares = [sample["others"] for samples in self.samples.values() for sample in samples]
        return sum(share > machine.NOISY for share in shares), len(shares)


def _ratio(value: float | None, reference: float | None) -> float | None:
    return value / reference if value is not None and reference else None


def measured(results: Results, row: Row, target: Target) -> float | None:
    """Return the value to compare with a target."""
    value = results.median(row, "portable") if target.portable else results.ours(row)
    if target.of == ITSELF:
        return value
    return _ratio(value, results.java(row) if target.of == JAVA else results.median(row, "c"))


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    if unit == "k/s":
        value /= 1e3
    if value == 0 or 1e-2 <= abs(value) < 10:
        return f"{value:.2f}"
    return (
        f"{value:,.1f}"
        if 10 <= abs(value) < 100
        else f"{value:,.3g}"
        if abs(value) < 1
        else f"{value:,.0f}"
    )


def _aim(row: Row, target: Target) -> str:
    unit = f" x {target.of}" if target.of else f" {row.unit}".rstrip()
    whose = "portable " if target.portable else ""
    bound = f"{target.bound:.3f}".rstrip("0").rstrip(".")
    return f"{whose}{'>=' if row.higher else '<='} {bound}{unit}"


def is_held(target: Target, row: Row, value: float) -> bool:
    """Whether a figure is as good as was aimed at."""
    return value >= target.bound if row.higher else value <= target.bound


def _verdict(results: Results, row: Row, target: Target) -> str:
    value = measured(results, row, target)
    if value is None:
        return "not measured"
    return f"{_number(value)} {'held' if is_held(target, row, value) else '**MISSED**'}"


def _spread(results: Results, row: Row, candidates: Sequence[str]) -> str:
    """How far the rounds lie apart, of the candidate where that is worst."""
    worst = 0.0
    for name in candidates:
        values = results.values(row, name)
        if len(values) > 1 and (middle := statistics.median(values)):
            worst = max(worst, (max(values) - min(values)) / abs(middle))
    return f"{worst:.0%}"


def _noisy(results: Results, row: Row, candidates: Sequence[str]) -> str:
    samples = [s for name in candidates for s in results.samples.get(Key(row.scenario, name), [])]
    count = sum(sample["others"] > machine.NOISY for sample in samples)
    return f"{count}/{len(samples)}"


def _line(results: Results, row: Row, candidates: Sequence[str]) -> str:
    java, floor = results.java(row), results.median(row, "c")
    ours, portable = results.ours(row), results.median(row, "portable")
    cells = [
        f"{row.text}{f' ({row.unit})' if row.unit else ''}",
        *(_number(results.median(row, name), row.unit) for name in candidates),
        _number(_ratio(ours, java)),
        _number(_ratio(portable, java)),
        _number(_ratio(ours, floor)),
        "<br>".join(_aim(row, target) for target in row.targets),
        "<br>".join(_verdict(results, row, target) for target in row.targets),
        _spread(results, row, candidates),
        _noisy(results, row, candidates),
    ]
    return "| " + " | ".join(cells) + " |"


def _summary(results: Results) -> Iterator[str]:
    """Each target, and whether it is held."""
    aims = [
        (title.partition(":")[0], row, target)
        for title, rows in SECTIONS.items()
        for row in rows
        for target in row.targets
    ]
    lines: list[str] = []
    held_count = 0
    for section, row, target in aims:
        value = measured(results, row, target)
        if value is not None:
            good = is_held(target, row, value)
            held_count += good
            verdict = "held" if good else "**MISSED**"
            what = f"{section}: {row.text}"
            lines.append(f"| {what} | {_aim(row, target)} | {_number(value)} | {verdict} |")
    yield f"**{held_count} of {len(lines)} targets held.**"
    yield ""
    if lines:
        yield from ("| target | aimed at | measured | |", "|---|---:|---:|---|", *lines, "")


NOTES: Final = (
    "`ours` is the reactor where it was measured, else the portable driver.  Java's reference"
    " is, for reads, Java pinned to "
    "the same one CPU as ours, for everything else Java on all CPUs, which is the better of"
    " the two there (a run that measures "
    "both takes the better one).  A dash was not measured: without `--candidate` a run"
    " measures what the targets need.",
    "Spread: (largest - smallest round) / median, of the candidate where it is worst.  Noisy:"
    " samples during which other "
    f"processes used more than {machine.NOISY:.0%} of a CPU.",
    "The C floor answers the same bytes from memory; it reads registrations and drops them.",
)


def markdown(results: Results, candidates: Sequence[str], about: Sequence[str]) -> Iterator[str]:
    """The lines of the report.

    Args:
        results: of the run.
        candidates: in the order of the columns.
        about: how it was run, a line each.
    """
    yield "# Performance of the name server"
    yield ""
    yield from (f"- {line}" for line in (*about, *machine.description()))
    noisy, count = results.noise()
    yield f"- {noisy} of {count} samples noisy"
    yield ""
    yield from _summary(results)
    head = [
        *(LABELS[name] for name in candidates),
        "ours/Java",
        "portable/Java",
        "ours/C",
        "target",
        "measured",
        "spread",
        "noisy",
    ]
    for title, rows in SECTIONS.items():
        shown = [row for row in rows if any(results.values(row, name) for name in candidates)]
        if not shown:
            continue
        yield from (f"## {title}", "", f"| | {' | '.join(head)} |", f"|---|{'---:|' * len(head)}")
        yield from (_line(results, row, candidates) for row in shown)
        yield ""
    yield from NOTES
    if results.failures:
        yield ""
        yield "Samples that failed:"
        yield ""
        yield from (f"- {failure}" for failure in results.failures)
