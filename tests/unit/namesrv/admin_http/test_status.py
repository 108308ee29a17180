"""The status page of a state that requests have made."""

from rocketwire.codes import RequestCode
from rocketwire_namesrv.admin_http.status import MAX_TOPICS, status_of
from tests.support.fakes.sansio_server import BROKER, SLAVE, Server


def test_broker_is_shown_with_its_registration() -> None:
    server = Server(epoch_ms=5_000_000)
    server.register(version=479, data_version={"counter": 3, "stateVersion": 0, "timestamp": 1})
    server.ask(RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "b1"})
    server.now += 30

    status = status_of(server.state, server.now)
    (line,) = status.brokers

    assert (line.cluster, line.name, line.broker_id, line.address) == ("C", "b1", 0, BROKER)
    assert (line.role, line.silent, line.timeout, line.version) == ("master", 30, 120, "V5_3_3")
    assert (line.data_version, line.topics, line.unwritable) == (3, 2, 2)
    assert (status.now, status.clusters, status.live) == (6030.0, {"C": 1}, 1)
    assert status.serving


def test_topics_that_a_broker_closes_itself_are_nothing_to_worry_about(server: Server) -> None:
    server.register(topics=("rmq_sys_SYNC_BROKER_MEMBER_b1", "orders"))
    server.ask(RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "b1"})

    (line,) = status_of(server.state, server.now).brokers

    assert (line.topics, line.unwritable) == (2, 1)


def test_a_slave_is_one_and_may_stand_in_for_its_master(server: Server) -> None:
    server.register()
    server.register(SLAVE, 1)
    server.register("10.0.0.3:10911", 1, name="b2", enableActingMaster="true")

    roles = {line.address: line.role for line in status_of(server.state, server.now).brokers}

    assert roles == {BROKER: "master", SLAVE: "slave", "10.0.0.3:10911": "slave, acting master"}


def test_an_address_that_its_group_does_not_know_has_no_role(server: Server) -> None:
    server.register()
    server.state.table.groups["b1"].addresses.clear()
    entry = next(iter(server.state.table.live.values()))
    entry.version = None

    (line,) = status_of(server.state, server.now).brokers
    assert (line.broker_id, line.role, line.version) == (None, "unknown", "unknown")

    del server.state.table.groups["b1"]
    (line,) = status_of(server.state, server.now).brokers
    assert line.role == "unknown"


def test_topics_are_listed_by_prefix_up_to_a_bound(server: Server) -> None:
    server.register(topics=tuple(f"T{number}" for number in range(MAX_TOPICS + 50)))

    status = status_of(server.state, server.now)
    names = [line.name for line in status_of(server.state, server.now, "T24").topics]

    assert (len(status.topics), status.topic_count) == (MAX_TOPICS, MAX_TOPICS + 50)
    assert sorted(names) == ["T24", *(f"T24{n}" for n in range(10))]
