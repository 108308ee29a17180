"""A server of RocketMQ other than name server and broker, as a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tests.support.processes import Child

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class JavaServer:
    """One process; a subclass writes its configuration and gives its command."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        *,
        booted: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """A process that is not started yet.

        Args:
            name: what messages call it.
            command: what to start.
            folder: where.
            booted: what it prints when it is ready.
            environment: in addition to ``ROCKETMQ_HOME``, which is the folder.
        """
        self._name = name
        self._command = command
        self._folder = folder
        self._booted = booted
        self._environment = {"ROCKETMQ_HOME": ".", **(environment or {})}
        self._child: Child | None = None

    def start(self) -> None:
        """Start it and wait until it is ready."""
        child = Child(self._name, self._command, self._folder, environment=self._environment)
        self._child = child
        child.wait_until(lambda: self._booted in child.output, self._booted)

    def kill(self) -> None:
        """SIGKILL."""
        if self._child is not None:
            self._child.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
