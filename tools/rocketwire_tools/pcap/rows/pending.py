"""``Pending``: requests that wait for an answer, as arrays, without an object for each.

Rules of this file: no two requests have the same key; beyond a number the oldest are forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


class Requests(NamedTuple):
    """Requests, an entry each.

    Attributes:
        key: what a response names the request by.
        code: of the request.
        time_ns: of its first byte.
        topic: of the request; None where it is not wanted.
    """

    key: Array
    code: Array
    time_ns: Array
    topic: Array

    def take(self, some: Array) -> Requests:
        """These requests, in this order."""
        return Requests(*(part[some] for part in self))


_NONE: Final = Requests(*(np.zeros(0, kind) for kind in (np.int64, np.int64, np.int64, np.object_)))


class Pending:
    """Requests by key.

    Args:
        most: so many are remembered.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._requests = _NONE
        self._age: Array = np.zeros(0, np.int64)
        self._latest = 0

    def __len__(self) -> int:
        return len(self._age)

    def pop(self, keys: Array) -> tuple[Array, Requests]:
        """Take out those that there are of some.

        Args:
            keys: no two of which are the same.

        Returns:
            Numbers of the keys that were found, and the request of each.
        """
        if not len(self) or not len(keys):
            return np.zeros(0, np.int64), _NONE
        at = np.minimum(np.searchsorted(self._requests.key, keys), len(self) - 1)
        found = np.flatnonzero(self._requests.key[at] == keys)
        of = at[found]
        requests = self._requests.take(of)
        if len(of):
            left = np.ones(len(self), np.bool_)
            left[of] = False
            self._keep(left)
        return found, requests

    def add(self, requests: Requests) -> int:
        """Remember some.

        Args:
            requests: in the order of their time; none of them is there.

        Returns:
            How many were forgotten for them.
        """
        if not len(requests.key):
            return 0
        age = np.arange(self._latest, self._latest + len(requests.key))
        self._latest += len(age)
        both = Requests(*map(np.append, self._requests, requests))
        order = np.argsort(both.key, kind="stable")
        self._requests, self._age = both.take(order), np.append(self._age, age)[order]
        surplus = len(self) - self._most
        if surplus <= 0:
            return 0
        oldest = np.partition(self._age, surplus)[surplus]
        self._keep(self._age >= oldest)
        return surplus

    def _keep(self, some: Array) -> None:
        self._requests, self._age = self._requests.take(some), self._age[some]
