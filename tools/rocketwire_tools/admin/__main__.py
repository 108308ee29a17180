"""``python -m rocketwire_tools.admin``, and the entry point of ``rocketwire-admin``."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> int:
    """Run the program with the arguments of the process; returns its exit status.

    Nothing is begun while modules are loaded: SIGINT just ends the process then, without a traceback of whichever it was.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from rocketwire_tools.admin.program import main as run
    finally:
        signal.signal(signal.SIGINT, usual)
    return run()


if __name__ == "__main__":
    sys.exit(main())
