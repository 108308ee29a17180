"""``python -m bench.client.hooks [--rounds 5] [--dialect threads]``: what hooks cost a client.

A client without hooks and clients with hooks take turns at a Java broker, round by round. Printed
is the median of the costs of a message, and how much more it is than without hooks. ``push`` is a
handler for each message in trio, and batches of 32 in the other dialects.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import trio

from bench.client.programs import Program, Taken, facade_command, our_command
from rocketwire.client import ClientConfig, open_client
from tests.java.client.messages import create_topic
from tests.support.java.cluster import JavaCluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client.config import Hook

COUNTS: Final = {"sync": 10_000, "async": 30_000, "push": 120_000}
"""Messages of a round."""
OBSERVERS: Final = {
    "": "without hooks",
    "prometheus": "PrometheusHook",
    "otel": "OpenTelemetryHook, no SDK",
    "metrics": "metrics",
    "metrics,durations": "metrics, 10 % of durations",
    "traces=0": "traces, none sampled",
    "traces=0.01": "traces, 1 % sampled",
    "traces=1": "traces, all",
    "metrics,durations,traces=0.01": "both, 10 % and 1 %",
    "metrics,traces=1": "both, all",
}
"""Hooks of the clients, and what they are. ``metrics`` and ``traces`` mean the SDK of OpenTelemetry;
spans are thrown away, and metrics never collected."""

DIALECTS: Final = ("trio", "threads", "asyncio", "uvloop")


def hooks_of(observer: str) -> tuple[Hook, ...]:
    """Return the hooks of a client."""
    if not observer:
        return ()
    if observer == "prometheus":
        from prometheus_client import CollectorRegistry

        from rocketwire.client import PrometheusHook

        return (PrometheusHook(CollectorRegistry()),)
    from opentelemetry.metrics import NoOpMeterProvider
    from opentelemetry.trace import NoOpTracerProvider

    from rocketwire.client import OpenTelemetryHook

    if observer == "otel":
        return (OpenTelemetryHook(),)
    words: dict[str, str] = {}
    for word in observer.split(","):
        name, _, value = word.partition("=")
        words[name] = value
    settings: dict[str, Any] = {
        "meter_provider": NoOpMeterProvider(),
        "tracer_provider": NoOpTracerProvider(),
        "durations": 0.1 if "durations" in words else 1.0,
    }
    if "metrics" in words:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader

        settings["meter_provider"] = MeterProvider([InMemoryMetricReader()])
    if "traces" in words:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

        sampler = ParentBased(TraceIdRatioBased(float(words["traces"])))
        settings["tracer_provider"] = TracerProvider(sampler=sampler)
    return (OpenTelemetryHook(**settings),)


class Cost(NamedTuple):
    """The cost of a message, in microseconds.

    Attributes:
        cpu: of CPU time of the client.
        wall: of time.
    """

    cpu: float
    wall: float


def measure(
    name_server: str, topics: dict[str, str], dialect: str, rounds: int, scale: float
) -> dict[tuple[str, str], Cost]:
    """Return the costs of a message, by kind of work and client."""
    taken: dict[tuple[str, str], list[Taken]] = {}
    programs = {
        observer: Program([*_command(name_server, topic, dialect), observer])
        for observer, topic in topics.items()
    }
    try:
        for program in programs.values():
            program.run("async", int(COUNTS["push"] * scale))
        for number in range(rounds):
            for verb, count in COUNTS.items():
                for observer, program in programs.items():
                    result = program.run(verb, int(count * scale))
                    taken.setdefault((verb, observer), []).append(result)
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    finally:
        for program in programs.values():
            program.end()
    return {
        key: Cost(
            statistics.median(1e6 / result.rate for result in results),
            statistics.median(1e6 * result.wall / result.messages for result in results),
        )
        for key, results in taken.items()
    }


def _command(name_server: str, topic: str, dialect: str) -> list[str]:
    if dialect == "trio":
        return our_command(name_server, topic)
    return facade_command(name_server, topic, dialect)


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a broker, measure and print."""
    parser = argparse.ArgumentParser(prog="bench.client.hooks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="part of the usual messages")
    parser.add_argument("--dialect", choices=DIALECTS, default="trio", help="the kind of client")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, JavaCluster(Path(folder)) as cluster:
        topics = {observer: f"bench-hooks-{number}" for number, observer in enumerate(OBSERVERS)}

        async def create() -> None:
            async with open_client(ClientConfig(namesrv_addr=cluster.address)) as client:
                for topic in topics.values():
                    await create_topic(client, topic)

        trio.run(create)
        costs = measure(cluster.address, topics, options.dialect, options.rounds, options.scale)
    print(f"{'us of a message: CPU time, time':<32}" + "".join(f"{verb:>26}" for verb in COUNTS))
    for observer in OBSERVERS:
        cells = [
            "".join(
                f"{cost:7.1f}{cost / base - 1:+6.0%}"
                for cost, base in zip(costs[verb, observer], costs[verb, ""], strict=True)
            )
            for verb in COUNTS
        ]
        print(f"{OBSERVERS[observer]:<32}" + "".join(cells))


if __name__ == "__main__":
    main()
