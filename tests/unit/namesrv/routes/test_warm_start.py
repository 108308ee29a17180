"""Warm start: no route is answered until the brokers of the last run are back."""

from pathlib import Path
from typing import Any

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
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
    Reply,
    Server,
    identity,
    registration_body,
    replies,
    request,
)

MASTER_OF_B1 = KnownBroker("C", "b1", 0)
SLAVE_OF_B1 = KnownBroker("C", "b1", 1)


def warm_server(*awaited: KnownBroker, config: Config | None = None) -> Server:
    return Server(config, started=1000.0, warm_start=WarmStart(awaited, 60))


def read_route(server: Server, topic: str = "TA") -> Reply:
    return server.ask(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})


def test_a_route_is_refused_until_the_last_known_broker_is_back() -> None:
    server = warm_server(MASTER_OF_B1, SLAVE_OF_B1)
    for number, address in enumerate((BROKER, SLAVE)):
        refusal = read_route(server)
        assert refusal.code == ResponseCode.SYSTEM_ERROR
        assert refusal.remark == "name server not ready"
        assert refusal.body == b""
        server.register(address, number, session=server.connect())

    reply = read_route(server)
    assert (reply.code, reply.remark, reply.body[:1]) == (0, None, b"{")


def test_the_brokers_own_requests_and_other_reads_are_not_refused() -> None:
    server = warm_server(SLAVE_OF_B1)

    assert server.register().code == 0
    codes = (Code.GET_BROKER_CLUSTER_INFO, Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    for code in (*codes, Code.GET_NAMESRV_CONFIG):
        assert server.ask(code).code == 0


def test_a_broker_is_known_by_its_name_and_not_by_its_address() -> None:
    server = warm_server(MASTER_OF_B1)

    server.register("10.9.9.9:10911")

    assert read_route(server).code == 0


def test_the_wait_ends_when_the_time_is_up() -> None:
    server = warm_server(MASTER_OF_B1, SLAVE_OF_B1)
    server.register()
    for seconds, code in ((59.9, 1), (0.1, 0)):
        server.now += seconds
        assert read_route(server).code == code

    assert server.state.warm_start.missed == (SLAVE_OF_B1,)


def test_needWaitForService_and_the_known_brokers_are_both_waited_for() -> None:
    config = Config(need_wait_for_service=True, wait_seconds_for_service=45)
    server = warm_server(MASTER_OF_B1, config=config)
    server.register()
    for seconds, code in ((44.9, 1), (0.1, 0)):
        server.now += seconds
        assert read_route(server).code == code


def test_a_broker_whose_topics_are_still_being_taken_is_not_back() -> None:
    server = warm_server(MASTER_OF_B1)
    body = registration_body(tuple(f"T{number:04}" for number in range(1000)))
    assert len(body) > MANY_BYTES
    broker = server.connect()
    broker.receive(request(Code.REGISTER_BROKER, identity(), body), server.now)
    while "b1" not in server.state.table.groups:
        broker.proceed(server.now)

    assert read_route(server, "T0999").code == ResponseCode.SYSTEM_ERROR
    while broker.busy:
        broker.proceed(server.now)
    assert read_route(server, "T0999").code == 0


def test_requests_that_came_together_are_refused_as_well() -> None:
    """The fast path is off while the server waits."""
    server = warm_server(SLAVE_OF_B1)
    server.register()
    data = request(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "TA"}) * 2

    assert server.session.answer_routes(data, server.now) is None
    codes = [reply.code for reply in replies(server.receive(data).send)]
    assert codes == [ResponseCode.SYSTEM_ERROR] * 2


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


def list_awaited_brokers(**settings: Any) -> set[KnownBroker]:
    return set(load_state(Config(**settings)).warm_start.awaited)


def test_a_server_waits_for_the_brokers_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "knownBrokers.json"
    path.write_bytes(brokers_document([MASTER_OF_B1]))
    file = str(path)

    assert list_awaited_brokers(warm_start_seconds=30, known_brokers_path=file) == {MASTER_OF_B1}
    assert list_awaited_brokers(known_brokers_path=file) == set()
    assert list_awaited_brokers(warm_start_seconds=30) == set()


def test_broken_file_is_no_reason_to_wait(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "knownBrokers.json"
    settings = {"warm_start_seconds": 30, "known_brokers_path": str(path)}
    assert list_awaited_brokers(**settings) == set()

    path.write_bytes(b"{")
    assert list_awaited_brokers(**settings) == set()
    assert "the list of known brokers cannot be read" in caplog.text
    with pytest.raises(StorageError):
        load_brokers(str(path))


def test_the_default_folder_is_that_of_the_kv_file() -> None:
    config = Config.load(home="/u")

    assert config.known_brokers_path == "/u/namesrv/knownBrokers.json"
    assert config.warm_start_seconds == 0
