"""No step of a large registration does much: readers are served between any two of them.

The test counts the work of a step: calls, and bytes that are summed, digested, compared or
inflated.
"""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.wire.checksum import crc32_of
from rocketwire_namesrv.registration import digests
from tests.support.fakes.sansio_server import Server, identity, replies, request
from tests.unit.namesrv.registration.test_reader import body_of, pack

TOPICS = tuple(
    f"Topic-{number * 7919 % 10007:05}-of-a-length-that-real-ones-have" for number in range(10_000)
)
FEW = 4000
"""Topics of a broker whose new topics get Java's order."""
MAX_CALLS = 2000
"""Calls in one step; a loop over 10,000 topics has several times as many."""
MAX_BYTES = 600_000
"""Bytes in one step of some 2 MB; the checksum and the digest read each byte."""


class Step:
    def __init__(self) -> None:
        self.calls = 0  #: of functions, Python's own among them
        self.size = 0  #: bytes that went through digests and checksums

    def count(self, _frame: object, event: str, _argument: object) -> None:
        self.calls += event in {"call", "c_call"}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    steps = [Step()]

    def weigh_calls(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(data: bytes, *arguments: Any) -> Any:
            steps[-1].size += len(data)
            return function(data, *arguments)

        return call

    monkeypatch.setattr(digests, "digest_of", weigh_calls(digests.digest_of))
    monkeypatch.setattr(digests, "crc32_of", weigh_calls(crc32_of))
    return steps


def register(server: Server, body: bytes, steps: list[Step]) -> None:
    outcome = server.session.receive(request(Code.REGISTER_BROKER, identity(), body), server.now)
    while server.session.stepping:
        steps.append(Step())
        sys.setprofile(steps[-1].count)
        try:
            outcome = server.session.proceed(server.now)
        finally:
            sys.setprofile(None)
    assert [reply.code for reply in replies(outcome.send)] == [0]


@pytest.mark.parametrize("make", [body_of, pack])
@pytest.mark.parametrize("count", [FEW, len(TOPICS)])
def test_steps_are_small(make: Callable[..., bytes], count: int, steps: list[Step]) -> None:
    topics = dict.fromkeys(TOPICS[:count], 8)
    changed = topics | {TOPICS[count // 3]: 4}
    tables = (topics, topics, changed, dict.fromkeys(topics, 16), changed)
    server = Server()
    for counter, table in enumerate(tables, 1):
        register(server, make(table, counter=counter), steps)

    assert len(server.state.table.topics.entries) == count
    assert len(steps) > count // 100
    assert max(step.calls for step in steps) < MAX_CALLS
    assert max(step.size for step in steps) < MAX_BYTES
