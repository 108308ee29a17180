"""The status page: well-formed, complete, and harmless whatever peers call themselves."""

from collections.abc import Sequence

import pytest

from rocketwire.codes import RequestCode
from rocketwire_namesrv.admin_http.event_history import LogEntry, PermissionChange
from rocketwire_namesrv.admin_http.status import MAX_TOPICS, status_of
from rocketwire_namesrv.admin_http.status_page import status_page
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.routes.peer_views import PeerView
from rocketwire_namesrv.routes.table_digest import Drift
from tests.support.fakes.sansio_server import Server
from tests.support.status_pages import PageReader

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
