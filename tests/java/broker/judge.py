"""Java's own integration tests at a broker: ``python -m tests.java.broker.judge --brokers java``.

It starts a name server and three brokers of the chosen kind, runs the classes, prints a line for each
method that failed and the sum of each class, and ends with 1 if anything failed.  All classes take half
an hour, mostly waiting.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.java import integration_tests
from tests.support.java.cluster import BROKER
from tests.support.java.dev_cluster import DevBroker
from tests.support.java.peers import CURRENT, OLD, JavaBroker, JavaNameServer
from tests.support.processes import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("broker1", "broker2", "broker3")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.java.broker.judge", description=__doc__)
    parser.add_argument(
        "--brokers", choices=["java", "rocketwire"], default="java", help="kind of the brokers"
    )
    parser.add_argument("--release", choices=[CURRENT, OLD], default=CURRENT, help="of the tests")
    parser.add_argument("--seconds", type=float, default=3600.0, help="limit for all classes")
    parser.add_argument("--word", default="", help="only classes whose names contain this")
    return parser.parse_args(arguments)


def started(folder: Path, running: ExitStack, *, ours: bool) -> tuple[str, dict[str, str]]:
    """Start a name server and three brokers; return its address and theirs by name."""
    if ours:
        first = running.enter_context(DevBroker(folder / NAMES[0], (), BROKER, name=NAMES[0]))
        brokers = {first.name: first.address}
        name_server = f"{LOOPBACK}:{first.name_server_port}"
        for name in NAMES[1:]:
            other = DevBroker(folder / name, [name_server], BROKER, name=name)
            brokers[name] = running.enter_context(other).address
        return name_server, brokers
    java_name_server = running.enter_context(JavaNameServer(folder / "namesrv"))
    brokers = {}
    for name in NAMES:
        broker = JavaBroker(folder / name, [java_name_server.address], BROKER, name=name)
        running.enter_context(broker).wait_registered(java_name_server.port)
        brokers[name] = broker.address
    return java_name_server.address, brokers


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the classes; 0 if every method passed."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    classes = [
        name for name in integration_tests.classes_of(options.release) if options.word in name
    ]
    outcomes = []
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as running:
        folder = Path(scratch)
        name_server, brokers = started(folder, running, ours=options.brokers == "rocketwire")
        for outcome in integration_tests.run(
            folder / "tests",
            options.release,
            name_server,
            brokers,
            classes,
            options.seconds,
        ):
            outcomes.append(outcome)
            sys.stdout.write(
                f"{outcome.outcome:8}{outcome.milliseconds / 1000:7.1f} s  "
                f"{outcome.test_class}.{outcome.method}  {outcome.reason}\n"
            )
            sys.stdout.flush()
    counts = integration_tests.by_class(outcomes)
    for name, (passed, ran) in counts.items():
        sys.stdout.write(f"{passed:3} of {ran:3}  {name}\n")
    passed, ran = (
        sum(count[0] for count in counts.values()),
        sum(count[1] for count in counts.values()),
    )
    sys.stdout.write(f"{passed} passed, {ran - passed} failed\n")
    return 0 if passed == ran else 1


if __name__ == "__main__":
    sys.exit(main())
