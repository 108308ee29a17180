"""What the modules of the portal need of each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Cancellable(Protocol):
    """A trio task that executes calls."""

    def cancel(self) -> None:
        """Cancel the current call."""


class Runnable(Protocol):
    """Work for the thread that waits for a call."""

    def run(self) -> None:
        """Execute it."""


class Poster(Protocol):
    """Calls functions in trio's thread."""

    def post(self, item: Callable[[], object]) -> None:
        """Let trio call a function; from any thread."""


class Clearable(Protocol):
    """What has messages."""

    def clear(self) -> None:
        """Forget all, in a fork."""


class Closable(Protocol):
    """What is open."""

    def close_soon(self) -> None:
        """Start to close it, from any thread."""

    def wait_closed(self, seconds: float) -> None:
        """Wait until it is closed."""
