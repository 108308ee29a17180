"""Stores of real Java brokers together with the truth about them; ``README.md`` has the kinds.

Tests never write to a store of another test; ``copy_store`` makes a copy.
"""

from tests.support.stores.cluster import copy_store as copy_store
from tests.support.stores.store import BrokerStore as BrokerStore
from tests.support.stores.truth import Pulled as Pulled
from tests.support.stores.truth import Queue as Queue
from tests.support.stores.truth import digest as digest

__all__ = ["BrokerStore", "Pulled", "Queue", "copy_store", "digest"]
