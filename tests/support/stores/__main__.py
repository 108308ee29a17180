"""Record a packed store anew: ``python -m tests.support.stores 5.5.0-plain 5.5.0-crc``."""

import sys
import tempfile
from pathlib import Path

from tests.support.stores import fixtures
from tests.support.stores.recording import record

for name in sys.argv[1:]:
    release, _, kind = name.partition("-")
    with tempfile.TemporaryDirectory() as folder:
        store = record(Path(folder), release, kind)
        fixtures.pack(store)
    numbers = f"{len(store.truth.sent)} sent, {len(store.truth.pulled)} pulled"
    sys.stdout.write(f"{name}: {numbers}\n")
