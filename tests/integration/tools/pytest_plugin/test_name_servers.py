"""``rocketmq_namesrv``: a process or a thread, for synchronous tests and for trio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

LIFE = """
import pytest
from rocketwire import RemotingCommand
from rocketwire_tools.pytest_plugin.requests import ask

CLUSTERS = RemotingCommand(code=106)
PUT = RemotingCommand(code=100, ext_fields={"namespace": "n", "key": "k", "value": "v"})
GET = RemotingCommand(code=101, ext_fields={"namespace": "n", "key": "k"})

def test_it_answers_and_keeps_port_and_files(rocketmq_namesrv):
    address = rocketmq_namesrv.address
    assert address == f"127.0.0.1:{rocketmq_namesrv.port}"
    assert ask(address, PUT).code == 0
    rocketmq_namesrv.stop()
    with pytest.raises(OSError):
        ask(address, CLUSTERS)
    rocketmq_namesrv.start()
    assert rocketmq_namesrv.address == address
    assert ask(address, GET).ext_fields["value"] == "v"

def test_it_can_be_killed_and_started_again(rocketmq_namesrv):
    rocketmq_namesrv.kill()
    rocketmq_namesrv.kill()
    rocketmq_namesrv.stop()
    with pytest.raises(OSError):
        ask(rocketmq_namesrv.address, CLUSTERS)
    rocketmq_namesrv.start()
    assert ask(rocketmq_namesrv.address, CLUSTERS).code == 0

@pytest.mark.trio
async def test_it_serves_a_trio_test(rocketmq_namesrv):
    from rocketwire.transport.channel import open_channel
    async with open_channel("127.0.0.1", rocketmq_namesrv.port) as channel:
        assert (await channel.request(CLUSTERS)).code == 0
"""

KIND = """
import pytest
def test_kind(rocketmq_namesrv):
    assert type(rocketmq_namesrv).__name__ == "{option}"
@pytest.mark.rocketmq_namesrv(mode="thread")
def test_marked(rocketmq_namesrv):
    assert type(rocketmq_namesrv).__name__ == "ThreadNameServer"
"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["process", "thread"])
def test_a_name_server_lives_as_the_test_says(
    mode: str, run_pytest: Callable[..., pytest.RunResult]
) -> None:
    run_pytest(LIFE, f"--rocketmq-namesrv={mode}").assert_outcomes(passed=3)


@pytest.mark.process
@pytest.mark.slow
def test_option_setting_and_marker_choose_how_it_runs(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    thread, process = (
        KIND.format(option="ThreadNameServer"),
        KIND.format(option="ProcessNameServer"),
    )

    run_pytest(process).assert_outcomes(passed=2)
    run_pytest(thread, "-o", "rocketmq_namesrv=thread").assert_outcomes(passed=2)
    run_pytest(
        process, "-o", "rocketmq_namesrv=thread", "--rocketmq-namesrv=process"
    ).assert_outcomes(passed=2)


@pytest.mark.process
@pytest.mark.slow
def test_a_marker_sets_properties(run_pytest: Callable[..., pytest.RunResult]) -> None:
    source = """
    import pytest
    from rocketwire import RemotingCommand
    from rocketwire_tools.pytest_plugin.requests import ask

    pytestmark = pytest.mark.rocketmq_namesrv(orderMessageEnable=False, productEnvName="module")

    @pytest.mark.parametrize("mode", [
        pytest.param("process", marks=pytest.mark.rocketmq_namesrv(mode="process")),
        pytest.param("thread", marks=pytest.mark.rocketmq_namesrv(mode="thread", orderMessageEnable=True)),
    ])
    def test_it(mode, rocketmq_namesrv):
        body = ask(rocketmq_namesrv.address, RemotingCommand(code=319)).body
        assert b"productEnvName=module" in body
        assert (b"orderMessageEnable=true" in body) == (mode == "thread")
    """

    run_pytest(source).assert_outcomes(passed=2)


@pytest.mark.process
@pytest.mark.slow
def test_a_process_that_cannot_start_says_why(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    source = """
    import pytest
    @pytest.mark.rocketmq_namesrv(bindAddress="203.0.113.1")
    def test_it(rocketmq_namesrv): pass
    """

    result = run_pytest(source)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the name server does not listen*", "*cannot start*"])
