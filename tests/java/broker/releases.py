"""The cases for brokers at Java's earlier releases, each with its profile; ``python -m tests.java.broker.releases`` runs it.

    python -m tests.java.broker.releases 5.3.3 4.9.4

Prints each requirement that is not met; the exit status is 1 if there are some.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

import trio

from rocketwire_tools.conformance.model.case import Profile
from rocketwire_tools.conformance.run.target import Address
from tests.integration.conformance.broker_runs import play_at
from tests.peers import class_archive
from tests.peers.cluster import JavaCluster

PROFILES = {"5.5.0": Profile.JAVA_5_5, "5.3.3": Profile.JAVA_5_3, "4.9.4": Profile.JAVA_4_9}


def bad(version: str, folder: Path) -> list[str]:
    # Run all cases at a new broker of a release; returns what failed.
    class_archive.record_broker(version)
    with JavaCluster(folder, version=version) as cluster:
        host, _, port = cluster.master.address.rpartition(":")
        address = Address(host, int(port))
        played = trio.run(partial(play_at, address, profile=PROFILES[version], patience=8.0))
    print(f"{version}: {len(played.verdicts)} cases, {len(played.bad())} failed")  # noqa: T201 - a program prints
    return played.bad()


def main(versions: list[str]) -> int:
    failures = 0
    for version in versions or ["5.3.3", "4.9.4"]:
        with tempfile.TemporaryDirectory() as folder:
            for line in bad(version, Path(folder)):
                print(f"  {line}")  # noqa: T201 - a program prints
                failures += 1
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
