"""Damage to stores of real brokers: ``python -m tests.fuzz.damaged_stores --cases 1000``.

Each case damages a packed store at a random place, runs every verb that reads, and puts it back.
``tests.support.stores.hostile`` has the promises; a broken one ends with status 1.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.hostile import HostileStore

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="over all stores")
    parser.add_argument("--seed", default="stores", help="of the random numbers")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="only stores of these kinds")
    chosen = parser.parse_args(arguments)
    packed = [name for name in PACKED if not chosen.kinds or name[1] in chosen.kinds]
    cases = -(-chosen.cases // len(packed))
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        foreign = unpack(*PACKED[-1], Path(folder) / "foreign").root
        for release, kind in packed:
            root = unpack(release, kind, Path(folder) / f"{kind}-{release}").root
            store = HostileStore(root, foreign)
            for number in range(cases):
                seed = f"{chosen.seed} {kind} {release} {number}"
                damage, faults = store.damage(seed)
                broken += bool(faults)
                for fault in faults:
                    sys.stdout.write(f"{seed}: {damage.name} {damage.files}: {fault}\n")
            sys.stdout.write(f"{kind} {release}: {cases} cases\n")
            sys.stdout.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"{cases * len(packed)} cases, {broken} with faults, {peak} MB at most\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
