"""Java's own integration tests at a broker: ``python -m tests.java.broker.judge --brokers java``.

It starts a name server and three brokers of the chosen kind, runs the classes, prints a line for each
method that failed and the sum of each class, and ends with 1 if anything failed.  All classes take half
an hour, mostly waiting.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.peers import integration_tests
from tests.peers.cluster import BROKER
from tests.peers.dev_cluster import DevBroker
from tests.peers.peers import CURRENT, OLD, JavaBroker, JavaNameServer
from tests.peers.processes import LOOPBACK

NAMES = ("broker1", "broker2", "broker3")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.java.broker.judge", description=__doc__)
    parser.add_argument(
        "--brokers", choices=["java", "rocketwire"], default="java", help="kind of the brokers"
    )
    parser.add_argument("--release", choices=[CURRENT, OLD], default=CURRENT, help="of the tests")
    parser.add_argument("--seconds", type=float, default=3600.0, help="limit for all classes")
    parser.add_argument(
        "--word",
        action="append",
        default=[],
        help="only classes whose names contain it; repeatable",
    )
    return parser.parse_args(arguments)


def java_brokers(folder: Path, running: ExitStack) -> tuple[str, dict[str, str]]:
    # Start Java's servers; returns the name server's address, and each broker's by its name.
    name_server = running.enter_context(JavaNameServer(folder / "namesrv"))
    addresses: dict[str, str] = {}
    for name in NAMES:
        broker = JavaBroker(folder / name, [name_server.address], BROKER, name=name)
        running.enter_context(broker).wait_registered(name_server.port)
        addresses[name] = broker.address
    return name_server.address, addresses


def own_brokers(folder: Path, running: ExitStack) -> tuple[str, dict[str, str]]:
    # Start our brokers, the first with a name server in its process; returns the same.
    name_server: list[str] = []
    addresses: dict[str, str] = {}
    for name in NAMES:
        broker = running.enter_context(DevBroker(folder / name, name_server, BROKER, name=name))
        addresses[name] = broker.address
        if not name_server:
            name_server.append(f"{LOOPBACK}:{broker.name_server_port}")
    return name_server[0], addresses


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(sys.argv[1:] if arguments is None else arguments)
    classes = [
        name
        for name in integration_tests.classes_of(options.release)
        if not options.word or any(word in name for word in options.word)
    ]
    outcomes: list[integration_tests.Outcome] = []
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as running:
        folder = Path(scratch)
        start = java_brokers if options.brokers == "java" else own_brokers
        name_server, brokers = start(folder, running)
        for outcome in integration_tests.run(
            folder / "tests", options.release, name_server, brokers, classes, options.seconds
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
