"""The history of events, and its bounds."""

import pytest

from rocketwire.serving.events import ExceededAgain, LimitExceeded
from rocketwire_namesrv.admin_http.event_history import (
    BROKERS,
    ENDINGS,
    EVENT_LENGTH,
    EVENTS,
    LogEntry,
    Observer,
    PermissionChange,
)
from rocketwire_namesrv.events import (
    BrokerUnregistered,
    ChecksumMismatch,
    ConfigItemPut,
    GroupRemoved,
    WritePermChanged,
)
from rocketwire_namesrv.protocol.handlers import Peer


class Ended:
    def __init__(self, closing: str | None) -> None:
        self.peer = Peer(1, "1.2.3.4:5")
        self.closing = closing


@pytest.fixture
def observer() -> Observer:
    return Observer(lambda: 17.0)


def wipe_event(name: str | None, action: str = "wipe") -> WritePermChanged:
    return WritePermChanged(action=action, broker_name=name, client="1.2.3.4:5", topics=3)


def test_events_of_brokers_and_other_troubles_do_not_wash_each_other_away(
    observer: Observer,
) -> None:
    removed = GroupRemoved(broker_name="b1", topics=2)
    observer.record_event(removed, None)
    for _ in range(2 * EVENTS):
        observer.record_event(ChecksumMismatch(client="1.2.3.4:5"), "1.2.3.4:5")

    assert list(observer.news) == [LogEntry(17.0, removed.text)]
    assert len(observer.troubles) == EVENTS
    assert observer.troubles[0].text.endswith(" not match,from 1.2.3.4:5")
    assert observer.events == {"GroupRemoved": 1, "ChecksumMismatch": 2 * EVENTS}


def test_values_of_the_key_value_configuration_are_counted_and_not_kept(observer: Observer) -> None:
    observer.record_event(
        ConfigItemPut(action="create new", namespace="ns", key="k", value="secret"), None
    )

    assert observer.events == {"ConfigItemPut": 1}
    assert not observer.news
    assert not observer.troubles


def test_the_latest_change_of_a_permission_is_kept_for_each_broker(observer: Observer) -> None:
    for event in (wipe_event("b1"), wipe_event("b2"), wipe_event("b1", "add")):
        observer.record_event(event, "1.2.3.4:5")

    assert observer.permissions == {
        "b2": PermissionChange(17.0, "wipe", "1.2.3.4:5", 3),
        "b1": PermissionChange(17.0, "add", "1.2.3.4:5", 3),
    }


def test_permissions_have_a_limit(observer: Observer) -> None:
    for number in range(BROKERS + 1):
        observer.record_event(wipe_event(f"b{number}"), None)

    assert len(observer.permissions) == BROKERS
    assert "b0" not in observer.permissions


def test_an_event_has_a_greatest_length_without_its_address(observer: Observer) -> None:
    name = "n" * 10_000 + "\n" * 40
    observer.record_event(
        BrokerUnregistered(cluster=name, address=name, broker_name=name, reason="idle"), "1.2.3.4:5"
    )

    assert len(observer.news[0].text) == EVENT_LENGTH + len(" [1.2.3.4:5]")
    assert observer.news[0].text.endswith(" [1.2.3.4:5]")
    assert observer.departures == {"idle": 1}


def test_a_limit_is_counted_under_its_name_and_repeated_only_counted(observer: Observer) -> None:
    observer.record_event(ExceededAgain(limit="topics", allowed=1, what="two"), None)
    assert not observer.troubles
    observer.record_event(LimitExceeded(limit="topics", allowed=1, what="two"), None)

    assert observer.limits == {"topics": 2}


COUNTED_ONLY = {"peer", "server_stop", "idle", "slow_frame", "slow_reader", "no_frame", "refused"}


@pytest.mark.parametrize("ending", sorted({*ENDINGS.values()}))
def test_unusual_end_is_an_event(observer: Observer, ending: str) -> None:
    reason = next(begin for begin, name in ENDINGS.items() if name == ending)
    observer.record_end(Ended(f"{reason} for a time"))

    assert observer.endings == {ending: 1}
    assert [event.text for event in observer.troubles] == [
        f"connection of 1.2.3.4:5 ended: {reason} for a time"
    ] * (ending not in COUNTED_ONLY)


@pytest.mark.parametrize("reason", [None, "", "something new"])
def test_any_other_end_is_counted_as_such(observer: Observer, reason: str | None) -> None:
    observer.record_end(Ended(reason))

    assert observer.endings == {"other": 1}
