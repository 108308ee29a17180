"""The command line, its texts, streams and exit statuses are those of Java's ``mqnamesrv``.

The table of command lines was made with commons-cli 1.5.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rocketwire_namesrv import server
from rocketwire_namesrv.__main__ import USAGE, UsageError, main, parse
from rocketwire_namesrv.config import ConfigError
from rocketwire_namesrv.logs import LOGGER, tear_down
from rocketwire_namesrv.sockets import BindError, Listening
from rocketwire_namesrv.storage import StorageError
from rocketwire_namesrv.tls import TlsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_namesrv.config import Config

ROOT = Path(__file__).parents[2]
DEADLINE = 20


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["-c", "f"], {"c": "f"}),
        (["-c", "-x"], {"c": "-x"}),
        (["-c", "-1"], {"c": "-1"}),
        (["-c", "--foo"], {"c": "--foo"}),
        (["-c", "-"], {"c": "-"}),
        (["-c", ""], {"c": ""}),
        (["-c", "a", "-c", "b"], {"c": "a"}),
        (["-c", "a", "b", "-p"], {"c": "a", "p": ""}),
        (["--conf", "f"], {"c": "f"}),
        (["-conf", "f"], {"c": "f"}),
        (["--c", "v"], {"c": "v"}),
        (["-configFile=x"], {"c": "x"}),
        (["--configFile=x"], {"c": "x"}),
        (["--configFile="], {"c": ""}),
        (["-c=x"], {"c": "x"}),
        (["-cfoo"], {"c": "foo"}),
        (["-configFilefoo"], {"c": "foo"}),
        (["-hpcfoo"], {"h": "", "p": "", "c": "foo"}),
        (["-c", '"q"'], {"c": "q"}),
        (['--configFile="q"'], {"c": '"q"'}),
        (['-c"q"'], {"c": '"q"'}),
        (["-", "-p"], {"p": ""}),
        (["--", "-x"], {}),
        (["-p", "-pp"], {"p": ""}),
        (["--h"], {"h": ""}),
        (["-help"], {"h": ""}),
        (["--printConfigItem", "bare", "words"], {"p": ""}),
        (["-n", "host:9876"], {"n": "host:9876"}),
    ],
)
def test_a_command_line_is_read_as_in_java(words: list[str], expected: dict[str, str]) -> None:
    assert parse(words) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-x"], "Unrecognized option: -x"),
        (["--bogus"], "Unrecognized option: --bogus"),
        (["-hx"], "Unrecognized option: -hx"),
        (["-ph=3"], "Unrecognized option: -ph=3"),
        (["-hc=5"], "Unrecognized option: -hc=5"),
        (["--help=1"], "Unrecognized option: --help=1"),
        (["-h=1"], "Unrecognized option: -h=1"),
        (["---c"], "Unrecognized option: ---c"),
        (["-c", "---c"], "Unrecognized option: ---c"),
        (["-=x"], "Unrecognized option: -=x"),
        (["-c"], "Missing argument for option: c"),
        (["-c", "-p"], "Missing argument for option: c"),
        (["-c", "-cx"], "Missing argument for option: c"),
        (["-n", "-hello"], "Missing argument for option: n"),
        (["-c", "--", "v"], "Missing argument for option: c"),
        (["-c", "-configFilefoo"], "Missing argument for option: c"),
        (
            ["--=x"],
            "Ambiguous option: '--'  "
            "(could be: 'help', 'namesrvAddr', 'configFile', 'printConfigItem')",
        ),
    ],
)
def test_a_wrong_command_line_is_refused_with_javas_words(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(words)
    assert str(caught.value) == message


def test_a_wrong_command_line_shows_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-x"]) == 1
    assert capsys.readouterr() == (USAGE, "Unrecognized option: -x\n")


def test_help_wins_over_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-c", "/nowhere", "-ph"]) == 0
    assert capsys.readouterr() == (USAGE, "")


def test_a_configuration_file_that_is_not_there_is_no_start(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["-c", str(tmp_path / "nope")]) == 255
    out, err = capsys.readouterr()
    assert out == ""
    assert "nope" in err


def test_a_malformed_configuration_file_is_no_start(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "ns.properties"
    path.write_text("a=\\u00zz")

    assert main(["-c", str(path)]) == 255
    out, err = capsys.readouterr()
    assert out == ""
    assert "malformed" in err


def test_a_bad_serialize_type_is_no_start(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKETMQ_SERIALIZE_TYPE", "XML")

    assert main([]) == 255
    assert "rocketmq.serialize.type" in capsys.readouterr().err


def test_all_items_are_printed_after_the_file_was_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROCKETMQ_HOME", raising=False)
    path = tmp_path / "ns.properties"
    path.write_text("listenPort=1\nenableTopicList=true \n")

    assert main(["-p", "-c", str(path)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"load config properties file OK, {path}"
    assert len(lines) == 61
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INFO main - \w+=", x) for x in lines[1:])
    items = [line.partition(" - ")[2] for line in lines[1:]]
    assert items[0] == "rocketmqHome="
    assert items[2] == f"configStorePath={path}"
    assert "listenPort=1" in items
    assert "enableTopicList=false" in items


def test_a_wrong_choice_of_log_is_no_start(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKETWIRE_LOG", "syslog")

    assert main([]) == 255
    assert "ROCKETWIRE_LOG" in capsys.readouterr().err


# ---- serving, with the server put aside


def serving(monkeypatch: pytest.MonkeyPatch, home: Path, serve: object) -> None:
    monkeypatch.setenv("JAVA_OPT_EXT", f"-Duser.home={home}")
    monkeypatch.setenv("ROCKETWIRE_LOG", "off")
    monkeypatch.setattr(server, "serve_until_signal", serve)


@pytest.mark.usefixtures("_collector_as_before")
def test_the_boot_line_names_the_real_port_and_the_header_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async def serve(_: Config, on_boot: Callable[[Listening], None]) -> int:
        on_boot(Listening("::", 4711))
        return signal.SIGTERM

    serving(monkeypatch, tmp_path, serve)
    monkeypatch.setenv("ROCKETMQ_SERIALIZE_TYPE", "ROCKETMQ")

    assert main([]) == 143
    assert capsys.readouterr() == (
        "The Name Server boot success. serializeType=ROCKETMQ, address :::4711\n",
        "",
    )


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


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.process
@pytest.mark.slow
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
        socket.create_connection(("127.0.0.1", int(booted[1])), DEADLINE).close()
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE)

    assert (process.returncode, out, err) == (status, "", "")
    log = (home / "logs" / "rocketmqlogs" / "namesrv.log").read_text()
    assert "The Name Server boot success." in log


@pytest.mark.process
@pytest.mark.slow
def test_a_port_in_use_is_status_255(home: Path, tmp_path: Path, taken_port: int) -> None:
    path = tmp_path / "ns.properties"
    path.write_text(f"bindAddress=127.0.0.1\nlistenPort={taken_port}\n")

    with start(home, "-c", str(path)) as process:
        out, err = process.communicate(timeout=DEADLINE)

    assert process.returncode == 255
    assert out == f"load config properties file OK, {path}\n"
    assert f"Failed to bind to 127.0.0.1:{taken_port}" in err


@pytest.mark.process
@pytest.mark.slow
def test_a_kv_file_without_sense_is_status_255_and_stays_as_it_is(
    home: Path, settings: str
) -> None:
    path = home / "namesrv" / "kvConfig.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")

    with start(home, "-c", settings) as process:
        _, err = process.communicate(timeout=DEADLINE)

    assert process.returncode == 255
    assert "configTable" in err
    assert path.read_text() == "{}"


@pytest.mark.process
@pytest.mark.slow
def test_a_checkout_starts_by_the_name_of_its_folder(home: Path) -> None:
    with start(home, "-h", way=("namesrv",)) as process:
        out, err = process.communicate(timeout=DEADLINE)

    assert (process.returncode, out, err) == (0, USAGE, "")
