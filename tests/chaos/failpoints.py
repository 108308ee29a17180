"""Failpoints without a hook in the product: the functions of ``os`` and ``open`` that it calls are wrapped from outside.

Every call into the file system is two points, before and after it, and a write one more in its midst.  What happens at a point is
up to whoever installs them.
"""

from __future__ import annotations

import builtins
import os
import signal
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

CALLS = ("makedirs", "open", "unlink", "rename", "fsync", "close", "fstat")


class Torn:
    """An open file whose writes reach the disk in two halves."""

    def __init__(self, file: Any, reached: Callable[[str], None]) -> None:
        self._file = file
        self._reached = reached

    def write(self, data: bytes) -> None:
        self._reached("before write")
        self._file.write(data[: len(data) // 2])
        self._file.flush()
        self._reached("in the midst of write")
        self._file.write(data[len(data) // 2 :])
        self._file.flush()
        self._reached("after write")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def failpoints(
    reached: Callable[[str], None], *, at: Callable[[str], bool] = lambda _: True
) -> Generator[None]:
    """Call ``reached`` with a description at each point, while the block runs, of which ``at`` says so."""

    def point(text: str) -> None:
        if at(text):
            reached(text)

    def wrapped(name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        point(f"before {name}")
        result = call(*args, **kwargs)
        point(f"after {name}")
        return result

    def opened(*args: Any, **kwargs: Any) -> Any:
        file: Any = real_open(*args, **kwargs)
        mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
        return Torn(file, point) if mode == "wb" else file

    real_open: Callable[..., Any] = builtins.open
    with ExitStack() as patched:
        for name in CALLS:
            call = partial(wrapped, name, getattr(os, name))
            patched.enter_context(mock.patch.object(os, name, call))
        patched.enter_context(mock.patch.object(builtins, "open", opened))
        yield


class Countdown:
    """Does something at the n-th point.

    Args:
        number: which, from 1 on.
        action: what.
    """

    def __init__(self, number: int, action: Callable[[str], None]) -> None:
        self.left = number
        self._action = action

    def __call__(self, text: str) -> None:
        self.left -= 1
        if self.left == 0:
            self._action(text)


def die(_: str) -> None:
    """End this process at once, as ``kill -9`` does."""
    os.kill(os.getpid(), signal.SIGKILL)
