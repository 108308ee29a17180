"""The server under test: a running one, or one that the suite starts and configures."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_tools.conformance.model.placeholders import LOOPBACK, free_port
from rocketwire_tools.conformance.run.frame_rules import FrameRules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
CONFIG_FILE: Final = "namesrv.properties"
# Maximum characters of a server's output in a message.
MAX_OUTPUT: Final = 2000
KV_FILE: Final = "kvConfig.json"
OUTPUT_FILE: Final = "output.txt"
# Test certificates: an authority, a server and a client signed by it for 127.0.0.1, and an
# untrusted client. Their keys are public.
CERTIFICATES: Final = Path(__file__).with_name("certificates")


class NotStartedError(Exception):
    def __init__(self, reason: str, output: str = "") -> None:
        super().__init__(reason)
        self.output = output  # the end of its output

    @property
    def details(self) -> str:
        lines = "".join(f"\n    {line}" for line in self.output.splitlines())
        return f"{self}; its last output:{lines}" if lines else str(self)


class CommandError(NotStartedError):
    """The start command cannot be run, for example because the program does not exist."""


class NeverListenedError(NotStartedError):
    """Nothing listens on the port; probably the command does not use ``{config}`` or ``{port}``."""


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Target:
    def __init__(self, address: Address) -> None:
        self.address = address
        self.rules = FrameRules()  # the rules of its frames


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSetup:
    # properties in addition to the port and the path of the KV file
    options: tuple[tuple[str, str], ...] = ()
    jvm: tuple[str, ...] = ()  # system properties
    kv: str | None = None  # content of the KV file; None for no file
    files: tuple[str, ...] = ()  # names of files in ``CERTIFICATES`` to copy to its folder


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    status: int | None  # exit status; negative for a signal, None if it was killed after a timeout
    out: str


class StartedTarget(Target):
    """A server that the suite starts in its own folder.

    The command is split like in a shell. Placeholders: ``{port}`` is the port, ``{config}`` a
    properties file with ``listenPort``, ``kvConfigPath`` and the options of the case, ``{kv}`` the
    KV file, ``{home}`` the folder (also the working directory), and the word ``{jvm}`` the system
    properties as separate words. The environment has them as ``JAVA_OPT_EXT``, and
    ``ROCKETMQ_HOME``.
    """

    def __init__(
        self,
        command: str,
        folder: Path,
        setup: ServerSetup | None = None,
        home: Path | None = None,
        patience: float = 1.0,
    ) -> None:
        """Create the folder and copy ``home`` there; ``start`` starts the server."""
        super().__init__(Address(LOOPBACK, free_port()))
        self.folder = folder
        self._command = command
        self.setup = setup or ServerSetup()
        self._home = home
        self._patience = patience
        self._launched = 0
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        if home is not None:
            shutil.copytree(home, folder, dirs_exist_ok=True)
        if self.setup.kv is not None:
            self.write_kv(self.setup.kv)
        for name in self.setup.files:
            shutil.copy(CERTIFICATES / name, folder)

    @property
    def description(self) -> str:
        """Its properties and system properties as `` with ...``; empty if there are none."""
        words = [f"{name}={value}" for name, value in self.setup.options]
        return " with " + " ".join([*words, *self.setup.jvm]) if words else ""

    def write_kv(self, text: str) -> None:
        (self.folder / KV_FILE).write_text(text, "utf-8")

    def read(self, name: str) -> str | None:
        """The text of a file in its folder; None if it does not exist."""
        path = self.folder / name
        return path.read_text("utf-8") if path.exists() else None

    @property
    def output(self) -> str:
        path = self.folder / OUTPUT_FILE
        return path.read_text("utf-8", "replace") if path.exists() else ""

    async def start(self) -> None:
        """Start the server and wait until it accepts connections.

        Raises ``CommandError`` if the command cannot be run, ``NeverListenedError`` if nothing
        listens on the port within a minute, times the patience, and ``NotStartedError`` if the
        program ended.
        """
        self._write_config({})
        self._process = self._spawn(self.words())
        seconds = START_SECONDS * self._patience
        with trio.move_on_after(seconds):
            while not await self._listens():
                status = self._process.poll()
                if status is not None:
                    raise NotStartedError(_describe_end(status), self._last_output)
                await trio.sleep(0.02)
            return
        await self.stop(kill=True)
        raise NeverListenedError(
            f"nothing listens on {self.address} after {seconds:g} s", self._last_output
        )

    @property
    def _last_output(self) -> str:
        return self.output[-MAX_OUTPUT:].strip()

    async def stop(self, *, kill: bool = False) -> int | None:
        """Stop it; returns its exit status (negative for a signal), None if it does not run."""
        process, self._process = self._process, None
        if process is None:
            return None
        number = signal.SIGKILL if kill else signal.SIGTERM
        return await _end(process, number, STOP_SECONDS * self._patience)

    def terminate(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGTERM)

    async def launch(
        self,
        arguments: Sequence[str] | None = None,  # replace all words from ``-c``; None to keep them
        *,
        without: Sequence[str] = (),  # variables to remove
        options: Mapping[str, str] | None = None,  # additional properties
        kv: str | None = None,  # content of the KV file; None to keep it
        until: str | None = None,  # output text after which the process is stopped
    ) -> ProcessResult:
        """Run the command again with the same port in a new folder, and await its end.

        After a minute, times the patience, it is killed.
        """
        self._launched += 1
        folder = self.folder / f"launch{self._launched}"
        twin = StartedTarget(self._command, folder, self.setup, self._home, self._patience)
        twin.address = self.address
        if kv is not None:
            twin.write_kv(kv)
        twin._write_config(options or {})
        process = twin._spawn(twin.words(arguments), without)
        status = None
        with trio.move_on_after(START_SECONDS * self._patience):
            status = await twin._wait_for_end(process, until)
        if status is None:
            await _end(process, signal.SIGKILL, STOP_SECONDS)
        return ProcessResult(status=status, out=twin.output)

    async def _wait_for_end(
        self, process: subprocess.Popen[bytes], until: str | None
    ) -> int | None:
        while (status := process.poll()) is None:
            if until is not None and until in self.output:
                return None
            await trio.sleep(0.05)
        return status

    def words(self, arguments: Sequence[str] | None = None) -> list[str]:
        replacements = {
            "{port}": str(self.address.port),
            "{config}": CONFIG_FILE,
            "{kv}": KV_FILE,
            "{home}": str(self.folder),
        }
        words: list[str] = []
        for word in shlex.split(self._command):
            if word == "-c" and arguments is not None:
                break
            if word == "{jvm}":
                words += self.setup.jvm
                continue
            for name, text in replacements.items():
                word = word.replace(name, text)
            words.append(word)
        return words + list(arguments or ())

    def _write_config(self, extra: Mapping[str, str]) -> None:
        settings = {
            "listenPort": str(self.address.port),
            "bindAddress": LOOPBACK,
            "kvConfigPath": KV_FILE,
        }
        settings |= {**dict(self.setup.options), **extra}
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.folder / CONFIG_FILE).write_text(text, "utf-8")

    def _spawn(self, words: Sequence[str], without: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        variables = {
            **os.environ,
            "ROCKETMQ_HOME": str(self.folder),
            "JAVA_OPT_EXT": " ".join(self.setup.jvm),
        }
        for name in without:
            variables.pop(name, None)
        with (self.folder / OUTPUT_FILE).open("ab") as output:
            try:
                return subprocess.Popen(  # noqa: S603 - the operator's own command
                    list(words),
                    cwd=self.folder,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            except OSError as error:
                raise CommandError(f"cannot run {words[0]!r}: {error.strerror}") from error

    async def _listens(self) -> bool:
        try:
            stream = await trio.open_tcp_stream(self.address.host, self.address.port)
        except OSError:
            return False
        await stream.aclose()
        return True


def _describe_end(status: int) -> str:
    if status >= 0:
        return f"the program ended with status {status} before it listened"
    return f"the program was killed by {signal.Signals(-status).name} before it listened"


async def _end(process: subprocess.Popen[bytes], number: signal.Signals, seconds: float) -> int:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    with trio.CancelScope(shield=True), trio.move_on_after(seconds):
        await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
