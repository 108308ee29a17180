"""The texts, streams and exit statuses of the command are those of Java's ``mqnamesrv``."""

import gc
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocketwire import __version__
from rocketwire.serving.sockets import BindError, Listening
from rocketwire.serving.tls.certificates import TlsError
from rocketwire_namesrv.__main__ import main
from rocketwire_namesrv.command_line import HELP
from rocketwire_namesrv.config.config import PROPERTIES, Config, ConfigError
from rocketwire_namesrv.config.settings import Owner
from rocketwire_namesrv.runtime.logging_setup import LOGGER, tear_down
from rocketwire_namesrv.runtime.storage import StorageError
from rocketwire_namesrv.server import server

ROOT = Path(__file__).parents[3]
DEADLINE = 20


class Command:
    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]
    ) -> None:
        self.path = folder / "ns.properties"
        self.patch = patch
        self._captured = captured
        patch.setenv("JAVA_OPT_EXT", f"-Duser.home={folder}")
        patch.delenv("ROCKETMQ_HOME", raising=False)

    def run(self, *words: str, text: str | None = None) -> tuple[int, str, str]:
        # Write the file and run the command; returns status and output.
        if text is not None:
            self.path.write_text(text)
        status = main([word.format(path=self.path) for word in words])
        captured = self._captured.readouterr()
        return status, captured.out, captured.err

    def replace_server(self, serve: object) -> None:
        self.patch.setenv("ROCKETWIRE_LOG", "off")
        self.patch.setattr(server, "serve_until_signal", serve)


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


def test_help_wins_over_everything(command: Command) -> None:
    words = ("-c", "/nowhere", "--check-config", "/nowhere", "-ph")
    assert command.run(*words) == (0, HELP, "")


def test_the_version_is_printed(command: Command) -> None:
    assert command.run("--version") == (0, f"{__version__}\n", "")


def test_the_printed_sample_has_no_warning(command: Command) -> None:
    status, sample, _ = command.run("--sample-config")
    assert status == 0

    expected = f"{command.path}: the name server can start; 0 errors, 0 warnings\n"
    text = sample + "bindAddress=127.0.0.1\n"
    assert command.run("--check-config", "{path}", text=text) == (0, expected, "")


@pytest.mark.parametrize(
    ("text", "variable", "complaint"),
    [
        ("# one\na=\\u00zz", "HOME", "{path}, line 2: malformed"),
        ("", "ROCKETMQ_SERIALIZE_TYPE", "rocketmq.serialize.type"),
        ("", "ROCKETWIRE_LOG", "ROCKETWIRE_LOG"),
    ],
)
def test_a_bad_file_or_variable_is_no_start(
    command: Command, text: str, variable: str, complaint: str
) -> None:
    command.patch.setenv(variable, "syslog")

    status, _, err = command.run("-c", "{path}", text=text)

    assert status == 255
    assert complaint.format(path=command.path) in err


def test_each_value_that_makes_no_sense_is_a_line_and_no_start(command: Command) -> None:
    text = "listenPort=98765\nwaitSecondsForService=-3\nrocketwire.driver=fast\n"

    status, out, err = command.run("-c", "{path}", text=text)

    assert (status, out) == (255, f"load config properties file OK, {command.path}\n")
    begin = f"the name server cannot start: {command.path}, line"
    assert err.splitlines() == [
        f"{begin} 1: listenPort=98765: must be a whole number from 0 to 65535; the default is 9876",
        f"{begin} 3: rocketwire.driver=fast: must be one of auto, reactor, portable; the default is"
        " auto",
    ]


def test_a_check_prints_faults_and_starts_nothing(command: Command) -> None:
    text = "bindAddress=127.0.0.1\nlistenport=1\n\nrocketwire.maxTopics=12O\n"

    status, out, err = command.run("--check-config", "{path}", text=text)

    assert (status, err) == (1, "")
    assert out.splitlines() == [
        f"error: {command.path}, line 4: rocketwire.maxTopics=12O: must be a whole number from 1 to"
        " 2147483647, or 0 (no limit); the default is 1000000",
        f"warning: {command.path}, line 2: listenport is not a setting of this name server; did you"
        " mean listenPort?",
        f"{command.path}: the name server cannot start; 1 error, 1 warning",
    ]
    assert [path.name for path in command.path.parent.iterdir()] == ["ns.properties"]


