"""A test that starts a process says so with a marker."""

from __future__ import annotations

import pytest

from tests.support.plugins import process_starts

PROGRAM = """
import multiprocessing, os, subprocess, sys
import pytest

def start():
    subprocess.run([sys.executable, "-c", ""], check=True)

@pytest.fixture(scope="module")
def server():
    start()

def test_that_starts_a_program():
    start()

def test_that_spawns_without_a_module():
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)

def test_that_spawns():
    process = multiprocessing.get_context("spawn").Process(target=print)
    process.start()
    process.join()

def test_whose_fixture_starts_a_program(server):
    pass

@pytest.mark.process
def test_that_says_so():
    start()

@pytest.mark.java
def test_with_a_java_peer():
    start()

def test_that_lists_files():
    subprocess.run(["git", "--version"], check=True)

def test_that_starts_nothing():
    pass
"""


@pytest.mark.process
def test_a_test_that_starts_a_process_without_the_marker_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_program=PROGRAM)

    result = pytester.runpytest_inprocess(
        *("-p", "no:randomly", "-o", "markers=process\njava"), plugins=[process_starts]
    )

    result.assert_outcomes(passed=4, failed=3, errors=1)
    result.stdout.fnmatch_lines(["*starts a process (*python*): add @pytest.mark.process"])
    result.stdout.fnmatch_lines(["*starts a process (os.posix_spawn): add @pytest.mark.process"])
    result.stdout.fnmatch_lines(["*starts a process (multiprocessing): add*"])
