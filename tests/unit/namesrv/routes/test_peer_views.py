"""Comparisons with other name servers: only differences that last count."""

from rocketwire_namesrv.routes.peer_views import PeerView, PeerViews
from rocketwire_namesrv.routes.table_digest import TOPIC_GROUPS, Drift, TableDigest

NO_TOPICS = (0,) * TOPIC_GROUPS
EMPTY = TableDigest({}, NO_TOPICS)
FULL = TableDigest({"c b a:1": "0 1 1"}, NO_TOPICS)


def test_a_difference_counts_at_the_second_comparison_in_a_row() -> None:
    views = PeerViews()

    assert views.record_comparison("p:1", EMPTY, FULL) == PeerView(reached=True)
    assert views.record_comparison("p:1", EMPTY, FULL).drift.brokers == {"c b a:1"}
    assert views.record_comparison("p:1", FULL, FULL) == PeerView(reached=True)
    assert views.record_comparison("p:1", EMPTY, FULL).drift == Drift()


def test_a_peer_that_fails_begins_again() -> None:
    views = PeerViews()
    views.record_comparison("p:1", EMPTY, FULL)

    assert views.record_failure("p:1", "no response") == PeerView(fault="no response")
    assert views.record_comparison("p:1", EMPTY, FULL).drift == Drift()
    assert list(views.views) == ["p:1"]