def test_all_items_are_printed_after_the_file_was_read(command: Command) -> None:
    text = "listenPort=1\nenableTopicList=true \n"

    status, out, err = command.run("-p", "-c", "{path}", text=text)

    first, *lines = out.splitlines()
    assert (status, first) == (0, f"load config properties file OK, {command.path}")
    form = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INFO main - [\w.]+="
    assert all(re.match(form, line) for line in lines)
    items = [line.partition(" - ")[2] for line in lines]
    ours = [setting.key for setting in PROPERTIES if setting.owner is Owner.OURS]
    assert [item.partition("=")[0] for item in items[60:]] == ours
    assert not any(item.startswith("rocketwire.") for item in items[:60])
    assert (items[0], items[2]) == ("rocketmqHome=", f"configStorePath={command.path}")
    assert {"rocketwire.observePort=5558", "listenPort=1", "enableTopicList=false"} <= set(items)
    assert err == (
        f"warning: {command.path}, line 2: enableTopicList=true : read as false, because it is not"
        " the word true\n"
    )


def test_items_are_printed_also_if_the_server_cannot_start(command: Command) -> None:
    text = "rocketwire.maxTopics=-1\nrocketwire.maxBrokers=7\n"

    status, out, err = command.run("-p", "-c", "{path}", text=text)

    assert status == 255
    assert {"rocketwire.maxTopics=1000000", "rocketwire.maxBrokers=7"} <= {
        line.partition(" - ")[2] for line in out.splitlines()
    }
    assert "line 1: rocketwire.maxTopics=-1: must be" in err


# ---- serving, with the server put aside


def boot(address: str, status_page: str) -> object:
    async def serve(_: Config, on_boot: Callable[[Listening, str], None]) -> int:
        on_boot(Listening(address, 4711), status_page)
        return signal.SIGTERM

    return serve


@pytest.mark.usefixtures("_collector_as_before")
def test_the_boot_line_names_the_real_port_and_the_header_form(command: Command) -> None:
    command.replace_server(boot("::", ""))
    command.patch.setenv("ROCKETMQ_SERIALIZE_TYPE", "ROCKETMQ")

    assert command.run() == (
        143,
        "The Name Server boot success. serializeType=ROCKETMQ, address :::4711\n"
        "log: off; status page: none; configuration file: none, -c FILE sets one\n",
        "",
    )


@pytest.mark.usefixtures("_collector_as_before")
@pytest.mark.parametrize("log", ["file", "stderr"])
def test_a_further_line_names_log_status_page_and_configuration(
    command: Command, tmp_path: Path, log: str
) -> None:
    command.replace_server(boot("127.0.0.1", "http://127.0.0.1:5558/"))
    command.patch.setenv("ROCKETWIRE_LOG", log)

    status, out, _ = command.run("-c", "{path}", text="listenPort=4711\n")

    place = "stderr" if log == "stderr" else tmp_path / "logs" / "rocketmqlogs" / "namesrv.log"
    line = f"log: {place}; status page: http://127.0.0.1:5558/; configuration file: {command.path}"
    assert (status, out.splitlines()[2:]) == (143, [line])


@pytest.mark.parametrize(
    "error",
    [
        BindError("port taken"),
        ConfigError("no list"),
        StorageError("no sense"),
        TlsError("no certificate"),
    ],
)
def test_a_start_that_fails_has_its_reason(command: Command, error: Exception) -> None:
    async def serve(*_: object) -> int:
        raise ExceptionGroup("from a nursery", [error])

    command.replace_server(serve)

    assert command.run() == (255, "", f"the name server cannot start: {error}\n")


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
    # A user's home directory; everything of a name server is below it.
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
def test_make_run_announces_the_installation_and_ends_at_ctrl_c(
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
        output, errors = process.communicate(timeout=DEADLINE)
        assert output == ""
        # make itself may lose the race for the status of its child
        assert [line for line in errors.splitlines() if not line.startswith("make: *** ")] == []
