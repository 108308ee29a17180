"""The status of a server and its page: well-formed, complete, and harmless whatever peers call themselves."""

from collections.abc import Sequence

import pytest

from rocketwire.codes import RequestCode
from rocketwire_namesrv.admin_http.event_history import LogEntry, PermissionChange
from rocketwire_namesrv.admin_http.status import MAX_TOPICS, status_of
from rocketwire_namesrv.admin_http.status_page import status_page
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.routes.peer_views import PeerView
from rocketwire_namesrv.routes.table_digest import Drift
from tests.support.fakes.sansio_server import BROKER, SLAVE, Server
from tests.support.status_pages import PageReader


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


EVIL = "<script>alert(1)</script>\"'&\r\n\x00\u2028\ud800"


def page(
    server: Server,
    prefix: str = "",
    permissions: dict[str, PermissionChange] | None = None,
    events: Sequence[LogEntry] = (),
) -> PageReader:
    status = status_of(server.state, server.now, prefix)
    return PageReader(status_page(status, {"version": "1"}, permissions or {}, list(events), []))


def test_an_empty_server_has_a_page() -> None:
    shown = page(Server(started=1000.0 - 93_784))

    assert shown.links == {"/metrics", "/healthz", "/readyz"}
    assert "serving · up 1 d 2 h 3 min" in shown.text
    assert "Clusters: none" in shown.text
    assert "No write permission has changed" in shown.text


def test_brokers_topics_permissions_and_events_are_on_it() -> None:
    server = Server(started=1000.0)
    server.register(topics=("TA", "TB"))
    server.ask(RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "b1"})
    server.now += 90
    shown = page(
        server,
        permissions={"b1": PermissionChange(0.0, "wipe", "1.2.3.4:5", 2)},
        events=[LogEntry(0.0, "first"), LogEntry(60.0, "second")],
    )

    assert "up 1 min 30 s" in shown.text
    assert "90 s ago of 120" in shown.text
    assert "b1: 8 8 R-" in shown.text
    assert "wipe1970-01-01 00:00:00 UTC1.2.3.4:52" in shown.text
    assert shown.text.index("second") < shown.text.index("first")


@pytest.mark.parametrize(
    ("waits", "stops", "text"),
    [(True, False, "waiting: no routes"), (False, True, "stopping: no routes are returned")],
)
def test_reason_of_a_server_that_does_not_serve(waits: bool, stops: bool, text: str) -> None:
    server = Server(Config(need_wait_for_service=waits), started=1000.0)
    server.state.shutting_down = stops

    assert text in page(server).text


def test_names_that_are_markup_stay_text(server: Server) -> None:
    name = EVIL[:-1]  # a lone surrogate cannot come over the wire
    server.register(name, topics=("T" + name, "TB"), name=name, cluster=name)
    shown = page(
        server,
        "T",
        permissions={EVIL: PermissionChange(0.0, "wipe", EVIL, 2)},
        events=[LogEntry(0.0, EVIL)],
    )

    assert shown.text.count("<script>alert(1)</script>") >= 6
    assert "\r" not in shown.text
    assert "\x00" not in shown.text


def test_prefix_stays_a_value_of_its_field() -> None:
    page(Server(), '"><script>')


def test_hidden_lines_are_counted(server: Server) -> None:
    topics = tuple(f"T{number}" for number in range(MAX_TOPICS + 7))
    server.register(topics=topics)
    for number in range(20):
        server.register(f"10.0.0.9:{number}", name=f"c{number}", topics=("T0", "TX"))

    shown = page(server)
    assert "and 8 more" in shown.text  # topics, TX among them
    assert "and 5 more" in shown.text  # brokers of T0
    assert "and" not in page(server, "T20").text.partition("Topics:")[2].partition("Brokers and")[0]


def test_other_name_servers_are_shown_with_their_differences(server: Server) -> None:
    assert "Other name servers" not in page(server).text
    server.state.peers.views |= {
        "a:1": PeerView(reached=True),
        "b:1": PeerView(reached=True, drift=Drift(brokers=frozenset({EVIL}))),
        "c:1": PeerView(fault=EVIL),
    }
    shown = page(server)

    assert "a:1the same" in shown.text
    assert "b:1differs: 1 brokers that only one of them has: <script>" in shown.text
    assert "c:1not compared: <script>" in shown.text
