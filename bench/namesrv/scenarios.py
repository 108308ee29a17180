"""The scenarios that run against servers which live through the run: closed loops, open loops,
registrations.

The name of a scenario describes it:

- ``closed:50x32:16``: 50 connections with 32 requests under way each, topics of 16 brokers;
  ``:binary`` requests have ROCKETMQ headers, ``:v373`` requests have that protocol version.
- ``open:5000``: 5,000 reads a second of 10,000 topics of 8 brokers; ``open:5000:10:bump:json`` with
  10 registrations a second of all 10,000 topics, of which one is another each time (``same``: none,
  ``all``: every one), as JSON (``zip``: packed).
- ``overload:5000:bump:json``: the same at twice the rate of registrations that the server can
  sustain.
- ``register:bump:json``: registrations alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench.namesrv import machine, routes
from bench.namesrv.sampling import SampleError

if TYPE_CHECKING:
    from bench.namesrv.candidates import Server
    from bench.namesrv.sampling import Bench

CLOSED: Final = (
    "closed:50x1:1",
    "closed:200x1:1",
    "closed:50x32:1",
    "closed:1x1:1",
    "closed:50x1:16",
    "closed:50x1:128",
)
"""The reads that have targets."""
VARIANTS: Final = ("closed:50x1:1:binary", "closed:50x1:16:binary", "closed:50x1:16:v373")
"""Other forms of request; for information."""
PORTABLE: Final = CLOSED[0]
"""With the target of the portable driver."""
CHANGES: Final = tuple(
    f"{change}:{form}" for change in ("same", "bump", "all") for form in ("json", "zip")
)
OPEN: Final = ("open:5000", *(f"open:5000:10:{change}" for change in CHANGES))
OVERLOAD: Final = ("overload:5000:bump:json", "overload:5000:bump:zip")
REGISTER: Final = tuple(f"register:{change}" for change in CHANGES)
STEADY: Final = (*CLOSED, *VARIANTS, *OPEN, *OVERLOAD, *REGISTER)

OPEN_SECONDS: Final = 2.5
QUICK_OPEN_SECONDS: Final = 1.0
REGISTER_BROKERS: Final = 2
ALL_CHANGED_RATE: Final = 5.0
"""Java writes 10,000 log lines for each of these."""
MAX_OVERLOAD: Final = 400.0

Metrics = dict[str, float]
"""The values of a sample, by metric; it always has ``others``: CPUs that other processes used."""


def concerns(scenario: str, candidate: str, ours: str) -> bool:
    """Return whether a scenario is measured with a candidate by default: if a target or the floor
    needs it.

    Java's rates are measured on one CPU, like ours; its latencies, its CPU time for registrations
    and its start on all CPUs, where they are better (see ``docs/performance.md``).

    Args:
        scenario: its name, or one of ``lives``.
        candidate: the candidate.
        ours: our best driver.
    """
    family = scenario.partition(":")[0]
    if candidate == ours:
        return True
    if candidate == "c":
        return family == "closed" or scenario == "open:5000"
    if candidate == "java":
        return family == "closed"
    if candidate == "java-free":
        return family not in {"closed", "overload"}
    return scenario == PORTABLE


def sample(bench: Bench, scenario: str, server: Server) -> Metrics:
    """Take one sample.

    Raises:
        SampleError: it means nothing.
    """
    family, *words = scenario.split(":")
    if family == "closed":
        return _closed(bench, server, *words)
    if family == "open":
        return _open(bench, server, float(words[0]), words[1:])
    if family == "overload":
        return _overload(bench, server, float(words[0]), *words[1:])
    if family == "register":
        return _register(bench, server, *words)
    raise SampleError(f"there is no scenario {scenario!r}")


def _closed(bench: Bench, server: Server, size: str, brokers: str, *variants: str) -> Metrics:
    connections, depth = size.split("x")
    options = ["-c", connections, "-d", depth]
    for variant in variants:
        options += ["-b"] if variant == "binary" else ["-v", variant.removeprefix("v")]
    load = bench.closed(server, routes.FAMILIES[int(brokers)], *options)
    return {
        "rate": load.per_cpu,
        "p50": load.p50,
        "p99": load.p99,
        "rps": load.per_second,
        "others": load.others,
    }


def _open(bench: Bench, server: Server, rate: float, words: list[str]) -> Metrics:
    seconds = QUICK_OPEN_SECONDS if bench.quick else OPEN_SECONDS
    if not words:
        return _reads(bench, server, rate, seconds)
    per_second, change, form = words
    return _both(bench, server, rate, seconds, float(per_second), change, form)


def _reads(bench: Bench, server: Server, rate: float, seconds: float) -> Metrics:
    load = bench.opened(server, routes.WIDE, rate, seconds)
    return {
        "p50": load.p50,
        "p99": load.p99,
        "p999": load.p999,
        "max": load.longest,
        "cpus": load.cpus,
        "unanswered": load.unanswered,
        "others": load.others,
    }


def _both(
    bench: Bench,
    server: Server,
    rate: float,
    seconds: float,
    per_second: float,
    change: str,
    form: str,
) -> Metrics:
    """Reads and registrations at the same time; the registrations begin before the window and end
    after it."""
    how = {"server": server.name, "change": change, "form": form, "brokers": routes.WIDE.brokers}
    bench.feeder.obey("prime", **how)
    bench.feeder.begin("feed", **how, rate=per_second, seconds=seconds + 0.5)
    try:
        reads = _reads(bench, server, rate, seconds)
    finally:
        fed = bench.feeder.end()
    if fed["failed"]:
        raise SampleError(f"{server.name} refused {fed['failed']} registrations")
    lost = fed["unsent"] + fed["missing"]
    return {
        **reads,
        "registrations": fed["answers"] / fed["seconds"],
        "reply_p50": fed["p50"],
        "reply_p99": fed["p99"],
        "lost": lost,
    }


def _overload(bench: Bench, server: Server, rate: float, change: str, form: str) -> Metrics:
    seconds = QUICK_OPEN_SECONDS if bench.quick else OPEN_SECONDS
    sustained = _both(bench, server, rate, seconds, 0, change, form)["registrations"]
    twice = min(2 * sustained, MAX_OVERLOAD)
    return {
        **_both(bench, server, rate, seconds, twice, change, form),
        "sustained": sustained,
        "offered": twice,
    }


def _register(bench: Bench, server: Server, change: str, form: str) -> Metrics:
    """Registrations alone: CPU time for one of 10,000 topics, from the socket to the reply."""
    how = {"server": server.name, "change": change, "form": form, "brokers": REGISTER_BROKERS}
    rate = ALL_CHANGED_RATE if change == "all" else 10.0
    bench.feeder.obey("prime", **how)
    bystanders = machine.Bystanders(server.pid, bench.feeder.pid)
    cpu_before = machine.cpu_seconds(server.pid)
    seconds = 1.0 if bench.quick else 3.0
    fed = bench.feeder.obey("feed", **how, rate=rate, seconds=seconds)
    used = machine.cpu_seconds(server.pid) - cpu_before
    if fed["failed"] or fed["missing"] or not fed["answers"]:
        raise SampleError(f"{server.name} answered not all registrations: {fed}")
    return {
        "cpu": used / fed["answers"] * 1e3,
        "reply_p50": fed["p50"],
        "reply_p99": fed["p99"],
        "others": bystanders.share(),
    }
