"""Settings of a process that only decodes."""

from __future__ import annotations

import os


def start_no_algebra_threads() -> None:
    """Keep numpy from starting threads for linear algebra, which nothing here uses.

    To start them takes a fifth of the import of numpy, so call this before numpy is imported.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
