"""Messages that are read through queues are those of the whole log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.engine.blocks import FileBlocks
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores import damage
from tests.support.stores.fixtures import PACKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore

COMMANDS = (
    ("messages", "--json", "--topic", "orders", "--topic", "ledger"),
    ("export", "--topic", "ledger", "--offsets", "3:9"),
    ("export", "--topic", "orders", "--queue", "1", "--tag", "paid"),
    ("stat", "--json", "--topic", "orders", "--by", "queue"),
)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("release", "kind"), PACKED)
def test_the_output_is_that_of_the_log(
    command: tuple[str, ...],
    release: str,
    kind: str,
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
) -> None:
    root = packed_store(release, kind).root

    assert run(*command, "--queues", root).out == run(*command, root).out


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_a_topic_costs_its_own_bytes(
    release: str,
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, sizes = FileBlocks.read, [0]

    def counted(blocks: FileBlocks, position: int, size: int | None = None) -> memoryview:
        view = read(blocks, position, size)
        if blocks.file.path.parent.name == "commitlog":
            sizes[-1] += len(view)
        return view

    monkeypatch.setattr(FileBlocks, "read", counted)
    monkeypatch.setattr("rocketwire_tools.store.queued.blocks._MAX_GAP", 0)
    root = packed_store(release, "plain").root
    run("export", "--topic", "ledger", root)
    sizes.append(0)

    run("export", "--topic", "ledger", "--queues", root)

    assert sizes[1] < sizes[0] / 2


@pytest.mark.parametrize(
    ("options", "text"),
    [((), b"give --topic"), (("--topic", "orders", "--jobs", "2"), b"--queues cannot have")],
)
def test_what_queues_do_not_know_is_refused(
    options: tuple[str, ...],
    text: bytes,
    packed_store: Callable[[str, str], BrokerStore],
    run: Callable[..., Any],
) -> None:
    answer = run("messages", "--queues", *options, packed_store(CURRENT, "plain").root, status=2)

    assert text in answer.err


def test_files_of_the_log_in_each_others_place_are_damage(
    store: BrokerStore, run: Callable[..., Any]
) -> None:
    first, second = damage.log_files(store.root)[:2]
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)
    command = ("messages", "--json", "--topic", "orders", store.root)

    assert run(*command, "--queues", status=1).out == run(*command, status=1).out
