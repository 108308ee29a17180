"""The log goes to Java's place in Java's form."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from rocketwire_namesrv.runtime.logging_setup import (
    LOGGER,
    NamesrvFormatter,
    log_path,
    set_up,
    tear_down,
)

if TYPE_CHECKING:
    from pathlib import Path

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    propagate, level = LOGGER.propagate, LOGGER.level
    yield
    tear_down()
    LOGGER.propagate, LOGGER.level = propagate, level


def test_lines_go_to_javas_file_and_warnings_to_stderr_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up("file", str(tmp_path))
    LOGGER.info("all is well")
    LOGGER.warning("less so")

    path = tmp_path / "logs" / "rocketmqlogs" / "namesrv.log"
    assert log_path(str(tmp_path)) == str(path)
    lines = path.read_text("utf-8").splitlines()
    assert re.fullmatch(f"{TIME} INFO main - all is well", lines[0])
    assert re.fullmatch(f"{TIME} WARN main - less so", lines[1])
    assert re.fullmatch(f"{TIME} WARN main - less so\n", capsys.readouterr().err)


def test_half_a_character_of_a_peer_is_no_reason_to_lose_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up("file", str(tmp_path))
    LOGGER.info("half \ud800 a pair")

    text = (tmp_path / "logs" / "rocketmqlogs" / "namesrv.log").read_text("utf-8")
    assert text.endswith("INFO main - half \\ud800 a pair\n")
    assert capsys.readouterr().err == ""


def test_all_lines_may_go_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_up("stderr", str(tmp_path))
    LOGGER.info("all is well")

    assert capsys.readouterr().err.endswith(" INFO main - all is well\n")
    assert list(tmp_path.iterdir()) == []


def test_the_log_may_be_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_up("off", str(tmp_path))
    LOGGER.error("nobody hears")

    assert capsys.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []


def test_another_choice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ROCKETWIRE_LOG must be"):
        set_up("syslog", str(tmp_path))


def test_where_no_file_can_be_written_all_goes_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").write_text("in the way")
    set_up("file", str(tmp_path))
    LOGGER.info("heard all the same")

    err = capsys.readouterr().err
    assert "no log file, all goes to stderr" in err
    assert "heard all the same" in err


def test_a_peer_cannot_forge_a_line() -> None:
    record = logging.LogRecord("x", logging.ERROR, "", 0, "a\nb\x1b[0m\x85\u2028%s", ("c\r",), None)

    line = NamesrvFormatter().format(record)

    assert line.endswith(" ERROR main - a\\x0ab\\x1b[0m\\x85\\u2028c\\x0d")


def test_a_traceback_follows_its_line() -> None:
    try:
        raise ValueError("no\x1b[2J")
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), info)
    record.threadName = "worker"

    lines = NamesrvFormatter().format(record).splitlines()

    assert lines[0].endswith(" ERROR worker - failed")
    assert lines[-1] == "ValueError: no\\x1b[2J"
