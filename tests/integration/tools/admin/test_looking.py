"""``doctor`` and ``diff`` with name servers of ours and a broker of ours that only registers."""

import argparse
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio

from rocketwire.client import BrokerIdentity, ClientConfig, open_registration
from rocketwire.errors import ChannelError
from rocketwire.messages.registration import TopicConfig
from rocketwire_tools.admin.program import exit_status
from rocketwire_tools.admin.registry import all_commands
from rocketwire_tools.cli.client_config import client_config
from rocketwire_tools.cli.command import Context, Table
from tests.support.admin_in_process import run as run_here
from tests.support.admin_process import run
from tests.support.builders.certificates import authority, with_pair
from tests.support.running_server import LOOPBACK, Site, running, settings

TOPICS = [TopicConfig(topic_name=name, write_queue_nums=4) for name in ("Orders", "Bills")]
BROKER = BrokerIdentity(cluster_name="c", broker_name="b", broker_addr="127.0.0.1:1")


@asynccontextmanager
async def name_servers() -> AsyncGenerator[tuple[str, str]]:
    async with running() as first, running() as second:
        yield address_of(first), address_of(second)


def address_of(site: Site) -> str:
    return f"{LOOPBACK}:{site.server.listening.port}"


@asynccontextmanager
async def register_broker() -> AsyncGenerator[tuple[str, str]]:
    async with (
        name_servers() as (first, second),
        open_registration(BROKER, TOPICS, ClientConfig(namesrv_addr=first)),
    ):
        yield first, second


async def command(
    name: str, *words: str, name_servers: tuple[str, ...] = (), config: ClientConfig | None = None
) -> Table:
    (command_object,) = (
        known_command for known_command in all_commands() if known_command.name == name
    )
    parser = argparse.ArgumentParser()
    for add_option in command_object.options:
        add_option(parser)
    config = config or ClientConfig(namesrv_addr=name_servers)
    result = await command_object.run(Context(parser.parse_args(words), config, 5))
    assert isinstance(result, Table)
    return result


async def test_diff_lists_entries_of_only_one_server() -> None:
    async with register_broker() as (first, second):
        table = await command("diff", first, second)
        of_topic = await command("diff", first, second, "-t", "Bills")

    assert ("kind", "name", first, second) == tuple(column.name for column in table.typed)
    assert table.failed
    assert {
        ("cluster", "c", True),
        ("broker", "b", True),
        ("topic", "Orders", True),
        ("topic", "Bills", True),
    } <= {(row[0], row[1], row[3] is None) for row in table.rows}
    assert ["Bills"] == [row[1] for row in of_topic.rows if row[0] == "topic"]


async def test_doctor_asks_every_server_and_every_broker() -> None:
    async with register_broker() as (first, second):
        table = await command("doctor", name_servers=(first, second))
        quiet = await command("doctor", "-q", name_servers=(first, second))

    assert table.failed
    texts = [f"{row[0]} {row[1]} {row[4]}" for row in table.rows]
    assert 2 == sum("ok None responds" in text for text in texts)
    assert any(
        "problem broker-unreachable master 127.0.0.1:1 does not respond" in text for text in texts
    )
    assert any("problem broker-registered-partly" in text for text in texts)
    assert not any("name-servers-differ" in text for text in texts)
    assert list(quiet.rows) == [row for row in table.rows if row[0] != "ok"]


async def test_doctor_finds_a_topic_registered_with_one_server_only() -> None:
    topic_config = TopicConfig(topic_name="Odd", write_queue_nums=4)
    async with (
        name_servers() as (first, second),
        open_registration(BROKER, [*TOPICS, topic_config], ClientConfig(namesrv_addr=first)),
        open_registration(BROKER, TOPICS, ClientConfig(namesrv_addr=second)),
    ):
        table = await command("doctor", name_servers=(first, second))

    (row,) = (row for row in table.rows if row[1] == "name-servers-differ")
    assert row[2:4] == ("topic", "Odd")
    assert "has nothing" in str(row[4])


async def test_servers_and_clients_show_each_other_their_certificates(tmp_path: Path) -> None:
    ours, theirs = authority("ours"), authority("theirs")
    ca, _ = ours.write(tmp_path, "ca")
    cert, key = ours.issue("operator").write(tmp_path, "operator")
    tls = with_pair(
        tmp_path,
        ours.issue("server"),
        server_mode="enforcing",
        auth_client=True,
        trust_cert_path=ca,
        need_client_auth="require",
    )
    other_ca, _ = theirs.write(tmp_path, "other")
    async with running(settings(tls=tls)) as site:
        profile = {"namesrv-addr": address_of(site)}
        options = {"cert": cert, "key-file": key}

        table = await command("doctor", config=client_config(profile | options | {"ca": ca}))
        for wrong in ({"ca": ca}, {"ca": other_ca} | options, options):
            with pytest.raises(ChannelError):
                await command("doctor", config=client_config(profile | wrong))

    assert ["broker-none"] == [row[1] for row in table.rows if row[0] == "problem"]


@pytest.mark.process
async def test_a_cluster_without_a_broker_is_a_problem_everywhere() -> None:
    async with name_servers() as (first, _):
        doctor = await trio.to_thread.run_sync(run_here, "doctor", "-n", first)
        for words in (("produce", "-t", "T", "--count", "1"), ("topicStatus", "-t", "T")):
            refused = await trio.to_thread.run_sync(partial(run, *words, "-n", first))
            assert refused.complaint.endswith(
                "no route of topic T; no broker is registered with the name server\n"
            )
            assert (1, 1) == (refused.status, refused.complaint.count("\n"))

    assert 1 == doctor.status
    assert "broker-none" in doctor.out


async def test_warnings_alone_are_an_exit_status_of_their_own() -> None:
    async with name_servers() as (first, _):
        assert 1 == (await trio.to_thread.run_sync(run_here, "doctor", "-n", first)).status
    with_warning, with_both = Table(("a",), [], warned=True), Table(("a",), [], True, True)
    assert (4, 1) == (exit_status(with_warning), exit_status(with_both))


NO_GROUP = "rocketwire-admin: no such group nosuch: "


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        ("consumerProgress -g nosuch", 1, NO_GROUP),
        ("consumerConnection -g nosuch", 1, NO_GROUP),
        ("consumerStatus -g nosuch", 1, NO_GROUP),
        ("consumerProgress -g nosuch -t none", 1, "rocketwire-admin: no route of topic none\n"),
        ("consume -t Bills -g g", 3, "127.0.0.1:1"),
    ],
)
async def test_a_command_gives_up_with_one_line_that_names_what_is_missing(
    words: str, status: int, reason: str
) -> None:
    async with register_broker() as (first, _):
        refused = await trio.to_thread.run_sync(partial(run, *words.split(), "-n", first))

    assert reason in refused.complaint
    assert (status, b"", 1) == (refused.status, refused.out, refused.complaint.count("\n"))


async def test_a_name_server_that_waits_for_brokers_is_a_warning() -> None:
    async with running(settings(need_wait_for_service=True)) as site:
        doctor = await command("doctor", "-q", name_servers=(address_of(site),))

    assert [row[:2] for row in doctor.rows] == [("warning", "name-server-waiting")]
