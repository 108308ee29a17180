"""The texts, streams and exit statuses of the command are those of Java's ``mqnamesrv``."""

from __future__ import annotations

import gc
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rocketwire import __version__
from rocketwire.serving.sockets import BindError, Listening
from rocketwire.serving.tls.certificates import TlsError
from rocketwire_namesrv.__main__ import main
from rocketwire_namesrv.command_line import HELP
from rocketwire_namesrv.config.config import PROPERTIES, ConfigError
from rocketwire_namesrv.config.settings import Owner
from rocketwire_namesrv.runtime.logging_setup import LOGGER, tear_down
from rocketwire_namesrv.runtime.storage import StorageError
from rocketwire_namesrv.server import server

if TYPE_CHECKING:
    from rocketwire_namesrv.config.config import Config

ROOT = Path(__file__).parents[3]
DEADLINE = 20


def test_help_wins_over_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-c", "/nowhere", "--check-config", "/nowhere", "-ph"]) == 0
    assert capsys.readouterr() == (HELP, "")


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr() == (f"{__version__}\n", "")


def test_the_sample_that_is_printed_is_taken_without_a_word(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_OPT_EXT", f"-Duser.home={tmp_path}")
    assert main(["--sample-config"]) == 0
    path = tmp_path / "ns.properties"
    path.write_text(capsys.readouterr().out + "bindAddress=127.0.0.1\n")

    assert main(["--check-config", str(path)]) == 0
    assert capsys.readouterr() == (f"{path}: the name server can start; 0 errors, 0 warnings\n", "")


@pytest.mark.parametrize(
    ("text", "variable", "complaint"),
    [
        ("# one\na=\\u00zz", "HOME", "{path}, line 2: malformed"),
        ("", "ROCKETMQ_SERIALIZE_TYPE", "rocketmq.serialize.type"),
        ("", "ROCKETWIRE_LOG", "ROCKETWIRE_LOG"),
    ],
)
def test_a_bad_file_or_variable_is_no_start(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    variable: str,
    complaint: str,
) -> None:
    path = tmp_path / "ns.properties"
    path.write_text(text)
    monkeypatch.setenv(variable, "syslog")

    assert main(["-c", str(path)]) == 255
    assert complaint.format(path=path) in capsys.readouterr().err


def test_each_value_that_makes_no_sense_is_a_line_and_no_start(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "ns.properties"
    path.write_text("listenPort=98765\nwaitSecondsForService=-3\nrocketwire.driver=fast\n")

    assert main(["-c", str(path)]) == 255
    out, err = capsys.readouterr()
    assert out == f"load config properties file OK, {path}\n"
    begin = f"the name server cannot start: {path}, line"
    assert err.splitlines() == [
        f"{begin} 1: listenPort=98765: must be a whole number from 0 to 65535; the default is 9876",
        f"{begin} 3: rocketwire.driver=fast: must be one of auto, reactor, portable; the default is"
        " auto",
    ]


def test_a_check_prints_what_is_wrong_and_starts_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_OPT_EXT", f"-Duser.home={tmp_path}")
    path = tmp_path / "ns.properties"
    path.write_text("bindAddress=127.0.0.1\nlistenport=1\n\nrocketwire.maxTopics=12O\n")

    assert main(["--check-config", str(path)]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines() == [
        f"error: {path}, line 4: rocketwire.maxTopics=12O: must be a whole number from 1 to"
        " 2147483647, or 0 (no limit); the default is 1000000",
        f"warning: {path}, line 2: listenport is not a setting of this name server; did you mean"
        " listenPort?",
        f"{path}: the name server cannot start; 1 error, 1 warning",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["ns.properties"]


def test_all_items_are_printed_after_the_file_was_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROCKETMQ_HOME", raising=False)
    path = tmp_path / "ns.properties"
    path.write_text("listenPort=1\nenableTopicList=true \n")

    assert main(["-p", "-c", str(path)]) == 0

    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == f"load config properties file OK, {path}"
    form = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INFO main - [\w.]+="
    assert all(re.match(form, line) for line in lines[1:])
    items = [line.partition(" - ")[2] for line in lines[1:]]
    ours = [setting.key for setting in PROPERTIES if setting.owner is Owner.OURS]
    assert [item.partition("=")[0] for item in items[60:]] == ours
    assert not any(item.startswith("rocketwire.") for item in items[:60])
    assert "rocketwire.observePort=5558" in items
    assert err == (
        f"warning: {path}, line 2: enableTopicList=true : read as false, because it is not the word"
        " true\n"
    )
    assert items[0] == "rocketmqHome="
    assert items[2] == f"configStorePath={path}"
    assert "listenPort=1" in items
    assert "enableTopicList=false" in items


def test_items_are_printed_of_a_file_with_which_the_server_cannot_start_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "ns.properties"
    path.write_text("rocketwire.maxTopics=-1\nrocketwire.maxBrokers=7\n")

    assert main(["-p", "-c", str(path)]) == 255

    out, err = capsys.readouterr()
    assert "rocketwire.maxTopics=1000000\n" in out
    assert "rocketwire.maxBrokers=7\n" in out
    assert "line 1: rocketwire.maxTopics=-1: must be" in err


# ---- serving, with the server put aside


def serving(monkeypatch: pytest.MonkeyPatch, home: Path, serve: object) -> None:
    monkeypatch.setenv("JAVA_OPT_EXT", f"-Duser.home={home}")
    monkeypatch.setenv("ROCKETWIRE_LOG", "off")
    monkeypatch.setattr(server, "serve_until_signal", serve)


@pytest.mark.usefixtures("_collector_as_before")
def test_the_boot_line_names_the_real_port_and_the_header_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async def serve(_: Config, on_boot: Callable[[Listening, str], None]) -> int:
        on_boot(Listening("::", 4711), "")
        return signal.SIGTERM

    serving(monkeypatch, tmp_path, serve)
    monkeypatch.setenv("ROCKETMQ_SERIALIZE_TYPE", "ROCKETMQ")

    assert main([]) == 143
    assert capsys.readouterr() == (
        "The Name Server boot success. serializeType=ROCKETMQ, address :::4711\n"
        "log: off; status page: none; configuration file: none, -c FILE sets one\n",
        "",
    )


@pytest.mark.usefixtures("_collector_as_before")
@pytest.mark.parametrize("log", ["file", "stderr"])
def test_the_line_behind_it_names_log_and_status_page_and_configuration(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, log: str
) -> None:
    async def serve(_: Config, on_boot: Callable[[Listening, str], None]) -> int:
        on_boot(Listening("127.0.0.1", 4711), "http://127.0.0.1:5558/")
        return signal.SIGTERM

    serving(monkeypatch, tmp_path, serve)
    monkeypatch.setenv("ROCKETWIRE_LOG", log)
    path = tmp_path / "ns.properties"
    path.write_text("listenPort=4711\n")

    assert main(["-c", str(path)]) == 143
    place = "stderr" if log == "stderr" else tmp_path / "logs" / "rocketmqlogs" / "namesrv.log"
    assert capsys.readouterr().out.splitlines()[2:] == [
        f"log: {place}; status page: http://127.0.0.1:5558/; configuration file: {path}"
    ]


@pytest.mark.parametrize(
    "error",
    [
        BindError("port taken"),
        ConfigError("no list"),
        StorageError("no sense"),
        TlsError("no certificate"),
    ],
)
def test_a_start_that_fails_says_why(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    error: Exception,
) -> None:
    async def serve(*_: object) -> int:
        raise ExceptionGroup("from a nursery", [error])

    serving(monkeypatch, tmp_path, serve)

    assert main([]) == 255
    assert capsys.readouterr() == ("", f"the name server cannot start: {error}\n")


@pytest.fixture
def _collector_as_before() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    propagate, level = LOGGER.propagate, LOGGER.level
    yield
    tear_down()
    LOGGER.propagate, LOGGER.level = propagate, level


# ---- as a process


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user's home directory; everything of a name server is below it."""
    return tmp_path / "home"


def start(
    home: Path, *words: str, way: tuple[str, ...] = ("-m", "rocketwire_namesrv")
) -> subprocess.Popen[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "namesrv")]),
        "JAVA_OPT_EXT": f"-Duser.home={home} -Xmx1g",
    }
    return subprocess.Popen(
        [sys.executable, *way, *words],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def settings(tmp_path: Path) -> str:
    path = tmp_path / "ns.properties"
    path.write_text("bindAddress=127.0.0.1\nlistenPort=0\n")
    return str(path)


@pytest.mark.process
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_name_server_boots_and_stops_on_a_signal(
    home: Path, settings: str, number: signal.Signals, status: int
) -> None:
    with start(home, "-c", settings) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"load config properties file OK, {settings}\n"
        booted = re.fullmatch(
            r"The Name Server boot success\. serializeType=JSON, address 127\.0\.0\.1:(\d+)\n",
            process.stdout.readline(),
        )
        assert booted
        log = home / "logs" / "rocketmqlogs" / "namesrv.log"
        assert process.stdout.readline().startswith(f"log: {log}; status page: http://127.0.0.1:")
        socket.create_connection(("127.0.0.1", int(booted[1])), DEADLINE).close()
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)

    assert (process.returncode, out, err) == (status, "", "")
    assert "The Name Server boot success." in log.read_text()


@pytest.mark.process
def test_a_checkout_starts_by_the_name_of_its_folder(home: Path) -> None:
    with start(home, "-h", way=("namesrv",)) as process:
        out, err = process.communicate(timeout=DEADLINE)

    assert (process.returncode, out, err) == (0, HELP, "")


@pytest.mark.process
def test_make_run_says_that_it_installs_and_ends_at_ctrl_c_without_an_error(
    home: Path, settings: str, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python").symlink_to("/bin/true")  # installs nothing
    (programs / "rocketwire-namesrv").symlink_to(Path(sys.prefix, "bin", "rocketwire-namesrv"))
    # make prints its directory if another make has started it, as make test has
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    with subprocess.Popen(
        ["make", "run", f"VENV={tmp_path}", f"ARGS=-c {settings}"],
        env={**outer, "JAVA_OPT_EXT": f"-Duser.home={home}"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal's Ctrl-C is for the whole group
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Installing the name server")
        assert any(line.startswith("log: ") for line in process.stdout)
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=DEADLINE) == ("", "")
