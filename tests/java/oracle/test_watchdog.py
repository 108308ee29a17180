"""A question that never ends is refused, and the next one is answered."""

from __future__ import annotations

import pytest

from tests.peers.oracle import Oracle

pytestmark = pytest.mark.full

NEVER_ENDS = {
    "op": "body_decode",
    "class": "LockBatchResponseBody",
    "text": '{"lockOKMQSet":[{"topic":"a"nu}]}',
}


def test_a_text_that_java_never_ends_with_is_refused_and_the_rest_answered() -> None:
    ping = {"op": "ping"}
    with Oracle("5.5.0", patience=3) as oracle:
        first, endless, last = oracle.ask_all((ping, NEVER_ENDS, ping))
        again = oracle.ask("ping")

    assert (endless["ok"], endless["error"]) == (False, "Watchdog$NeverEnds")
    assert first == last == again == {"ok": True, "release": "5.5.0"}
