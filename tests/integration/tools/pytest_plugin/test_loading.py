"""The plugin costs nothing until a fixture is used, and can be told how."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[4]


def test_the_entry_point_names_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert {"rocketwire": "rocketwire_tools.pytest_plugin"} == project["entry-points"]["pytest11"]


@pytest.mark.process
@pytest.mark.slow
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
@pytest.mark.slow
def test_fixtures_and_options_are_listed_with_their_meaning(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    fixtures = run_pytest("", "--fixtures").stdout.str()
    markers = run_pytest("", "--markers").stdout.str()

    for name in ("rocketmq_namesrv", "rocketmq_broker", "fault_proxy"):
        assert f"{name} -- " in fixtures
    assert "@pytest.mark.rocketmq_namesrv(mode=..., **settings)" in markers
    assert "@pytest.mark.rocketmq_broker(register=True, **attributes)" in markers


@pytest.mark.process
@pytest.mark.slow
def test_a_mode_that_there_is_not_is_refused(
    run_pytest: Callable[..., pytest.RunResult],
) -> None:
    source = "def test_it(rocketmq_namesrv): pass"

    assert run_pytest(source, "--rocketmq-namesrv=jvm").ret == 4
    result = run_pytest(source, "-o", "rocketmq_namesrv=jvm")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*rocketmq_namesrv is process or thread, not 'jvm'*"])
