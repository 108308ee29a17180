"""``python -m bench.namesrv``; see ``run``."""

from __future__ import annotations

import sys

from bench.namesrv.run import main

if __name__ == "__main__":
    sys.exit(main())
