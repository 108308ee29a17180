"""The key/value configuration."""

from __future__ import annotations

import pytest

from rocketwire_namesrv.events import ConfigItemDeleted, ConfigItemPut, NamespaceCreated
from rocketwire_namesrv.routes.kv_config import KVConfig


def test_an_item_that_was_put_is_found() -> None:
    kv = KVConfig()
    happened = kv.put("ns", "key", "v")

    assert happened == [
        NamespaceCreated(namespace="ns"),
        ConfigItemPut(action="create new", namespace="ns", key="key", value="v"),
    ]
    assert kv.get("ns", "key") == "v"
    assert kv.namespace("ns") == {"key": "v"}


def test_an_item_is_updated_in_place() -> None:
    kv = KVConfig({"ns": {"key": "v"}})

    assert kv.put("ns", "key", "w") == [
        ConfigItemPut(action="update", namespace="ns", key="key", value="w")
    ]
    assert kv.document() == {"ns": {"key": "w"}}


def test_a_null_value_makes_a_namespace_and_nothing_else() -> None:
    kv = KVConfig()
    kv.put("ns", "key", None)

    assert kv.get("ns", "key") is None
    assert kv.namespace("ns") == {}
    assert kv.document() == {"ns": {}}
    assert kv.put("ns", "key", "v") == [
        ConfigItemPut(action="create new", namespace="ns", key="key", value="v")
    ]


def test_deleting_the_last_item_keeps_the_namespace() -> None:
    kv = KVConfig({"ns": {"key": "v"}})

    assert kv.delete("ns", "key") == [ConfigItemDeleted(namespace="ns", key="key", value="v")]
    assert kv.namespace("ns") == {}
    assert kv.delete("ns", "key") == []
    assert kv.delete("other", "key") == []


def test_what_is_not_named_is_not_found() -> None:
    kv = KVConfig({"": {"": "empty"}})

    assert kv.get("", "") == "empty"
    assert kv.get(None, "") is None
    assert kv.get("", None) is None
    assert kv.namespace(None) is None
    assert kv.namespace("other") is None
    assert kv.delete(None, "") == []
    assert kv.delete("", None) == []


def test_namespaces_and_keys_come_in_javas_order() -> None:
    kv = KVConfig()
    for key in ("topic-0", "topic-7", "topic-14", "topic-21", "topic-28"):
        kv.put(key, key, key)
        kv.put("all", key, key)

    expected = ["topic-7", "topic-14", "topic-28", "topic-0", "topic-21"]
    assert list(kv.namespace("all") or ()) == expected
    assert [name for name in kv.document() if name != "all"] == expected


@pytest.mark.parametrize(
    ("loaded", "order"), [(2, ["9ix", "fmw"]), (5, ["lqv", "9ix", "fmw", "xyt", "ruu"])]
)
def test_namespaces_that_were_loaded_come_in_the_order_of_javas_copy(
    loaded: int, order: list[str]
) -> None:
    """Measured: a ``KVConfigManager`` of 5.5.0 (JDK 17) that has read them and saves again."""
    kv = KVConfig({name: {"k": "v"} for name in ("9ix", "fmw", "lqv", "ruu", "xyt")[:loaded]})
    kv.put("9ix", "k", "w")

    assert list(kv.document()) == order
