"""Runs of pytest inside the tests, in a process each, with the plugin and nothing else that is installed."""

from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


@pytest.fixture
def run_pytest(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    # Run pytest on the text of a test file: ``run_pytest(source, *options)``.
    # the entry point is there or not, depending on how this package was installed
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    places = ":".join(str(ROOT / part) for part in ("", "namesrv", "broker", "tools"))
    monkeypatch.setenv("PYTHONPATH", places)

    def run(source: str, *options: str, trio: bool = True) -> pytest.RunResult:
        pytester.makepyfile(source)
        plugins = [
            "-p",
            "rocketwire_tools.pytest_plugin",
            *(["-p", "pytest_trio.plugin"] if trio else []),
        ]
        return pytester.runpytest_subprocess(*plugins, "-W", "error", "--strict-markers", *options)

    return run
