"""``rocketmq_broker``: a script of answers, what was sent, and its place at the name server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = """
import pytest
import trio
from rocketwire import RemotingCommand
from rocketwire.errors import ConnectFailedError
from rocketwire_tools.pytest_plugin.requests import ask

pytestmark = pytest.mark.rocketmq_namesrv(mode="thread")
alone = pytest.mark.rocketmq_broker(register=False)
ROUTE = RemotingCommand(code=105, ext_fields={"topic": "test-topic"})
"""

SCRIPTS = (
    HEAD
    + """
@alone
def test_answers_come_in_order_and_the_last_one_stays(rocketmq_broker):
    ok, busy = RemotingCommand(code=0), RemotingCommand(code=2)
    rocketmq_broker.answer(310, busy, ok)
    request = RemotingCommand(code=310, body=b"m")
    assert [ask(rocketmq_broker.address, request).code for _ in range(3)] == [2, 0, 0]
    assert [each.body for each in rocketmq_broker.received(310)] == [b"m"] * 3

@alone
def test_an_answer_can_be_made_of_the_request(rocketmq_broker):
    rocketmq_broker.answer(310, lambda request: RemotingCommand(code=0, body=request.body[::-1]))
    assert ask(rocketmq_broker.address, RemotingCommand(code=310, body=b"abc")).body == b"cba"

@alone
def test_silence_heartbeats_and_codes_without_a_script(rocketmq_broker):
    rocketmq_broker.answer(11, None)
    with pytest.raises(TimeoutError):
        ask(rocketmq_broker.address, RemotingCommand(code=11), seconds=0.05)
    assert ask(rocketmq_broker.address, RemotingCommand(code=34)).code == 0
    assert ask(rocketmq_broker.address, RemotingCommand(code=999)).code == 3
    with pytest.raises(ValueError):
        rocketmq_broker.answer(11)

@alone
def test_waiting_says_what_came_instead(rocketmq_broker):
    ask(rocketmq_broker.address, RemotingCommand(code=34))
    with pytest.raises(TimeoutError, match="^expected 1 SEND_MESSAGE_V2 request within 0.01 s, got 0; other requests: 1 HEART_BEAT$"):
        rocketmq_broker.wait_for(310, seconds=0.01)

@alone
@pytest.mark.trio
async def test_clients_under_trio_can_be_told_and_disconnected(rocketmq_broker):
    from rocketwire.transport.channel import open_channel
    from rocketwire.errors import ChannelBrokenError
    told = trio.Event()
    async def handler(request):
        assert request.code == 40
        told.set()
    host, port = rocketmq_broker.address.split(":")
    async with open_channel(host, int(port), handler=handler) as channel:
        await channel.send_oneway(RemotingCommand(code=34))
        [beat] = await trio.to_thread.run_sync(rocketmq_broker.wait_for, 34)
        assert beat.is_oneway
        assert rocketmq_broker.tell_clients(RemotingCommand(code=40)) == 1
        with trio.fail_after(60):
            await told.wait()
        rocketmq_broker.answer(10, None)
        rocketmq_broker.disconnect()
        with pytest.raises(ChannelBrokenError):
            await channel.request(RemotingCommand(code=10))
"""
)

REGISTERED = (
    HEAD
    + """
def test_it_is_in_the_route_until_it_leaves(rocketmq_namesrv, rocketmq_broker):
    route = ask(rocketmq_namesrv.address, ROUTE)
    assert route.code == 0
    assert rocketmq_broker.address.encode() in route.body
    rocketmq_broker.topics.append("second")
    rocketmq_broker.register(rocketmq_namesrv.address)
    second = RemotingCommand(code=105, ext_fields={"topic": "second"})
    assert ask(rocketmq_namesrv.address, second).code == 0
    rocketmq_broker.leave(rocketmq_namesrv.address)
    while ask(rocketmq_namesrv.address, ROUTE).code == 0:
        pass

@pytest.mark.rocketmq_broker(name="b", topics=["other"], cluster="c")
def test_the_marker_says_what_it_is(rocketmq_namesrv, rocketmq_broker):
    assert ask(rocketmq_namesrv.address, ROUTE).code == 17
    assert b'"c"' in ask(rocketmq_namesrv.address, RemotingCommand(code=106)).body

def test_a_refused_registration_is_an_error(rocketmq_namesrv, rocketmq_broker):
    rocketmq_broker.name = ""
    with pytest.raises(RuntimeError, match="refuses"):
        rocketmq_broker.register(rocketmq_broker.address)
    rocketmq_namesrv.stop()
    with pytest.raises(ConnectFailedError):
        rocketmq_broker.register(rocketmq_namesrv.address)
"""
)


@pytest.mark.process
@pytest.mark.slow
def test_a_broker_answers_by_its_script(run_pytest: Callable[..., pytest.RunResult]) -> None:
    run_pytest(SCRIPTS).assert_outcomes(passed=5)


@pytest.mark.process
@pytest.mark.slow
def test_a_broker_is_at_the_name_server(run_pytest: Callable[..., pytest.RunResult]) -> None:
    run_pytest(REGISTERED).assert_outcomes(passed=3)


@pytest.mark.process
@pytest.mark.slow
def test_an_answer_that_fails_fails_the_test(run_pytest: Callable[..., pytest.RunResult]) -> None:
    source = """
@alone
def test_it(rocketmq_broker):
    def script(request):
        assert request.body == b"expected"
    rocketmq_broker.answer(310, script)
    assert ask(rocketmq_broker.address, RemotingCommand(code=310, body=b"other")).code == 1
"""

    result = run_pytest(HEAD + source)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*AssertionError*"])
