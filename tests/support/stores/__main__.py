"""Make stores beforehand, or pack one for the fixtures.

``python -m tests.support.stores 5.5.0-plain 4.9.4-killed``,
``python -m tests.support.stores pack 5.5.0-plain``
"""

from __future__ import annotations

import sys

from tests.support.stores import fixtures, open_store

is_packing = sys.argv[1:2] == ["pack"]
for name in sys.argv[1 + is_packing :]:
    release, _, kind = name.partition("-")
    store = open_store(release, kind)
    numbers = f"{len(store.truth.sent)} sent, {len(store.truth.pulled)} pulled"
    sys.stdout.write(f"{store.root}: {numbers}\n")
    if is_packing:
        fixtures.pack(store)
