"""The name server for tests: a process, or a task in the fixtures' thread."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire_namesrv.server.server import NameServer as Server
    from rocketwire_tools.pytest_plugin.trio_thread import Backstage

__all__ = ["NameServer", "ProcessNameServer", "ThreadNameServer"]

_LOOPBACK: Final = "127.0.0.1"
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02
_BOOTED: Final = re.compile(r"boot success.*address \S*:(\d+)$", re.MULTILINE)
_JVM: Final = "-Drocketwire.observePort=-1"
"""No operators' port: several name servers run on one machine."""


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class NameServer(ABC):
    """A name server on loopback that keeps its port and its files over a restart.

    Attributes:
        port: where it listens; set by the first start.
    """

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        """A name server that has not been started.

        Args:
            folder: its home, for its files.
            settings: properties of its configuration file.
        """
        self.port = 0
        self._folder = folder
        self._settings = settings

    @property
    def address(self) -> str:
        """``127.0.0.1:port``."""
        return f"{_LOOPBACK}:{self.port}"

    @abstractmethod
    def start(self) -> None:
        """Start it and wait until it listens.

        Raises:
            RuntimeError: it ended or did not listen in time; the message contains its output.
        """

    @abstractmethod
    def stop(self) -> None:
        """Stop it like SIGTERM, and wait; does nothing if it does not run."""

    @abstractmethod
    def kill(self) -> None:
        """Kill it and its connections; does nothing if it does not run."""

    def _write_config(self) -> Path:
        """Write the configuration file at the first start; later starts only change the port."""
        path = self._folder / "namesrv.properties"
        if path.exists():
            port = f"listenPort={self.port}"
            text = re.sub(r"(?m)^listenPort=.*$", port, path.read_text("utf-8"))
        else:
            pairs = {"bindAddress": _LOOPBACK, "listenPort": self.port, **self._settings}
            text = "".join(f"{key}={_text(value)}\n" for key, value in pairs.items())
        path.write_text(text, "utf-8")
        return path


class ProcessNameServer(NameServer):
    """``python -m rocketwire_namesrv`` with the interpreter that runs the tests."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        super().__init__(folder, settings)
        self._output = folder / "output.txt"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        """Its output and log since the last start."""
        return self._output.read_text("utf-8", "replace")

    def start(self) -> None:
        path = self._write_config()
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - fixed arguments
                [sys.executable, "-m", "rocketwire_namesrv", "-c", path.name],
                cwd=self._folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C must only reach pytest, which then stops it
            )
        self.port = self._wait_for_port(self._process)

    def stop(self) -> None:
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _environment(self) -> dict[str, str]:
        """Return this process's environment, with the folders of the packages, which only this
        process may know."""
        places = [os.environ.get("PYTHONPATH", "")]
        for name in ("rocketwire", "rocketwire_namesrv"):
            spec = find_spec(name)
            for place in (spec.submodule_search_locations if spec else None) or ():
                places.insert(0, str(Path(place).parent))
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            "HOME": ".",
            "ROCKETWIRE_LOG": "stderr",
            "JAVA_OPT_EXT": _JVM,
        }

    def _wait_for_port(self, process: subprocess.Popen[bytes]) -> int:
        deadline = time.monotonic() + _START_SECONDS
        while (booted := _BOOTED.search(self.log)) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the name server does not listen:\n{self.log[-2000:]}")
            time.sleep(_POLL_SECONDS)
        return int(booted[1])


class ThreadNameServer(NameServer):
    """A name server in the fixtures' thread: it starts ten times as fast, and shares the process
    with the test."""

    def __init__(self, folder: Path, settings: Mapping[str, object], backstage: Backstage) -> None:
        super().__init__(folder, settings)
        self._backstage = backstage
        self._scope = trio.CancelScope()
        self._ended = trio.Event()
        self._server: Server | None = None

    def start(self) -> None:
        self._scope = trio.CancelScope()
        server: Server = self._backstage.call(self._backstage.nursery.start, self._run)
        self._server = server
        self.port = server.listening.port

    def stop(self) -> None:
        if self._server is not None:
            self._backstage.call(self._server.stop)
            self._backstage.call(self._server.stopped.wait)
            self._server = None

    def kill(self) -> None:
        if self._server is not None:
            self._backstage.call(self._cancel)
            self._server = None

    async def _cancel(self) -> None:
        self._scope.cancel()
        await self._ended.wait()

    async def _run(self, *, task_status: trio.TaskStatus[Server]) -> None:
        from rocketwire_namesrv.config.config import Config
        from rocketwire_namesrv.runtime.storage import load_config
        from rocketwire_namesrv.server.server import serve

        path = str(self._write_config())
        config = Config.load(
            load_config(path),
            home=str(self._folder),
            config_path=path,
            environment={"JAVA_OPT_EXT": _JVM},
        )
        self._ended = trio.Event()
        try:
            with self._scope:
                await serve(config, task_status=task_status)
        finally:
            self._ended.set()
