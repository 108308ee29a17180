"""``python -m rocketwire_tools.admin``, and the entry point of ``rocketwire-admin``."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> int:
    # Importing takes a noticeable time: SIGINT ends the process then, without a traceback.
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from rocketwire_tools.admin.program import main as run
    finally:
        signal.signal(signal.SIGINT, handler)
    return run()


if __name__ == "__main__":
    sys.exit(main())
