"""Damage to stores of real brokers: ``python -m tests.fuzz.damaged_stores --cases 1000``.

Each case damages a packed store at one to three random places, runs every verb that reads, and puts
it back.  Stores of other releases that tests have made are damaged too, with ``--made``.
``tests.support.stores.hostile`` has the promises; a broken one ends with status 1.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.stores import copy_store, open_store
from tests.support.stores.fixtures import PACKED, unpack
from tests.support.stores.hostile import HostileStore
from tests.support.stores.store import KINDS, folder_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="over all stores")
    parser.add_argument("--seed", default="stores", help="of the random numbers")
    parser.add_argument("--damages", type=int, default=3, help="at most in a case")
    parser.add_argument("--release", help="only stores of this release")
    parser.add_argument(
        "--made", action="store_true", help="also stores of .cache/stores, which are not packed"
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="only stores of these kinds")
    chosen = parser.parse_args(arguments)
    names = [
        (release, kind)
        for kind, releases in KINDS.items()
        for release in releases
        if (not chosen.kinds or kind in chosen.kinds)
        and chosen.release in (None, release)
        and ((release, kind) in PACKED or (chosen.made and folder_of(release, kind).exists()))
    ]
    if not names:
        parser.error("there is no such store")
    cases = -(-chosen.cases // len(names))
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        foreign = unpack(*PACKED[-1], Path(folder) / "foreign").root
        for release, kind in names:
            place = Path(folder) / f"{kind}-{release}" / "store"
            if (release, kind) in PACKED:
                root = unpack(release, kind, place.parent).root
            else:
                root = copy_store(open_store(release, kind).root, place)
            store = HostileStore(root, foreign)
            for number in range(cases):
                seed = f"{chosen.seed} {kind} {release} {number}"
                damage, faults = store.damage(seed, chosen.damages)
                broken += bool(faults)
                for fault in faults:
                    sys.stdout.write(f"{seed}: {damage.name} {damage.files}: {fault}\n")
            sys.stdout.write(f"{kind} {release}: {cases} cases\n")
            sys.stdout.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(f"{cases * len(names)} cases, {broken} with faults, {peak} MB at most\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
