"""``doctor`` and ``diff`` with name servers of ours and a broker of ours that only registers."""

from __future__ import annotations

import argparse
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client import BrokerIdentity, ClientConfig, open_registration
from rocketwire.errors import ChannelError
from rocketwire.messages.registration import TopicConfig
from rocketwire_namesrv.config import Config
from rocketwire_namesrv.server import serve
from rocketwire_tools.admin.command import Context, Table
from rocketwire_tools.admin.connecting import client_config
from rocketwire_tools.admin.registry import all_commands
from tests.support.certificates import authority, with_pair
from tests.tools.admin.processes import run

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

TOPICS = [TopicConfig(topic_name=name, write_queue_nums=4) for name in ("Orders", "Bills")]
BROKER = BrokerIdentity(cluster_name="c", broker_name="b", broker_addr="127.0.0.1:1")


@asynccontextmanager
async def name_servers() -> AsyncGenerator[tuple[str, str]]:
    async with trio.open_nursery() as nursery:
        config = Config(bind_address="127.0.0.1", listen_port=0)
        servers = [await nursery.start(serve, config) for _ in range(2)]
        yield (
            f"127.0.0.1:{servers[0].listening.port}",
            f"127.0.0.1:{servers[1].listening.port}",
        )
        nursery.cancel_scope.cancel()


async def command(
    name: str, *words: str, name_servers: tuple[str, ...] = (), config: ClientConfig | None = None
) -> Table:
    (found,) = (one for one in all_commands() if one.name == name)
    parser = argparse.ArgumentParser()
    found.add_arguments(parser)
    config = config or ClientConfig(namesrv_addr=name_servers)
    made = await found.run(Context(parser.parse_args(words), config, 5))
    assert isinstance(made, Table)
    return made


async def test_diff_tells_what_only_one_of_two_servers_knows() -> None:
    async with (
        name_servers() as (one, two),
        open_registration(BROKER, TOPICS, ClientConfig(namesrv_addr=one)),
    ):
        table = await command("diff", one, two)
        of_topic = await command("diff", one, two, "-t", "Bills")

    assert ("kind", "name", one, two) == tuple(column.name for column in table.typed)
    assert table.failed
    assert {
        ("cluster", "c", True),
        ("broker", "b", True),
        ("topic", "Orders", True),
        ("topic", "Bills", True),
    } <= {(row[0], row[1], row[3] is None) for row in table.rows}
    assert ["Bills"] == [row[1] for row in of_topic.rows if row[0] == "topic"]


async def test_doctor_asks_every_server_and_every_broker() -> None:
    async with (
        name_servers() as (one, two),
        open_registration(BROKER, TOPICS, ClientConfig(namesrv_addr=one)),
    ):
        table = await command("doctor", name_servers=(one, two))
        quiet = await command("doctor", "-q", name_servers=(one, two))

    assert table.failed
    texts = [f"{row[0]} {row[1]} {row[3]}" for row in table.rows]
    assert 2 == sum("ok nameServer answers" in text for text in texts)
    assert any("problem broker master 127.0.0.1:1 does not answer" in text for text in texts)
    assert any("problem topic" in text and "says nothing" in text for text in texts)
    assert list(quiet.rows) == [row for row in table.rows if row[0] != "ok"]


async def test_servers_and_clients_show_each_other_their_certificates(tmp_path: Path) -> None:
    ours, theirs = authority("ours"), authority("theirs")
    ca, _ = ours.write(tmp_path, "ca")
    cert, key = ours.issue("operator").write(tmp_path, "operator")
    settings = with_pair(
        tmp_path,
        ours.issue("server"),
        server_mode="enforcing",
        auth_client=True,
        trust_cert_path=ca,
        need_client_auth="require",
    )
    other_ca, _ = theirs.write(tmp_path, "other")
    async with trio.open_nursery() as nursery:
        made = Config(bind_address="127.0.0.1", listen_port=0, tls=settings)
        server = await nursery.start(serve, made)
        given = {"namesrv-addr": f"127.0.0.1:{server.listening.port}"}
        known = {"cert": cert, "key-file": key}

        table = await command("doctor", config=client_config(given | known | {"ca": ca}))
        for wrong in ({"ca": ca}, {"ca": other_ca} | known, known):
            with pytest.raises(ChannelError):
                await command("doctor", config=client_config(given | wrong))
        nursery.cancel_scope.cancel()

    assert not table.failed


async def test_a_consumer_without_a_broker_that_can_be_reached_gives_up() -> None:
    async with (
        name_servers() as (one, _),
        open_registration(BROKER, TOPICS, ClientConfig(namesrv_addr=one)),
    ):
        done = await trio.to_thread.run_sync(run, "consume", "-n", one, "-t", "Bills", "-g", "g")

    assert (3, b"") == (done.status, done.out)
    assert "127.0.0.1:1" in done.complaint
