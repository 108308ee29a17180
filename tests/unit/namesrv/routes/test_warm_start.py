"""Warm start: no route is answered before the brokers known from before are back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire.errors import DecodeError
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.registration.reader import MANY_BYTES
from rocketwire_namesrv.routes.warm_start import (
    KnownBroker,
    WarmStart,
    brokers_document,
    brokers_of,
    read_brokers,
)
from rocketwire_namesrv.runtime.storage import StorageError, load_brokers
from rocketwire_namesrv.server.startup import load_state
from tests.support.fakes.sansio_server import (
    BROKER,
    SLAVE,
    Server,
    identity,
    registration_body,
    replies,
    request,
)

if TYPE_CHECKING:
    from pathlib import Path

MASTER_OF_B1 = KnownBroker("C", "b1", 0)
SLAVE_OF_B1 = KnownBroker("C", "b1", 1)


def warm_server(*awaited: KnownBroker, seconds: float = 60) -> Server:
    return Server(started=1000.0, warm_start=WarmStart(awaited, seconds))


def test_a_route_is_refused_until_the_last_known_broker_is_back() -> None:
    server = warm_server(MASTER_OF_B1, SLAVE_OF_B1)
    answers = [server.ask(105, {"topic": "TA"})]
    for number, address in enumerate((BROKER, SLAVE)):
        server.register(address, number, session=server.connect())
        answers.append(server.ask(105, {"topic": "TA"}))

    assert [(reply.code, reply.remark, reply.body[:1]) for reply in answers] == [
        (1, "name server not ready", b""),
        (1, "name server not ready", b""),
        (0, None, b"{"),
    ]


def test_the_brokers_own_requests_and_other_reads_are_not_refused() -> None:
    server = warm_server(SLAVE_OF_B1)

    assert server.register().code == 0
    assert [server.ask(code).code for code in (106, 206, 319)] == [0, 0, 0]


def test_a_broker_is_known_by_its_name_and_not_by_its_address() -> None:
    server = warm_server(MASTER_OF_B1)

    server.register("10.9.9.9:10911")

    assert server.ask(105, {"topic": "TA"}).code == 0


def test_the_wait_ends_when_the_time_is_up() -> None:
    server = warm_server(MASTER_OF_B1, SLAVE_OF_B1, seconds=60)
    server.register()
    server.now += 59.9
    before = server.ask(105, {"topic": "TA"}).code
    server.now += 0.1

    assert (before, server.ask(105, {"topic": "TA"}).code) == (1, 0)
    assert server.state.warm_start.missed == (SLAVE_OF_B1,)


def test_needWaitForService_and_the_known_brokers_are_both_waited_for() -> None:
    config = Config(need_wait_for_service=True, wait_seconds_for_service=45)
    server = Server(config, started=1000.0, warm_start=WarmStart([MASTER_OF_B1], 60))
    server.register()
    server.now += 44.9
    before = server.ask(105, {"topic": "TA"}).code
    server.now += 0.1

    assert (before, server.ask(105, {"topic": "TA"}).code) == (1, 0)


def test_a_broker_whose_topics_are_still_being_taken_is_not_back() -> None:
    server = warm_server(MASTER_OF_B1)
    body = registration_body(tuple(f"T{number:04}" for number in range(1000)))
    assert len(body) > MANY_BYTES
    fields = identity(haServerAddr="")
    broker = server.connect()
    broker.receive(request(103, fields, body), server.now)
    while "b1" not in server.state.table.groups:
        broker.proceed(server.now)

    assert server.ask(105, {"topic": "T0999"}).code == 1
    while broker.busy:
        broker.proceed(server.now)
    assert server.ask(105, {"topic": "T0999"}).code == 0


def test_requests_that_came_together_are_refused_as_well() -> None:
    """The short way for reads is not taken while the server waits."""
    server = warm_server(SLAVE_OF_B1)
    server.register()
    data = request(105, {"topic": "TA"}) * 2

    assert server.session.answer_routes(data, server.now) is None
    assert [reply.code for reply in replies(server.receive(data).send)] == [1, 1]


# ---------------------------------------- the file


def test_the_file_names_the_brokers_and_reads_back(server: Server) -> None:
    server.register(SLAVE, 1)
    server.register(session=server.connect())
    content = brokers_document([*brokers_of(server.state.table), MASTER_OF_B1])

    assert content == (
        b'{"brokers":[{"brokerId":0,"brokerName":"b1","clusterName":"C"},'
        b'{"brokerId":1,"brokerName":"b1","clusterName":"C"}]}'
    )
    assert read_brokers(content) == [MASTER_OF_B1, SLAVE_OF_B1]
    assert str(SLAVE_OF_B1) == "C/b1/1"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b'{"brokers":{}}',
        b'{"brokers":[1]}',
        b'{"brokers":[{"brokerId":"0","brokerName":"b","clusterName":"C"}]}',
        b'{"brokers":[{"brokerId":0,"clusterName":"C"}]}',
    ],
)
def test_another_content_is_refused(content: bytes) -> None:
    with pytest.raises(DecodeError):
        read_brokers(content)


def test_a_server_waits_for_the_brokers_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "knownBrokers.json"
    path.write_bytes(brokers_document([MASTER_OF_B1]))
    config = Config(warm_start_seconds=30, known_brokers_path=str(path))

    assert load_state(config).warm_start.awaited == {MASTER_OF_B1}


def test_without_the_setting_nothing_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "knownBrokers.json"
    path.write_bytes(brokers_document([MASTER_OF_B1]))

    assert load_state(Config(known_brokers_path=str(path))).warm_start.awaited == set()
    assert load_state(Config(warm_start_seconds=30)).warm_start.awaited == set()


def test_broken_file_is_no_reason_to_wait(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "knownBrokers.json"
    config = Config(warm_start_seconds=30, known_brokers_path=str(path))
    assert load_state(config).warm_start.awaited == set()

    path.write_bytes(b"{")
    assert load_state(config).warm_start.awaited == set()
    assert "the list of known brokers cannot be read" in caplog.text
    with pytest.raises(StorageError):
        load_brokers(str(path))


def test_the_file_is_beside_the_kv_file_by_default() -> None:
    config = Config.load(home="/u")

    assert config.known_brokers_path == "/u/namesrv/knownBrokers.json"
    assert config.warm_start_seconds == 0
