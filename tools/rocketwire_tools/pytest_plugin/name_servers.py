"""Our name server as tests have it: a process of its own, or a task of the fixtures' thread."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

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
"""No port for operators: several name servers run on one machine."""


class NameServer(Protocol):
    """A name server on loopback that keeps its port and its files when it is started again."""

    @property
    def port(self) -> int:
        """Where it listens; known once it was started."""
        ...

    @property
    def address(self) -> str:
        """``127.0.0.1:port``."""
        ...

    def start(self) -> None:
        """Start it and wait until it listens."""

    def stop(self) -> None:
        """Let it end as SIGTERM does, and wait for that; does nothing where it does not run."""

    def kill(self) -> None:
        """End it at once, and all its connections; does nothing where it does not run."""


def _written(folder: Path, settings: Mapping[str, object], port: int) -> Path:
    """The configuration file, made at the first start; later ones change the port alone, and keep what was changed in it."""
    path = folder / "namesrv.properties"
    if path.exists():
        text = re.sub(r"(?m)^listenPort=.*$", f"listenPort={port}", path.read_text("utf-8"))
    else:
        pairs = {"bindAddress": _LOOPBACK, "listenPort": port, **settings}
        text = "".join(f"{key}={_text(value)}\n" for key, value in pairs.items())
    path.write_text(text, "utf-8")
    return path


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class ProcessNameServer:
    """``python -m rocketwire_namesrv`` with the interpreter that runs the tests.

    Attributes:
        port: where it listens.
    """

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        """A name server that has not been started.

        Args:
            folder: its home, for its files.
            settings: properties of its configuration file.
        """
        self.port = 0
        self._folder = folder
        self._output = folder / "output.txt"
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """``127.0.0.1:port``."""
        return f"{_LOOPBACK}:{self.port}"

    @property
    def log(self) -> str:
        """All that it has printed and logged since its latest start."""
        return self._output.read_text("utf-8", "replace")

    def start(self) -> None:
        """Start it and wait until it listens.

        Raises:
            RuntimeError: it ended, with what it has printed; or it did not listen in time.
        """
        path = _written(self._folder, self._settings, self.port)
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - the words are ours
                [sys.executable, "-m", "rocketwire_namesrv", "-c", path.name],
                cwd=self._folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for pytest alone, which then stops it
            )
        self.port = self._wait_for_port(self._process)

    def stop(self) -> None:
        """End it by SIGTERM, by SIGKILL where that takes too long."""
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
        """End it by SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _environment(self) -> dict[str, str]:
        """Ours, and the places that our packages come from, which may be known to this process alone."""
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


class ThreadNameServer:
    """A name server in the fixtures' thread: starts ten times as fast, and shares the process with the test.

    Attributes:
        port: where it listens.
    """

    def __init__(self, folder: Path, settings: Mapping[str, object], backstage: Backstage) -> None:
        """A name server that has not been started.

        Args:
            folder: its home, for its files.
            settings: properties as of its configuration file.
            backstage: the thread.
        """
        self.port = 0
        self._folder = folder
        self._settings = settings
        self._backstage = backstage
        self._scope = trio.CancelScope()
        self._ended = trio.Event()
        self._server: Server | None = None

    @property
    def address(self) -> str:
        """``127.0.0.1:port``."""
        return f"{_LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Start it and wait until it listens."""
        self._scope = trio.CancelScope()
        server: Server = self._backstage.call(self._backstage.nursery.start, self._run)
        self._server = server
        self.port = server.listening.port

    def stop(self) -> None:
        """Let it end, and wait for that."""
        if self._server is not None:
            self._backstage.call(self._server.stop)
            self._backstage.call(self._server.stopped.wait)
            self._server = None

    def kill(self) -> None:
        """End it at once."""
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

        path = str(_written(self._folder, self._settings, self.port))
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
