"""The front door stays small, documented and free of a runtime."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rocketwire

ROOT = Path(__file__).parents[2]


def test_all_lists_the_names_of_the_package() -> None:
    offered = {
        name
        for name in dir(rocketwire)
        if not name.startswith("_")
        and getattr(getattr(rocketwire, name), "__module__", "").startswith("rocketwire")
    }

    assert offered == set(rocketwire.__all__) - {"__version__"}


def test_the_front_door_has_at_most_35_names() -> None:
    assert len(rocketwire.__all__) <= 35


def test_every_name_of_the_front_door_is_explained_in_the_docs() -> None:
    text = (ROOT / "docs" / "guide" / "codec.md").read_text("utf-8")
    explained = set(re.findall(r"`(\w+)`", text))

    assert set(rocketwire.__all__) - explained == set()


@pytest.mark.process
def test_importing_the_library_brings_no_runtime() -> None:
    code = (
        "import sys, rocketwire, rocketwire.messages.operations.registry;"
        "print(sorted({'trio', 'asyncio', 'ssl', 'logging'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "trio" not in run.stdout
    assert "asyncio" not in run.stdout


@pytest.mark.process
def test_clients_without_hooks_import_no_telemetry() -> None:
    code = """
import sys, trio
from rocketwire.client import Message, open_client, open_producer, open_push_consumer
from tests.support.fakes import consumer_fakes, producer_fakes

async def main():
    async with producer_fakes.world() as it:
        await it.producer.send(Message("T", b"x"))
    async with consumer_fakes.world() as (_, client), consumer_fakes.consumer("orderly", client):
        await trio.lowlevel.checkpoint()

trio.run(main)
roots = ("opentelemetry", "prometheus_client", "rocketwire.client.hooks",
         "rocketwire.client.telemetry", "rocketwire.client.consumer.hooked_listeners")
print([name for name in sys.modules if name.startswith(roots)])
"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert run.stdout == "[]\n"
