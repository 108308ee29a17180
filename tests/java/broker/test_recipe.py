"""The class for tests of Java programs in the guide compiles, and a Java producer sends through it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers import cache as java_cache
from tests.peers.peers import CURRENT, PATIENT, SHORT_LIVED, java, prepare

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "broker-in-tests.md"


@pytest.mark.java
def test_a_java_program_starts_the_servers_of_the_guide(tmp_path: Path) -> None:
    blocks = re.findall(r"^```java\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    classes = {match[1]: block for block in blocks if (match := re.search(r"class (\w+)", block))}
    for name, block in classes.items():
        (tmp_path / f"{name}.java").write_text(block)
    program = tmp_path / "rocketwire"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m rocketwire_broker "$@"\n')
    program.chmod(0o755)
    prepare(tmp_path)
    path = f"{java_cache.jars(CURRENT)}/*"
    sources = [f"{name}.java" for name in classes]
    options = [*SHORT_LIVED, *PATIENT, f"-Drocketwire={program}"]

    subprocess.run(["javac", "-cp", path, *sources], cwd=tmp_path, check=True, timeout=300)
    ended = subprocess.run(
        java(CURRENT, "OrdersTest", jvm=options, classes=tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert (ended.returncode, ended.stdout.split()) == (0, ["SEND_OK"]), ended.stderr
