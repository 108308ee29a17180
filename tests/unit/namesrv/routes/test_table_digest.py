"""Digests of tables, and their comparisons: only differences that last count."""

import json
from typing import Any

import pytest

from rocketwire_namesrv.routes.brokers import Registration
from rocketwire_namesrv.routes.peer_views import PeerView, PeerViews
from rocketwire_namesrv.routes.route_table import RouteTable
from rocketwire_namesrv.routes.steps import run_steps
from rocketwire_namesrv.routes.table_digest import (
    MAX_BROKERS,
    MAX_DOCUMENT,
    STEP,
    TOPIC_GROUPS,
    Drift,
    InvalidDigestError,
    TableDigest,
    digest_steps,
)
from tests.support.builders.route_table_builders import A, B, register, registration

FIRST = registration(A)
SECOND = registration(B, broker_name="b2")


def table_of(*registrations: Registration) -> RouteTable:
    table = RouteTable()
    for broker in registrations:
        register(table, broker)
    return table


def digest_of(table: RouteTable) -> TableDigest:
    return run_steps(digest_steps(table))


def test_the_order_of_registrations_does_not_matter() -> None:
    forwards = digest_of(table_of(FIRST, SECOND))
    backwards = digest_of(table_of(SECOND, FIRST))

    assert forwards.drift(backwards) == Drift()
    assert forwards.drift(backwards).text == ""
    assert any(forwards.topics)


def test_a_broker_that_only_one_server_has_is_named() -> None:
    drift = digest_of(table_of(FIRST, SECOND)).drift(digest_of(table_of(FIRST)))

    assert drift.brokers == {f"C b2 {B}"}
    assert drift.topics
    assert drift.text == (
        f"1 brokers that only one of them has: C b2 {B}; "
        f"{len(drift.topics)} of {TOPIC_GROUPS} groups of topics"
    )


def test_another_version_of_the_topics_is_a_difference() -> None:
    newer = registration(A, counter=99)
    drift = digest_of(table_of(FIRST)).drift(digest_of(table_of(newer)))

    assert drift.versions == {f"C b1 {A}"}
    assert drift.text.startswith(f"1 brokers with different versions: C b1 {A}")


def test_a_write_permission_wiped_at_one_server_is_a_difference() -> None:
    wiped = table_of(FIRST)
    wiped.change_perm("b1", lambda perm: perm & ~2)
    drift = digest_of(table_of(FIRST)).drift(digest_of(wiped))

    assert drift.topics
    assert drift == Drift(topics=drift.topics)


def test_a_large_table_is_read_in_steps() -> None:
    table = table_of(registration(A, 0, *(f"T{number}" for number in range(3 * STEP))))

    assert len(list(digest_steps(table))) == 3


def test_a_digest_of_two_thousand_brokers_is_read() -> None:
    brokers = {f"cluster {'x' * 200}{number} 10.0.0.1:1": "0 1 1" for number in range(MAX_BROKERS)}
    digest = TableDigest(brokers, (0,) * TOPIC_GROUPS)

    assert TableDigest.read(digest.document()) == digest


VALID: dict[str, Any] = {"form": 1, "brokers": {}, "topics": [0] * TOPIC_GROUPS}


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        json.dumps({**VALID, "form": 2}).encode(),
        json.dumps({**VALID, "topics": [0]}).encode(),
        json.dumps({**VALID, "topics": [*VALID["topics"][1:], "x"]}).encode(),
        json.dumps({**VALID, "brokers": {"a": 1}}).encode(),
        json.dumps({**VALID, "brokers": {"a" * 2_000: ""}}).encode(),
        b" " * (MAX_DOCUMENT + 1),
    ],
)
def test_invalid_documents_are_refused(document: bytes) -> None:
    with pytest.raises(InvalidDigestError):
        TableDigest.read(document)


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
