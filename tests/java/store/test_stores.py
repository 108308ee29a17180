"""Stores of real brokers agree with what producers were told and what live brokers answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.java.peers import RELEASES
from tests.support.stores import checks

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.stores import BrokerStore


@pytest.fixture(params=RELEASES)
def plain(
    request: pytest.FixtureRequest, store_of: Callable[[str, str], BrokerStore]
) -> BrokerStore:
    return store_of(request.param, "plain")


def test_every_message_of_a_plain_store_is_pulled_as_it_was_sent(plain: BrokerStore) -> None:
    truth = plain.truth

    assert len(truth.sent) == len(truth.pulled)
    assert list(checks.wrong_sends(truth)) == []
    assert list(checks.wrong_queues(truth)) == []


def test_every_key_and_id_of_a_plain_store_is_answered(plain: BrokerStore) -> None:
    assert list(checks.wrong_lookups(plain.truth)) == []


def test_the_files_of_a_plain_store_hold_what_was_pulled_and_have_rolled(
    plain: BrokerStore,
) -> None:
    assert list(checks.wrong_bytes(plain)) == []
    for folder in ("commitlog", "consumequeue/ledger/0", "index"):
        assert len(list((plain.root / folder).iterdir())) > 1, folder
    assert not (plain.root / "abort").exists()
