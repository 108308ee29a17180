"""The journal: a line in the log for each occurrence, and whoever listens hears the same."""

import pytest

from rocketwire.serving.events import Event
from rocketwire_namesrv.events import ClusterRemoved, ResponseDropped
from rocketwire_namesrv.server.connection import ServerConnection
from rocketwire_namesrv.server.event_log import Journal

REMOVED = ClusterRemoved(cluster="c")
DROPPED = ResponseDropped(client="1.2.3.4:5", opaque=7)


class Ear:
    def __init__(self) -> None:
        self.heard: list[tuple[Event, str | None]] = []

    def record_event(self, event: Event, address: str | None) -> None:
        self.heard.append((event, address))

    def record_end(self, connection: ServerConnection) -> None:
        raise AssertionError(connection)


def test_what_the_log_is_too_coarse_for_is_heard_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("WARNING")
    journal, ear = Journal(), Ear()
    journal.listeners.append(ear)

    journal.record([REMOVED, DROPPED], "1.2.3.4:5")
    journal.record([DROPPED], None)

    assert [DROPPED.text, DROPPED.text] == [record.getMessage() for record in caplog.records]
    assert ear.heard == [(REMOVED, "1.2.3.4:5"), (DROPPED, "1.2.3.4:5"), (DROPPED, None)]
