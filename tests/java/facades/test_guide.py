"""Each example of the guide to threads and asyncio runs, at a Java broker."""

import asyncio
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
import uvloop

from rocketwire import sync
from tests.java.facades.test_facades import FIRST, new_topic
from tests.peers.cluster import JavaCluster
from tests.peers.messages import unique

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "facades.md"

Runner = Callable[[Callable[[], Any]], Any]


def _in_asyncio(function: Callable[[], Any]) -> Any:
    return asyncio.run(function())


def _in_uvloop(function: Callable[[], Any]) -> Any:
    return uvloop.run(function())


def _here(function: Callable[[], Any]) -> Any:
    return function()


DIALECTS: dict[str, tuple[str, Runner]] = {
    "trio": ("trio", trio.run),
    "asyncio": ("asyncio", _in_asyncio),
    "uvloop": ("asyncio", _in_uvloop),
    "threads": ("threads", _here),
}


def examples(dialect: str) -> dict[str, Any]:
    text = GUIDE.read_text("utf-8")
    blocks = re.findall(rf"^\*\*{dialect}\*\*\n\n```python\n(.*?)^```$", text, re.M | re.S)
    return _run(blocks)


def recipes() -> dict[str, Any]:
    text = GUIDE.read_text("utf-8")
    blocks = re.findall(r"^(?:[^*\n][^\n]*)?\n\n```python\n(.*?)^```$", text, re.M | re.S)
    return {name: value for block in blocks for name, value in _run([block]).items()}


def _run(blocks: list[str]) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), names)
    return names


@pytest.mark.parametrize("dialect", DIALECTS)
def test_examples_run_in_each_dialect(java_cluster: JavaCluster, dialect: str) -> None:
    written, run = DIALECTS[dialect]
    names, address = examples(written), java_cluster.address
    topic = new_topic(java_cluster, queues=2)
    group = unique("guide")
    with sync.open_push_consumer(  # the group exists: its offsets are those of the first messages
        address, group, {topic: "*"}, consume_from_where=FIRST
    ):
        pass

    assert run(lambda: names["produce"](address, topic)).is_ok
    expected = {b"one", b"two", b"later", b"paid", b"placed"}
    readers = ("consume", "read", *(["poll"] if dialect == "threads" else []))
    for count, reader in enumerate(readers, len(expected) + 1):
        group_name = unique("guide")
        with sync.open_producer(address, unique("guide")) as producer:
            producer.send(sync.Message(topic, b"more"))
        messages = run(partial(names[reader], address, topic, group_name, count))
        assert set(messages) >= expected
        expected |= {b"more"}


def test_recipes_run(java_cluster: JavaCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, address = new_topic(java_cluster), java_cluster.address
    monkeypatch.setenv("NAMESRV_ADDR", address)
    names = recipes()

    assert names["settings"](address, topic) == 10.0
    assert names["cells"](address, topic)
    assert names["view_or_task"](topic)
    assert names["handler"]({"topic": topic}, None)
    assert names["handler"]({"topic": topic}, None)
    for producer in (names["producer"](), *names["warm"]):
        producer.close()

    async def serve() -> dict[str, str]:
        async with names["lifespan"](names["app"]):
            answer: dict[str, str] = await names["order"](topic)
            return answer

    assert asyncio.run(serve())["id"]
