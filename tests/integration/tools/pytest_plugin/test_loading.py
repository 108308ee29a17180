"""The plugin costs nothing until a fixture is used."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


def test_the_entry_point_names_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert {"rocketwire": "rocketwire_tools.pytest_plugin"} == project["entry-points"]["pytest11"]


@pytest.mark.process
def test_loading_the_plugin_imports_nothing_heavy(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    result = run_pytest(
        """
        import sys

        def test_what_is_loaded():
            heavy = {"trio", "construct", "orjson", "rocketwire", "rocketwire_namesrv"}
            assert "rocketwire_tools.pytest_plugin" in sys.modules
            assert not heavy & set(sys.modules)
        """,
        trio=False,
    )

    result.assert_outcomes(passed=1)


@pytest.mark.process
def test_fixtures_and_markers_are_listed_with_their_meaning(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    fixtures = run_pytest("", "--fixtures").stdout.str()
    markers = run_pytest("", "--markers").stdout.str()

    for name in ("rocketmq", "rocketmq_backstage", "fault_proxy"):
        assert f"{name} -- " in fixtures
    assert "@pytest.mark.rocketmq(brokers=1, topics=[...], **settings)" in markers


@pytest.mark.process
def test_a_reply_that_fails_fails_the_test(run_pytest: Callable[..., pytest.RunResult]) -> None:
    result = run_pytest(
        """
        from rocketwire import RemotingCommand
        from rocketwire_tools.pytest_plugin.requests import ask

        def test_it(rocketmq):
            def reply(request):
                assert request.body == b"expected"
            rocketmq.broker.on(310, reply)
            request = RemotingCommand(code=310, body=b"other")
            assert ask(rocketmq.broker.address, request).code == 1
        """
    )

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*AssertionError*"])
