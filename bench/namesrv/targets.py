"""The rows of the table and their targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.namesrv import scenarios

JAVA: Final = "Java"
C: Final = "C"
ITSELF: Final = ""


@dataclass(frozen=True, slots=True)
class Target:
    """One aim.

    Attributes:
        bound: for a rate at least that many times the reference, for anything else at most.
        of: ``JAVA``, ``C``, or ``ITSELF`` for a bound on the figure as it is.
        portable: whether the portable driver is meant; else the best driver there is.
    """

    bound: float
    of: str = JAVA
    portable: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: a metric of a scenario.

    Attributes:
        scenario: where the metric comes from; also ``idle`` and ``loaded``.
        metric: its key in the sample.
        unit: for the table.
        text: for the table.
        higher: whether more is better.
        pinned: whether Java pinned to one CPU is the reference; else the better of the two Javas.
        targets: all of them.
    """

    scenario: str
    metric: str
    unit: str
    text: str
    higher: bool = False
    pinned: bool = False
    targets: tuple[Target, ...] = ()


def _reads(scenario: str, *targets: Target) -> Row:
    _, size, brokers, *variant = scenario.split(":")
    what = f"{size.replace('x', ' x ')}, {brokers} broker{'s' if brokers != '1' else ''}"
    text = " ".join([what, *variant])
    return Row(scenario, "rate", "k/s", text, higher=True, pinned=True, targets=targets)


def _latency(scenario: str, *targets: Target, text: str) -> Row:
    return Row(scenario, "p99", "ms", text, targets=targets)


def _register(change: str, form: str, *targets: Target) -> Row:
    return Row(f"register:{change}:{form}", "cpu", "ms", _changed(change, form), targets=targets)


def _changed(change: str, form: str) -> str:
    what = {"same": "unchanged", "bump": "one topic changed", "all": "all topics changed"}[change]
    return f"{what}, {'JSON' if form == 'json' else 'compressed'}"


def _under(change: str, form: str, *targets: Target) -> Row:
    text = f"with 10 registrations/s, {_changed(change, form)}"
    return _latency(f"open:5000:10:{change}:{form}", *targets, text=text)


def _overload(form: str) -> Row:
    text = f"at twice the sustainable registrations, {_changed('bump', form)}"
    return _latency(f"overload:5000:bump:{form}", Target(5, ITSELF), text=text)


def _sustained(form: str) -> Row:
    text = f"registrations under 5,000 reads/s that it sustains, {_changed('bump', form)}"
    return Row(f"overload:5000:bump:{form}", "sustained", "1/s", text, higher=True)


READS: Final = (
    _reads("closed:50x1:1", Target(2.2), Target(0.33, C), Target(1.0, JAVA, portable=True)),
    _reads("closed:200x1:1"),
    _reads("closed:50x32:1", Target(2.5), Target(0.16, C)),
    _reads("closed:1x1:1", Target(1.3)),
    _reads("closed:50x1:16", Target(2.5)),
    _reads("closed:50x1:128", Target(6), Target(0.5, C)),
    *(_reads(variant) for variant in scenarios.VARIANTS),
)
LATENCIES: Final = (
    _latency("open:5000", Target(1.0), text="quiet"),
    _under("same", "json", Target(0.1)),
    _under("same", "zip", Target(0.1)),
    _under("bump", "json", Target(0.3)),
    _under("bump", "zip", Target(0.3)),
    _under("all", "json"),
    _under("all", "zip"),
    _overload("json"),
    _overload("zip"),
)
REGISTRATIONS: Final = (
    _register("same", "zip", Target(0.1)),
    _register("same", "json", Target(0.3)),
    _register("bump", "zip", Target(0.6)),
    _register("bump", "json", Target(0.6)),
    _register("all", "zip", Target(0.75)),
    _register("all", "json", Target(0.75)),
    _sustained("zip"),
    _sustained("json"),
)
LIVING: Final = (
    Row("idle", "start", "s", "exec to first answer", targets=(Target(0.25),)),
    Row("idle", "start_cpu", "s", "CPU until then", targets=(Target(0.125),)),
    Row("idle", "resident", "MB", "memory at rest", targets=(Target(0.25),)),
    Row("loaded", "loaded", "MB", "memory, 100,000 topics on 4 brokers", targets=(Target(1 / 6),)),
    Row("loaded", "topic", "B", "... for each topic", targets=(Target(300, ITSELF),)),
    Row("idle", "connection", "B", "for each idle connection", targets=(Target(1024, ITSELF),)),
    Row("idle", "idle", "%", "of a CPU, 16 silent brokers", targets=(Target(0.15, ITSELF),)),
    Row(
        "idle",
        "largest",
        "",
        "a frame of 16,777,216 bytes is answered",
        higher=True,
        targets=(Target(1, ITSELF),),
    ),
    Row("idle", "larger", "", "one byte more closes", higher=True, targets=(Target(1, ITSELF),)),
)
SECTIONS: Final = {
    "Reads: answers for each CPU second of the server (thousands),"
    " connections x requests under way": READS,
    "Reads at 5,000/s: p99 from the intended time (ms)": LATENCIES,
    "Registrations of 10,000 topics: CPU from socket to reply, and how many": REGISTRATIONS,
    "Start, memory, rest": LIVING,
}
