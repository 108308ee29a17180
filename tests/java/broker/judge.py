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
from tests.support.java.peers import CURRENT, OLD, JavaBroker, JavaNameServer

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("broker1", "broker2", "broker3")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.java.broker.judge", description=__doc__)
    parser.add_argument("--brokers", choices=["java"], default="java", help="kind of the brokers")
    parser.add_argument("--release", choices=[CURRENT, OLD], default=CURRENT, help="of the tests")
    parser.add_argument("--seconds", type=float, default=3600.0, help="limit for all classes")
    parser.add_argument("--word", default="", help="only classes whose names contain this")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the classes; 0 if every method passed."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    classes = [
        name for name in integration_tests.classes_of(options.release) if options.word in name
    ]
    outcomes = []
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as running:
        folder = Path(scratch)
        name_server = running.enter_context(JavaNameServer(folder / "namesrv"))
        brokers = {}
        for name in NAMES:
            broker = JavaBroker(folder / name, [name_server.address], BROKER, name=name)
            running.enter_context(broker).wait_registered(name_server.port)
            brokers[name] = broker.address
        for outcome in integration_tests.run(
            folder / "tests",
            options.release,
            name_server.address,
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
