"""A name server as the tests see it, and ours as a process; Java's is in ``tests.peers.peers``.

One test body runs against either.
"""

import os
import sys
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, Self

from tests.peers.cache import ROOT
from tests.peers.peers import JavaNameServer, properties
from tests.peers.processes import LOOPBACK, Server, free_ports

SERVED_CODES = (
    *range(100, 107), 205, 206, 216, 217, 219, 224, 304, 311, 312, 313, 318, 319, 322, 327, 901, 904,
)  # fmt: skip
"""Every request that a name server knows (``DefaultRequestProcessor``, ``ClientRequestProcessor``)."""

DEFAULT_KIND = os.environ.get("ROCKETWIRE_INTEROP_NAMESRV", "ours")
"""Which one the interop tests run on; ``java`` proves the tests themselves."""


class NameServer(Protocol):
    """One name server on a port of its own, which it keeps when it is started again."""

    port: int
    address: str

    def start(self) -> None:
        """Start it and wait until it accepts connections."""

    def stop(self) -> None:
        """Ask it to end, and wait for that."""

    def kill(self) -> None:
        """End it without notice."""

    @property
    def log(self) -> str: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class OurNameServer(Server):
    def __init__(
        self,
        folder: Path,
        options: Mapping[str, object] | None = None,
        *,
        jvm: Sequence[str] = (),
        port: int | None = None,
    ) -> None:
        self.port = port or free_ports()
        self.address = f"{LOOPBACK}:{self.port}"
        (folder / "conf").mkdir(parents=True, exist_ok=True)
        settings = {"listenPort": self.port, "bindAddress": LOOPBACK, **(options or {})}
        (folder / "conf" / "namesrv.properties").write_text(properties(settings))
        super().__init__(
            "namesrv",
            [sys.executable, "-m", "rocketwire_namesrv", "-c", "conf/namesrv.properties"],
            folder,
            environment={
                "PYTHONPATH": os.pathsep.join(
                    [str(ROOT), str(ROOT / "namesrv"), os.environ.get("PYTHONPATH", "")]
                ),
                "HOME": ".",
                "ROCKETWIRE_LOG": "stderr",
                # several run on this machine; among the JVM's options, for 319 shows what is in the file
                "JAVA_OPT_EXT": " ".join(("-Drocketwire.observePort=0", *jvm)),
            },
        )

    def stop(self, seconds: float = 60.0) -> None:
        super().stop(seconds)

    def __exit__(self, *_: object) -> None:
        self.stop()


class Startable(Protocol):
    def start(self) -> None:
        """Start it and wait until it is ready."""

    def kill(self) -> None:
        """End it without notice; also where it never started."""


@contextmanager
def start_all(*peers: Startable) -> Generator[None]:
    try:
        with ThreadPoolExecutor(len(peers)) as pool:
            for start in [pool.submit(peer.start) for peer in peers]:
                start.result()
        yield
    finally:
        for peer in peers:
            peer.kill()


def name_server(
    kind: str,
    folder: Path,
    options: Mapping[str, object] | None = None,
    *,
    jvm: Sequence[str] = (),
    port: int | None = None,
) -> NameServer:
    """Return a name server, not yet started.

    Args:
        folder: its home, which one of the other kind can take over later.
        port: that of a server whose place it takes; a free one without.
    """
    make = OurNameServer if kind == "ours" else JavaNameServer
    return make(folder, options, jvm=jvm, port=port)
