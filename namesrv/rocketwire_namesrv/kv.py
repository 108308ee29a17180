"""``KVConfig``: namespace -> key -> value, what operators store in a name server.

Rules of this file: pure; what is acknowledged has to be on disk, and putting it there is the
driver's part (``storage``), which is why ``document`` gives the whole table.

Java: ``KVConfigManager`` of 5.5.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_namesrv.javahash import HashMap
from rocketwire_namesrv.occurrences import (
    ConfigItemDeleted,
    ConfigItemPut,
    NamespaceCreated,
    Occurrence,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
"""The namespace that holds the queue layout of ordered topics; brokers and clients are told of
it."""


class KVConfig:
    """The key/value configuration.

    A null value is kept, as in Java: its namespace exists, the item is not found, nothing writes
    it.
    """

    def __init__(self, table: Mapping[str, Mapping[str, str | None]] | None = None) -> None:
        self._table: HashMap[str, HashMap[str, str | None]] = HashMap()
        for namespace, items in (table or {}).items():
            self._table[namespace] = HashMap[str, str | None]()
            for key, value in items.items():
                self._table[namespace][key] = value

    def put(self, namespace: str, key: str, value: str | None) -> list[Occurrence]:
        """Stores an item, and creates its namespace where needed."""
        happened: list[Occurrence] = []
        items = self._table.get(namespace)
        if items is None:
            items = self._table[namespace] = HashMap[str, str | None]()
            happened.append(NamespaceCreated(namespace=namespace))
        action = "create new" if items.get(key) is None else "update"
        items[key] = value
        happened.append(ConfigItemPut(action=action, namespace=namespace, key=key, value=value))
        return happened

    def get(self, namespace: str | None, key: str | None) -> str | None:
        """The value, or None where there is none."""
        items = None if namespace is None else self._table.get(namespace)
        return None if items is None or key is None else items.get(key)

    def delete(self, namespace: str | None, key: str | None) -> list[Occurrence]:
        """Deletes an item; its namespace stays, even when empty."""
        items = None if namespace is None else self._table.get(namespace)
        if namespace is None or key is None or items is None or key not in items:
            return []
        return [ConfigItemDeleted(namespace=namespace, key=key, value=items.pop(key))]

    def namespace(self, namespace: str | None) -> dict[str, str] | None:
        """The items of a namespace in Java's order; None where it does not exist."""
        items = None if namespace is None else self._table.get(namespace)
        return None if items is None else _written(items)

    def document(self) -> dict[str, dict[str, str]]:
        """The whole table in Java's order, as the member ``configTable`` of the file has it."""
        return {namespace: _written(self._table[namespace]) for namespace in self._table.ordered()}


def _written(items: HashMap[str, str | None]) -> dict[str, str]:
    return {key: value for key in items.ordered() if (value := items[key]) is not None}
