"""A name server under an audit hook: what it does to the system while it is sent everything.

``python -m tests.fuzz.audited serve FOLDER ADDRESS...`` runs one, whose configuration is
``FOLDER/namesrv.properties``.  From its boot line on it may open files below the folder, and
connect to the addresses named; any other file, a process, an import or another socket ends it at
once, with status 70 and a line that says what it was.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import IO, Any

VIOLATION = 70

PUT_OFF = ("rocketwire.wire.json.reader",)
"""Modules of ours that are slow to import, and therefore imported when they are first needed."""

PROCESSES = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
CODE = frozenset({"exec", "import", "marshal.loads", "pickle.find_class", "ctypes.dlopen"})
SOCKETS = frozenset({"socket.bind", "socket.gethostbyname", "socket.gethostbyaddr"})
PATHS = frozenset(
    {
        "glob.glob",
        "open",
        "os.chmod",
        "os.chown",
        "os.link",
        "os.listdir",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.scandir",
        "os.symlink",
        "os.truncate",
        "os.utime",
    }
)


class Guard:
    """The hook.

    Args:
        folder: below which files may be.
        addresses: ``host:port`` that may be connected to.
    """

    def __init__(self, folder: str, addresses: list[str]) -> None:
        self.armed = False
        self._folder = os.path.realpath(folder) + os.sep
        self._addresses = {
            (host, int(port)) for host, _, port in (a.rpartition(":") for a in addresses)
        }
        self._hosts = {host for host, _ in self._addresses}

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Judge an event."""
        if self.armed and (why := self.forbidden(event, arguments)):
            self.armed = False
            sys.stderr.write(f"forbidden: {why}\n")
            sys.stderr.flush()
            os._exit(VIOLATION)

    def forbidden(self, event: str, arguments: tuple[Any, ...]) -> str | None:
        """What is wrong with an event, or None."""
        if event in PROCESSES or event in CODE or event in SOCKETS:
            return f"{event} {arguments!r}"[:300]
        if event in PATHS:
            outside = [
                each
                for each in arguments
                if isinstance(each, str | bytes) and self._outside(event, each)
            ]
            return f"{event} {outside!r}" if outside else None
        if event == "socket.connect" and tuple(arguments[1][:2]) not in self._addresses:
            return f"{event} {arguments[1]!r}"
        if event == "socket.getaddrinfo" and arguments[0] not in self._hosts:
            return f"{event} {arguments!r}"
        return None

    def _outside(self, event: str, path: str | bytes) -> bool:
        if event == "open" and path in {"r", "w", "rb", "wb"}:
            return False  # the mode, which is an argument too
        full = os.path.realpath(os.fsdecode(path))
        return not (full + os.sep).startswith(self._folder)


class Arming:
    """Stands for stdout, and arms a guard when the boot line has been written."""

    def __init__(self, stream: IO[str], guard: Guard) -> None:
        self._stream = stream
        self._guard = guard

    def write(self, text: str) -> int:
        """Write, and look for the boot line."""
        written = self._stream.write(text)
        if "boot success" in text:
            self._stream.flush()
            self._guard.armed = True
        return written

    def flush(self) -> None:
        """Flush."""
        self._stream.flush()


def serve(folder: str, addresses: list[str]) -> int:
    """Run a name server; returns its exit status."""
    os.chdir(folder)
    from rocketwire_namesrv.__main__ import main

    for name in PUT_OFF:
        importlib.import_module(name)
    guard = Guard(folder, addresses)
    sys.stdout = Arming(sys.stdout, guard)
    sys.addaudithook(guard)
    return main(["-c", "namesrv.properties"])


if __name__ == "__main__":
    sys.exit(serve(sys.argv[2], sys.argv[3:]))
