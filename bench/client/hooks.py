"""``python -m bench.client.hooks [--rounds 5]``: what hooks cost a client, in CPU time.

A client without hooks and clients with hooks take turns at a Java broker, round by round. Printed
is the median of the costs of a message, and how much more it is than without hooks.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import trio

from bench.client.programs import Program, our_command
from rocketwire.client import ClientConfig, open_client
from tests.java.client.messages import create_topic
from tests.support.java.cluster import JavaCluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client.config import Hook

COUNTS: Final = {"sync": 10_000, "async": 30_000, "push": 120_000}
"""Messages of a round."""
OBSERVERS: Final = ("", "prometheus", "otel", "otel-1%", "otel-all")
"""Clients: without hooks; with ``PrometheusHook``; with ``OpenTelemetryHook``, without an SDK, with an
SDK and spans of 1 % of the traces, and with all spans."""


def hooks_of(observer: str) -> tuple[Hook, ...]:
    """Return the hooks of a client; spans are thrown away, and metrics never collected."""
    if observer == "prometheus":
        from prometheus_client import CollectorRegistry

        from rocketwire.client import PrometheusHook

        return (PrometheusHook(CollectorRegistry()),)
    from rocketwire.client import OpenTelemetryHook

    settings: dict[str, Any] = {}
    if observer != "otel":
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

        ratio = 1.0 if observer == "otel-all" else 0.01
        settings["tracer_provider"] = TracerProvider(sampler=ParentBased(TraceIdRatioBased(ratio)))
        settings["meter_provider"] = MeterProvider([InMemoryMetricReader()])
    return (OpenTelemetryHook(**settings),)


def measure(
    name_server: str, topics: dict[str, str], rounds: int, scale: float
) -> dict[tuple[str, str], float]:
    """Return microseconds of CPU time of a message, by kind of work and client."""
    costs: dict[tuple[str, str], list[float]] = {}
    programs = {
        observer: Program([*our_command(name_server, topic), *([observer] if observer else [])])
        for observer, topic in topics.items()
    }
    try:
        for program in programs.values():
            program.run("async", int(COUNTS["push"] * scale))
        for number in range(rounds):
            for verb, count in COUNTS.items():
                for observer, program in programs.items():
                    taken = program.run(verb, int(count * scale))
                    costs.setdefault((verb, observer), []).append(1e6 / taken.rate)
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    finally:
        for program in programs.values():
            program.end()
    return {key: statistics.median(values) for key, values in costs.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a broker, measure and print."""
    parser = argparse.ArgumentParser(prog="bench.client.hooks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="part of the usual messages")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, JavaCluster(Path(folder)) as cluster:
        topics = {observer: f"bench-hooks-{number}" for number, observer in enumerate(OBSERVERS)}

        async def create() -> None:
            async with open_client(ClientConfig(namesrv_addr=cluster.address)) as client:
                for topic in topics.values():
                    await create_topic(client, topic)

        trio.run(create)
        costs = measure(cluster.address, topics, options.rounds, options.scale)
    print(f"{'us of CPU time':<24}" + "".join(f"{verb:>18}" for verb in COUNTS))
    for observer in OBSERVERS:
        cells = [
            f"{costs[verb, observer]:10.2f} {costs[verb, observer] / costs[verb, ''] - 1:+7.0%}"
            for verb in COUNTS
        ]
        print(f"{observer or 'without hooks':<24}" + "".join(cells))


if __name__ == "__main__":
    main()
