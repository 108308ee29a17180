"""Damage to stores of real brokers: ``python -m tests.fuzz.damaged_stores --cases 1000``.

Each case damages a packed store at a random place, runs every verb that reads, and puts it back.
``tests.support.stores.hostile`` has the promises; a broken one ends with status 1.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.hostile import HostileStore


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="over all stores")
    parser.add_argument("--seed", default="stores", help="of the random numbers")
    chosen = parser.parse_args()
    broken = 0
    for release, kind in PACKED:
        with tempfile.TemporaryDirectory() as folder:
            store = HostileStore(unpack(release, kind, Path(folder)).root)
            for number in range(-(-chosen.cases // len(PACKED))):
                seed = f"{chosen.seed} {kind} {release} {number}"
                damage, faults = store.damage(seed)
                broken += bool(faults)
                for fault in faults:
                    sys.stdout.write(f"{seed}: {damage}: {fault}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
