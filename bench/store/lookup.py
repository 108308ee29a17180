"""``python -m bench.store.lookup STORE TOPIC KEY``: milliseconds to find a key through an index."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from rocketwire_tools.store.lookup import by_key
from rocketwire_tools.store.opened import OpenedStore

TIMES: Final = 5


def main() -> None:
    """Print the shortest time."""
    root, topic, key = sys.argv[1:]
    shortest = float("inf")
    for _ in range(TIMES):
        begin = time.process_time()
        message = next(by_key(OpenedStore([Path(root)]), key, topic), None)
        shortest = min(shortest, time.process_time() - begin)
        if message is None or message.source != "index file":
            raise RuntimeError(f"the index does not lead to {key}")
    print(1000 * shortest)


if __name__ == "__main__":
    main()
