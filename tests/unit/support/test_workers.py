"""Java peers of the session end where the next file does not use them."""

from __future__ import annotations

import pytest

from tests.support.plugins import workers

PEERS = """
import pytest

EVENTS = []

@pytest.fixture(scope="session")
def cluster():
    EVENTS.append("cluster starts")
    yield
    EVENTS.append("cluster ends")

@pytest.fixture(scope="session")
def peer(cluster):
    EVENTS.append("peer starts")
    yield
    EVENTS.append("peer ends")

@pytest.fixture(scope="session")
def other():
    EVENTS.append("other starts")
    yield
    EVENTS.append("other ends")

def pytest_unconfigure():
    print(*EVENTS, sep=", ")
"""
USES = "import pytest\npytestmark = pytest.mark.java\ndef test_with_peers(peer, other): pass\ndef test_without(): pass\n"


@pytest.mark.parametrize(
    ("files", "events"),
    [
        (
            [USES, USES.replace("peer,", "cluster,")],
            "cluster starts, peer starts, other starts, peer ends, other ends, cluster ends",
        ),
        (
            [USES, "def test_without(): pass", USES],
            "cluster starts, peer starts, other starts, peer ends, cluster ends, "
            "cluster starts, peer starts, peer ends, cluster ends, other ends",
        ),
        (
            ["def test_without(): pass", USES],
            "cluster starts, peer starts, other starts, other ends, peer ends, cluster ends",
        ),
    ],
    ids=["the next file uses one of them", "it uses none", "there is no next file"],
)
def test_peers_end_before_a_file_that_does_not_use_them(
    files: list[str], events: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WORKER", "")  # a worker of xdist would sort the files
    pytester.makeconftest(PEERS)
    pytester.makepyfile(**{f"test_{number}": text for number, text in enumerate(files)})

    result = pytester.runpytest_inprocess(
        *("-p", "no:randomly", "-o", "markers=java"), plugins=[workers]
    )

    result.assert_outcomes(passed=sum(text.count("def ") for text in files))
    result.stdout.fnmatch_lines([events])


@pytest.mark.parametrize(
    ("test", "scope"),
    [
        ("tests/spark/test_source.py::test_a", "tests/spark/"),
        ("tests/spark/test_readers.py::test_b", "tests/spark/"),
        ("tests/java/client/test_pop.py::test_c[a::b]", "tests/java/client/test_pop.py"),
    ],
)
def test_one_process_runs_the_tests_of(test: str, scope: str, pytestconfig: pytest.Config) -> None:
    scheduler = workers.Scheduler.__new__(workers.Scheduler)
    assert scope == scheduler._split_scope(test)  # pyright: ignore[reportPrivateUsage] - xdist calls it
