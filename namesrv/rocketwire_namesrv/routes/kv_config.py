"""``KVConfig``: namespace -> key -> value, what operators store in a name server.

Rules of this file: pure; an acknowledged change has to be on disk; the driver writes it
(``storage``), and therefore ``document`` returns the whole table.

Java: ``KVConfigManager`` of 5.5.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rocketwire_namesrv.events import ConfigItemDeleted, ConfigItemPut, NamespaceCreated
from rocketwire_namesrv.routes.java_hashmap import HashMap

if TYPE_CHECKING:
    from rocketwire.serving.events import Event

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
"""The namespace of the queue layouts of ordered topics, which the server sends to brokers and
clients."""


class KVConfig:
    def __init__(self, table: Mapping[str, Mapping[str, str | None]] | None = None) -> None:
        # A null value is stored, as in Java: its namespace exists, but no response and no file
        # contains the item
        self._table: HashMap[str, HashMap[str, str | None]] = HashMap()
        self.entries = 0  #: items in all namespaces
        self.length = 0  #: characters of all namespaces' names, keys and values
        for namespace, items in (table or {}).items():
            self._namespace(namespace)
            for key, value in items.items():
                self._set(namespace, key, value)
        if table:
            self._table = (
                self._table.copy_as_java()
            )  # Java copies the namespaces out of what it has read

    @property
    def namespaces(self) -> int:
        return len(self._table)

    def growth(self, namespace: str, key: str, value: str | None) -> tuple[int, int, int]:
        """Return by how many namespaces, items and characters the table would grow with an
        item."""
        items = self._table.get(namespace)
        length = len(value or "")
        if items is None:
            return 1, 1, len(namespace) + len(key) + length
        if key not in items:
            return 0, 1, len(key) + length
        return 0, 0, length - len(items[key] or "")

    def put(self, namespace: str, key: str, value: str | None) -> list[Event]:
        """Store an item, and create its namespace if necessary."""
        events: list[Event] = []
        items = self._table.get(namespace)
        if items is None:
            items = self._namespace(namespace)
            events.append(NamespaceCreated(namespace=namespace))
        action = "create new" if items.get(key) is None else "update"
        self._set(namespace, key, value)
        events.append(ConfigItemPut(action=action, namespace=namespace, key=key, value=value))
        return events

    def get(self, namespace: str | None, key: str | None) -> str | None:
        items = None if namespace is None else self._table.get(namespace)
        return None if items is None or key is None else items.get(key)

    def delete(self, namespace: str | None, key: str | None) -> list[Event]:
        """Delete an item; its namespace stays, even when empty."""
        items = None if namespace is None else self._table.get(namespace)
        if namespace is None or key is None or items is None or key not in items:
            return []
        value = items.pop(key)
        self.entries -= 1
        self.length -= len(key) + len(value or "")
        return [ConfigItemDeleted(namespace=namespace, key=key, value=value)]

    def namespace(self, namespace: str | None) -> dict[str, str] | None:
        """Return the items of a namespace in Java's order; None if it does not exist."""
        items = None if namespace is None else self._table.get(namespace)
        return None if items is None else _without_nulls(items)

    def document(self) -> dict[str, dict[str, str]]:
        """Return the whole table in Java's order, as in the member ``configTable`` of the file."""
        return {
            namespace: _without_nulls(self._table[namespace])
            for namespace in self._table.in_java_order()
        }

    def _namespace(self, namespace: str) -> HashMap[str, str | None]:
        items = self._table[namespace] = HashMap[str, str | None]()
        self.length += len(namespace)
        return items

    def _set(self, namespace: str, key: str, value: str | None) -> None:
        _, entries, length = self.growth(namespace, key, value)
        self.entries += entries
        self.length += length
        self._table[namespace][key] = value


def _without_nulls(items: HashMap[str, str | None]) -> dict[str, str]:
    return {key: value for key in items.in_java_order() if (value := items[key]) is not None}
