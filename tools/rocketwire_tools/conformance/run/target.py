"""The server that is asked: one that runs already, or one that the suite starts, restarts and configures itself."""

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

from rocketwire_tools.conformance.model.ports import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
CONFIG_FILE: Final = "namesrv.properties"
OUTPUT_SHOWN: Final = 2000
"""Characters of a server's last output in a message."""
KV_FILE: Final = "kvConfig.json"
OUTPUT_FILE: Final = "output.txt"
CERTIFICATES: Final = Path(__file__).with_name("certificates")
"""An authority, and a server and a client whom it has signed for 127.0.0.1; a stranger whom it has not.  For tests: whoever has the
suite has their keys."""


class NotStartedError(Exception):
    """The target could not be started, or ended while it was.

    Attributes:
        output: the last that it printed.
    """

    def __init__(self, reason: str, output: str = "") -> None:
        super().__init__(reason)
        self.output = output

    @property
    def told(self) -> str:
        """The reason, and below it the last lines that the server printed."""
        lines = "".join(f"\n    {line}" for line in self.output.splitlines())
        return f"{self}; its last output:{lines}" if lines else str(self)


class CommandError(NotStartedError):
    """The command that starts the target cannot be run: there is no such program, for instance."""


class NeverListenedError(NotStartedError):
    """It runs, but nothing listens where it was told to: most likely the command does not pass ``{config}`` or ``{port}``."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a target listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Target:
    """A server that somebody else looks after.

    Attributes:
        address: where it listens.
        managed: whether the suite has started it and may restart it.
    """

    managed = False

    def __init__(self, address: Address) -> None:
        self.address = address

    async def start(self) -> None:
        """Start it, where that is the suite's business, and wait until it answers connections."""

    async def stop(self, *, kill: bool = False) -> int | None:
        """End it; returns its exit status (negative for a signal) where it is known."""

    @property
    def output(self) -> str:
        """All that it has printed, where that is known."""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """How a server has to be started for some cases.

    Attributes:
        options: properties, beside the port and the path of the KV file.
        jvm: system properties.
        kv: content of the KV file; None for no file.
        files: names of files of ``CERTIFICATES`` that are copied to its folder.
    """

    options: tuple[tuple[str, str], ...] = ()
    jvm: tuple[str, ...] = ()
    kv: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A program that has ended.

    Attributes:
        status: its exit status; negative for a signal, None when it was killed because it would not end.
        out: what it printed, both streams together.
    """

    status: int | None
    out: str


class StartedTarget(Target):
    """A server that the suite starts in a folder of its own.

    The command is split like a shell's words.  In it ``{port}`` stands for its port, ``{config}`` for a properties file with
    ``listenPort``, ``kvConfigPath`` and the options of the case, ``{kv}`` for the KV file, ``{home}`` for the folder, and a word
    ``{jvm}`` for the system properties, each a word of its own.  They are in the environment as ``JAVA_OPT_EXT`` too, beside
    ``ROCKETMQ_HOME``.  It runs in that folder.
    """

    managed = True
    demands: Demands
    """How it is started."""

    def __init__(
        self,
        command: str,
        folder: Path,
        demands: Demands | None = None,
        home: Path | None = None,
        patience: float = 1.0,
    ) -> None:
        """A server that does not run yet.

        Args:
            command: what starts it.
            folder: where; made if it is not there.
            demands: how.
            home: folder whose content is copied there; None for nothing.
            patience: factor for the time that its start and its end may take.
        """
        super().__init__(Address(LOOPBACK, free_port()))
        self.folder = folder
        self._command = command
        self.demands = demands or Demands()
        self._home = home
        self._patience = patience
        self._launched = 0
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        if home is not None:
            shutil.copytree(home, folder, dirs_exist_ok=True)
        if self.demands.kv is not None:
            self.write_kv(self.demands.kv)
        for name in self.demands.files:
            shutil.copy(CERTIFICATES / name, folder)

    @property
    def demanded(self) -> str:
        """The properties and system properties that its start asks for, as `` with ...``; empty without any."""
        words = [f"{name}={value}" for name, value in self.demands.options]
        return " with " + " ".join([*words, *self.demands.jvm]) if words else ""

    def write_kv(self, text: str) -> None:
        """Replace the content of the KV file."""
        (self.folder / KV_FILE).write_text(text, "utf-8")

    def read(self, name: str) -> str | None:
        """The text of a file in its folder; None where there is none."""
        path = self.folder / name
        return path.read_text("utf-8") if path.exists() else None

    @property
    def output(self) -> str:
        path = self.folder / OUTPUT_FILE
        return path.read_text("utf-8", "replace") if path.exists() else ""

    async def start(self) -> None:
        """Start it and wait until it answers connections.

        Raises:
            CommandError: the command cannot be run.
            NeverListenedError: nothing listens where it was told to within a minute, times the patience.
            NotStartedError: the program ended.
        """
        self._write_config({})
        self._process = self._spawn(self.words())
        seconds = START_SECONDS * self._patience
        with trio.move_on_after(seconds):
            while not await self._listens():
                status = self._process.poll()
                if status is not None:
                    raise NotStartedError(_how_it_ended(status), self._last_output)
                await trio.sleep(0.02)
            return
        await self.stop(kill=True)
        raise NeverListenedError(
            f"nothing listens on {self.address} after {seconds:g} s", self._last_output
        )

    @property
    def _last_output(self) -> str:
        return self.output[-OUTPUT_SHOWN:].strip()

    async def stop(self, *, kill: bool = False) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        number = signal.SIGKILL if kill else signal.SIGTERM
        return await _end(process, number, STOP_SECONDS * self._patience)

    def terminate(self) -> None:
        """Ask it to end, without waiting for that."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGTERM)

    async def launch(
        self,
        arguments: Sequence[str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        without: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
        kv: str | None = None,
        until: str | None = None,
        seconds: float = 60.0,
    ) -> Finished:
        """Run the command once more, in a folder of its own and with the same port, to see it end by itself.

        Args:
            arguments: replace all words from ``-c`` on; None to leave them.
            environment: additional variables.
            without: variables that must not be there.
            options: additional properties.
            kv: content of the KV file; None to leave it.
            until: text after which it is ended, if it prints it.
            seconds: after which it is ended in any case (status None); times the patience.
        """
        self._launched += 1
        folder = self.folder / f"launch{self._launched}"
        twin = StartedTarget(self._command, folder, self.demands, self._home, self._patience)
        twin.address = self.address
        if kv is not None:
            twin.write_kv(kv)
        twin._write_config(options or {})
        process = twin._spawn(twin.words(arguments), environment or {}, without)
        status = None
        with trio.move_on_after(seconds * self._patience):
            status = await twin._end_or(process, until)
        if status is None:
            await _end(process, signal.SIGKILL, STOP_SECONDS)
        return Finished(status=status, out=twin.output)

    async def _end_or(self, process: subprocess.Popen[bytes], until: str | None) -> int | None:
        """Wait for the end of the process, or until it has printed a text."""
        while (status := process.poll()) is None:
            if until is not None and until in self.output:
                return None
            await trio.sleep(0.05)
        return status

    def words(self, arguments: Sequence[str] | None = None) -> list[str]:
        """The words of the command, with everything put in."""
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
                words += self.demands.jvm
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
        settings |= {**dict(self.demands.options), **extra}
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.folder / CONFIG_FILE).write_text(text, "utf-8")

    def _spawn(
        self,
        words: Sequence[str],
        environment: Mapping[str, str] | None = None,
        without: Sequence[str] = (),
    ) -> subprocess.Popen[bytes]:
        variables = {
            **os.environ,
            "ROCKETMQ_HOME": str(self.folder),
            "JAVA_OPT_EXT": " ".join(self.demands.jvm),
            **(environment or {}),
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


async def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Wait for a process to end; None when it does not in time."""
    with trio.move_on_after(seconds):
        return await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
    return None


def _how_it_ended(status: int) -> str:
    if status >= 0:
        return f"the program ended with status {status} before it listened"
    return f"the program was ended by {signal.Signals(-status).name} before it listened"


async def _end(process: subprocess.Popen[bytes], number: signal.Signals, seconds: float) -> int:
    """Signal the process group and wait; what has not ended in time is killed."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    with trio.CancelScope(shield=True):
        await _wait(process, seconds)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
