"""Stores of real Java brokers together with the truth about them; ``open_store`` is the entry.

Rules of this package: a store is made once and kept below ``.cache/stores`` under a digest of the
code that makes it.  Tests never write to it; ``copy_store`` makes a copy.  One cluster runs at a
time.
"""

from __future__ import annotations

from tests.support.stores.cluster import copy_store as copy_store
from tests.support.stores.store import BrokerStore as BrokerStore
from tests.support.stores.store import open_store as open_store
from tests.support.stores.truth import Lookup as Lookup
from tests.support.stores.truth import Pulled as Pulled
from tests.support.stores.truth import Queue as Queue
from tests.support.stores.truth import Sent as Sent
from tests.support.stores.truth import Truth as Truth
from tests.support.stores.truth import Unit as Unit
from tests.support.stores.truth import digest as digest

__all__ = [
    "BrokerStore",
    "Lookup",
    "Pulled",
    "Queue",
    "Sent",
    "Truth",
    "Unit",
    "copy_store",
    "digest",
    "open_store",
]
