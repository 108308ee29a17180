"""``python -m rocketwire_tools.admin``, and the entry point of ``rocketwire-admin``."""

from __future__ import annotations

import sys

from rocketwire_tools.admin.program import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
