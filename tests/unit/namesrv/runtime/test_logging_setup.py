"""The log goes to Java's place in Java's form."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketwire_namesrv.runtime.logging_setup import (
    LOGGER,
    NamesrvFormatter,
    log_path,
    set_up,
    tear_down,
)

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    propagate, level = LOGGER.propagate, LOGGER.level
    yield
    tear_down()
    LOGGER.propagate, LOGGER.level = propagate, level


def test_log_has_the_file_of_java(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_up("file", str(tmp_path))
    LOGGER.info("all is well")
    LOGGER.warning("less so")

    path = tmp_path / "logs" / "rocketmqlogs" / "namesrv.log"
    assert log_path(str(tmp_path)) == str(path)
    lines = path.read_text("utf-8").splitlines()
    assert re.fullmatch(f"{TIME} INFO main - all is well", lines[0])
    assert re.fullmatch(f"{TIME} WARN main - less so", lines[1])
    assert re.fullmatch(f"{TIME} WARN main - less so\n", capsys.readouterr().err)


def test_log_escapes_half_a_character(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_up("file", str(tmp_path))
    LOGGER.info("half \ud800 a pair")

    text = (tmp_path / "logs" / "rocketmqlogs" / "namesrv.log").read_text("utf-8")
    assert text.endswith("INFO main - half \\ud800 a pair\n")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("choice", "lines"), [("stderr", "INFO main - a hint\nERROR main - a fault\n"), ("off", "")]
)
def test_no_log_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], choice: str, lines: str
) -> None:
    set_up(choice, str(tmp_path))
    LOGGER.info("a hint")
    LOGGER.error("a fault")

    assert re.sub(f"(?m)^{TIME} ", "", capsys.readouterr().err) == lines
    assert list(tmp_path.iterdir()) == []


def test_log_of_another_choice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ROCKETWIRE_LOG must be"):
        set_up("syslog", str(tmp_path))


def test_log_without_a_file_is_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").write_text("in the way")
    set_up("file", str(tmp_path))
    LOGGER.info("heard all the same")

    err = capsys.readouterr().err
    assert "no log file, all goes to stderr" in err
    assert "heard all the same" in err


def test_log_line_cannot_be_forged() -> None:
    record = logging.LogRecord("x", logging.ERROR, "", 0, "a\nb\x1b[0m\x85\u2028%s", ("c\r",), None)

    line = NamesrvFormatter().format(record)

    assert line.endswith(" ERROR main - a\\x0ab\\x1b[0m\\x85\\u2028c\\x0d")


def test_log_line_is_followed_by_its_traceback() -> None:
    try:
        raise ValueError("no\x1b[2J")
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), info)
    record.threadName = "worker"

    lines = NamesrvFormatter().format(record).splitlines()

    assert lines[0].endswith(" ERROR worker - failed")
    assert lines[-1] == "ValueError: no\\x1b[2J"
