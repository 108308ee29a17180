"""Compares the name server with Java's and with a plain C server: all are started in one run, and
sampled in turn.

``python -m bench.namesrv`` runs all scenarios, ``--quick`` with short windows and two rounds,
``--scenario`` those whose name begins with its argument (``closed``, ``open:5000``, ``idle`` ...).
Every round samples every candidate of a scenario once, in an order that rotates by one each round;
figures are medians of the rounds. Without ``--candidate`` a scenario is measured with the
candidates of its targets, which takes some 20 minutes; with it, with the named ones.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.namesrv import candidates, lives, machine, report, routes, scenarios
from bench.namesrv.candidates import Server
from bench.namesrv.report import Key, Results
from bench.namesrv.sampling import Bench, FeederProcess, SampleError
from bench.namesrv.scenarios import STEADY
from tests.support.java.cache import JavaUnavailableError, jars
from tests.support.processes import PeerFailedError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from bench.namesrv.machine import Cpus

ROUNDS: Final = 5
QUICK_ROUNDS: Final = 2
WARM_SECONDS: Final = 30.0
QUICK_WARM_SECONDS: Final = 4.0


class Options(argparse.Namespace):
    """The command line; see ``--help``."""

    quick: bool
    scenario: list[str] | None
    rounds: int
    candidate: list[str] | None
    layout: str
    write: Path | None
    samples: Path | None


def _arguments(argv: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.namesrv", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short windows, two rounds")
    parser.add_argument(
        "--scenario", action="append", metavar="PREFIX", help="only these; again for more"
    )
    parser.add_argument("--rounds", type=int, help=f"{ROUNDS}, {QUICK_ROUNDS} with --quick")
    parser.add_argument(
        "--candidate", action="append", choices=candidates.ALL, help="only these; again for more"
    )
    parser.add_argument(
        "--layout",
        choices=("shared", "split"),
        default="shared",
        help="load generator of the closed loops on the server's CPU, or on another",
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report there as well")
    parser.add_argument(
        "--samples", type=Path, metavar="FILE", help="write every sample there, as JSON"
    )
    options = parser.parse_args(argv, namespace=Options())
    options.rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    return options


def _chosen(prefixes: Sequence[str] | None) -> list[str]:
    everything = [*STEADY, *lives.LIVES]
    if not prefixes:
        return everything
    return [
        scenario for scenario in everything if any(_begins(scenario, prefix) for prefix in prefixes)
    ]


def _begins(scenario: str, prefix: str) -> bool:
    words, prefix_words = scenario.split(":"), prefix.split(":")
    return words[: len(prefix_words)] == prefix_words


def _candidates(requested: Sequence[str] | None) -> list[str]:
    names = [name for name in candidates.available() if not requested or name in requested]
    try:
        jars(candidates.JAVA_VERSION)
    except JavaUnavailableError as missing:
        _say(f"no Java: {missing}")
        names = [name for name in names if name not in candidates.JAVAS]
    return names


def _plan(
    names: Sequence[str], selected: Sequence[str], chosen: Sequence[str] | None
) -> dict[str, list[str]]:
    """The candidates of each scenario."""
    best = next((name for name in candidates.OURS if name in names), "")
    return {
        scenario: [name for name in names if chosen or scenarios.concerns(scenario, name, best)]
        for scenario in selected
    }


def _taking_part(plan: dict[str, list[str]], names: Sequence[str]) -> list[str]:
    return [name for name in names if any(name in participants for participants in plan.values())]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ---- servers that live through the run


@contextmanager
def _running(
    names: Sequence[str], folder: Path, cpus: Cpus, feeder: FeederProcess
) -> Generator[dict[str, Server]]:
    """Start them all and give them the same routes; the C server, which learns them from another's
    answers, last."""
    servers = {name: Server(name, folder / name, cpus) for name in names}
    order = sorted(servers, key=lambda name: name == "c")
    with ExitStack() as stack:
        for name in order:
            server = servers[name]
            stack.callback(server.kill)
            (folder / name).mkdir()
            if name == "c":
                server.bodies = _bodies(servers[order[0]], folder)
            server.start()
            feeder.obey(
                "connect",
                server=name,
                port=server.port,
                narrow=True,
                wide=routes.WIDE.brokers,
                topics=routes.WIDE.count,
            )
            _say(f"{name} runs")
        _require_same_routes(servers)
        yield servers


def _bodies(server: Server, folder: Path) -> list[tuple[str, int, Path]]:
    """A server's answers, one for each family of topics, for the C server; none if it is to teach
    itself."""
    bodies: list[tuple[str, int, Path]] = []
    for brokers, family in routes.FAMILIES.items():
        if server.name != "c":
            path = folder / f"body-{brokers}"
            path.write_bytes(server.route(routes.topic_name(family.format, 0)))
            bodies.append((family.format, family.count, path))
    return bodies


def _require_same_routes(servers: dict[str, Server]) -> None:
    """Raise ``SampleError`` unless they all answer the same; the order of brokers does not
    count."""
    for brokers, family in routes.FAMILIES.items():
        topic = routes.topic_name(family.format, family.count - 1)
        answers = {name: _sorted(server.route(topic)) for name, server in servers.items()}
        if (
            len(set(answers.values())) > 1
            or f"{brokers} brokers" not in set(answers.values()).pop()
        ):
            raise SampleError(f"the routes of {topic} differ: {answers}")


def _sorted(body: bytes) -> str:
    """A route's body in an order of its own, and how many brokers are in it."""
    route = json.loads(body)
    for name in ("brokerDatas", "queueDatas"):
        route[name].sort(key=itemgetter("brokerName"))
    return f"{json.dumps(route, sort_keys=True)} {len(route['brokerDatas'])} brokers"


