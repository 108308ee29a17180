"""The name server as a process with faults."""

import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Self

from tests.peers import raw_call
from tests.peers.cache import ROOT
from tests.peers.peers import properties
from tests.peers.processes import LOOPBACK, Child, free_ports

PUT, GET, DELETE, LIST = 100, 101, 102, 219
NAMESPACE = "ns"
SECONDS = 60.0
"""For one answer on a busy machine."""


class UnluckyServer:
    """A name server of ours.

    Args:
        driver: ``portable`` or ``reactor``.
        luck: the environment of ``launched``.
    """

    def __init__(self, folder: Path, driver: str, luck: dict[str, str], **settings: object) -> None:
        self.folder = folder
        self.kv = folder / "kv" / "kvConfig.json"
        self._driver = driver
        self._luck = luck
        self._settings = settings
        self.port = free_ports()

    def start(self) -> None:
        settings: dict[str, object] = {
            "listenPort": self.port,
            "bindAddress": LOOPBACK,
            "kvConfigPath": "kv/kvConfig.json",
            "rocketwire.driver": self._driver,
        }
        file = self.folder / "namesrv.properties"
        file.write_text(properties({**settings, **self._settings}))
        paths = [str(ROOT), str(ROOT / "namesrv"), os.environ.get("PYTHONPATH", "")]
        child = Child(
            "namesrv",
            [sys.executable, "-m", "tests.chaos.launched", "-c", file.name],
            self.folder,
            environment={
                "PYTHONPATH": os.pathsep.join(paths),
                "HOME": ".",
                "ROCKETWIRE_LOG": "stderr",
                **self._luck,
            },
        )
        self.child = child
        child.wait_printed("boot success")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self.child.kill()

    def freeze(self) -> None:
        # SIGSTOP: it does nothing until ``thaw``; its connections stay.
        self.child.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.child.signal(signal.SIGCONT)

    def break_disk(self, fault: str) -> None:
        self.child.signal(signal.SIGUSR1)

    def lives(self) -> bool:
        return self.child.process.poll() is None and self.ask(106).header["code"] == 0

    def ask(
        self, code: int, fields: dict[str, str] | None = None, body: bytes = b""
    ) -> raw_call.Answer:
        return raw_call.ask(self.port, code, fields, body, seconds=SECONDS)

    def put(self, key: str, value: str, stream: socket.socket | None = None) -> int:
        fields = {"namespace": NAMESPACE, "key": key, "value": value}
        if stream is None:
            return _code(self.ask(PUT, fields))
        stream.sendall(raw_call.frame(PUT, fields))
        return _code(raw_call.read_answer(stream))

    def items(self) -> dict[str, str]:
        answer = self.ask(LIST, {"namespace": NAMESPACE})
        return dict(json.loads(answer.body)["table"]) if answer.body else {}


def _code(answer: raw_call.Answer) -> int:
    return int(str(answer.header["code"]))
