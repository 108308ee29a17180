"""``Pending``: requests that wait for a response, as arrays.

Keys are unique. If there are too many requests, the oldest are forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


class Requests(NamedTuple):
    """Requests, one entry each."""

    key: Array  # identifies the request in a response
    code: Array  # of the request
    time_ns: Array  # of its first byte
    topic: Array  # of the request; None if it is not requested

    def take(self, order: Array) -> Requests:
        """The requests with these indices, in the given order."""
        return Requests(*(part[order] for part in self))


_NONE: Final = Requests(
    *(np.zeros(0, number_type) for number_type in (np.int64, np.int64, np.int64, np.object_))
)


class Pending:
    """Requests by key."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._requests = _NONE
        self._age: Array = np.zeros(0, np.int64)
        self._latest = 0

    def __len__(self) -> int:
        return len(self._age)

    def pop(self, keys: Array) -> tuple[Array, Requests]:
        """Remove and return requests.

        Returns:
            Indices of the keys that exist, and their requests.
        """
        if not len(self) or not len(keys):
            return np.zeros(0, np.int64), _NONE
        candidates = np.minimum(np.searchsorted(self._requests.key, keys), len(self) - 1)
        matches = np.flatnonzero(self._requests.key[candidates] == keys)
        indexes = candidates[matches]
        requests = self._requests.take(indexes)
        if len(indexes):
            kept = np.ones(len(self), np.bool_)
            kept[indexes] = False
            self._keep(kept)
        return matches, requests

    def add(self, requests: Requests) -> int:
        """Add requests.

        Returns:
            The number of requests that were forgotten.
        """
        if not len(requests.key):
            return 0
        age = np.arange(self._latest, self._latest + len(requests.key))
        self._latest += len(age)
        both = Requests(*map(np.append, self._requests, requests))
        order = np.argsort(both.key, kind="stable")
        self._requests, self._age = both.take(order), np.append(self._age, age)[order]
        surplus = len(self) - self._limit
        if surplus <= 0:
            return 0
        oldest = np.partition(self._age, surplus)[surplus]
        self._keep(self._age >= oldest)
        return surplus

    def _keep(self, kept: Array) -> None:
        self._requests, self._age = self._requests.take(kept), self._age[kept]