def _warm_up(bench: Bench, plan: dict[str, list[str]], seconds: float) -> None:
    """Give everything to do that it will be measured with, above all to Java's compiler."""
    fed = {
        name
        for scenario, names in plan.items()
        if not scenario.startswith("closed")
        for name in names
    }
    for name, server in bench.servers.items():
        duration = seconds if name in candidates.JAVAS else 1.0
        for change in scenarios.CHANGES if name in fed else ():
            change_kind, form = change.split(":")
            how = {
                "server": name,
                "change": change_kind,
                "form": form,
                "brokers": scenarios.REGISTER_BROKERS,
            }
            bench.feeder.obey("prime", **how)
            bench.feeder.obey("feed", **how, rate=0, seconds=duration / 12)
        end = time.monotonic() + duration
        while time.monotonic() < end:
            for family in routes.FAMILIES.values():
                bench.closed(server, family)
            bench.closed(server, routes.NARROW[0], "-d", "32")
        bench.feeder.keep_alive()
        _say(f"{name} is warm")


# ---- sampling


def _turned(names: Sequence[str], turn: int) -> list[str]:
    """The candidates in the order of a round."""
    shift = turn % max(1, len(names))
    return [*names[shift:], *names[:shift]]


def _sample_all(bench: Bench, plan: dict[str, list[str]], rounds: int, results: Results) -> None:
    for turn in range(rounds):
        for scenario, names in plan.items():
            for name in _turned(names, turn):
                try:
                    bench.feeder.keep_alive()
                    sample = scenarios.sample(bench, scenario, bench.servers[name])
                except SampleError as error:
                    results.failures.append(f"{scenario}, {name}, round {turn + 1}: {error}")
                    _say(results.failures[-1])
                else:
                    results.samples[Key(scenario, name)].append(sample)
        _say(f"round {turn + 1} of {rounds}")


def _live_all(
    plan: dict[str, list[str]],
    folder: Path,
    cpus: Cpus,
    feeder: FeederProcess,
    arguments: Options,
    results: Results,
) -> None:
    for turn in range(arguments.rounds):
        for life, names in plan.items():
            for name in _turned(names, turn):
                place = folder / f"{life}-{name}-{turn}"
                try:
                    sample = lives.live(life, name, place, cpus, feeder, quick=arguments.quick)
                except (SampleError, PeerFailedError, OSError) as error:
                    results.failures.append(f"{life}, {name}, round {turn + 1}: {error}")
                    _say(results.failures[-1])
                else:
                    results.samples[Key(life, name)].append(sample)
        _say(f"lives, round {turn + 1} of {arguments.rounds}")


def run(arguments: Options) -> tuple[list[str], Results]:
    """Run what was asked for; returns the lines of the report, and the samples."""
    candidates.build_programs()
    names, scenarios = _candidates(arguments.candidate), _chosen(arguments.scenario)
    cpus, results = machine.cpus(arguments.layout), Results()
    if not names or not scenarios:
        return ["nothing to measure"], results
    os.sched_setaffinity(0, {int(cpus.feeder)})
    plan = _plan(names, scenarios, arguments.candidate)
    steady = {scenario: plan[scenario] for scenario in scenarios if scenario in STEADY}
    life = {scenario: plan[scenario] for scenario in scenarios if scenario in lives.LIVES}
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rocketwire-bench-") as scratch:
        folder = Path(scratch)
        with FeederProcess(cpus.feeder) as feeder:
            if life:
                _live_all(life, folder, cpus, feeder, arguments, results)
            if steady:
                with _running(_taking_part(steady, names), folder, cpus, feeder) as servers:
                    bench = Bench(servers, feeder, cpus, quick=arguments.quick)
                    _warm_up(bench, steady, QUICK_WARM_SECONDS if arguments.quick else WARM_SECONDS)
                    _sample_all(bench, steady, arguments.rounds, results)
    about = [*_about(arguments, cpus), f"took {(time.monotonic() - start) / 60:.0f} minutes"]
    return list(report.markdown(results, names, about)), results


def _about(arguments: Options, cpus: Cpus) -> list[str]:
    words = ["python -m bench.namesrv"]
    words += ["--quick"] if arguments.quick else []
    words += [f"--scenario {value}" for value in arguments.scenario or []]
    words += [f"--candidate {value}" for value in arguments.candidate or []]
    words += [f"--rounds {arguments.rounds}", f"--layout {arguments.layout}"]
    pinned = f"servers on CPU {cpus.server}, load on CPU {cpus.load}, brokers on CPU {cpus.feeder}"
    realtime = "with" if machine.may_be_realtime() else "without"
    return [
        f"`{' '.join(words)}`, {time.strftime('%Y-%m-%d')}: medians of {arguments.rounds}"
        f" interleaved rounds",
        f"{pinned}; open loops {realtime} real-time priority on the server's CPU",
        f"Java with {' '.join(candidates.JAVA_OPTIONS)}",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print the report, write it where that is wanted."""
    arguments = _arguments(argv)
    lines, results = run(arguments)
    print("\n".join(lines))
    if arguments.write is not None:
        arguments.write.write_text("\n".join(lines) + "\n")
    if arguments.samples is not None:
        arguments.samples.write_text(json.dumps(results.as_json(), indent=1))
    return 0
