"""``python -m tests.chaos.launched -c FILE``: the name server under limits and failpoints that its environment names.

``CHAOS_NOFILE``: most descriptors it may have.  ``CHAOS_FSIZE``: most bytes of a file, as on a full disk.
``CHAOS_DIE_AT``: the point of its writes of files at which it is killed.
"""

from __future__ import annotations

import os
import resource
import sys
import threading

from rocketwire_namesrv.__main__ import main
from rocketwire_namesrv.runtime import storage
from tests.chaos.failpoints import Countdown, die, failpoints


def _limit(what: int, name: str) -> None:
    if name in os.environ:
        most = int(os.environ[name])
        resource.setrlimit(what, (most, most))


def _arm(number: int) -> None:
    """Let the process be killed at a point of its saves."""
    save = storage.save
    countdown = Countdown(number, die)

    def armed(path: str, content: bytes) -> None:
        writer = threading.get_ident()
        with failpoints(countdown, at=lambda _: threading.get_ident() == writer):
            save(path, content)

    setattr(storage, "save", armed)  # noqa: B010 - from outside


if __name__ == "__main__":
    _limit(resource.RLIMIT_NOFILE, "CHAOS_NOFILE")
    _limit(resource.RLIMIT_FSIZE, "CHAOS_FSIZE")
    if "CHAOS_DIE_AT" in os.environ:
        _arm(int(os.environ["CHAOS_DIE_AT"]))
    sys.exit(main(sys.argv[1:]))
