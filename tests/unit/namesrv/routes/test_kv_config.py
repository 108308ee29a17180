"""The key/value configuration."""

import pytest

from rocketwire_namesrv.routes.kv_config import KVConfig


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
def test_loaded_namespaces_have_the_order_of_javas_copy(loaded: int, order: list[str]) -> None:
    """Measured: a ``KVConfigManager`` of 5.5.0 (JDK 17) that has read them and saves again."""
    kv = KVConfig({name: {"k": "v"} for name in ("9ix", "fmw", "lqv", "ruu", "xyt")[:loaded]})
    kv.put("9ix", "k", "w")

    assert list(kv.document()) == order
